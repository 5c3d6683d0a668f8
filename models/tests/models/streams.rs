//! Every property in every state within the bounds, and the violations without each rule.

use cellar_catalog::stream::SplitPolicy;
use cellar_catalog::stream::append::{Rules, SafetyRule};
use cellar_models::streams::properties::{
    ANSWERS, APPENDED, CONTIGUOUS, DECIDED, ETAGS, KEPT, NOT_APPENDED, ONCE, STATES,
};
use cellar_models::streams::{Budget, Conditions, StreamModel, TipCondition};

use crate::checking::{check, expect_violations};

fn bounded(commands: &[&[u8]], budget: Budget) -> StreamModel {
    let commands = commands.iter().map(|events| events.to_vec()).collect();
    StreamModel { commands, budget, ..StreamModel::default() }
}

fn check_stream(name: &str, model: StreamModel) {
    let bounds = format!("events {:?}, {:?}, {:?}", model.commands, model.policy, model.budget);
    check(name, &bounds, model);
}

#[test]
fn lost_replies_and_late_writes_to_a_stream() {
    let budget = Budget { lost: 3, ..Budget::default() };
    check_stream("stream, lost", bounded(&[&[1, 2], &[2, 1]], budget));
    let budget = Budget { lost: 2, ..Budget::default() };
    check_stream("stream, three writers", bounded(&[&[1], &[1], &[2]], budget));
}

#[test]
fn a_writer_searches_many_event_batches_for_its_own_events() {
    let budget = Budget { lost: 2, ..Budget::default() };
    check_stream("stream, many event batches", bounded(&[&[1], &[2, 2, 2, 2]], budget));
}

#[test]
fn calls_to_append_are_abandoned() {
    let budget = Budget { lost: 1, abandoned: 1, ..Budget::default() };
    check_stream("stream, abandoned", bounded(&[&[1, 2], &[2, 1]], budget));
    let repeated = bounded(&[&[1, 2], &[2]], Budget { lost: 2, ..budget });
    check_stream("stream, repeated", StreamModel { repeats: true, ..repeated });
}

#[test]
fn appends_on_old_tips() {
    let budget = Budget { lost: 1, stale: 2, ..Budget::default() };
    check_stream("stream, old tips", bounded(&[&[1, 2], &[2, 1]], budget));
    let read = bounded(&[&[1, 2], &[2, 1]], Budget { lost: 2, stale: 1, ..budget });
    let read = StreamModel { repeats: true, unfolds: false, ..read };
    check_stream("stream, old tips, no unfolds", read);
}

#[test]
fn refusals_without_the_tip() {
    let budget = Budget { lost: 2, refusals_without_tip: 2, ..Budget::default() };
    check_stream("stream, refused without tip", bounded(&[&[1, 2], &[2, 1]], budget));
}

#[test]
fn throttled_writes_and_requests_that_fail() {
    let budget = Budget { lost: 1, throttled: 1, failed: 1, ..Budget::default() };
    let model = bounded(&[&[1, 2], &[2, 1]], budget);
    check_stream("stream, failed", model.clone());
    check_stream("stream, failed, repeated", StreamModel { repeats: true, ..model });
}

/// An unfold grows with its stream, so a tip has room for three events only at first.
#[test]
fn tips_are_split_by_their_bytes() {
    let policy = SplitPolicy { bytes: 170, events: usize::MAX };
    let budget = Budget { lost: 2, ..Budget::default() };
    let model = bounded(&[&[1, 2], &[2, 1]], budget);
    check_stream("stream, bytes", StreamModel { policy, ..model });
}

#[test]
fn writers_to_a_stream_finish_when_faults_stop() {
    let finishing = |budget, repeats| {
        let model = bounded(&[&[1, 2], &[2]], budget);
        check_stream("stream, finishing", StreamModel { finishing: true, repeats, ..model });
    };
    let budget = Budget { lost: 1, refusals_without_tip: 1, failed: 1, ..Budget::default() };
    finishing(budget, false);
    finishing(Budget { lost: 1, abandoned: 1, stale: 1, ..Budget::default() }, true);
}

/// The number of events rises with each write, so it identifies a tip as well as its etag does.
#[test]
fn a_condition_on_the_number_of_events_suffices() {
    let (update, split_off) = (TipCondition::EventCount, TipCondition::EventCount);
    let conditions = Conditions { update, split_off, ..Conditions::default() };
    let budget = Budget { lost: 2, ..Budget::default() };
    let model = bounded(&[&[1, 2], &[2, 1]], budget);
    check_stream("stream, on its number", StreamModel { conditions, ..model });
}

#[test]
#[ignore = "minutes: the long run"]
fn long_streams_abandoned() {
    let budget = Budget { lost: 2, abandoned: 2, ..Budget::default() };
    check_stream("stream, abandoned", bounded(&[&[1, 2], &[2, 1]], budget));
    let repeated = bounded(&[&[1, 2], &[2]], budget);
    check_stream("stream, repeated", StreamModel { repeats: true, ..repeated });
}

#[test]
#[ignore = "minutes: the long run"]
fn long_streams_of_three_writers() {
    let budget = Budget { lost: 2, refusals_without_tip: 1, ..Budget::default() };
    check_stream("stream, three writers", bounded(&[&[1, 2], &[2], &[1]], budget));
}

/// A model with one lost reply and no other fault.
fn lossy() -> StreamModel {
    bounded(&[&[1, 2], &[2, 1]], Budget { lost: 1, ..Budget::default() })
}

fn check_without(rule: SafetyRule, properties: &[&'static str]) {
    let model = StreamModel { rules: Rules::without(rule), ..lossy() };
    expect_violations(&format!("stream, without {rule:?}"), model, properties);
}

#[test]
fn a_writer_that_skips_the_tip_appends_twice() {
    check_without(SafetyRule::SearchTip, &[ONCE, NOT_APPENDED]);
}

#[test]
fn a_writer_that_skips_event_batches_appends_twice() {
    check_without(SafetyRule::SearchBatches, &[ONCE, NOT_APPENDED]);
}

#[test]
fn a_writer_that_changes_a_pending_write_appends_twice() {
    check_without(SafetyRule::SameWrite, &[ONCE, NOT_APPENDED]);
    check_without(SafetyRule::SameWrite, &[APPENDED, ANSWERS]);
}

#[test]
fn a_writer_with_a_shared_id_claims_events_of_another() {
    let model = StreamModel { own_writer_ids: false, ..lossy() };
    expect_violations("stream, one id for all", model, &[APPENDED]);
}

#[test]
fn a_first_tip_that_is_put_twice_loses_events() {
    let conditions = Conditions { first_once: false, ..Conditions::default() };
    let model = StreamModel { conditions, ..lossy() };
    expect_violations("stream, first tips unconditional", model, &[KEPT, APPENDED, ETAGS]);
}

#[test]
fn an_update_without_a_condition_is_applied_twice() {
    let conditions = Conditions { update: TipCondition::Exists, ..Conditions::default() };
    let model = StreamModel { conditions, ..lossy() };
    expect_violations(
        "stream, updates unconditional",
        model,
        &[ONCE, DECIDED, CONTIGUOUS, ETAGS, STATES],
    );
}

/// The condition that the event batch's key is free does not detect a changed tip.
#[test]
fn a_split_without_a_condition_on_the_tip_loses_events() {
    let conditions = Conditions { split_off: TipCondition::Exists, ..Conditions::default() };
    let model = StreamModel { conditions, ..lossy() };
    expect_violations("stream, unconditional split", model, &[KEPT, APPENDED, NOT_APPENDED]);
}

#[test]
fn an_event_batch_without_its_tip_duplicates_events() {
    let conditions = Conditions { one_transaction: false, ..Conditions::default() };
    let model = StreamModel { conditions, ..lossy() };
    expect_violations("stream, no transaction", model, &[CONTIGUOUS, ONCE, STATES]);
}
