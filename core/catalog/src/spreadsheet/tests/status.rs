//! Archived, deleted and restored.

use super::*;
use cellar_base::limits::DELETED_KEPT_S;

#[test]
fn what_is_archived_is_restored_or_deleted_and_not_renamed() {
    let mut listed = Listed::shared();
    assert_eq!(listed.does("alice", CatalogAction::Archive), Ok(1));
    assert_eq!(listed.does("otto", CatalogAction::Archive), Ok(0));
    assert_eq!(listed.now().status, Status::Archived { at_s: NOW_S });
    assert_eq!(listed.does("eve", CatalogAction::Rename(name("Plan"))), Err(Rejection::Archived));
    assert_eq!(listed.does("alice", share("bob", Role::Viewer)), Ok(1));
    assert_eq!(listed.does("alice", CatalogAction::Activate), Ok(1));
    assert_eq!(listed.does("alice", CatalogAction::Activate), Ok(0));
    assert_eq!(listed.now().status, Status::Active);
    listed.does("alice", CatalogAction::Archive).unwrap();
    assert_eq!(listed.does("alice", CatalogAction::Delete), Ok(1));
    assert_eq!(listed.does("alice", CatalogAction::Archive), Err(Rejection::Deleted));
    assert_eq!(listed.does("alice", CatalogAction::Activate), Ok(1));
    assert_eq!(listed.now().status, Status::Active);
}

#[test]
fn what_is_deleted_is_there_for_its_owners_alone() {
    let mut listed = Listed::shared();
    assert_eq!(listed.does("alice", CatalogAction::Delete), Ok(1));
    listed.now_s += 7;
    assert_eq!(listed.does("otto", CatalogAction::Delete), Ok(0), "since when it is deleted stays");
    assert_eq!(listed.now().status, Status::Deleted { at_s: NOW_S });
    for action in [CatalogAction::Rename(name("Plan")), unshare("eve"), share("bob", Role::Viewer)]
    {
        assert_eq!(listed.does("alice", action), Err(Rejection::Deleted));
    }
    for action in [CatalogAction::Activate, CatalogAction::Rename(name("Plan")), unshare("eve")] {
        assert_eq!(listed.does("eve", action), Err(Rejection::Hidden));
    }
    assert_eq!(listed.does("otto", CatalogAction::Activate), Ok(1));
    assert_eq!(listed.role("eve"), Some(Role::Editor), "it is shared as before");
}

/// An operator, who holds a token for everything.
fn purges(listed: &mut Listed, right: Right) -> Result<usize, Rejection> {
    let by = By { person: person("operator"), right, cap: Role::Owner };
    listed.command(&Command { by, action: CatalogAction::Purge, now_s: listed.now_s, seen: None })
}

#[test]
fn what_nobody_can_restore_any_more_an_operator_may_purge_and_nobody_else() {
    let operator = Right::Token(Role::Owner);
    let mut listed = Listed::shared();
    assert_eq!(purges(&mut listed, operator), Err(Rejection::NotPurgeable), "it is in use");
    listed.does("alice", CatalogAction::Archive).unwrap();
    listed.now_s += 2 * DELETED_KEPT_S;
    assert_eq!(purges(&mut listed, operator), Err(Rejection::NotPurgeable), "it is archived");
    listed.does("alice", CatalogAction::Delete).unwrap();
    listed.now_s += DELETED_KEPT_S - 1;
    assert_eq!(purges(&mut listed, operator), Err(Rejection::NotPurgeable), "a second too early");
    listed.now_s += 1;
    assert_eq!(purges(&mut listed, Right::Membership), Err(Rejection::Hidden));
    assert_eq!(purges(&mut listed, Right::Token(Role::Editor)), Err(Rejection::Hidden));
    assert_eq!(purges(&mut listed, operator), Ok(1));
    assert_eq!(purges(&mut listed, operator), Ok(0), "again");
    assert_eq!(listed.now().status, Status::Purged { at_s: listed.now_s });
    let nothing = purges(&mut Listed { listing: None, now_s: NOW_S }, operator);
    assert_eq!(nothing, Err(Rejection::Hidden), "what was never listed");
}

#[test]
fn what_is_purged_is_not_there_and_comes_never_back() {
    let mut listed = Listed::shared();
    listed.does("alice", CatalogAction::Delete).unwrap();
    listed.now_s += DELETED_KEPT_S;
    purges(&mut listed, Right::Token(Role::Owner)).unwrap();
    for action in [
        CatalogAction::Activate,
        CatalogAction::Delete,
        CatalogAction::Rename(name("Plan")),
        unshare("eve"),
    ] {
        assert_eq!(listed.does("alice", action), Err(Rejection::Hidden));
    }
    let again = CatalogAction::Create { name: name("Budget"), source: None };
    assert_eq!(listed.does("alice", again), Err(Rejection::Gone));
    for right in [Right::Membership, Right::Token(Role::Owner)] {
        let by = By { person: person("alice"), right, cap: Role::Owner };
        assert_eq!(by.role(listed.listing.as_ref(), listed.now_s), None);
    }
    let id = cellar_base::identity::LogId::from_uuid(uuid::Uuid::from_u128(1));
    let line = listed.now().list_entry(id, 9, &person("alice")).line;
    assert_eq!(line, None, "it is in nobody's list");
}

#[test]
fn what_is_deleted_is_restored_for_so_long_and_no_longer() {
    for (later_s, restored) in [(DELETED_KEPT_S - 1, Ok(1)), (DELETED_KEPT_S, Err(Rejection::Gone))]
    {
        let mut listed = Listed::by_alice();
        listed.does("alice", CatalogAction::Delete).unwrap();
        listed.now_s += later_s;
        assert_eq!(listed.does("alice", CatalogAction::Activate), restored);
    }
}
