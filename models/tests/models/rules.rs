//! Without any one of the rules the model finds what the rule prevents: the checks can fail.

use cellar_log::append::{Rules, SafetyRule};
use cellar_log::retention::Fences;
use cellar_models::log::properties::{
    ACKNOWLEDGED, LINKS, NO_GAP, ONCE, PREFIX, REFUSALS, REJECTIONS,
};
use cellar_models::log::{Budget, LogModel};

use crate::checking::finds;

fn without(rule: SafetyRule, model: LogModel, properties: &[&'static str]) {
    finds(
        &format!("without {rule:?}"),
        LogModel { rules: Rules::without(rule), ..model },
        properties,
    );
}

#[test]
fn a_writer_that_trusts_its_base_leaves_a_gap() {
    let model = LogModel { beyond_end: 2, ..LogModel::default() };
    without(SafetyRule::KnownExists, model, &[NO_GAP]);
}

#[test]
fn a_writer_that_trusts_a_trimmed_base_puts_into_a_dead_segment() {
    let budget = Budget { rolls: 2, trims: 1, days: 1, ..Budget::default() };
    let model =
        LogModel { budget, mutations: vec![2, 1], judge_rejections: false, ..LogModel::default() };
    without(SafetyRule::KnownExists, model, &[PREFIX, ACKNOWLEDGED]);
}

#[test]
fn another_key_after_a_lost_reply_doubles_the_mutation_or_leaves_a_gap() {
    let budget = Budget { lost: 1, ..Budget::default() };
    let model = LogModel { budget, ..LogModel::default() };
    without(SafetyRule::SameKeyRetry, model, &[ONCE, NO_GAP]);
}

#[test]
fn a_writer_that_skips_a_hole_doubles_the_mutation() {
    let budget = Budget { stale: 1, given_up: 1, ..Budget::default() };
    let model = LogModel { budget, ..LogModel::default() };
    without(SafetyRule::NoSkippedEntry, model, &[ONCE]);
}

#[test]
fn a_writer_that_does_not_look_for_the_end_puts_behind_it() {
    let budget = Budget { rolls: 1, ..Budget::default() };
    let model = LogModel { budget, ..LogModel::default() };
    without(SafetyRule::EndSegmentCheck, model, &[LINKS, ACKNOWLEDGED]);
}

#[test]
fn a_writer_that_believes_a_stale_read_refuses_without_reason() {
    let budget = Budget { stale: 1, given_up: 1, ..Budget::default() };
    let mutations = vec![2, 1];
    let model = LogModel { budget, mutations, pipelined: true, ..LogModel::default() };
    without(SafetyRule::ConsistentRefusal, model, &[REFUSALS]);
}

#[test]
fn a_trim_that_does_not_wait_lets_a_writer_put_into_a_dead_segment() {
    let budget = Budget { rolls: 2, trims: 1, ..Budget::default() };
    let fences = Fences { age: false, tombstones: true };
    let model = LogModel { budget, fences, judge_rejections: false, ..LogModel::default() };
    finds("without the fence of age", model, &[PREFIX, ACKNOWLEDGED]);
}

#[test]
fn a_trim_that_takes_the_end_lets_a_writer_put_into_a_dead_segment() {
    let budget = Budget { rolls: 2, trims: 1, days: 1, ..Budget::default() };
    let fences = Fences { age: true, tombstones: false };
    let model = LogModel { budget, fences, judge_rejections: false, ..LogModel::default() };
    finds("without tombstones", model, &[LINKS, ACKNOWLEDGED]);
}

/// A known limit, see [`LogModel::judge_rejections`]: no effect is doubled in the log, but the
/// client is told that there was none. When this fails, judge rejections in every model.
#[test]
fn a_repeated_request_whose_base_was_trimmed_is_rejected_although_it_got_through() {
    let budget = Budget { lost: 0, given_up: 1, rolls: 2, trims: 1, days: 1, ..Budget::default() };
    let model = LogModel { budget, mutations: vec![1], ..LogModel::default() };
    finds("known limit", model, &[REJECTIONS]);
}

#[test]
fn a_writer_that_was_frozen_puts_into_a_dead_segment() {
    let budget = Budget { lost: 1, rolls: 2, trims: 1, days: 1, ..Budget::default() };
    let model = LogModel { budget, judge_rejections: false, ..LogModel::default() };
    without(SafetyRule::BoundedAge, model, &[PREFIX]);
}
