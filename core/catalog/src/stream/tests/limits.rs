//! Tests of the limits of tips.

use std::sync::Arc;

use super::support::{event, name, proposal, tip, unfold};
use crate::records::stream::{encode_tip, events_bytes, unfolds_bytes};
use crate::stream::append::AppendFault;
use crate::stream::{Payload, Proposal, SplitPolicy, StreamEvent, Tip, Write};
use cellar_base::limits::{
    MAX_STREAM_ITEM_BYTES, MAX_STREAM_PAYLOAD_BYTES, TIP_BYTES, TIP_EVENTS, TIP_INDEX,
};
use cellar_base::record::item_bytes;

/// Returns an event whose uncompressed data has this number of bytes.
fn event_with_bytes(bytes: usize) -> StreamEvent {
    let data = Payload { encoding: 0, stored: vec![7; bytes] };
    StreamEvent { data, ..event(1, "") }
}

fn write(proposal: &Proposal) -> Result<Write, AppendFault> {
    proposal.write(SplitPolicy::default())
}

fn splits(proposal: &Proposal) -> bool {
    matches!(write(proposal), Ok(Write::SplitOff { .. }))
}

/// Returns a proposal on a tip of two events, with one event of this number of bytes and an unfold.
fn proposal_with_bytes(on: &Arc<Tip>, bytes: usize, state: &str) -> Proposal {
    let mut proposal = proposal(Some(Arc::clone(on)), 1, &[]);
    proposal.events = vec![event_with_bytes(bytes)];
    proposal.unfolds = vec![unfold(3, state)];
    proposal
}

#[test]
fn events_are_split_off_by_their_bytes_and_those_of_unfolds() {
    let on = tip(1, 2, vec![event(9, "x"), event(9, "y")]);
    for state in ["", "a state that is kept of them"] {
        let all = |bytes: usize| {
            let proposal = proposal_with_bytes(&on, bytes, state);
            let events = [on.events.clone(), proposal.events].concat();
            events_bytes(&events) + unfolds_bytes(&proposal.unfolds)
        };
        let most = TIP_BYTES - all(0) - 2; // the name of `d` and the overhead of a map element
        assert_eq!(all(most), TIP_BYTES);
        assert!(!splits(&proposal_with_bytes(&on, most, state)));
        assert!(splits(&proposal_with_bytes(&on, most + 1, state)));
    }
}

#[test]
fn events_are_split_off_by_their_number() {
    let filled = |events: usize| {
        let next = u64::try_from(events).unwrap();
        proposal(Some(tip(1, next, vec![event(9, ""); events])), 1, &["a"])
    };
    let policy = SplitPolicy { bytes: usize::MAX, ..SplitPolicy::default() };
    let splits = |events| matches!(filled(events).write(policy), Ok(Write::SplitOff { .. }));
    assert!(!splits(TIP_EVENTS - 1));
    assert!(splits(TIP_EVENTS));
}

#[test]
fn limits_the_events_of_a_stream() {
    let on = |next: u64| proposal(Some(tip(1, next, vec![event(9, "x")])), 1, &["a"]);
    assert_eq!(write(&on(TIP_INDEX - 1)).unwrap().tip().next, TIP_INDEX);
    assert_eq!(write(&on(TIP_INDEX)), Err(AppendFault::Full));
}

#[test]
fn limits_the_bytes_of_an_item() {
    let alone = |bytes: usize| {
        let mut proposal = proposal(None, 1, &[]);
        proposal.events = vec![event_with_bytes(bytes)];
        proposal
    };
    let empty = item_bytes(&encode_tip(write(&alone(0)).unwrap().tip()));
    let most = MAX_STREAM_ITEM_BYTES - empty - 2; // the name of `d` and the overhead of a map element
    let first = write(&alone(most)).unwrap();
    assert_eq!(item_bytes(&encode_tip(first.tip())), MAX_STREAM_ITEM_BYTES);
    let bytes = MAX_STREAM_ITEM_BYTES + 1;
    assert_eq!(write(&alone(most + 1)), Err(AppendFault::TooLarge { bytes }));
    assert!(most < MAX_STREAM_PAYLOAD_BYTES);
    // With any policy, a tip is split before it exceeds the size of an item.
    let on = Some(Arc::new(first.tip().clone()));
    let policy = SplitPolicy { bytes: usize::MAX, events: usize::MAX };
    let next = proposal(on, 1, &["a"]).write(policy).unwrap();
    assert!(matches!(next, Write::SplitOff { .. }));
}

#[test]
fn rejects_empty_appends_and_long_ids() {
    assert_eq!(write(&proposal(None, 1, &[])), Err(AppendFault::Empty));
    let mut long_id = proposal(None, 1, &["a"]);
    long_id.events[0].correlation = Some("x".repeat(1_000));
    assert!(matches!(write(&long_id), Err(AppendFault::Event(_))));
    assert_eq!(write(&proposal(None, 1, &["a"])).unwrap().name(), &name());
}
