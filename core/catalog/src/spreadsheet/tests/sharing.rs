//! Tests of sharing with persons.

use super::*;
use cellar_base::limits::MAX_MEMBERS;

#[test]
fn the_last_role_of_a_member_applies() {
    let mut listed = Listed::shared();
    assert_eq!(listed.does("alice", share("vera", Role::Editor)), Ok(1));
    assert_eq!(listed.does("alice", share("vera", Role::Editor)), Ok(0));
    assert_eq!(listed.role("vera"), Some(Role::Editor));
    assert_eq!(listed.does("alice", unshare("vera")), Ok(1));
    assert_eq!(listed.does("alice", unshare("vera")), Ok(0));
    assert_eq!(listed.role("vera"), None);
}

#[test]
fn sharing_depends_on_the_issuer() {
    let mut listed = Listed::by_alice();
    let other = Person::new("https://elsewhere", "bob").unwrap();
    listed.does("alice", CatalogAction::Share { with: other.clone(), role: Role::Owner }).unwrap();
    assert_eq!((listed.role("bob"), listed.now().role_of(&other)), (None, Some(Role::Owner)));
    listed.does("alice", unshare("bob")).unwrap();
    assert_eq!(listed.now().role_of(&other), Some(Role::Owner));
}

#[test]
fn the_last_owner_cannot_be_removed() {
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
    assert_eq!(listed.now().owner_count(), 1);
}

#[test]
fn every_member_may_leave() {
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
fn members_cannot_change_their_own_role() {
    let mut listed = Listed::shared();
    assert_eq!(listed.does("otto", share("otto", Role::Viewer)), Err(Rejection::WithOneself));
    assert_eq!(listed.does("otto", share("otto", Role::Owner)), Ok(0), "the role is unchanged");
    assert_eq!(listed.role("otto"), Some(Role::Owner));
}

#[test]
fn limits_the_members_of_a_spreadsheet() {
    let mut listed = Listed::by_alice();
    for number in 1..MAX_MEMBERS {
        let done = listed.does("alice", share(&format!("person {number}"), Role::Viewer));
        assert_eq!(done, Ok(1));
    }
    assert_eq!(listed.now().members.len(), MAX_MEMBERS);
    assert_eq!(listed.does("alice", share("one more", Role::Viewer)), Err(Rejection::Members));
    // Existing members can get another role, and a member who leaves frees a place.
    assert_eq!(listed.does("alice", share("person 7", Role::Editor)), Ok(1));
    assert_eq!(listed.does("person 7", unshare("person 7")), Ok(1));
    assert_eq!(listed.does("alice", share("one more", Role::Viewer)), Ok(1));
}
