//! Workers on snapshots: every property in every state within the bounds, and what the model finds
//! without any one of the rules.

use cellar_models::snapshots::properties::{
    COMPLETES, LAST, NOT_AGAIN, ONE_EFFECT, RANK, ROOT_BEFORE_LAST,
};
use cellar_models::snapshots::{Budget, Promises, SnapshotsModel};
use cellar_snapshot::pending_snapshot::{Rules, SafetyRule};

use crate::checking;

fn check(name: &str, model: SnapshotsModel) {
    let bounds =
        format!("{} snapshots, {} workers, {:?}", model.snapshots, model.workers, model.budget);
    checking::check(name, &bounds, model);
}

const NONE: Budget = Budget {
    crashes: 0,
    leases: 0,
    duplicates: 0,
    early: 0,
    lost_messages: 0,
    lost_replies: 0,
    stale: 0,
    rebuilds: 0,
};

#[test]
fn crashes_and_frozen_workers() {
    let budget = Budget { crashes: 2, leases: 3, early: 1, ..NONE };
    check("crashes", SnapshotsModel { budget, ..SnapshotsModel::default() });
}

#[test]
fn doubled_messages_and_lost_replies() {
    let budget = Budget { duplicates: 1, leases: 1, lost_replies: 1, stale: 1, ..NONE };
    check("doubled", SnapshotsModel { budget, ..SnapshotsModel::default() });
}

#[test]
fn functions_that_end_after_each_progress() {
    let budget = Budget { crashes: 1, leases: 1, duplicates: 1, lost_replies: 1, ..NONE };
    check(
        "handed over",
        SnapshotsModel { budget, short_functions: true, ..SnapshotsModel::default() },
    );
}

#[test]
fn two_snapshots() {
    let budget = Budget { crashes: 1, leases: 1, ..NONE };
    check("two", SnapshotsModel { snapshots: 2, budget, ..SnapshotsModel::default() });
}

#[test]
fn two_snapshots_and_lost_messages() {
    let budget = Budget { crashes: 1, lost_messages: 1, ..NONE };
    check("two, lost", SnapshotsModel { snapshots: 2, budget, ..SnapshotsModel::default() });
}

#[test]
fn three_workers() {
    let budget = Budget { early: 2, leases: 1, ..NONE };
    check("three workers", SnapshotsModel { workers: 3, budget, ..SnapshotsModel::default() });
}

#[test]
fn all_is_made_anew_whatever_workers_do() {
    let budget = Budget { rebuilds: 1, crashes: 1, leases: 1, ..NONE };
    check("anew", SnapshotsModel { budget, ..SnapshotsModel::default() });
}

#[test]
fn two_are_made_anew_one_on_the_other() {
    let budget = Budget { rebuilds: 1, ..NONE };
    check("two anew", SnapshotsModel { snapshots: 2, budget, ..SnapshotsModel::default() });
}

#[test]
fn a_rebuild_that_is_asked_for_twice() {
    let budget = Budget { rebuilds: 2, ..NONE };
    check("anew twice", SnapshotsModel { budget, ..SnapshotsModel::default() });
}

#[test]
#[ignore = "minutes: the long run"]
fn long_rebuilds() {
    let budget = Budget { rebuilds: 2, leases: 3, ..NONE };
    check("anew twice", SnapshotsModel { budget, ..SnapshotsModel::default() });
    let budget = Budget { rebuilds: 1, leases: 1, ..NONE };
    check("two anew", SnapshotsModel { snapshots: 2, budget, ..SnapshotsModel::default() });
}

#[test]
#[ignore = "minutes: the long run"]
fn long_frozen_workers() {
    let faults = Budget { duplicates: 1, lost_replies: 1, stale: 1, ..NONE };
    for short_functions in [false, true] {
        let budget = Budget { crashes: 1, leases: 2, ..faults };
        check("frozen", SnapshotsModel { budget, short_functions, ..SnapshotsModel::default() });
    }
}

#[test]
#[ignore = "minutes: the long run"]
fn long_two_snapshots() {
    let budget = Budget { crashes: 1, leases: 3, duplicates: 1, lost_replies: 1, ..NONE };
    check("two", SnapshotsModel { snapshots: 2, budget, ..SnapshotsModel::default() });
}

/// Looks for a state in which a property does not hold; fails if there is none.
fn finds(name: &str, model: SnapshotsModel, property: &'static str) {
    let model = SnapshotsModel { finishing: property == COMPLETES, ..model };
    checking::finds(name, model, &[property]);
}

fn without(rule: SafetyRule, model: SnapshotsModel, property: &'static str) {
    let rules = Rules::without(rule);
    finds(&format!("without {rule:?}"), SnapshotsModel { rules, ..model }, property);
}

#[test]
fn a_worker_that_writes_over_anything_puts_old_progress_over_new() {
    let budget = Budget { leases: 2, early: 1, ..NONE };
    let model = SnapshotsModel { budget, ..SnapshotsModel::default() };
    without(SafetyRule::OwnIncrement, model, RANK);
}

#[test]
fn a_worker_that_does_not_look_makes_a_finished_snapshot_again() {
    let budget = Budget { duplicates: 1, stale: 1, ..NONE };
    let model = SnapshotsModel { budget, ..SnapshotsModel::default() };
    without(SafetyRule::CompletionIsChecked, model, NOT_AGAIN);
}

/// Why the loser of a claim waits (the seed deletes the message): it may be the winner's own.
#[test]
fn a_loser_that_deletes_its_message_deletes_the_winners() {
    let budget = Budget { crashes: 1, early: 1, ..NONE };
    let model = SnapshotsModel { budget, ..SnapshotsModel::default() };
    without(SafetyRule::LosersKeepTheirMessage, model, COMPLETES);
}

#[test]
fn a_last_snapshot_that_is_raised_first_has_no_root() {
    without(SafetyRule::RootBeforeLast, SnapshotsModel::default(), ROOT_BEFORE_LAST);
}

#[test]
fn a_record_that_goes_too_early_takes_its_progress_along() {
    let budget = Budget { crashes: 1, leases: 2, ..NONE };
    let model = SnapshotsModel { budget, ..SnapshotsModel::default() };
    without(SafetyRule::LastBeforeDelete, model, RANK);
}

#[test]
fn a_record_without_a_message_holds_up_all_that_follow() {
    let budget = Budget { crashes: 1, lost_messages: 1, ..NONE };
    let model = SnapshotsModel { snapshots: 2, budget, ..SnapshotsModel::default() };
    without(SafetyRule::AbandonedIsWoken, model, COMPLETES);
}

#[test]
fn a_worker_that_dies_is_never_replaced() {
    let budget = Budget { crashes: 1, ..NONE };
    let model = SnapshotsModel { budget, ..SnapshotsModel::default() };
    without(SafetyRule::TakeOver, model, COMPLETES);
}

#[test]
fn a_worker_that_was_frozen_lowers_the_last_snapshot() {
    let budget = Budget { leases: 2, ..NONE };
    let promises = Promises { last_rises: false, ..Promises::ALL };
    let model = SnapshotsModel { snapshots: 2, promises, budget, ..SnapshotsModel::default() };
    finds("without raising only", model, LAST);
}

#[test]
fn a_worker_that_was_frozen_replaces_the_root() {
    let budget = Budget { leases: 2, ..NONE };
    let promises = Promises { root_if_absent: false, ..Promises::ALL };
    let model = SnapshotsModel { promises, budget, ..SnapshotsModel::default() };
    finds("without setting once", model, ONE_EFFECT);
}

#[test]
fn a_worker_that_wakes_up_late_deletes_the_record_of_a_rebuild() {
    let budget = Budget { rebuilds: 1, leases: 2, ..NONE };
    let promises = Promises { own_deleted: false, ..Promises::ALL };
    let model = SnapshotsModel { promises, budget, ..SnapshotsModel::default() };
    finds("without deleting one's own", model, COMPLETES);
}

#[test]
fn a_worker_that_was_frozen_in_a_rebuild_replaces_what_came_after_it() {
    let budget = Budget { rebuilds: 1, leases: 2, ..NONE };
    let promises = Promises { root_if_old: false, ..Promises::ALL };
    let model = SnapshotsModel { promises, budget, ..SnapshotsModel::default() };
    finds("without the old root", model, ONE_EFFECT);
}
