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
    /// Number of rows or columns in the span, at least 1.
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

    /// Returns the intersection of both spans, or `None` if they do not overlap.
    #[must_use]
    pub fn intersection(self, other: Self) -> Option<Self> {
        let first = self.first.max(other.first);
        let count = self.end().min(other.end()).checked_sub(first).filter(|count| *count > 0)?;
        Some(Self { first, count })
    }
}

/// A list of row or column spans. Spans from a client may be in any order. Validation sorts them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Spans(Vec<Span>);

impl Spans {
    /// Creates a list with one span.
    #[must_use]
    pub fn one(first: u32, count: u32) -> Self {
        Self::from_sorted(vec![Span { first, count }])
    }

    /// Creates a list with one span that covers the whole axis.
    #[must_use]
    pub fn all(axis: Axis) -> Self {
        Self::one(0, axis.limit())
    }

    /// Creates a list from spans that are sorted by their first index. Joins adjacent and
    /// overlapping spans, and drops empty spans.
    #[must_use]
    pub fn from_sorted(spans: Vec<Span>) -> Self {
        let mut joined: Vec<Span> = Vec::with_capacity(spans.len());
        for span in spans.into_iter().filter(|span| span.count > 0) {
            match joined.last_mut() {
                Some(last_span) if span.first <= last_span.end() => {
                    let joined_end = last_span.end().max(span.end());
                    last_span.count = joined_end.saturating_sub(last_span.first);
                }
                _ => joined.push(span),
            }
        }
        Self(joined)
    }

    /// Creates a list from row or column indices in ascending order.
    #[must_use]
    pub fn of(indices: impl IntoIterator<Item = u32>) -> Self {
        Self::from_sorted(indices.into_iter().map(|first| Span { first, count: 1 }).collect())
    }

    /// Adds the row or column `index`. Returns `false` and leaves the list unchanged if it already
    /// contains the index or would have more than `max_spans` spans.
    pub fn insert(&mut self, index: u32, max_spans: usize) -> bool {
        if self.contains(index) {
            return false;
        }
        let next_index = index.saturating_add(1);
        let span_count = self.0.len();
        let nearest_span_index = self.0.partition_point(|span| span.end() < index);
        match self.0.get_mut(nearest_span_index) {
            Some(span_before) if span_before.end() == index => {
                span_before.count += 1;
                self.join_with_next(nearest_span_index);
            }
            Some(span_after) if span_after.first == next_index => {
                *span_after = Span { first: index, count: span_after.count + 1 };
            }
            _ if span_count >= max_spans => return false,
            _ => self.0.insert(nearest_span_index, Span { first: index, count: 1 }),
        }
        true
    }

    /// Joins a span with the next span if they are adjacent.
    fn join_with_next(&mut self, span_index: usize) {
        let next_span_index = span_index + 1;
        let Some(next_span) = self.0.get(next_span_index).copied() else { return };
        if let Some(span) = self.0.get_mut(span_index)
            && span.end() == next_span.first
        {
            span.count += next_span.count;
            self.0.remove(next_span_index);
        }
    }

    /// Creates a list from spans in any order, without sorting or joining them.
    #[must_use]
    pub fn unsorted(spans: Vec<Span>) -> Self {
        Self(spans)
    }

    /// Converts the list into a vector of its spans.
    #[must_use]
    pub fn into_vec(self) -> Vec<Span> {
        self.0
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
        let span_index = self.0.partition_point(|span| span.end() <= index);
        self.0.get(span_index).is_some_and(|span| span.first <= index)
    }

    /// Returns whether these spans contain all rows or columns of `other`.
    #[must_use]
    pub fn cover(&self, other: &Self) -> bool {
        // The spans of a list are never adjacent, so a single span must contain each span of
        // `other`.
        other.iter().all(|other_span| {
            let span_index = self.0.partition_point(|span| span.end() <= other_span.first);
            self.0.get(span_index).is_some_and(|span| {
                span.first <= other_span.first && other_span.end() <= span.end()
            })
        })
    }

    /// Returns the intersection of both lists.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let mut intersections = Vec::new();
        let mut own_spans = self.0.iter().peekable();
        let mut other_spans = other.0.iter().peekable();
        while let (Some(own_span), Some(other_span)) = (own_spans.peek(), other_spans.peek()) {
            intersections.extend(own_span.intersection(**other_span));
            // The span that ends first cannot overlap any later span.
            if own_span.end() <= other_span.end() {
                own_spans.next();
            } else {
                other_spans.next();
            }
        }
        Self(intersections)
    }

    /// Returns the rows or columns of `self` that are not in `other`.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        let mut remaining_spans = Vec::new();
        for span in self.iter() {
            let first_overlapping = other.0.partition_point(|removed| removed.end() <= span.first);
            let overlapping_spans = other
                .0
                .iter()
                .skip(first_overlapping)
                .take_while(|removed| removed.first < span.end());
            let mut first_remaining = span.first;
            for removed_span in overlapping_spans {
                let count = removed_span.first.saturating_sub(first_remaining);
                remaining_spans.push(Span { first: first_remaining, count });
                first_remaining = removed_span.end();
            }
            let count = span.end().saturating_sub(first_remaining);
            remaining_spans.push(Span { first: first_remaining, count });
        }
        Self::from_sorted(remaining_spans)
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
