//! Contract tests for the EventStream table.

use std::sync::Arc;

use cellar_base::limits::TIP_INDEX;
use cellar_catalog::stream::{
    EventBatch, InvalidEvent, Kind, Payload, Proposal, SplitPolicy, StreamEvent, StreamName, Tip,
    Unfold, Update, Write, WriterId,
};

use futures_util::future::join_all;

use crate::ports::{ReadConsistency, StreamOutcome, Streams};

/// The limit is low, so that a few appends suffice to move events to a batch.
const SMALL_TIPS: SplitPolicy = SplitPolicy { bytes: usize::MAX, events: 2 };

/// Checks the EventStream table.
pub async fn streams<T: Streams>(streams: &T) {
    streams_do_not_exist_at_first(streams).await;
    a_first_tip_is_put_once(streams).await;
    an_update_is_conditional_and_returns_the_tip(streams).await;
    a_split_writes_the_batch_and_the_tip_together_or_neither(streams).await;
    event_batches_are_read_backwards_and_completely(streams).await;
    one_of_many_writers_wins(streams).await;
    streams_are_separate(streams).await;
}

fn stream_name(id: &str) -> StreamName {
    match StreamName::new("Contract", id) {
        Ok(name) => name,
        Err(error) => panic!("{error}"),
    }
}

fn event_kind(text: &str) -> Kind {
    let kind: Result<Kind, InvalidEvent> = Kind::new(text);
    kind.unwrap_or_else(|error| panic!("{error}"))
}

fn event(writer: WriterId, text: &str) -> StreamEvent {
    StreamEvent {
        time_ms: 1_795_246_133_000,
        kind: event_kind("Said"),
        data: Payload { encoding: 0, stored: text.as_bytes().to_vec() },
        meta: Payload { encoding: 1, stored: vec![0, 255] },
        correlation: Some("Grüße".to_owned()),
        causation: None,
        writer,
    }
}

fn append_to(name: &StreamName, base_tip: Option<&Arc<Tip>>, writer: u8, text: &str) -> Write {
    let next_index = base_tip.map_or(0, |tip| tip.next);
    let unfold = Unfold {
        index: next_index + 1,
        time_ms: 1_795_246_133_000,
        kind: event_kind("State"),
        data: Payload { encoding: 0, stored: text.as_bytes().to_vec() },
        meta: Payload::default(),
    };
    let writer = WriterId([writer; 16]);
    let proposal = Proposal {
        name: name.clone(),
        base_tip: base_tip.cloned(),
        writer,
        events: vec![event(writer, text)],
        unfolds: vec![unfold],
    };
    proposal.write(SMALL_TIPS).unwrap_or_else(|error| panic!("{error}"))
}

async fn write<T: Streams>(streams: &T, write: &Write) -> StreamOutcome {
    match write {
        Write::First(tip) => streams.put_first(tip).await,
        Write::Update(update) => streams.update(update).await,
        Write::SplitOff { batch, update } => streams.split_off(batch, update).await,
    }
}

async fn append_many<T: Streams>(streams: &T, name: &StreamName, count: u8) -> Arc<Tip> {
    let mut tip: Option<Arc<Tip>> = None;
    for number in 0..count {
        let new_append = append_to(name, tip.as_ref(), number, &format!("event {number}"));
        assert_eq!(write(streams, &new_append).await, StreamOutcome::Done);
        tip = Some(Arc::new(new_append.tip().clone()));
        assert_stored(streams, name, tip.as_ref()).await;
    }
    tip.unwrap_or_else(|| panic!("no events"))
}

async fn assert_stored<T: Streams>(streams: &T, name: &StreamName, tip: Option<&Arc<Tip>>) {
    for consistency in [ReadConsistency::Strong, ReadConsistency::Eventual] {
        assert_eq!(streams.tip(name, consistency).await, Ok(tip.cloned()));
    }
}

async fn streams_do_not_exist_at_first<T: Streams>(streams: &T) {
    let name = stream_name("nothing");
    assert_stored(streams, &name, None).await;
    for consistency in [ReadConsistency::Eventual, ReadConsistency::Strong] {
        assert_eq!(streams.batches_before(&name, TIP_INDEX, consistency).await, Ok(vec![]));
    }
    // An append to a nonexistent stream fails.
    let other_tip = append_many(streams, &stream_name("something"), 1).await;
    let Write::Update(mut update) = append_to(&name, Some(&other_tip), 1, "x") else { panic!() };
    update.tip.name = name.clone();
    assert_eq!(streams.update(&update).await, StreamOutcome::Refused { tip: None });
    assert_stored(streams, &name, None).await;
}

async fn a_first_tip_is_put_once<T: Streams>(streams: &T) {
    let name = stream_name("first");
    let tip = append_many(streams, &name, 1).await;
    let second_append = append_to(&name, None, 9, "another");
    let refused = StreamOutcome::Refused { tip: Some(Arc::clone(&tip)) };
    assert_eq!(write(streams, &second_append).await, refused);
    // The first write to a stream requires that the stream does not exist, so repeating the write
    // fails.
    assert_eq!(streams.put_first(&tip).await, refused);
    assert_stored(streams, &name, Some(&tip)).await;
}

async fn an_update_is_conditional_and_returns_the_tip<T: Streams>(streams: &T) {
    let name = stream_name("update");
    let first_tip = append_many(streams, &name, 1).await;
    let winning_append = append_to(&name, Some(&first_tip), 2, "won");
    let losing_append = append_to(&name, Some(&first_tip), 3, "lost");
    assert_eq!(write(streams, &winning_append).await, StreamOutcome::Done);
    let current_tip = Arc::new(winning_append.tip().clone());
    let refused = StreamOutcome::Refused { tip: Some(Arc::clone(&current_tip)) };
    assert_eq!(write(streams, &losing_append).await, refused);
    assert_eq!(write(streams, &winning_append).await, refused);
    assert_stored(streams, &name, Some(&current_tip)).await;
}

async fn a_split_writes_the_batch_and_the_tip_together_or_neither<T: Streams>(streams: &T) {
    let name = stream_name("split");
    let full_tip = append_many(streams, &name, 2).await;
    let winning_append = append_to(&name, Some(&full_tip), 5, "won");
    let losing_append = append_to(&name, Some(&full_tip), 6, "lost");
    let Write::SplitOff { batch, update } = &winning_append else { panic!("{winning_append:?}") };
    assert_eq!(streams.split_off(batch, update).await, StreamOutcome::Done);
    let current_tip = Arc::new(update.tip.clone());
    assert_eq!(current_tip.events.len(), 1);
    assert_eq!(current_tip.unfolds.len(), 1);
    assert_eq!(current_tip.next, 3);
    assert!(current_tip.batch_bytes > 0);
    // The latest item has changed and the event batch already exists, so both conditions of the
    // write fail. The response contains the current latest item.
    let refused = StreamOutcome::Refused { tip: Some(Arc::clone(&current_tip)) };
    assert_eq!(write(streams, &losing_append).await, refused);
    assert_stored(streams, &name, Some(&current_tip)).await;
    assert_stale_tip_is_refused(streams, batch, &losing_append, &refused).await;
    assert_existing_batch_is_refused(streams, batch, &current_tip).await;
    assert_stored(streams, &name, Some(&current_tip)).await;
    let stored_batches = streams.batches_before(&name, TIP_INDEX, ReadConsistency::Strong).await;
    assert_eq!(stored_batches, Ok(vec![batch.clone()]));
}

async fn assert_stale_tip_is_refused<T: Streams>(
    streams: &T,
    stored_batch: &EventBatch,
    losing_append: &Write,
    refused: &StreamOutcome,
) {
    let new_batch = EventBatch { index: 77, ..stored_batch.clone() };
    let Write::SplitOff { update: stale_update, .. } = losing_append else {
        panic!("{losing_append:?}")
    };
    assert_eq!(streams.split_off(&new_batch, stale_update).await, *refused);
}

async fn assert_existing_batch_is_refused<T: Streams>(
    streams: &T,
    stored_batch: &EventBatch,
    current_tip: &Arc<Tip>,
) {
    let next_append = append_to(&current_tip.name, Some(current_tip), 7, "next");
    let Write::Update(next_update) = next_append else { panic!("{next_append:?}") };
    let split_tip = Tip { events: next_update.appended.clone(), ..next_update.tip.clone() };
    let split_update = Update { tip: split_tip, ..next_update };
    let outcome = streams.split_off(stored_batch, &split_update).await;
    assert_eq!(outcome, StreamOutcome::BatchExists);
}

async fn event_batches_are_read_backwards_and_completely<T: Streams>(streams: &T) {
    let name = stream_name("batches");
    let tip = append_many(streams, &name, 13).await;
    assert_eq!((tip.first(), tip.next), (12, 13));
    for consistency in [ReadConsistency::Eventual, ReadConsistency::Strong] {
        let mut batches_newest_first = Vec::new();
        let mut below = tip.first();
        while below > 0 {
            let page = streams.batches_before(&name, below, consistency).await;
            let page = page.unwrap_or_else(|error| panic!("{error}"));
            assert!(!page.is_empty());
            for batch in page {
                assert_eq!(batch.next(), below);
                below = batch.index;
                batches_newest_first.push(batch);
            }
        }
        assert_eq!(batches_newest_first.len(), 6);
        let events = batches_newest_first.iter().rev().flat_map(|batch| &batch.events);
        for (number, event) in events.enumerate() {
            assert_eq!(event.data.stored, format!("event {number}").into_bytes());
        }
    }
}

async fn one_of_many_writers_wins<T: Streams>(streams: &T) {
    let name = stream_name("many");
    let tip = append_many(streams, &name, 1).await;
    let appends: Vec<Write> =
        (10..16).map(|writer| append_to(&name, Some(&tip), writer, "x")).collect();
    let outcomes = join_all(appends.iter().map(|append| write(streams, append))).await;
    let winner_count = outcomes.iter().filter(|outcome| **outcome == StreamOutcome::Done).count();
    assert_eq!(winner_count, 1, "{outcomes:?}");
    let current_tip = streams.tip(&name, ReadConsistency::Strong).await;
    assert!(current_tip.is_ok_and(|tip| tip.is_some_and(|tip| tip.next == 2)));
}

/// Streams do not affect each other if one name is a prefix of another, or if the names are
/// adjacent in sort order.
async fn streams_are_separate<T: Streams>(streams: &T) {
    let (first_name, other_name) = (stream_name("apart"), stream_name("apart-too"));
    let tip = append_many(streams, &first_name, 3).await;
    assert_stored(streams, &other_name, None).await;
    assert_eq!(
        streams.batches_before(&other_name, TIP_INDEX, ReadConsistency::Strong).await,
        Ok(vec![])
    );
    append_many(streams, &other_name, 5).await;
    assert_stored(streams, &first_name, Some(&tip)).await;
    let batches = streams.batches_before(&first_name, TIP_INDEX, ReadConsistency::Strong).await;
    assert!(batches.is_ok_and(|batches| batches.iter().all(|batch| batch.name == first_name)));
}
