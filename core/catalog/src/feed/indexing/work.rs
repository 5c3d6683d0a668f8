//! Events that are not indexed yet.

use std::collections::BTreeMap;

use crate::feed::span::{Span, join_spans};
use crate::stream::StreamName;
use cellar_base::limits::{MAX_FEED_ITEM_EVENTS, MAX_FEED_ITEM_NAME_BYTES, MAX_FEED_ITEM_SPANS};

/// Nonempty event ranges, grouped by stream, sorted and deduplicated.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Work(BTreeMap<StreamName, Vec<Span>>);

impl Work {
    pub(super) fn new(spans: Vec<Span>) -> Self {
        let spans = spans.into_iter().filter(|span| !span.kinds.is_empty()).collect();
        Self(join_spans(spans))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn streams(&self) -> impl Iterator<Item = &StreamName> {
        self.0.keys()
    }

    /// Removes the events that the high-water marks already include.
    pub(super) fn remove_indexed(&mut self, mark_of: impl Fn(&StreamName) -> u64) {
        for (stream, spans) in &mut self.0 {
            let mark = mark_of(stream);
            let remaining = std::mem::take(spans).into_iter();
            *spans = remaining.filter_map(|span| span.starting_at(mark)).collect();
        }
        self.0.retain(|_, spans| !spans.is_empty());
    }

    /// Returns the first gap as the stream, the first missing index and the index after the gap. A
    /// gap precedes an event range if the range does not start at the stream's high-water mark or
    /// the end of the preceding range.
    pub(super) fn first_gap(
        &self,
        mark_of: impl Fn(&StreamName) -> u64,
    ) -> Option<(StreamName, u64, u64)> {
        for (stream, spans) in &self.0 {
            let mut next = mark_of(stream);
            for span in spans {
                if span.first > next {
                    return Some((stream.clone(), next, span.first));
                }
                next = span.next();
            }
        }
        None
    }

    /// Adds events that were read from their stream.
    pub(super) fn add(&mut self, span: Span) {
        let mut spans = self.0.remove(&span.stream).unwrap_or_default();
        spans.push(span);
        self.0.append(&mut join_spans(spans));
    }

    /// Returns the events of the next item: the first range of each stream, up to the size limits
    /// of an item.
    pub(super) fn next_item(&self) -> Vec<Span> {
        let mut item = Vec::new();
        let mut event_budget = MAX_FEED_ITEM_EVENTS;
        let mut name_bytes = 0_usize;
        for span in self.0.values().filter_map(|spans| spans.first()) {
            name_bytes = name_bytes.saturating_add(span.stream.as_str().len());
            let is_full = event_budget == 0
                || item.len() >= MAX_FEED_ITEM_SPANS
                || name_bytes > MAX_FEED_ITEM_NAME_BYTES;
            if is_full {
                break;
            }
            let kinds: Vec<_> = span.kinds.iter().take(event_budget).cloned().collect();
            event_budget = event_budget.saturating_sub(kinds.len());
            item.push(Span { kinds, ..span.clone() });
        }
        item
    }
}
