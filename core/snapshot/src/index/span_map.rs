//! Map from disjoint spans of an axis to items.

use minicbor::{Decode, Encode};

use super::AxisIndex;
use cellar_sheet::axis_map::Axis;
use cellar_sheet::operation::{Span, Spans};

/// Maps each span of an [`AxisIndex`] to an item.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
#[cbor(array)]
pub struct SpanMap<T> {
    #[n(0)]
    spans: AxisIndex,
    #[n(1)]
    items: Vec<T>,
}

impl<T> Default for SpanMap<T> {
    fn default() -> Self {
        Self { spans: AxisIndex::default(), items: Vec::new() }
    }
}

impl<T> SpanMap<T> {
    /// Appends a span and its item. Returns `false` and leaves the map unchanged if the span is
    /// empty or starts before the end of the last span.
    #[must_use]
    pub fn push(&mut self, span: Span, item: T) -> bool {
        let is_appended = self.spans.push(span);
        if is_appended {
            self.items.push(item);
        }
        is_appended
    }

    /// Returns the spans.
    #[must_use]
    pub fn spans(&self) -> &AxisIndex {
        &self.spans
    }

    /// Returns the items in span order.
    #[must_use]
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Returns whether the map has no spans.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Iterates in order over the spans that overlap `spans`, with their items.
    pub fn overlapping<'a>(&'a self, spans: &'a Spans) -> impl Iterator<Item = (Span, &'a T)> + 'a {
        let indices = self.spans.overlapping(spans);
        indices.filter_map(|index| Some((self.spans.get(index)?, self.items.get(index)?)))
    }

    /// Iterates in order over all spans, with their items.
    pub fn iter(&self) -> impl Iterator<Item = (Span, &T)> {
        self.spans.iter().zip(&self.items)
    }

    pub(super) fn into_vec(self) -> Vec<(Span, T)> {
        let spans: Vec<Span> = self.spans.iter().collect();
        spans.into_iter().zip(self.items).collect()
    }

    /// Returns whether every span has an item and all spans are within the axis.
    pub(super) fn is_valid(&self, axis: Axis) -> bool {
        let end = self.spans.extent().map_or(0, Span::end);
        self.spans.len() == self.items.len() && end <= axis.limit()
    }
}
