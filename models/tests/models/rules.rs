//! Checks that the log model violates a property if a safety rule is switched off.

use cellar_log::append::{Rules, SafetyRule};
use cellar_log::retention::Fences;
use cellar_models::log::properties::{
    ACKNOWLEDGED, LINKS, NO_GAP, ONCE, PREFIX, REFUSALS, REJECTIONS,
};
use cellar_models::log::{Budget, LogModel};

use crate::checking::expect_violations;

fn check_without(rule: SafetyRule, model: LogModel, properties: &[&'static str]) {
    expect_violations(
        &format!("without {rule:?}"),
        LogModel { rules: Rules::without(rule), ..model },
        properties,
    );
}

#[test]
fn a_writer_that_trusts_its_base_leaves_a_gap() {
    let model = LogModel { beyond_end: 2, ..LogModel::default() };
    check_without(SafetyRule::KnownExists, model, &[NO_GAP]);
}

#[test]
fn a_writer_that_trusts_a_trimmed_base_puts_into_a_dead_segment() {
    let budget = Budget { rolls: 2, trims: 1, days: 1, ..Budget::default() };
    let model =
        LogModel { budget, mutations: vec![2, 1], check_rejections: false, ..LogModel::default() };
    check_without(SafetyRule::KnownExists, model, &[PREFIX, ACKNOWLEDGED]);
}

#[test]
fn another_key_after_a_lost_reply_duplicates_the_mutation_or_leaves_a_gap() {
    let budget = Budget { lost: 1, ..Budget::default() };
    let model = LogModel { budget, ..LogModel::default() };
    check_without(SafetyRule::SameKeyRetry, model, &[ONCE, NO_GAP]);
}

#[test]
fn a_writer_that_skips_a_hole_duplicates_the_mutation() {
    let budget = Budget { stale: 1, abandoned: 1, ..Budget::default() };
    let model = LogModel { budget, ..LogModel::default() };
    check_without(SafetyRule::NoSkippedEntry, model, &[ONCE]);
}

#[test]
fn a_writer_that_skips_the_end_segment_check_puts_after_it() {
    let budget = Budget { rolls: 1, ..Budget::default() };
    let model = LogModel { budget, ..LogModel::default() };
    check_without(SafetyRule::EndSegmentCheck, model, &[LINKS, ACKNOWLEDGED]);
}

#[test]
fn a_writer_that_trusts_a_stale_read_refuses_without_reason() {
    let budget = Budget { stale: 1, abandoned: 1, ..Budget::default() };
    let mutations = vec![2, 1];
    let model = LogModel { budget, mutations, pipelined: true, ..LogModel::default() };
    check_without(SafetyRule::ConsistentRefusal, model, &[REFUSALS]);
}

#[test]
fn a_trim_that_does_not_wait_lets_a_writer_put_into_a_dead_segment() {
    let budget = Budget { rolls: 2, trims: 1, ..Budget::default() };
    let fences = Fences { age: false, tombstones: true };
    let model = LogModel { budget, fences, check_rejections: false, ..LogModel::default() };
    expect_violations("without the fence of age", model, &[PREFIX, ACKNOWLEDGED]);
}

#[test]
fn a_trim_that_deletes_the_end_segment_lets_a_writer_put_into_a_dead_segment() {
    let budget = Budget { rolls: 2, trims: 1, days: 1, ..Budget::default() };
    let fences = Fences { age: true, tombstones: false };
    let model = LogModel { budget, fences, check_rejections: false, ..LogModel::default() };
    expect_violations("without tombstones", model, &[LINKS, ACKNOWLEDGED]);
}

/// Shows a known limitation, see [`LogModel::check_rejections`]: the mutation takes effect once, but
/// the client is told that it was rejected. If this test fails, the limitation is gone: check
/// rejections in every model.
#[test]
fn a_repeated_request_with_a_trimmed_base_is_rejected_although_it_succeeded() {
    let budget = Budget { lost: 0, abandoned: 1, rolls: 2, trims: 1, days: 1, ..Budget::default() };
    let model = LogModel { budget, mutations: vec![1], ..LogModel::default() };
    expect_violations("known limitation", model, &[REJECTIONS]);
}

#[test]
fn a_frozen_writer_puts_into_a_dead_segment() {
    let budget = Budget { lost: 1, rolls: 2, trims: 1, days: 1, ..Budget::default() };
    let model = LogModel { budget, check_rejections: false, ..LogModel::default() };
    check_without(SafetyRule::BoundedAge, model, &[PREFIX]);
}
