//! Ranges of events.

use std::collections::BTreeMap;

use crate::stream::{Kind, StreamName};

/// A range of consecutive events of an event stream.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Span {
    /// Name of the stream.
    pub stream: StreamName,
    /// Index of the first event.
    pub first: u64,
    /// Kind of each event. Not empty.
    pub kinds: Vec<Kind>,
}

impl Span {
    /// Returns the index after the last event.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.first.saturating_add(u64::try_from(self.kinds.len()).unwrap_or(u64::MAX))
    }

    /// Returns the events starting at an index, or `None` if the range ends before it.
    #[must_use]
    pub fn starting_at(mut self, index: u64) -> Option<Self> {
        if self.next() <= index {
            return None;
        }
        let dropped = index.saturating_sub(self.first);
        let dropped = usize::try_from(dropped).unwrap_or(usize::MAX).min(self.kinds.len());
        self.kinds.drain(..dropped);
        self.first = self.first.max(index);
        Some(self)
    }
}

/// Groups event ranges by stream, sorts and deduplicates them, and merges adjacent ranges.
#[must_use]
pub fn join_spans(spans: Vec<Span>) -> BTreeMap<StreamName, Vec<Span>> {
    let mut spans = spans;
    spans.sort_by_key(|span| span.first);
    let mut joined: BTreeMap<StreamName, Vec<Span>> = BTreeMap::new();
    for span in spans {
        let list = joined.entry(span.stream.clone()).or_default();
        match list.last_mut() {
            Some(last) if span.first <= last.next() => {
                if let Some(rest) = span.starting_at(last.next()) {
                    last.kinds.extend(rest.kinds);
                }
            }
            _ => list.push(span),
        }
    }
    joined
}
