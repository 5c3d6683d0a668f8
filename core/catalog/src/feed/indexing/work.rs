//! Events that are not indexed yet.

use std::collections::BTreeMap;

use crate::feed::span::{Span, join_spans};
use crate::stream::StreamName;
use cellar_base::limits::{MAX_FEED_ITEM_EVENTS, MAX_FEED_ITEM_NAME_BYTES, MAX_FEED_ITEM_SPANS};

/// Ranges of events that have not been added to the feed. The ranges of each stream are sorted and
/// do not overlap.
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

    pub(super) fn remove_indexed(&mut self, mark_of: impl Fn(&StreamName) -> u64) {
        for (stream, spans) in &mut self.0 {
            let mark = mark_of(stream);
            let all_spans = std::mem::take(spans).into_iter();
            *spans = all_spans.filter_map(|span| span.starting_at(mark)).collect();
        }
        self.0.retain(|_, spans| !spans.is_empty());
    }

    /// A gap is a range of missing events between two event ranges, or between the last event in
    /// the feed and the first event range.
    pub(super) fn first_gap(&self, mark_of: impl Fn(&StreamName) -> u64) -> Option<EventGap> {
        for (stream, spans) in &self.0 {
            let mut expected_index = mark_of(stream);
            for span in spans {
                if span.first > expected_index {
                    let (stream, end) = (stream.clone(), span.first);
                    return Some(EventGap { stream, first: expected_index, end });
                }
                expected_index = span.next();
            }
        }
        None
    }

    pub(super) fn add(&mut self, span: Span) {
        let mut spans = self.0.remove(&span.stream).unwrap_or_default();
        spans.push(span);
        self.0.append(&mut join_spans(spans));
    }

    /// Returns the events of the next feed item: the first event range of each stream, as far as
    /// the limits of an item allow.
    pub(super) fn next_item(&self) -> Vec<Span> {
        let mut item_spans = Vec::new();
        let mut remaining_events = MAX_FEED_ITEM_EVENTS;
        let mut total_name_bytes = 0_usize;
        for first_span in self.0.values().filter_map(|spans| spans.first()) {
            total_name_bytes = total_name_bytes.saturating_add(first_span.stream.as_str().len());
            let is_full = remaining_events == 0
                || item_spans.len() >= MAX_FEED_ITEM_SPANS
                || total_name_bytes > MAX_FEED_ITEM_NAME_BYTES;
            if is_full {
                break;
            }
            let kinds: Vec<_> = first_span.kinds.iter().take(remaining_events).cloned().collect();
            remaining_events = remaining_events.saturating_sub(kinds.len());
            item_spans.push(Span { kinds, ..first_span.clone() });
        }
        item_spans
    }
}

/// A range of missing events, which no change record has reported.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct EventGap {
    pub(super) stream: StreamName,
    pub(super) first: u64,
    /// Index after the last missing event.
    pub(super) end: u64,
}

impl EventGap {
    pub(super) fn starts_with(&self, span: &Span) -> bool {
        span.stream == self.stream
            && span.first == self.first
            && span.next() <= self.end
            && !span.kinds.is_empty()
    }
}
