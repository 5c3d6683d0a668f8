//! Spans of rows or columns.

use serde::{Deserialize, Serialize};

use crate::axis::Axis;

/// A span of consecutive rows or columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Span {
    /// First row or column, 0-based.
    pub first: u32,
    /// Number of rows or columns, at least one.
    pub count: u32,
}

impl Span {
    /// Returns the index after the last row or column.
    #[must_use]
    pub fn end(self) -> u32 {
        self.first.saturating_add(self.count)
    }

    /// Returns whether the span contains the row or column `index`.
    #[must_use]
    pub fn contains(self, index: u32) -> bool {
        (self.first..self.end()).contains(&index)
    }

    /// Returns the rows or columns that are in both spans, or `None` if they do not overlap.
    #[must_use]
    pub fn intersection(self, other: Self) -> Option<Self> {
        let first = self.first.max(other.first);
        let count = self.end().min(other.end()).checked_sub(first).filter(|count| *count > 0)?;
        Some(Self { first, count })
    }
}

/// List of spans on one axis, in ascending order. Spans from a client may be unsorted until they
/// are validated.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Spans(pub(crate) Vec<Span>);

impl Spans {
    /// Creates a list with one span.
    #[must_use]
    pub fn one(first: u32, count: u32) -> Self {
        Self::from_sorted(vec![Span { first, count }])
    }

    /// Creates a list with a single span that covers the whole axis.
    #[must_use]
    pub fn all(axis: Axis) -> Self {
        Self::one(0, axis.limit())
    }

    /// Creates a list from spans in ascending order. Joins adjacent or overlapping spans and drops
    /// empty ones.
    #[must_use]
    pub fn from_sorted(spans: Vec<Span>) -> Self {
        let mut joined: Vec<Span> = Vec::with_capacity(spans.len());
        for span in spans.into_iter().filter(|span| span.count > 0) {
            match joined.last_mut() {
                Some(last) if span.first <= last.end() => {
                    last.count = last.end().max(span.end()).saturating_sub(last.first);
                }
                _ => joined.push(span),
            }
        }
        Self(joined)
    }

    /// Creates spans from row or column indices in ascending order.
    #[must_use]
    pub fn of(indices: impl IntoIterator<Item = u32>) -> Self {
        Self::from_sorted(indices.into_iter().map(|first| Span { first, count: 1 }).collect())
    }

    /// Adds the row or column `index`. Returns `false` and changes nothing if the index is already
    /// contained, or if there would be more than `max` spans.
    pub(crate) fn insert(&mut self, index: u32, max: usize) -> bool {
        let next_index = index.saturating_add(1);
        let span_count = self.0.len();
        // Index of the first span that ends at or after the row or column.
        let at = self.0.partition_point(|span| span.end() < index);
        let adjacent_after = self.0.get(at + 1).copied().filter(|span| span.first == next_index);
        match self.0.get_mut(at) {
            Some(span) if span.contains(index) => return false,
            Some(span) if span.end() == index => {
                span.count += 1;
                // The added row or column may close the gap between this span and the next.
                if let Some(adjacent) = adjacent_after {
                    span.count += adjacent.count;
                    self.0.remove(at + 1);
                }
            }
            Some(span) if span.first == next_index => {
                *span = Span { first: index, count: span.count + 1 };
            }
            _ if span_count >= max => return false,
            _ => self.0.insert(at, Span { first: index, count: 1 }),
        }
        true
    }

    /// Returns the spans in ascending order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Span> + Clone + '_ {
        self.0.iter().copied()
    }

    /// Returns the number of spans.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no spans.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the total number of rows or columns in the spans.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.iter().map(|span| u64::from(span.count)).sum()
    }

    /// Returns whether any span contains the row or column `index`.
    #[must_use]
    pub fn contains(&self, index: u32) -> bool {
        let at = self.0.partition_point(|span| span.end() <= index);
        self.0.get(at).is_some_and(|span| span.first <= index)
    }

    /// Returns whether these spans contain every row or column of `other`.
    #[must_use]
    pub fn cover(&self, other: &Self) -> bool {
        // Spans are never adjacent, so each span of `other` must lie inside one span of `self`.
        other.iter().all(|span| {
            let at = self.0.partition_point(|own| own.end() <= span.first);
            self.0.get(at).is_some_and(|own| own.first <= span.first && span.end() <= own.end())
        })
    }

    /// Returns the rows or columns that are in both lists.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let mut common = Vec::new();
        let (mut own_spans, mut other_spans) = (self.0.iter(), other.0.iter());
        let (mut own_span, mut other_span) = (own_spans.next(), other_spans.next());
        while let (Some(left), Some(right)) = (own_span, other_span) {
            common.extend(left.intersection(*right));
            // The span that ends first cannot intersect any later span.
            if left.end() <= right.end() {
                own_span = own_spans.next();
            } else {
                other_span = other_spans.next();
            }
        }
        Self(common)
    }

    /// Returns the rows or columns of these spans that are not in `other`.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        let mut remaining = Vec::new();
        for span in self.iter() {
            let mut first = span.first;
            let start = other.0.partition_point(|removed| removed.end() <= span.first);
            let overlapping =
                other.0.iter().skip(start).take_while(|removed| removed.first < span.end());
            for removed in overlapping {
                remaining.push(Span { first, count: removed.first.saturating_sub(first) });
                first = removed.end();
            }
            remaining.push(Span { first, count: span.end().saturating_sub(first) });
        }
        Self::from_sorted(remaining)
    }

    /// Returns whether the spans cover the whole axis.
    #[must_use]
    pub fn is_all(&self, axis: Axis) -> bool {
        *self == Self::all(axis)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn spans(list: &[(u32, u32)]) -> Spans {
        Spans(list.iter().map(|(first, count)| Span { first: *first, count: *count }).collect())
    }

    #[test]
    fn intersection_contains_the_common_rows() {
        let (one, two) = (spans(&[(0, 4), (6, 3), (20, 5)]), spans(&[(2, 5), (8, 20)]));
        assert_eq!(one.intersection(&two), spans(&[(2, 2), (6, 1), (8, 1), (20, 5)]));
        assert!(one.intersection(&Spans::default()).is_empty());
    }

    #[test]
    fn cover_agrees_with_intersection() {
        let all =
            [&[(0, 4), (6, 3)][..], &[(0, 9)], &[(1, 3)], &[(3, 4)], &[(7, 2)], &[(8, 2)], &[]];
        for (one, two) in all.iter().flat_map(|one| all.iter().map(move |two| (one, two))) {
            let (one, two) = (spans(one), spans(two));
            assert_eq!(one.cover(&two), one.intersection(&two) == two, "{one:?} {two:?}");
        }
        assert!(spans(&[(0, 4), (6, 3)]).cover(&spans(&[(1, 3), (7, 2)])));
    }

    proptest! {
        #[test]
        fn insert_agrees_with_a_set(indices in vec(0..40_u32, 0..60), max in 0..12_usize) {
            let (mut spans, mut set) = (Spans::default(), BTreeSet::new());
            for index in indices {
                let mut more = set.clone();
                let is_new = more.insert(index);
                let fits = Spans::of(more.iter().copied()).len() <= max;
                prop_assert_eq!(spans.insert(index, max), is_new && fits);
                if is_new && fits {
                    set = more;
                }
                prop_assert_eq!(&spans, &Spans::of(set.iter().copied()));
            }
        }
    }
}
