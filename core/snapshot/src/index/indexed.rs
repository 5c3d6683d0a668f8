//! Lists with one item per axis span.

use minicbor::{Decode, Encode};

use super::AxisIndex;
use cellar_sheet::axis_map::Axis;
use cellar_sheet::operation::{Span, Spans};

/// A list with one item per span of an [`AxisIndex`].
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
#[cbor(array)]
pub struct Indexed<T> {
    #[n(0)]
    index: AxisIndex,
    #[n(1)]
    items: Vec<T>,
}

impl<T> Default for Indexed<T> {
    fn default() -> Self {
        Self { index: AxisIndex::default(), items: Vec::new() }
    }
}

impl<T> Indexed<T> {
    /// Appends a span and its item. Returns `false` and leaves the list unchanged if the span is
    /// empty or starts before the end of the last span.
    #[must_use]
    pub fn push(&mut self, span: Span, item: T) -> bool {
        let added = self.index.push(span);
        if added {
            self.items.push(item);
        }
        added
    }

    /// Where the parts are.
    #[must_use]
    pub fn index(&self) -> &AxisIndex {
        &self.index
    }

    /// Returns the items in span order.
    #[must_use]
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Returns whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Iterates over the spans that overlap `spans` and their items, in order.
    pub fn overlapping<'a>(&'a self, spans: &'a Spans) -> impl Iterator<Item = (Span, &'a T)> + 'a {
        let indices = self.index.overlapping(spans);
        indices.filter_map(|index| Some((self.index.get(index)?, self.items.get(index)?)))
    }

    /// Iterates over all spans and their items, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Span, &T)> {
        self.index.spans().zip(&self.items)
    }

    /// Converts the list into a vector of spans and items, in order.
    pub(super) fn into_items(self) -> Vec<(Span, T)> {
        let spans: Vec<Span> = self.index.spans().collect();
        spans.into_iter().zip(self.items).collect()
    }

    /// Returns whether every span has an item and no span exceeds the axis.
    pub(super) fn is_valid(&self, axis: Axis) -> bool {
        let end = self.index.extent().map_or(0, Span::end);
        self.index.len() == self.items.len() && end <= axis.limit()
    }
}
