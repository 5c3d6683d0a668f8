//! Sharing with people.

use super::*;
use cellar_base::limits::MAX_MEMBERS;

#[test]
fn somebody_may_do_what_they_were_told_last() {
    let mut listed = Listed::shared();
    assert_eq!(listed.does("alice", share("vera", Role::Editor)), Ok(1));
    assert_eq!(listed.does("alice", share("vera", Role::Editor)), Ok(0));
    assert_eq!(listed.role("vera"), Some(Role::Editor));
    assert_eq!(listed.does("alice", unshare("vera")), Ok(1));
    assert_eq!(listed.does("alice", unshare("vera")), Ok(0));
    assert_eq!(listed.role("vera"), None);
}

#[test]
fn a_namesake_of_another_issuer_is_not_shared_with() {
    let mut listed = Listed::by_alice();
    let other = Person::new("https://elsewhere", "bob").unwrap();
    listed.does("alice", CatalogAction::Share { with: other.clone(), role: Role::Owner }).unwrap();
    assert_eq!((listed.role("bob"), listed.now().role_of(&other)), (None, Some(Role::Owner)));
    listed.does("alice", unshare("bob")).unwrap();
    assert_eq!(listed.now().role_of(&other), Some(Role::Owner));
}

#[test]
fn there_is_always_an_owner() {
    let mut listed = Listed::by_alice();
    listed.does("alice", share("eve", Role::Editor)).unwrap();
    assert_eq!(listed.does("alice", unshare("alice")), Err(Rejection::LastOwner));
    assert_eq!(listed.does("alice", share("alice", Role::Viewer)), Err(Rejection::WithOneself));
    let operator = |action| Command {
        by: By { person: person("op"), right: Right::Token(Role::Owner), cap: Role::Owner },
        action,
        now_s: NOW_S,
        seen: None,
    };
    for action in [unshare("alice"), share("alice", Role::Editor)] {
        assert_eq!(listed.command(&operator(action)), Err(Rejection::LastOwner));
    }
    listed.does("alice", share("eve", Role::Owner)).unwrap();
    assert_eq!(listed.does("eve", share("alice", Role::Viewer)), Ok(1));
    assert_eq!(listed.does("eve", unshare("eve")), Err(Rejection::LastOwner));
    assert_eq!(listed.now().owners(), 1);
}

#[test]
fn everybody_may_leave() {
    for somebody in ["otto", "eve", "vera"] {
        let mut listed = Listed::shared();
        assert_eq!(listed.does(somebody, unshare(somebody)), Ok(1));
        assert_eq!(listed.role(somebody), None);
        assert_eq!(listed.does(somebody, unshare(somebody)), Err(Rejection::Hidden));
    }
    let by_a_token_to_read = Command {
        by: By { person: person("otto"), right: Right::Membership, cap: Role::Viewer },
        action: unshare("otto"),
        now_s: NOW_S,
        seen: None,
    };
    let refused = Err(Rejection::Role { has: Role::Viewer, needs: Role::Editor });
    assert_eq!(Listed::shared().command(&by_a_token_to_read), refused);
    let refused = Listed::shared().does("eve", unshare("vera"));
    assert_eq!(refused, Err(Rejection::Role { has: Role::Editor, needs: Role::Owner }));
}

#[test]
fn nobody_shares_with_themselves() {
    let mut listed = Listed::shared();
    assert_eq!(listed.does("otto", share("otto", Role::Viewer)), Err(Rejection::WithOneself));
    assert_eq!(listed.does("otto", share("otto", Role::Owner)), Ok(0), "it is so");
    assert_eq!(listed.role("otto"), Some(Role::Owner));
}

#[test]
fn a_spreadsheet_has_so_many_members_and_no_more() {
    let mut listed = Listed::by_alice();
    for number in 1..MAX_MEMBERS {
        let done = listed.does("alice", share(&format!("person {number}"), Role::Viewer));
        assert_eq!(done, Ok(1));
    }
    assert_eq!(listed.now().members.len(), MAX_MEMBERS);
    assert_eq!(listed.does("alice", share("one more", Role::Viewer)), Err(Rejection::Members));
    // Whoever is there already may be told otherwise, and whoever leaves makes room.
    assert_eq!(listed.does("alice", share("person 7", Role::Editor)), Ok(1));
    assert_eq!(listed.does("person 7", unshare("person 7")), Ok(1));
    assert_eq!(listed.does("alice", share("one more", Role::Viewer)), Ok(1));
}
