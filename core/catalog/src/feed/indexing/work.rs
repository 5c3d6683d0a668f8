//! Events that are not indexed yet.

use std::collections::BTreeMap;

use crate::feed::span::{Span, joined};
use crate::stream::StreamName;
use cellar_base::limits::{MAX_FEED_ITEM_EVENTS, MAX_FEED_ITEM_NAME_BYTES, MAX_FEED_ITEM_SPANS};

/// Events by stream: in order, without duplicates, never empty.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Work(BTreeMap<StreamName, Vec<Span>>);

impl Work {
    pub(super) fn new(spans: Vec<Span>) -> Self {
        let spans = spans.into_iter().filter(|span| !span.kinds.is_empty()).collect();
        Self(joined(spans))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn streams(&self) -> impl Iterator<Item = &StreamName> {
        self.0.keys()
    }

    /// Removes events below the marks.
    pub(super) fn trim(&mut self, mark: impl Fn(&StreamName) -> u64) {
        for (stream, spans) in &mut self.0 {
            let from = mark(stream);
            *spans = std::mem::take(spans).into_iter().filter_map(|span| span.from(from)).collect();
        }
        self.0.retain(|_, spans| !spans.is_empty());
    }

    /// Returns the first gap of a stream: between its mark and its first event, or between two
    /// event ranges.
    pub(super) fn gap(&self, mark: impl Fn(&StreamName) -> u64) -> Option<(StreamName, u64, u64)> {
        self.0.iter().find_map(|(stream, spans)| {
            let mut next = mark(stream);
            for span in spans {
                if span.first > next {
                    return Some((stream.clone(), next, span.first));
                }
                next = span.next();
            }
            None
        })
    }

    /// Adds missing events.
    pub(super) fn add(&mut self, span: Span) {
        let mut spans = self.0.remove(&span.stream).unwrap_or_default();
        spans.push(span);
        self.0.append(&mut joined(spans));
    }

    /// Returns the events of the next item: the beginning of each stream, up to the limits of an
    /// item.
    pub(super) fn next_item(&self) -> Vec<Span> {
        let (mut spans, mut events, mut bytes) = (Vec::new(), MAX_FEED_ITEM_EVENTS, 0_usize);
        for span in self.0.values().filter_map(|spans| spans.first()) {
            bytes = bytes.saturating_add(span.stream.as_str().len());
            let is_full = events == 0
                || spans.len() >= MAX_FEED_ITEM_SPANS
                || bytes > MAX_FEED_ITEM_NAME_BYTES;
            if is_full {
                break;
            }
            let kinds: Vec<_> = span.kinds.iter().take(events).cloned().collect();
            events = events.saturating_sub(kinds.len());
            spans.push(Span { kinds, ..span.clone() });
        }
        spans
    }
}
