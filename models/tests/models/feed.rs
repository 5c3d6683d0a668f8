//! Every property in every state within the bounds, and the violations without each rule.

use cellar_catalog::feed::{PartitionPolicy, Rules, SafetyRule};
use cellar_models::feed::{Budget, FeedModel, ORDERED, Part, REACTED};

use crate::checking::{check, expect_violations};

/// Partitions of two items and the end item.
const SHORT: PartitionPolicy = PartitionPolicy { bytes: u64::MAX, items: 3 };

fn bounded(batches: &[&[&[Part]]], budget: Budget) -> FeedModel {
    let batches = batches.iter().map(|all| all.iter().map(|batch| batch.to_vec()).collect());
    FeedModel {
        rules: Rules::default(),
        policy: SHORT,
        batches: batches.collect(),
        streams: vec![3, 2],
        budget,
    }
}

fn check_feed(name: &str, model: FeedModel) {
    let bounds = format!("batches {:?}, {:?}", model.batches, model.budget);
    check(name, &bounds, model);
}

/// Both indexers get the same records in different order; one record of stream 0 is lost.
const DOUBLED: [&[&[Part]]; 2] =
    [&[&[(0, 0, 1)], &[(0, 2, 1), (1, 0, 1)]], &[&[(1, 0, 2)], &[(0, 0, 1), (0, 2, 1)]]];

/// A model with at most three items, in partitions of one item and the end item.
fn few(budget: Budget) -> FeedModel {
    let batches: [&[&[Part]]; 2] = [&[&[(0, 1, 1)], &[(1, 0, 1)]], &[&[(0, 0, 2)]]];
    let policy = PartitionPolicy { items: 2, ..SHORT };
    FeedModel { policy, ..bounded(&batches, budget) }
}

#[test]
fn duplicated_reordered_and_lost_records() {
    check_feed("feed, doubled", bounded(&DOUBLED, Budget::default()));
}

#[test]
fn lost_replies_and_late_writes_to_the_index() {
    check_feed("feed, lost", bounded(&DOUBLED, Budget { lost: 1, ..Budget::default() }));
    check_feed("feed, two lost", few(Budget { lost: 2, ..Budget::default() }));
}

#[test]
fn indexers_that_crash() {
    check_feed("feed, deaths", bounded(&DOUBLED, Budget { crashes: 1, ..Budget::default() }));
    let budget = Budget { lost: 1, crashes: 1, ..Budget::default() };
    check_feed("feed, lost and deaths", few(budget));
}

#[test]
fn a_new_generation_starts_while_others_index() {
    let batches: [&[&[Part]]; 2] = [&[&[(0, 0, 1)], &[(0, 2, 1)]], &[&[(0, 0, 2)]]];
    let budget = Budget { lost: 1, crashes: 0, rebuilds: 1 };
    check_feed("feed, new generation", bounded(&batches, budget));
}

fn check_without(rule: SafetyRule, budget: Budget, properties: &[&'static str]) {
    let model = FeedModel { rules: Rules::without(rule), ..bounded(&DOUBLED, budget) };
    expect_violations(&format!("feed, without {rule:?}"), model, properties);
}

#[test]
fn an_indexer_that_does_not_settle_first_indexes_twice() {
    check_without(SafetyRule::SettleFirst, Budget { crashes: 1, ..Budget::default() }, &[ORDERED]);
}

#[test]
fn an_indexer_that_fills_no_gaps_leaves_gaps() {
    check_without(SafetyRule::FillGaps, Budget::default(), &[ORDERED]);
}

#[test]
fn an_indexer_that_skips_trimming_indexes_twice() {
    check_without(SafetyRule::TrimSeen, Budget::default(), &[ORDERED]);
}

#[test]
fn an_indexer_that_reacts_later_may_never_react() {
    check_without(SafetyRule::ReactFirst, Budget::default(), &[REACTED]);
}

#[test]
fn an_indexer_that_trusts_old_marks_after_a_refusal_indexes_twice() {
    let batches: [&[&[Part]]; 2] = [&[&[(0, 0, 1)], &[(0, 1, 1)]], &[&[(0, 0, 2)], &[(1, 0, 1)]]];
    let rules = Rules::without(SafetyRule::ForgetWhenRefused);
    let model = FeedModel { rules, ..bounded(&batches, Budget::default()) };
    expect_violations("feed, without ForgetWhenRefused", model, &[ORDERED]);
}
