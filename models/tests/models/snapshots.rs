//! Workers on snapshots: checks every property in every state within the bounds, and that the model
//! violates a property if a rule is switched off.

use cellar_models::snapshots::properties::{
    COMPLETES, LAST, NOT_AGAIN, ONE_EFFECT, RANK, ROOT_BEFORE_LAST,
};
use cellar_models::snapshots::{Budget, Guarantees, SnapshotsModel};
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
fn invocations_that_end_after_each_step() {
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
fn a_rebuild_completes_despite_crashes() {
    let budget = Budget { rebuilds: 1, crashes: 1, leases: 1, ..NONE };
    check("rebuild", SnapshotsModel { budget, ..SnapshotsModel::default() });
}

#[test]
fn two_snapshots_are_rebuilt_in_order() {
    let budget = Budget { rebuilds: 1, ..NONE };
    check("two rebuilds", SnapshotsModel { snapshots: 2, budget, ..SnapshotsModel::default() });
}

#[test]
fn two_rebuilds_of_the_same_snapshot() {
    let budget = Budget { rebuilds: 2, ..NONE };
    check("rebuild twice", SnapshotsModel { budget, ..SnapshotsModel::default() });
}

#[test]
#[ignore = "minutes: the long run"]
fn long_rebuilds() {
    let budget = Budget { rebuilds: 2, leases: 3, ..NONE };
    check("rebuild twice", SnapshotsModel { budget, ..SnapshotsModel::default() });
    let budget = Budget { rebuilds: 1, leases: 1, ..NONE };
    check("two rebuilds", SnapshotsModel { snapshots: 2, budget, ..SnapshotsModel::default() });
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

/// Checks that the model violates a property; fails if the property holds in every state.
fn expect_violation(name: &str, model: SnapshotsModel, property: &'static str) {
    let model = SnapshotsModel { finishing: property == COMPLETES, ..model };
    checking::expect_violations(name, model, &[property]);
}

fn check_without(rule: SafetyRule, model: SnapshotsModel, property: &'static str) {
    let rules = Rules::without(rule);
    expect_violation(&format!("without {rule:?}"), SnapshotsModel { rules, ..model }, property);
}

#[test]
fn an_unconditional_write_overwrites_newer_progress() {
    let budget = Budget { leases: 2, early: 1, ..NONE };
    let model = SnapshotsModel { budget, ..SnapshotsModel::default() };
    check_without(SafetyRule::OwnIncrement, model, RANK);
}

#[test]
fn without_a_completion_check_a_finished_snapshot_is_built_again() {
    let budget = Budget { duplicates: 1, stale: 1, ..NONE };
    let model = SnapshotsModel { budget, ..SnapshotsModel::default() };
    check_without(SafetyRule::CompletionIsChecked, model, NOT_AGAIN);
}

/// Explains why the loser of a claim must wait: the message may be the winner's own.
#[test]
fn a_loser_that_deletes_its_message_deletes_the_winners() {
    let budget = Budget { crashes: 1, early: 1, ..NONE };
    let model = SnapshotsModel { budget, ..SnapshotsModel::default() };
    check_without(SafetyRule::LosersKeepTheirMessage, model, COMPLETES);
}

#[test]
fn raising_the_last_snapshot_first_leaves_it_without_a_root() {
    check_without(SafetyRule::RootBeforeLast, SnapshotsModel::default(), ROOT_BEFORE_LAST);
}

#[test]
fn deleting_the_record_too_early_loses_its_progress() {
    let budget = Budget { crashes: 1, leases: 2, ..NONE };
    let model = SnapshotsModel { budget, ..SnapshotsModel::default() };
    check_without(SafetyRule::LastBeforeDelete, model, RANK);
}

#[test]
fn a_record_without_a_message_blocks_later_snapshots() {
    let budget = Budget { crashes: 1, lost_messages: 1, ..NONE };
    let model = SnapshotsModel { snapshots: 2, budget, ..SnapshotsModel::default() };
    check_without(SafetyRule::AbandonedIsWoken, model, COMPLETES);
}

#[test]
fn without_takeover_a_crashed_worker_is_never_replaced() {
    let budget = Budget { crashes: 1, ..NONE };
    let model = SnapshotsModel { budget, ..SnapshotsModel::default() };
    check_without(SafetyRule::TakeOver, model, COMPLETES);
}

#[test]
fn a_frozen_worker_lowers_the_last_snapshot() {
    let budget = Budget { leases: 2, ..NONE };
    let guarantees = Guarantees { raise_last_only: false, ..Guarantees::ALL };
    let model = SnapshotsModel { snapshots: 2, guarantees, budget, ..SnapshotsModel::default() };
    expect_violation("without raising only", model, LAST);
}

#[test]
fn a_frozen_worker_replaces_the_root() {
    let budget = Budget { leases: 2, ..NONE };
    let guarantees = Guarantees { set_root_once: false, ..Guarantees::ALL };
    let model = SnapshotsModel { guarantees, budget, ..SnapshotsModel::default() };
    expect_violation("without setting once", model, ONE_EFFECT);
}

#[test]
fn a_late_worker_deletes_the_record_of_a_rebuild() {
    let budget = Budget { rebuilds: 1, leases: 2, ..NONE };
    let guarantees = Guarantees { delete_own_only: false, ..Guarantees::ALL };
    let model = SnapshotsModel { guarantees, budget, ..SnapshotsModel::default() };
    expect_violation("without deleting one's own", model, COMPLETES);
}

#[test]
fn a_worker_frozen_in_a_rebuild_replaces_a_newer_root() {
    let budget = Budget { rebuilds: 1, leases: 2, ..NONE };
    let guarantees = Guarantees { replace_old_root_only: false, ..Guarantees::ALL };
    let model = SnapshotsModel { guarantees, budget, ..SnapshotsModel::default() };
    expect_violation("without the old root", model, ONE_EFFECT);
}
