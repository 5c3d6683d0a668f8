//! What must hold in every state.

use std::collections::BTreeMap;

use cellar_catalog::feed::Content;
use cellar_catalog::stream::StreamName;
use stateright::Property;

use super::{FeedModel, State, name};

/// Nothing twice, nothing missing between, whoever indexed it.
pub const ORDERED: &str = "the feed has the events of each stream once, in order and without a gap";
/// What follows from events is never forgotten.
pub const REACTED: &str = "what the feed has was reacted to";
/// A mark that says too much hides events.
pub const MARKS: &str = "no mark says more than the feed has";
/// Nobody waits for what was delivered.
pub const COMPLETE: &str =
    "when all batches are done, the feed has what they brought, and all before it";

/// How far the feed has each stream; none if it has one not in order.
fn indexed(state: &State) -> Option<BTreeMap<StreamName, u64>> {
    let mut indexed: BTreeMap<StreamName, u64> = BTreeMap::new();
    for span in state.table.walk() {
        let next = indexed.entry(span.stream.clone()).or_default();
        if span.first != *next {
            return None;
        }
        *next = span.next();
    }
    Some(indexed)
}

fn is_reacted(state: &State) -> bool {
    state.table.walk().into_iter().all(|span| {
        let mut indexes = span.first..span.next();
        indexes.all(|index| state.table.reacted.contains(&(span.stream.clone(), index)))
    })
}

fn marks_hold(state: &State) -> bool {
    let newest = state.table.partitions.values().map(|feed| feed.first_partition).max();
    let Some(indexed) = indexed(state) else { return true };
    state
        .table
        .marks
        .iter()
        .filter(|(_, mark)| Some(mark.first_partition) == newest)
        .all(|(stream, mark)| mark.next <= indexed.get(stream).copied().unwrap_or_default())
}

fn is_complete(model: &FeedModel, state: &State) -> bool {
    let all_done = state
        .workers
        .iter()
        .zip(&model.batches)
        .all(|(worker, batches)| worker.running.is_none() && worker.done == batches.len());
    // A new feed is filled by whoever began it, which is not modelled.
    if !all_done || state.budget.rebuilds < model.budget.rebuilds {
        return true;
    }
    let Some(indexed) = indexed(state) else { return true };
    model.batches.iter().flatten().flatten().all(|(stream, first, events)| {
        let has = name(*stream).ok().and_then(|name| indexed.get(&name).copied());
        has.unwrap_or_default() >= first + events
    })
}

fn has_ended(state: &State) -> bool {
    state.table.items.values().any(|item| matches!(item.content, Content::End(_)))
}

impl FeedModel {
    pub(super) fn all_properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(ORDERED, |_, state: &State| indexed(state).is_some()),
            Property::always(REACTED, |_, state| is_reacted(state)),
            Property::always(MARKS, |_, state| marks_hold(state)),
            Property::always(COMPLETE, is_complete),
            Property::sometimes("all is done", |model: &Self, state: &State| {
                let done = state.workers.iter().map(|worker| worker.done);
                done.sum::<usize>() == model.batches.iter().map(Vec::len).sum::<usize>()
            }),
            Property::sometimes("a partition ends", |_, state| has_ended(state)),
            Property::sometimes("one is refused", |_, state: &State| state.refused),
            Property::sometimes("one settles what another put", |_, state: &State| state.settled),
        ]
    }
}
