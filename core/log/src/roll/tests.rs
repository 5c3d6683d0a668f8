//! Step-by-step tests of a segment roll.

use super::*;

fn tail(num: u32) -> Arc<Entry> {
    let log = LogId::from_uuid(uuid::Uuid::from_bytes([7; 16]));
    let position = Position::new(3, num).unwrap();
    Arc::new(Entry { position, ..Entry::first(log, None, 0) })
}

fn end(num: u32) -> Arc<Entry> {
    Arc::new(Entry { content: Content::EndSegment, ..tail(num).as_ref().clone() })
}

fn segment(num: u32, last_snapshot: Option<u32>) -> RollEvent {
    let log = tail(0).log;
    RollEvent::NewestSegment(Some(Segment {
        log,
        num,
        created_s: 0,
        last_snapshot,
        offloaded: None,
        lineage: None,
    }))
}

fn page(entries: Vec<Arc<Entry>>, has_more: bool) -> RollEvent {
    RollEvent::Page { entries, has_more }
}

const INPUTS: Inputs = Inputs { now_s: 9, random: 3 };
const BUSY: RollEvent = RollEvent::ReadFailed { temporary: true };

/// Returns a roll that has just sent its transaction for a segment whose last entry is `num`.
fn transacting(num: u32) -> (Roll, Transaction) {
    let (roll, _) = Roll::begin(tail(num));
    sent(roll.step(segment(3, Some(1)), INPUTS))
}

#[track_caller]
fn sent((roll, action): (Roll, RollAction)) -> (Roll, Transaction) {
    let RollAction::Transact(transaction) = action else { panic!("{action:?}") };
    (roll, *transaction)
}

/// Processes an event after which the roll waits and then reads. Returns the read position.
#[track_caller]
fn read_after(roll: Roll, event: RollEvent) -> (Roll, Position) {
    let (roll, action) = roll.step(event, INPUTS);
    assert!(matches!(action, RollAction::Wait { .. }), "{action:?}");
    let (roll, action) = roll.step(RollEvent::Waited, INPUTS);
    let RollAction::Read { from } = action else { panic!("{action:?}") };
    (roll, from)
}

#[track_caller]
fn finished((roll, action): (Roll, RollAction)) -> Result<Rolled, RollRefusal> {
    let RollAction::Finish(result) = action else { panic!("{action:?}") };
    assert_eq!(roll.phase, Phase::Finished);
    result
}

#[test]
fn a_segment_without_a_snapshot_is_not_rolled() {
    let (roll, action) = Roll::begin(tail(5));
    assert_eq!(action, RollAction::ReadNewestSegment);
    assert_eq!(finished(roll.clone().step(segment(3, None), INPUTS)), Ok(Rolled::NoSnapshotYet));
    let into = Ok(Rolled::Into { segment: 4 });
    assert_eq!(finished(roll.clone().step(segment(4, None), INPUTS)), into);
    let none = roll.step(RollEvent::NewestSegment(None), INPUTS);
    assert_eq!(finished(none), Err(RollRefusal::NoSegment));
}

#[test]
fn one_transaction_closes_the_segment_and_opens_the_next() {
    let header =
        Header { segment_bytes: 77, snapshot_num: 1, snapshot_bytes: 5, ..Header::first(8) };
    let (roll, _) =
        Roll::begin(Arc::new(Entry { header: header.clone(), ..tail(5).as_ref().clone() }));
    let (roll, sent) = sent(roll.step(segment(3, Some(1)), INPUTS));
    let (end, first) = (Position::new(3, 6).unwrap(), Position::new(4, 0).unwrap());
    assert_eq!((sent.end.position, &sent.end.content), (end, &Content::EndSegment));
    assert_eq!((sent.end.header, sent.end.created_s), (header, 9));
    assert_eq!((sent.first.position, sent.first.header), (first, Header::first(8)));
    assert!(matches!(sent.first.content, Content::Snapshot { root: None, trimmed_s: None }));
    let Segment { num, created_s, last_snapshot, .. } = sent.segment;
    assert_eq!((num, created_s, last_snapshot), (4, 9, None));
    assert_eq!(finished(roll.step(RollEvent::Accepted, INPUTS)), Ok(Rolled::Into { segment: 4 }));
}

#[test]
fn finds_its_own_transaction_after_a_lost_reply() {
    let (roll, _) = transacting(5);
    let (roll, from) = read_after(roll, RollEvent::Unknown);
    assert_eq!(from, Position::new(3, 6).unwrap());
    let found = roll.step(page(vec![end(6)], false), INPUTS);
    assert_eq!(finished(found), Ok(Rolled::Into { segment: 4 }));
}

#[test]
fn a_retry_uses_the_same_keys_as_a_late_transaction() {
    let (roll, first) = transacting(5);
    let (roll, _) = read_after(roll, RollEvent::Unknown);
    // The first transaction has not taken effect yet, so an identical transaction is sent.
    let (roll, second) = sent(roll.step(page(vec![], false), INPUTS));
    assert_eq!(second, first);
    // The first transaction took effect before the retry.
    let (roll, _) = read_after(roll, RollEvent::Refused);
    let found = roll.step(page(vec![end(6)], false), INPUTS);
    assert_eq!(finished(found), Ok(Rolled::Into { segment: 4 }));
}

#[test]
fn reads_others_entries_page_by_page() {
    let (roll, _) = transacting(5);
    let (roll, _) = read_after(roll, RollEvent::Refused);
    let (roll, action) = roll.step(page(vec![tail(6), tail(7)], true), INPUTS);
    assert_eq!(action, RollAction::Read { from: Position::new(3, 8).unwrap() });
    let (roll, sent) = sent(roll.step(page(vec![tail(8)], false), INPUTS));
    assert_eq!(sent.end.position, Position::new(3, 9).unwrap());
    // Another roll closes the segment concurrently.
    let (roll, _) = read_after(roll, RollEvent::Refused);
    let rolled = roll.step(page(vec![tail(9), end(10)], false), INPUTS);
    assert_eq!(finished(rolled), Ok(Rolled::Into { segment: 4 }));
}

#[test]
fn nothing_is_written_after_a_gap() {
    let (roll, _) = transacting(5);
    let (roll, _) = read_after(roll, RollEvent::Refused);
    let missing = |num| Err(RollRefusal::Missing { at: Position::new(3, num).unwrap() });
    let hole = roll.clone().step(page(vec![tail(7)], false), INPUTS);
    assert_eq!(finished(hole), missing(6));
    let hole = roll.step(page(vec![tail(6), tail(8)], false), INPUTS);
    assert_eq!(finished(hole), missing(7));
}

#[test]
fn an_end_segment_is_never_followed_by_another() {
    let (roll, _) = Roll::begin(end(5));
    // A stale record does not include the next segment yet.
    let stale = roll.step(segment(3, Some(1)), INPUTS);
    assert_eq!(finished(stale), Ok(Rolled::Into { segment: 4 }));
}

#[test]
fn too_many_losses_are_contention() {
    for event in [RollEvent::Refused, RollEvent::Unknown] {
        let (mut roll, _) = transacting(5);
        for num in 1..MAX_PUT_ATTEMPTS {
            (roll, _) = read_after(roll, event.clone());
            (roll, _) = sent(roll.step(page(vec![tail(5 + num)], false), INPUTS));
        }
        assert_eq!(finished(roll.step(event, INPUTS)), Err(RollRefusal::Contention));
    }
}

#[test]
fn retries_failed_reads_up_to_their_limit() {
    let reading_segment = || Roll::begin(tail(5)).0;
    let reading = || read_after(transacting(5).0, RollEvent::Refused).0;
    for mut roll in [reading_segment(), reading()] {
        let phase = roll.phase.clone();
        assert_eq!(
            finished(roll.clone().step(RollEvent::ReadFailed { temporary: false }, INPUTS)),
            Err(RollRefusal::Store)
        );
        for _ in 1..MAX_READ_ATTEMPTS {
            let (waiting, action) = roll.step(BUSY, INPUTS);
            assert!(matches!(action, RollAction::Wait { .. }), "{action:?}");
            (roll, _) = waiting.step(RollEvent::Waited, INPUTS);
            assert_eq!(roll.phase, phase, "the same read again");
        }
        assert_eq!(finished(roll.step(BUSY, INPUTS)), Err(RollRefusal::Store));
    }
}

#[test]
fn a_permanent_failure_or_unexpected_event_ends_the_roll() {
    let (roll, _) = transacting(5);
    let failed = roll.clone().step(RollEvent::Failed, INPUTS);
    assert_eq!(finished(failed), Err(RollRefusal::Store));
    let unexpected = |phase, event| {
        let machine = "roll of a segment";
        Err(RollRefusal::Unexpected(UnexpectedEvent { machine, phase, event }))
    };
    for event in [RollEvent::Waited, BUSY, page(vec![], false), segment(3, None)] {
        let expected = unexpected("Transacting", event.name());
        assert_eq!(finished(roll.clone().step(event, INPUTS)), expected);
    }
    let (roll, _) = Roll::begin(tail(5));
    let (roll, action) = roll.step(RollEvent::Accepted, INPUTS);
    assert_eq!(action, RollAction::Finish(unexpected("ReadingSegment", "Accepted")));
    assert_eq!(finished(roll.step(RollEvent::Failed, INPUTS)), unexpected("Finished", "Failed"));
}

#[test]
fn a_log_without_a_next_position_is_full() {
    let last = Position::new(cellar_base::limits::MAX_SEGMENTS - 1, 5).unwrap();
    let entry = Arc::new(Entry { position: last, ..tail(5).as_ref().clone() });
    let (roll, _) = Roll::begin(entry);
    let full = roll.step(segment(last.segment(), Some(1)), INPUTS);
    assert_eq!(finished(full), Err(RollRefusal::NoSegment));
    let (roll, _) = Roll::begin(tail(u32::MAX));
    assert_eq!(finished(roll.step(segment(3, Some(1)), INPUTS)), Err(RollRefusal::NoSegment));
}
