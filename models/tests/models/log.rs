//! Every property in every state within the bounds.

use cellar_models::log::{Budget, LogModel};

use crate::checking;

fn check(name: &str, model: LogModel) {
    let bounds = format!("mutations {:?}, {:?}", model.mutations, model.budget);
    checking::check(name, &bounds, model);
}

fn bounded(mutations: &[u64], budget: Budget) -> LogModel {
    // A trim exposes the known limitation of `LogModel::check_rejections`.
    let check_rejections = budget.trims == 0;
    let mutations = mutations.to_vec();
    LogModel { mutations, budget, check_rejections, ..LogModel::default() }
}

#[test]
fn lost_replies_and_stale_reads() {
    let budget = Budget { lost: 3, stale: 2, ..Budget::default() };
    check("lost and stale", bounded(&[2, 2], budget));
}

#[test]
fn three_writers() {
    let budget = Budget { lost: 2, stale: 2, ..Budget::default() };
    check("three writers", bounded(&[1, 1, 1], budget));
}

#[test]
fn crashes_and_other_splits() {
    let budget = Budget { lost: 1, stale: 1, abandoned: 1, ..Budget::default() };
    check("crashes", LogModel { pipelined: true, ..bounded(&[2, 1], budget) });
}

#[test]
fn a_client_with_a_base_beyond_the_end() {
    let budget = Budget { lost: 1, stale: 1, rolls: 1, ..Budget::default() };
    check("beyond the end", LogModel { beyond_end: 2, ..bounded(&[1, 2], budget) });
}

#[test]
fn rolls_in_the_middle() {
    let budget = Budget { lost: 1, stale: 1, abandoned: 1, rolls: 1, ..Budget::default() };
    check("rolls", bounded(&[1, 1], budget));
}

#[test]
fn trims_in_the_middle() {
    let budget = Budget { lost: 1, rolls: 2, trims: 1, days: 1, ..Budget::default() };
    check("trims", bounded(&[1, 1], budget));
}

#[test]
fn trims_that_stop_and_stale_reads() {
    let faults = Budget { stale: 1, abandoned: 1, trim_stops: 1, ..Budget::default() };
    let budget = Budget { rolls: 2, trims: 2, days: 1, ..faults };
    check("trims, stale", bounded(&[2], budget));
}

#[test]
fn writers_finish_when_faults_stop() {
    let finishing = |mutations, budget| LogModel { finishing: true, ..bounded(mutations, budget) };
    let budget = Budget { lost: 1, stale: 1, abandoned: 1, ..Budget::default() };
    check("finishing", finishing(&[1, 1], budget));
    let budget = Budget { lost: 1, stale: 1, rolls: 1, ..Budget::default() };
    check("finishing, roll", finishing(&[1, 1], budget));
    let faults = Budget { lost: 1, trim_stops: 1, ..Budget::default() };
    let budget = Budget { rolls: 2, trims: 1, days: 1, ..faults };
    check("finishing, trim", finishing(&[1], budget));
}

#[test]
#[ignore = "minutes: the long run"]
fn long_three_writers() {
    let budget = Budget { lost: 2, stale: 1, rolls: 1, ..Budget::default() };
    check("three writers", bounded(&[1, 1, 1], budget));
}

#[test]
#[ignore = "minutes: the long run"]
fn long_crashes() {
    let budget = Budget { lost: 2, stale: 2, abandoned: 2, ..Budget::default() };
    check("crashes", LogModel { pipelined: true, ..bounded(&[2, 1], budget) });
}

#[test]
#[ignore = "minutes: the long run"]
fn long_rolls() {
    let budget = Budget { lost: 2, stale: 1, abandoned: 1, rolls: 2, ..Budget::default() };
    check("rolls", bounded(&[1, 1], budget));
}

#[test]
#[ignore = "minutes: the long run"]
fn long_trims() {
    let faults = Budget { lost: 1, stale: 1, trim_stops: 1, ..Budget::default() };
    let budget = Budget { rolls: 2, trims: 2, days: 1, ..faults };
    check("trims", bounded(&[1, 1], budget));
}
