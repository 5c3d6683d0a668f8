//! Every property in every state within the bounds.

use std::time::Instant;

use cellar_models::log::{Budget, LogModel};
use stateright::{Checker, Model};

/// Visits every state, prints the bounds and the speed, and fails with the shortest way to a
/// state in which a property does not hold.
fn check(name: &str, model: LogModel) {
    let bounds = format!("{:?} {:?}", model.mutations, model.budget);
    let began = Instant::now();
    let checker = model.checker().threads(2).spawn_bfs().join();
    let (states, seconds) = (checker.unique_state_count(), began.elapsed().as_secs_f64());
    println!(
        "{name}: {states} states, depth {}, {seconds:.1} s, {:.0} states/s; {bounds}",
        checker.max_depth(),
        states as f64 / seconds,
    );
    checker.assert_properties();
}

#[test]
fn lost_replies_and_stale_reads() {
    let budget = Budget { lost: 3, stale: 2, ..Budget::default() };
    check("lost and stale", LogModel { budget, mutations: vec![2, 2], ..LogModel::default() });
}

#[test]
fn crashes_and_other_splits() {
    let budget = Budget { lost: 1, stale: 1, given_up: 1, ..Budget::default() };
    let mutations = vec![2, 1];
    check("crashes", LogModel { budget, mutations, pipelined: true, ..LogModel::default() });
}

#[test]
fn three_writers() {
    let budget = Budget { lost: 1, stale: 1, ..Budget::default() };
    check("three writers", LogModel { budget, mutations: vec![1, 1, 1], ..LogModel::default() });
}

#[test]
fn rolls_in_the_middle() {
    let budget = Budget { lost: 1, stale: 1, given_up: 1, rolls: 1, ..Budget::default() };
    check("rolls", LogModel { budget, ..LogModel::default() });
}

#[test]
fn purges_in_the_middle() {
    let budget = Budget { lost: 1, stale: 0, rolls: 2, purges: 1, days: 1, ..Budget::default() };
    check("purges", LogModel { budget, judge_rejections: false, ..LogModel::default() });
}

#[test]
fn purges_and_stale_reads() {
    let budget = Budget {
        stale: 1,
        given_up: 1,
        rolls: 2,
        purges: 2,
        purge_stops: 1,
        days: 1,
        ..Budget::default()
    };
    check(
        "purges, stale",
        LogModel { budget, mutations: vec![2], judge_rejections: false, ..LogModel::default() },
    );
}

#[test]
fn writers_finish_when_faults_stop() {
    let budget = Budget { lost: 1, stale: 1, given_up: 1, ..Budget::default() };
    check("finishing", LogModel { budget, finishing: true, ..LogModel::default() });
    let budget = Budget { lost: 1, stale: 1, rolls: 1, ..Budget::default() };
    check("finishing, roll", LogModel { budget, finishing: true, ..LogModel::default() });
    let budget =
        Budget { lost: 1, rolls: 2, purges: 1, purge_stops: 1, days: 1, ..Budget::default() };
    check(
        "finishing, purge",
        LogModel {
            budget,
            mutations: vec![1],
            judge_rejections: false,
            finishing: true,
            ..LogModel::default()
        },
    );
}
