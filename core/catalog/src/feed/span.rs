//! Ranges of events.

use std::collections::BTreeMap;

use crate::stream::{Kind, StreamName};

/// Consecutive events of an event stream.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Span {
    /// Name of the stream.
    pub stream: StreamName,
    /// Index of the first event.
    pub first: u64,
    /// Kinds of the events, in order. The list is never empty.
    pub kinds: Vec<Kind>,
}

impl Span {
    /// Returns the index after the last event.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.first.saturating_add(u64::try_from(self.kinds.len()).unwrap_or(u64::MAX))
    }

    /// Returns the events from `index` on, or `None` if there are none.
    #[must_use]
    pub fn starting_at(mut self, index: u64) -> Option<Self> {
        if self.next() <= index {
            return None;
        }
        let dropped_count = usize::try_from(index.saturating_sub(self.first)).unwrap_or(usize::MAX);
        self.kinds.drain(..dropped_count.min(self.kinds.len()));
        self.first = self.first.max(index);
        Some(self)
    }
}

/// Groups event ranges by stream and sorts them. Overlapping and adjacent ranges are joined.
#[must_use]
pub fn join_spans(spans: Vec<Span>) -> BTreeMap<StreamName, Vec<Span>> {
    let mut sorted_spans = spans;
    sorted_spans.sort_by_key(|span| span.first);
    let mut joined_by_stream: BTreeMap<StreamName, Vec<Span>> = BTreeMap::new();
    for span in sorted_spans {
        let joined_spans = joined_by_stream.entry(span.stream.clone()).or_default();
        match joined_spans.last_mut() {
            Some(last_span) if span.first <= last_span.next() => {
                if let Some(new_events) = span.starting_at(last_span.next()) {
                    last_span.kinds.extend(new_events.kinds);
                }
            }
            _ => joined_spans.push(span),
        }
    }
    joined_by_stream
}
