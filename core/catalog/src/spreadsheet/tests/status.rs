//! Tests of archiving, deletion and purge.

use super::*;
use cellar_base::limits::DELETED_KEPT_S;

#[test]
fn an_archived_spreadsheet_cannot_be_renamed() {
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
fn a_deleted_spreadsheet_is_visible_to_owners_only() {
    let mut listed = Listed::shared();
    assert_eq!(listed.does("alice", CatalogAction::Delete), Ok(1));
    listed.now_s += 7;
    assert_eq!(
        listed.does("otto", CatalogAction::Delete),
        Ok(0),
        "the time of the deletion is unchanged"
    );
    assert_eq!(listed.now().status, Status::Deleted { at_s: NOW_S });
    for action in [CatalogAction::Rename(name("Plan")), unshare("eve"), share("bob", Role::Viewer)]
    {
        assert_eq!(listed.does("alice", action), Err(Rejection::Deleted));
    }
    for action in [CatalogAction::Activate, CatalogAction::Rename(name("Plan")), unshare("eve")] {
        assert_eq!(listed.does("eve", action), Err(Rejection::Hidden));
    }
    assert_eq!(listed.does("otto", CatalogAction::Activate), Ok(1));
    assert_eq!(listed.role("eve"), Some(Role::Editor), "sharing is unchanged");
}

/// Runs a purge with this source of the role.
fn purges(listed: &mut Listed, right: Right) -> Result<usize, Rejection> {
    let by = By { person: person("operator"), right, cap: Role::Owner };
    listed.command(&Command { by, action: CatalogAction::Purge, now_s: listed.now_s, seen: None })
}

#[test]
fn only_an_operator_may_purge_after_the_period() {
    let operator = Right::Token(Role::Owner);
    let mut listed = Listed::shared();
    assert_eq!(
        purges(&mut listed, operator),
        Err(Rejection::NotPurgeable),
        "the spreadsheet is active"
    );
    listed.does("alice", CatalogAction::Archive).unwrap();
    listed.now_s += 2 * DELETED_KEPT_S;
    assert_eq!(
        purges(&mut listed, operator),
        Err(Rejection::NotPurgeable),
        "the spreadsheet is archived"
    );
    listed.does("alice", CatalogAction::Delete).unwrap();
    listed.now_s += DELETED_KEPT_S - 1;
    assert_eq!(purges(&mut listed, operator), Err(Rejection::NotPurgeable), "a second too early");
    listed.now_s += 1;
    assert_eq!(purges(&mut listed, Right::Membership), Err(Rejection::Hidden));
    assert_eq!(purges(&mut listed, Right::Token(Role::Editor)), Err(Rejection::Hidden));
    assert_eq!(purges(&mut listed, operator), Ok(1));
    assert_eq!(purges(&mut listed, operator), Ok(0), "a retry");
    assert_eq!(listed.now().status, Status::Purged { at_s: listed.now_s });
    let nothing = purges(&mut Listed { listing: None, now_s: NOW_S }, operator);
    assert_eq!(nothing, Err(Rejection::Hidden), "the spreadsheet was never listed");
}

#[test]
fn a_purged_spreadsheet_is_hidden_and_never_recreated() {
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
    assert_eq!(line, None, "a purged spreadsheet is in no list");
}

#[test]
fn limits_the_period_for_undeleting() {
    for (later_s, restored) in [(DELETED_KEPT_S - 1, Ok(1)), (DELETED_KEPT_S, Err(Rejection::Gone))]
    {
        let mut listed = Listed::by_alice();
        listed.does("alice", CatalogAction::Delete).unwrap();
        listed.now_s += later_s;
        assert_eq!(listed.does("alice", CatalogAction::Activate), restored);
    }
}
