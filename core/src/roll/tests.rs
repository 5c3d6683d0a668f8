//! The roll, step by step.

use super::*;

fn tail(num: u32) -> Arc<Entry> {
    let log = LogId::from_uuid(uuid::Uuid::from_bytes([7; 16]));
    let position = Position::new(3, num).unwrap();
    Arc::new(Entry { position, ..Entry::first(log, None, 0) })
}

fn segment(num: u32, last_snapshot: Option<u32>) -> Event {
    let log = tail(0).log;
    Event::NewestSegment(Some(Segment { log, num, created_s: 0, last_snapshot, archive: None }))
}

const INPUTS: Inputs = Inputs { now_s: 9, random: 3 };

#[test]
fn a_segment_without_a_snapshot_is_not_rolled() {
    let (roll, action) = Roll::begin(tail(5));
    assert_eq!(action, Action::ReadNewestSegment);
    let (_, action) = roll.clone().step(segment(3, None), INPUTS);
    assert_eq!(action, Action::Finish(Ok(Rolled::NoSnapshotYet)));
    let (_, action) = roll.clone().step(segment(4, None), INPUTS);
    assert_eq!(action, Action::Finish(Ok(Rolled::Into { segment: 4 })));
    let (_, action) = roll.step(Event::NewestSegment(None), INPUTS);
    assert_eq!(action, Action::Finish(Err(RollRefusal::NoSegment)));
}

#[test]
fn the_segment_is_long_enough_at_its_limit_and_not_before() {
    let header = |segment_bytes| Header { segment_bytes, ..Header::first(0) };
    let at = |num| Position::new(0, num).unwrap();
    assert!(!is_due(at(SEGMENT_ENTRIES - 1), &header(SEGMENT_BYTES - 1)));
    assert!(is_due(at(SEGMENT_ENTRIES), &header(0)));
    assert!(is_due(at(1), &header(SEGMENT_BYTES)));
}
