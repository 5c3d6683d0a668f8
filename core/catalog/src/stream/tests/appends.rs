//! Tests of the append machine, step by step.

use std::sync::Arc;

use super::support::{SMALL, event, name, proposal, tip};
use crate::stream::append::{AppendFault, AppendOutcome, StreamAppendAction, StreamAppendAnswer};
use crate::stream::{Append, Etag, EventBatch, Tip, Write};
use cellar_base::limits::{MAX_READ_ATTEMPTS, MAX_STREAM_WRITE_ATTEMPTS};
use cellar_base::unexpected_event::UnexpectedEvent;
use cellar_log::append::Inputs;

const INPUTS: Inputs = Inputs { now_s: 7, random: 3 };

/// An append and its next action.
struct Run {
    append: Append,
    action: StreamAppendAction,
}

impl Run {
    fn begin(on: Option<Arc<Tip>>, words: &[&str]) -> Self {
        let (append, action) = Append::begin(&proposal(on, 1, words), SMALL).unwrap();
        Self { append, action }
    }

    fn answer(self, answer: StreamAppendAnswer) -> Self {
        let (append, action) = self.append.step(answer, INPUTS);
        Self { append, action }
    }

    /// Loses the reply of a write, waits, and reads this tip.
    fn lose_reply(self, found: Option<Arc<Tip>>) -> Self {
        let run = self.answer(StreamAppendAnswer::Unknown);
        assert!(matches!(run.action, StreamAppendAction::Wait { .. }));
        let run = run.answer(StreamAppendAnswer::Waited);
        assert_eq!(run.action, StreamAppendAction::ReadTip);
        run.answer(StreamAppendAnswer::Tip(found))
    }

    fn write(&self) -> Write {
        match &self.action {
            StreamAppendAction::Write(write) => Write::clone(write),
            action => panic!("{action:?}"),
        }
    }

    fn end(&self) -> AppendOutcome {
        match &self.action {
            StreamAppendAction::Finish(Ok(end)) => end.clone(),
            action => panic!("{action:?}"),
        }
    }

    fn fault(&self) -> AppendFault {
        match &self.action {
            StreamAppendAction::Finish(Err(fault)) => fault.clone(),
            action => panic!("{action:?}"),
        }
    }
}

fn conflict(tip: &Arc<Tip>) -> AppendOutcome {
    AppendOutcome::Conflict { tip: Some(Arc::clone(tip)) }
}

fn batch(index: u64, writers: &[u8]) -> EventBatch {
    let events = writers.iter().map(|writer| event(*writer, "w")).collect();
    EventBatch { name: name(), index, events }
}

#[test]
fn a_stream_starts_grows_and_splits() {
    let run = Run::begin(None, &["a", "b"]);
    let Write::First(first) = run.write() else { panic!() };
    assert_eq!((first.next, first.appended, first.first(), first.batch_bytes), (2, 2, 0, 0));
    let AppendOutcome::Appended { tip, index: 0 } = run.answer(StreamAppendAnswer::Done).end()
    else {
        panic!()
    };
    assert_eq!(*tip, first);

    let run = Run::begin(Some(tip), &["c"]);
    let Write::Update(update) = run.write() else { panic!() };
    assert_eq!((update.expected, update.tip.next, update.appended.len()), (first.etag, 3, 1));
    assert_eq!(update.tip.events.len(), 3);
    let AppendOutcome::Appended { tip, index: 2 } = run.answer(StreamAppendAnswer::Done).end()
    else {
        panic!()
    };

    let run = Run::begin(Some(Arc::clone(&tip)), &["d"]);
    let Write::SplitOff { batch, update } = run.write() else { panic!() };
    assert_eq!((batch.index, &batch.events, batch.next()), (0, &tip.events, 3));
    assert_eq!((update.expected, update.tip.first(), update.tip.next), (tip.etag, 3, 4));
    assert!(update.tip.events == update.appended && update.tip.batch_bytes > 0);
    assert!(matches!(
        run.answer(StreamAppendAnswer::Done).end(),
        AppendOutcome::Appended { index: 3, .. }
    ));
}

#[test]
fn only_the_same_write_has_the_same_etag() {
    let on = tip(1, 1, vec![event(9, "x")]);
    let etag = |on: &Arc<Tip>, writer, words: &[&str]| {
        proposal(Some(Arc::clone(on)), writer, words).write(SMALL).unwrap().tip().etag
    };
    assert_eq!(etag(&on, 1, &["a"]), etag(&on, 1, &["a"]));
    let other = tip(2, 1, vec![event(9, "x")]);
    let others = [etag(&on, 2, &["a"]), etag(&on, 1, &["b"]), etag(&on, 1, &["a", ""])];
    assert!(!others.contains(&etag(&on, 1, &["a"])));
    assert_ne!(etag(&other, 1, &["a"]), etag(&on, 1, &["a"]));
    assert_ne!(etag(&on, 1, &["a"]), Etag([1; 16]));
}

#[test]
fn a_lost_race_ends_with_the_new_tip_without_a_read() {
    let (on, new) = (tip(1, 1, vec![event(9, "x")]), tip(2, 2, vec![event(9, "x"), event(8, "y")]));
    let run = Run::begin(Some(on), &["a"]);
    assert_eq!(
        run.answer(StreamAppendAnswer::Refused { tip: Some(Arc::clone(&new)) }).end(),
        conflict(&new)
    );
    // A refusal without the tip is followed by a read.
    let run = Run::begin(None, &["a"]).answer(StreamAppendAnswer::Refused { tip: None });
    assert_eq!(run.action, StreamAppendAction::ReadTip);
    assert_eq!(run.answer(StreamAppendAnswer::Tip(Some(Arc::clone(&new)))).end(), conflict(&new));
}

#[test]
fn while_the_etag_is_unchanged_the_same_write_is_repeated() {
    let on = tip(1, 1, vec![event(9, "x")]);
    let run = Run::begin(Some(Arc::clone(&on)), &["a"]);
    let write = run.write();
    let run = run.lose_reply(Some(on)).answer(StreamAppendAnswer::Waited);
    assert_eq!(run.write(), write);
    // The first attempt takes effect late, so the second is refused because of the tip of the
    // first.
    let landed = Arc::new(write.tip().clone());
    let run = run.answer(StreamAppendAnswer::Refused { tip: Some(Arc::clone(&landed)) });
    assert_eq!(run.end(), AppendOutcome::Appended { tip: landed, index: 1 });
    // The first write of a stream is repeated, too.
    let run = Run::begin(None, &["a"]);
    let write = run.write();
    assert_eq!(run.lose_reply(None).answer(StreamAppendAnswer::Waited).write(), write);
}

#[test]
fn a_writer_finds_its_own_events_before_those_of_others_in_the_tip() {
    let on = tip(1, 1, vec![event(9, "x")]);
    let later = tip(3, 3, vec![event(9, "x"), event(1, "a"), event(8, "y")]);
    let run = Run::begin(Some(on), &["a"]).lose_reply(Some(Arc::clone(&later)));
    assert_eq!(run.end(), AppendOutcome::Appended { tip: later, index: 1 });
}

#[test]
fn a_writer_finds_its_own_events_in_event_batches() {
    let on = tip(1, 5, vec![event(9, "x")]);
    let later = tip(4, 11, vec![event(8, "y")]);
    let begin = || Run::begin(Some(Arc::clone(&on)), &["a"]).lose_reply(Some(Arc::clone(&later)));
    assert_eq!(begin().action, StreamAppendAction::ReadBatches { below: 10 });
    let (new, old) = (batch(7, &[8, 8, 8]), batch(4, &[9, 1, 8]));
    let both = || vec![new.clone(), old.clone()];
    let found = AppendOutcome::Appended { tip: Arc::clone(&later), index: 5 };
    assert_eq!(begin().answer(StreamAppendAnswer::Batches { batches: both() }).end(), found);
    // With one batch per page.
    let run = begin().answer(StreamAppendAnswer::Batches { batches: vec![new.clone()] });
    assert_eq!(run.action, StreamAppendAction::ReadBatches { below: 7 });
    assert_eq!(run.answer(StreamAppendAnswer::Batches { batches: vec![old] }).end(), found);
    // No batch back to the index of the decision contains the events.
    let others = vec![new.clone(), batch(4, &[9, 8, 8])];
    assert_eq!(
        begin().answer(StreamAppendAnswer::Batches { batches: others }).end(),
        conflict(&later)
    );
    // Event batches are missing.
    for batches in [vec![], vec![batch(6, &[8, 8, 8])]] {
        let run = begin().answer(StreamAppendAnswer::Batches { batches });
        assert_eq!(run.fault(), AppendFault::Damaged { index: 10 });
    }
}

#[test]
fn a_known_outcome_needs_no_event_batches() {
    let on = tip(1, 5, vec![event(9, "x")]);
    let later = tip(4, 11, vec![event(8, "y")]);
    let run = Run::begin(Some(on), &["a"])
        .answer(StreamAppendAnswer::Throttled)
        .answer(StreamAppendAnswer::Waited);
    let run = run.answer(StreamAppendAnswer::Refused { tip: Some(Arc::clone(&later)) });
    assert_eq!(run.end(), conflict(&later));
}

#[test]
fn limits_the_attempts_of_writes_and_reads() {
    let mut run = Run::begin(None, &["a"]);
    for _ in 1..MAX_STREAM_WRITE_ATTEMPTS {
        run = run.answer(StreamAppendAnswer::Throttled).answer(StreamAppendAnswer::Waited);
        run.write();
    }
    assert_eq!(run.answer(StreamAppendAnswer::Throttled).fault(), AppendFault::Contention);

    let mut run = Run::begin(None, &["a"]);
    for _ in 1..MAX_STREAM_WRITE_ATTEMPTS {
        run = run.lose_reply(None).answer(StreamAppendAnswer::Waited);
        run.write();
    }
    assert_eq!(run.lose_reply(None).fault(), AppendFault::OutcomeUnknown);

    let unread = StreamAppendAnswer::ReadFailed { temporary: true };
    let mut run = Run::begin(None, &["a"]).answer(StreamAppendAnswer::Refused { tip: None });
    for _ in 1..MAX_READ_ATTEMPTS {
        run = run.answer(unread.clone()).answer(StreamAppendAnswer::Waited);
        assert_eq!(run.action, StreamAppendAction::ReadTip);
    }
    assert_eq!(run.answer(unread).fault(), AppendFault::Store);
}

#[test]
fn an_answer_that_does_not_fit_the_phase_is_no_store_failure() {
    let failed = StreamAppendAnswer::ReadFailed { temporary: true };
    let unknown = Run::begin(None, &["a"]).answer(StreamAppendAnswer::Unknown);
    for (run, phase, event) in [
        (Run::begin(None, &["a"]).answer(StreamAppendAnswer::Waited), "Writing", "Waited"),
        (Run::begin(None, &["a"]).answer(failed), "Writing", "ReadFailed"),
        (unknown.answer(StreamAppendAnswer::Done), "WaitingToReadTip", "Done"),
    ] {
        let machine = "append to an event stream";
        let expected = UnexpectedEvent { machine, phase, event };
        assert_eq!(run.fault(), AppendFault::Unexpected(expected));
    }
}

#[test]
fn a_failure_after_an_unknown_outcome_stays_unknown() {
    assert_eq!(
        Run::begin(None, &["a"]).answer(StreamAppendAnswer::Failed).fault(),
        AppendFault::Store
    );
    let run = Run::begin(None, &["a"])
        .lose_reply(None)
        .answer(StreamAppendAnswer::Waited)
        .answer(StreamAppendAnswer::Failed);
    assert_eq!(run.fault(), AppendFault::OutcomeUnknown);
    let run = Run::begin(None, &["a"])
        .answer(StreamAppendAnswer::Unknown)
        .answer(StreamAppendAnswer::Waited);
    let run = run.answer(StreamAppendAnswer::ReadFailed { temporary: false });
    assert_eq!(run.fault(), AppendFault::OutcomeUnknown);
    let full = tip(1, 3, vec![event(9, "x"), event(9, "y"), event(9, "z")]);
    let begin =
        || Run::begin(Some(Arc::clone(&full)), &["a"]).answer(StreamAppendAnswer::BatchExists);
    let run = begin().answer(StreamAppendAnswer::Tip(Some(Arc::clone(&full))));
    assert_eq!(run.fault(), AppendFault::Damaged { index: 0 });
    // The refusal did not report that the condition on the tip failed, too.
    let later = tip(2, 4, vec![event(8, "y")]);
    assert_eq!(
        begin().answer(StreamAppendAnswer::Tip(Some(Arc::clone(&later)))).end(),
        conflict(&later)
    );
}
