//! The properties that the model checker checks in every state of the feed model.

use std::collections::BTreeMap;

use cellar_catalog::feed::Content;
use cellar_catalog::stream::StreamName;
use stateright::Property;

use super::{FeedModel, State, stream_name};

/// Property: the feed contains no event twice and omits no event, regardless of which indexer put
/// the items.
pub const ORDERED: &str =
    "the feed contains the events of each stream once, in order and without a gap";
/// Property: the reactions of an event run before the event is added to the feed.
pub const REACTED: &str = "every event of the feed was reacted to";
/// Property: no high-water mark is ahead of the feed, because indexers would then skip events.
pub const MARKS: &str = "no mark is ahead of the feed";
/// Property: every delivered event is eventually added to the feed.
pub const COMPLETE: &str =
    "when all batches are done, the feed has their events and all earlier events";

/// Returns `None` if the events of a stream are out of order.
fn count_indexed_events(state: &State) -> Option<BTreeMap<StreamName, u64>> {
    let mut indexed_counts: BTreeMap<StreamName, u64> = BTreeMap::new();
    for span in state.table.newest_feed_spans() {
        let indexed_count = indexed_counts.entry(span.stream.clone()).or_default();
        if span.first != *indexed_count {
            return None;
        }
        *indexed_count = span.next();
    }
    Some(indexed_counts)
}

fn has_reacted_to_all(state: &State) -> bool {
    state.table.newest_feed_spans().into_iter().all(|span| {
        let mut event_indexes = span.first..span.next();
        event_indexes.all(|index| state.table.reacted.contains(&(span.stream.clone(), index)))
    })
}

fn are_marks_valid(state: &State) -> bool {
    let newest_generation = state.table.partitions.values().map(|feed| feed.first_partition).max();
    let Some(indexed_counts) = count_indexed_events(state) else { return true };
    for (stream, mark) in &state.table.marks {
        let indexed_count = indexed_counts.get(stream).copied().unwrap_or_default();
        if Some(mark.first_partition) == newest_generation && mark.next > indexed_count {
            return false;
        }
    }
    true
}

fn is_complete(model: &FeedModel, state: &State) -> bool {
    let are_batches_done = state.indexers.iter().zip(&model.batches).all(|(indexer, batches)| {
        indexer.running.is_none() && indexer.batches_done == batches.len()
    });
    // A new generation of the feed is not checked. The process that started it must also fill it,
    // which the model omits.
    let has_new_generation = state.budget.rebuilds < model.budget.rebuilds;
    if !are_batches_done || has_new_generation {
        return true;
    }
    let Some(indexed_counts) = count_indexed_events(state) else { return true };
    for (stream_number, first_index, event_count) in model.batches.iter().flatten().flatten() {
        let indexed_count =
            stream_name(*stream_number).ok().and_then(|name| indexed_counts.get(&name).copied());
        if indexed_count.unwrap_or_default() < first_index + event_count {
            return false;
        }
    }
    true
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
                let done_count: usize =
                    state.indexers.iter().map(|indexer| indexer.batches_done).sum();
                let batch_count: usize = model.batches.iter().map(Vec::len).sum();
                done_count == batch_count
            }),
            Property::sometimes("a partition ends", |_, state| has_ended_partition(state)),
            Property::sometimes("a put is refused", |_, state: &State| state.has_refused_put),
            Property::sometimes(
                "an indexer raises marks past the items of another indexer",
                |_, state: &State| state.has_raised_marks_of_others,
            ),
        ]
    }
}
