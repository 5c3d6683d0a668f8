//! Tests of rebuilding a state from unfolds and events.

use super::support::{WordEvent, Words, event, name, tip, unfold};
use crate::stream::{
    Decider, EventBatch, Kind, Payload, Rebuild, RebuildFault, RebuildStep, RebuiltState,
    StreamEvent, Tip,
};
use cellar_base::limits::MAX_REBUILD_BYTES;

fn of_tip(events: &[&str], next: u64) -> Tip {
    Tip::clone(&tip(1, next, events.iter().map(|word| event(1, word)).collect()))
}

fn batch(index: u64, events: Vec<StreamEvent>) -> EventBatch {
    EventBatch { name: name(), index, events }
}

fn cleared() -> StreamEvent {
    let encoded = Words.encode(&WordEvent::Cleared);
    StreamEvent { kind: encoded.kind, data: Payload::default(), ..event(1, "") }
}

/// Rebuilds the state. Returns the words, and the indexes below which event batches were requested.
fn rebuild(
    tip: &Tip,
    batches: &[Vec<EventBatch>],
) -> Result<(Vec<String>, Vec<u64>), RebuildFault> {
    let (mut asked, mut pages) = (Vec::new(), batches.iter());
    let mut rebuild_step = Rebuild::begin(&Words, Some(tip))?;
    loop {
        match rebuild_step {
            RebuildStep::Complete(RebuiltState { state, next }) => {
                assert_eq!(next, tip.next);
                return Ok((state, asked));
            }
            RebuildStep::ReadBatches { below, rebuild } => {
                asked.push(below);
                rebuild_step = rebuild.add_batches(pages.next().map_or(&[], Vec::as_slice))?;
            }
        }
    }
}

#[test]
fn a_missing_stream_has_the_initial_state() {
    let Ok(RebuildStep::Complete(rebuilt)) = Rebuild::begin(&Words, None) else { panic!() };
    assert_eq!(rebuilt, RebuiltState { state: vec![], next: 0 });
}

#[test]
fn the_newest_usable_unfold_and_later_events_make_the_state() {
    let mut tip = of_tip(&["c", "d"], 4);
    tip.unfolds = vec![unfold(2, "a b"), unfold(3, "A B C"), unfold(5, "of the future")];
    assert_eq!(
        rebuild(&tip, &[]),
        Ok((vec!["A".into(), "B".into(), "C".into(), "d".into()], vec![]))
    );
    // Unreadable unfolds are ignored.
    tip.unfolds[1].kind = Kind::new("Other").unwrap();
    assert_eq!(rebuild(&tip, &[]).unwrap().0.join(" "), "a b c d");
    tip.unfolds[0].data.encoding = 9;
    let batches = vec![batch(0, vec![event(1, "x"), event(1, "y")])];
    let rebuilt = rebuild(&tip, &[batches]).unwrap();
    assert_eq!((rebuilt.0.join(" "), rebuilt.1), ("x y c d".to_owned(), vec![2]));
}

#[test]
fn event_batches_are_read_back_to_an_origin_or_the_first_event() {
    let tip = of_tip(&["f"], 6);
    let new = batch(3, vec![event(1, "c"), event(1, "d")]);
    let old = batch(0, vec![event(1, "x"), cleared(), event(1, "b")]);
    let rebuilt = rebuild(&tip, &[vec![new.clone()], vec![old.clone()]]).unwrap();
    assert_eq!((rebuilt.0.join(" "), rebuilt.1), ("b c d f".to_owned(), vec![5, 3]));
    let rebuilt = rebuild(&tip, &[vec![new, old]]).unwrap();
    assert_eq!(rebuilt.1, [5]);
    // Events before an origin are not required.
    let origin = batch(3, vec![cleared(), event(1, "e")]);
    assert_eq!(rebuild(&tip, &[vec![origin]]).unwrap().0.join(" "), "e f");
}

#[test]
fn an_unfold_older_than_the_tip_needs_the_event_batches_between() {
    let mut tip = of_tip(&["f"], 6);
    tip.unfolds = vec![unfold(4, "a b c d")];
    let batches = vec![batch(3, vec![event(1, "not again"), event(1, "e")])];
    let rebuilt = rebuild(&tip, &[batches]).unwrap();
    assert_eq!((rebuilt.0.join(" "), rebuilt.1), ("a b c d e f".to_owned(), vec![5]));
}

#[test]
fn reports_missing_and_unknown_events() {
    let tip = of_tip(&["f"], 6);
    let hole = batch(2, vec![event(1, "c"), event(1, "d")]);
    for batches in [vec![], vec![hole], vec![batch(5, vec![])]] {
        assert_eq!(rebuild(&tip, &[batches]), Err(RebuildFault::Damaged { index: 5 }));
    }
    let mut unknown = of_tip(&["a", "b"], 2);
    unknown.events[0].kind = Kind::new("Sorted").unwrap();
    let fault = rebuild(&unknown, &[]).unwrap_err();
    assert_eq!(fault, RebuildFault::UnknownEvent { index: 0, kind: "Sorted".into() });
    assert!(fault.to_string().contains("`Sorted`") && fault.to_string().contains("upgrade"));
    let mut malformed = of_tip(&["a"], 1);
    malformed.events[0].data.stored = vec![0xff];
    assert!(matches!(rebuild(&malformed, &[]), Err(RebuildFault::Malformed { index: 0, .. })));
    malformed.events[0].data.encoding = 1;
    assert!(matches!(rebuild(&malformed, &[]), Err(RebuildFault::Payload { index: 0, .. })));
}

#[test]
fn limits_the_bytes_of_the_required_events() {
    const PART: usize = 1024 * 1024;
    let data = Payload::pack(vec![b'a'; PART]).unwrap();
    let part = StreamEvent { data, ..event(1, "") };
    let all = |parts: usize, more: &str| {
        let events =
            [vec![event(1, more); usize::from(!more.is_empty())], vec![part.clone(); parts]];
        let events = events.concat();
        let next = u64::try_from(events.len()).unwrap();
        rebuild(&Tip::clone(&tip(1, next, events)), &[]).map(|(words, _)| words.len())
    };
    let parts = MAX_REBUILD_BYTES / PART;
    assert_eq!(all(parts, ""), Ok(parts));
    assert_eq!(all(parts, "x"), Err(RebuildFault::TooLarge));
}
