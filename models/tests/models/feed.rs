//! Every property in every state within the bounds, and what breaks without each rule.

use cellar_catalog::feed::{PartitionPolicy, Rules, SafetyRule};
use cellar_models::feed::{Budget, FeedModel, ORDERED, Part, REACTED};

use crate::checking::{check, finds};

/// Two items, and the end.
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

/// The same records at both, in another order; one of stream 0 is lost.
const DOUBLED: [&[&[Part]]; 2] =
    [&[&[(0, 0, 1)], &[(0, 2, 1), (1, 0, 1)]], &[&[(1, 0, 2)], &[(0, 0, 1), (0, 2, 1)]]];

/// Three items at most, in partitions of one and the end.
fn few(budget: Budget) -> FeedModel {
    let batches: [&[&[Part]]; 2] = [&[&[(0, 1, 1)], &[(1, 0, 1)]], &[&[(0, 0, 2)]]];
    let policy = PartitionPolicy { items: 2, ..SHORT };
    FeedModel { policy, ..bounded(&batches, budget) }
}

#[test]
fn records_that_come_twice_out_of_order_and_not_at_all() {
    check_feed("feed, doubled", bounded(&DOUBLED, Budget::default()));
}

#[test]
fn lost_replies_and_late_writes_to_the_index() {
    check_feed("feed, lost", bounded(&DOUBLED, Budget { lost: 1, ..Budget::default() }));
    check_feed("feed, two lost", few(Budget { lost: 2, ..Budget::default() }));
}

#[test]
fn indexers_that_die() {
    check_feed("feed, deaths", bounded(&DOUBLED, Budget { deaths: 1, ..Budget::default() }));
    let budget = Budget { lost: 1, deaths: 1, ..Budget::default() };
    check_feed("feed, lost and deaths", few(budget));
}

#[test]
fn a_feed_is_built_anew_while_others_index() {
    let batches: [&[&[Part]]; 2] = [&[&[(0, 0, 1)], &[(0, 2, 1)]], &[&[(0, 0, 2)]]];
    let budget = Budget { lost: 1, deaths: 0, rebuilds: 1 };
    check_feed("feed, anew", bounded(&batches, budget));
}

fn without(rule: SafetyRule, budget: Budget, properties: &[&'static str]) {
    let model = FeedModel { rules: Rules::without(rule), ..bounded(&DOUBLED, budget) };
    finds(&format!("feed, without {rule:?}"), model, properties);
}

#[test]
fn who_does_not_settle_what_another_put_indexes_it_twice() {
    without(SafetyRule::SettleFirst, Budget { deaths: 1, ..Budget::default() }, &[ORDERED]);
}

#[test]
fn who_fills_no_gaps_leaves_them() {
    without(SafetyRule::FillGaps, Budget::default(), &[ORDERED]);
}

#[test]
fn who_does_not_trim_indexes_twice() {
    without(SafetyRule::TrimSeen, Budget::default(), &[ORDERED]);
}

#[test]
fn who_reacts_later_may_never() {
    without(SafetyRule::ReactFirst, Budget::default(), &[REACTED]);
}

#[test]
fn who_believes_old_marks_after_a_refusal_indexes_twice() {
    let batches: [&[&[Part]]; 2] = [&[&[(0, 0, 1)], &[(0, 1, 1)]], &[&[(0, 0, 2)], &[(1, 0, 1)]]];
    let rules = Rules::without(SafetyRule::ForgetWhenRefused);
    let model = FeedModel { rules, ..bounded(&batches, Budget::default()) };
    finds("feed, without ForgetWhenRefused", model, &[ORDERED]);
}
