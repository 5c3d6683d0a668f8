//! Archived, deleted and restored.

use super::*;
use crate::limits::DELETED_KEPT_S;

#[test]
fn what_is_archived_is_restored_or_deleted_and_not_renamed() {
    let mut listed = Listed::shared();
    assert_eq!(listed.does("alice", Action::Archive), Ok(1));
    assert_eq!(listed.does("otto", Action::Archive), Ok(0));
    assert_eq!(listed.now().status, Status::Archived { at_s: NOW_S });
    assert_eq!(listed.does("eve", Action::Rename(name("Plan"))), Err(Rejection::Archived));
    assert_eq!(listed.does("alice", share("bob", Role::Viewer)), Ok(1));
    assert_eq!(listed.does("alice", Action::Restore), Ok(1));
    assert_eq!(listed.does("alice", Action::Restore), Ok(0));
    assert_eq!(listed.now().status, Status::Active);
    listed.does("alice", Action::Archive).unwrap();
    assert_eq!(listed.does("alice", Action::Delete), Ok(1));
    assert_eq!(listed.does("alice", Action::Archive), Err(Rejection::Deleted));
    assert_eq!(listed.does("alice", Action::Restore), Ok(1));
    assert_eq!(listed.now().status, Status::Active);
}

#[test]
fn what_is_deleted_is_there_for_its_owners_alone() {
    let mut listed = Listed::shared();
    assert_eq!(listed.does("alice", Action::Delete), Ok(1));
    listed.now_s += 7;
    assert_eq!(listed.does("otto", Action::Delete), Ok(0), "since when it is deleted stays");
    assert_eq!(listed.now().status, Status::Deleted { at_s: NOW_S });
    for action in [Action::Rename(name("Plan")), unshare("eve"), share("bob", Role::Viewer)] {
        assert_eq!(listed.does("alice", action), Err(Rejection::Deleted));
    }
    for action in [Action::Restore, Action::Rename(name("Plan")), unshare("eve")] {
        assert_eq!(listed.does("eve", action), Err(Rejection::Hidden));
    }
    assert_eq!(listed.does("otto", Action::Restore), Ok(1));
    assert_eq!(listed.role("eve"), Some(Role::Editor), "it is shared as before");
}

#[test]
fn what_is_deleted_is_restored_for_so_long_and_no_longer() {
    for (later_s, restored) in [(DELETED_KEPT_S - 1, Ok(1)), (DELETED_KEPT_S, Err(Rejection::Gone))]
    {
        let mut listed = Listed::by_alice();
        listed.does("alice", Action::Delete).unwrap();
        listed.now_s += later_s;
        assert_eq!(listed.does("alice", Action::Restore), restored);
    }
}
