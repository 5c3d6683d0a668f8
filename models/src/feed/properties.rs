//! Properties checked in every state.

use std::collections::BTreeMap;

use cellar_catalog::feed::Content;
use cellar_catalog::stream::StreamName;
use stateright::Property;

use super::{FeedModel, State, stream_name};

/// Property: the feed contains no duplicates or gaps, regardless of which indexer wrote the items.
pub const ORDERED: &str =
    "the feed indexed_events the events of each stream once, in order and without a gap";
/// Property: an event's reactions run before the event is added to the feed.
pub const REACTED: &str = "every event of the feed was reacted to";
/// Property: no stream's high-water mark is ahead of the feed; otherwise events would be skipped.
pub const MARKS: &str = "no mark is ahead of the feed";
/// Property: every delivered event eventually reaches the feed.
pub const COMPLETE: &str =
    "when all batches are done, the feed has their events and all earlier events";

/// Returns each stream's number of indexed events, or `None` if a stream's events are out of order.
fn count_indexed_events(state: &State) -> Option<BTreeMap<StreamName, u64>> {
    let mut indexed: BTreeMap<StreamName, u64> = BTreeMap::new();
    for span in state.table.newest_feed_spans() {
        let next = indexed.entry(span.stream.clone()).or_default();
        if span.first != *next {
            return None;
        }
        *next = span.next();
    }
    Some(indexed)
}

fn has_reacted_to_all(state: &State) -> bool {
    state.table.newest_feed_spans().into_iter().all(|span| {
        let mut indexes = span.first..span.next();
        indexes.all(|index| state.table.reacted.contains(&(span.stream.clone(), index)))
    })
}

fn are_marks_valid(state: &State) -> bool {
    let newest = state.table.partitions.values().map(|feed| feed.first_partition).max();
    let Some(indexed) = count_indexed_events(state) else { return true };
    state
        .table
        .marks
        .iter()
        .filter(|(_, mark)| Some(mark.first_partition) == newest)
        .all(|(stream, mark)| mark.next <= indexed.get(stream).copied().unwrap_or_default())
}

fn is_complete(model: &FeedModel, state: &State) -> bool {
    let all_done =
        state.workers.iter().zip(&model.batches).all(|(worker, batches)| {
            worker.running.is_none() && worker.batches_done == batches.len()
        });
    // A new generation is filled by the process that started it. The model omits that process.
    if !all_done || state.budget.rebuilds < model.budget.rebuilds {
        return true;
    }
    let Some(indexed) = count_indexed_events(state) else { return true };
    model.batches.iter().flatten().flatten().all(|(stream, first, events)| {
        let indexed_events = stream_name(*stream).ok().and_then(|name| indexed.get(&name).copied());
        indexed_events.unwrap_or_default() >= first + events
    })
}

fn has_ended_partition(state: &State) -> bool {
    state.table.items.values().any(|item| matches!(item.content, Content::End(_)))
}

impl FeedModel {
    pub(super) fn all_properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(ORDERED, |_, state: &State| count_indexed_events(state).is_some()),
            Property::always(REACTED, |_, state| has_reacted_to_all(state)),
            Property::always(MARKS, |_, state| are_marks_valid(state)),
            Property::always(COMPLETE, is_complete),
            Property::sometimes("all batches are done", |model: &Self, state: &State| {
                let batches_done = state.workers.iter().map(|worker| worker.batches_done);
                batches_done.sum::<usize>() == model.batches.iter().map(Vec::len).sum::<usize>()
            }),
            Property::sometimes("a partition ends", |_, state| has_ended_partition(state)),
            Property::sometimes("a put is refused", |_, state: &State| state.put_refused),
            Property::sometimes(
                "an indexer raises marks for another's items",
                |_, state: &State| state.settled_others,
            ),
        ]
    }
}
