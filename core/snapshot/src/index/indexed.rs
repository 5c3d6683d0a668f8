//! Parts of an axis and what each of them has.

use minicbor::{Decode, Encode};

use super::AxisIndex;
use cellar_sheet::axis_map::Axis;
use cellar_sheet::operation::{Span, Spans};

/// For each part of an axis, one item.
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
    /// Adds a part and its item behind the others; false, and nothing is added, if the part is empty
    /// or not behind.
    #[must_use]
    pub fn push(&mut self, part: Span, item: T) -> bool {
        let added = self.index.push(part);
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

    /// What they have, in their order.
    #[must_use]
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The parts that meet any of the spans, with their items, ascending.
    pub fn meeting<'a>(&'a self, spans: &'a Spans) -> impl Iterator<Item = (Span, &'a T)> + 'a {
        let numbers = self.index.meeting(spans);
        numbers.filter_map(|number| Some((self.index.get(number)?, self.items.get(number)?)))
    }

    /// All parts with their items, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (Span, &T)> {
        self.index.spans().zip(&self.items)
    }

    /// All parts and their items, ascending.
    pub(super) fn into_items(self) -> Vec<(Span, T)> {
        let spans: Vec<Span> = self.index.spans().collect();
        spans.into_iter().zip(self.items).collect()
    }

    /// Whether every part has its item and none reaches over the end of the axis.
    pub(super) fn is_sound(&self, axis: Axis) -> bool {
        let end = self.index.extent().map_or(0, Span::end);
        self.index.len() == self.items.len() && end <= axis.limit()
    }
}
