//! Every property in every state within the bounds, and what breaks without each rule.

use cellar_catalog::stream::SplitPolicy;
use cellar_catalog::stream::append::{Rules, SafetyRule};
use cellar_models::streams::properties::{
    ANSWERS, APPENDED, DECIDED, ETAGS, JOINED, KEPT, NOT_APPENDED, ONCE, STATES,
};
use cellar_models::streams::{Budget, Conditions, StreamModel, TipCondition};

use crate::checking::{check, finds};

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
fn calls_to_append_are_given_up() {
    let budget = Budget { lost: 1, given_up: 1, ..Budget::default() };
    check_stream("stream, given up", bounded(&[&[1, 2], &[2, 1]], budget));
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
fn refusals_that_do_not_tell_why() {
    let budget = Budget { lost: 2, untold: 2, ..Budget::default() };
    check_stream("stream, untold", bounded(&[&[1, 2], &[2, 1]], budget));
}

#[test]
fn throttled_writes_and_requests_that_fail() {
    let budget = Budget { lost: 1, throttled: 1, failed: 1, ..Budget::default() };
    let model = bounded(&[&[1, 2], &[2, 1]], budget);
    check_stream("stream, failed", model.clone());
    check_stream("stream, failed, repeated", StreamModel { repeats: true, ..model });
}

/// An unfold grows with its stream: three events fit into a tip at first, and later no more.
#[test]
fn tips_are_split_by_their_bytes() {
    let policy = SplitPolicy { bytes: 170, events: usize::MAX };
    let budget = Budget { lost: 2, ..Budget::default() };
    let model = bounded(&[&[1, 2], &[2, 1]], budget);
    check_stream("stream, bytes", StreamModel { policy, ..model });
}

#[test]
fn who_appends_finishes_when_faults_stop() {
    let finishing = |budget, repeats| {
        let model = bounded(&[&[1, 2], &[2]], budget);
        check_stream("stream, finishing", StreamModel { finishing: true, repeats, ..model });
    };
    let budget = Budget { lost: 1, untold: 1, failed: 1, ..Budget::default() };
    finishing(budget, false);
    finishing(Budget { lost: 1, given_up: 1, stale: 1, ..Budget::default() }, true);
}

/// The number of events never falls and rises with each write: it says as much of a tip as its etag.
#[test]
fn a_condition_on_the_number_of_events_does_as_well() {
    let (update, split_off) = (TipCondition::Next, TipCondition::Next);
    let conditions = Conditions { update, split_off, ..Conditions::default() };
    let budget = Budget { lost: 2, ..Budget::default() };
    let model = bounded(&[&[1, 2], &[2, 1]], budget);
    check_stream("stream, on its number", StreamModel { conditions, ..model });
}

#[test]
#[ignore = "minutes: the long run"]
fn long_streams_given_up() {
    let budget = Budget { lost: 2, given_up: 2, ..Budget::default() };
    check_stream("stream, given up", bounded(&[&[1, 2], &[2, 1]], budget));
    let repeated = bounded(&[&[1, 2], &[2]], budget);
    check_stream("stream, repeated", StreamModel { repeats: true, ..repeated });
}

#[test]
#[ignore = "minutes: the long run"]
fn long_streams_of_three_writers() {
    let budget = Budget { lost: 2, untold: 1, ..Budget::default() };
    check_stream("stream, three writers", bounded(&[&[1, 2], &[2], &[1]], budget));
}

/// One reply is lost; nothing else goes wrong.
fn lossy() -> StreamModel {
    bounded(&[&[1, 2], &[2, 1]], Budget { lost: 1, ..Budget::default() })
}

fn without(rule: SafetyRule, properties: &[&'static str]) {
    let model = StreamModel { rules: Rules::without(rule), ..lossy() };
    finds(&format!("stream, without {rule:?}"), model, properties);
}

#[test]
fn who_does_not_look_in_the_tip_appends_twice() {
    without(SafetyRule::SearchTip, &[ONCE, NOT_APPENDED]);
}

#[test]
fn a_writer_that_skips_event_batches_appends_twice() {
    without(SafetyRule::SearchBatches, &[ONCE, NOT_APPENDED]);
}

#[test]
fn who_decides_again_while_the_first_write_may_land_appends_twice() {
    without(SafetyRule::SameWrite, &[ONCE, NOT_APPENDED]);
    without(SafetyRule::SameWrite, &[APPENDED, ANSWERS]);
}

#[test]
fn who_has_the_id_of_another_takes_its_events_for_its_own() {
    let model = StreamModel { own_writer_ids: false, ..lossy() };
    finds("stream, one id for all", model, &[APPENDED]);
}

#[test]
fn a_first_tip_that_is_put_twice_takes_events_away() {
    let conditions = Conditions { first_once: false, ..Conditions::default() };
    let model = StreamModel { conditions, ..lossy() };
    finds("stream, first tips unconditional", model, &[KEPT, APPENDED, ETAGS]);
}

#[test]
fn an_update_without_a_condition_lands_twice() {
    let conditions = Conditions { update: TipCondition::Nothing, ..Conditions::default() };
    let model = StreamModel { conditions, ..lossy() };
    finds("stream, updates unconditional", model, &[ONCE, DECIDED, JOINED, ETAGS, STATES]);
}

/// That the event batch's key is free says too little of the tip.
#[test]
fn a_split_without_a_condition_on_the_tip_loses_events() {
    let conditions = Conditions { split_off: TipCondition::Nothing, ..Conditions::default() };
    let model = StreamModel { conditions, ..lossy() };
    finds("stream, unconditional split", model, &[KEPT, APPENDED, NOT_APPENDED]);
}

#[test]
fn an_event_batch_without_its_tip_duplicates_events() {
    let conditions = Conditions { one_transaction: false, ..Conditions::default() };
    let model = StreamModel { conditions, ..lossy() };
    finds("stream, no transaction", model, &[JOINED, ONCE, STATES]);
}
