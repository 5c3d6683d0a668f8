//! Axis maps, which map row or column indices from an older state of a sheet to a newer state.
//!
//! A map is a list of runs `(src, dst, len)`. A run is a sequence of rows that are consecutive in
//! both states. Rows of the older state outside all runs were deleted. Rows of the newer state
//! outside all runs were inserted. Both states have [`Axis::limit`] rows, so an insertion discards
//! rows at the end.
//!
//! Lookups in both directions use binary search.

mod bands;
mod compose;
mod stored;
#[cfg(test)]
pub(crate) mod tests;

pub use bands::{MatchingBand, MatchingBands};
pub use stored::{StoredAxisMap, UnreadableAxisMap};

use std::ops::Range;

pub use crate::axis::Axis;
use crate::spans::{Span, Spans};

/// Rows or columns that are consecutive in both the older and the newer state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// First index in the older state.
    pub src: u32,
    /// First index in the newer state.
    pub dst: u32,
    /// Number of rows or columns, at least 1.
    pub len: u32,
}

impl Run {
    fn src_end(self) -> u32 {
        self.src.saturating_add(self.len)
    }

    fn dst_end(self) -> u32 {
        self.dst.saturating_add(self.len)
    }

    fn reversed(self) -> Self {
        Self { src: self.dst, dst: self.src, len: self.len }
    }

    /// Returns whether this run ends at or before the start of `other` in both the older and the
    /// newer state.
    fn is_entirely_before(self, other: Self) -> bool {
        self.src_end() <= other.src && self.dst_end() <= other.dst
    }

    /// Returns the part of the run whose older indices are in `first..end`, or `None` if it is
    /// empty.
    fn within(self, first: u32, end: u32) -> Option<Self> {
        let src = self.src.max(first);
        let len = self.src_end().min(end).checked_sub(src).filter(|len| *len > 0)?;
        Some(Self { src, dst: self.dst.saturating_add(src.saturating_sub(self.src)), len })
    }
}

/// Maps row or column indices from an older state of a sheet to a newer state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisMap {
    limit: u32,
    runs: Vec<Run>,
    /// Runs whose order differs between the two states. They are rare: they occur only if a user
    /// inserts rows next to existing rows and, because of a concurrent edit, the server inserts
    /// them on the other side of those rows.
    reordered_runs: Vec<Run>,
}

impl AxisMap {
    /// Creates a map that leaves every index unchanged.
    #[must_use]
    pub fn identity(axis: Axis) -> Self {
        let limit = axis.limit();
        Self { limit, runs: vec![Run { src: 0, dst: 0, len: limit }], reordered_runs: Vec::new() }
    }

    /// Creates a map without runs. [`AxisMap::push`] adds runs.
    pub fn empty(axis: Axis) -> Self {
        Self { limit: axis.limit(), runs: Vec::new(), reordered_runs: Vec::new() }
    }

    /// Creates the map of an insertion of `count` rows or columns before the index `before`.
    #[must_use]
    pub fn insert(axis: Axis, before: u32, count: u32) -> Self {
        let limit = axis.limit();
        let before = before.min(limit);
        let end_of_inserted = before.saturating_add(count);
        let len_after = limit.saturating_sub(end_of_inserted);
        let mut map = Self::empty(axis);
        map.push(Run { src: 0, dst: 0, len: before });
        map.push(Run { src: before, dst: end_of_inserted, len: len_after });
        map
    }

    /// Creates the map of a deletion of the rows or columns in `spans`.
    #[must_use]
    pub fn delete(axis: Axis, spans: &Spans) -> Self {
        let limit = axis.limit();
        let mut map = Self::empty(axis);
        let mut src = 0;
        let mut dst = 0_u32;
        for deleted_span in spans.iter() {
            let kept_len = deleted_span.first.min(limit).saturating_sub(src);
            map.push(Run { src, dst, len: kept_len });
            src = deleted_span.end().min(limit);
            dst = dst.saturating_add(kept_len);
        }
        map.push(Run { src, dst, len: limit.saturating_sub(src) });
        map
    }

    /// Appends a run. The run is joined with the last run if they are contiguous in both states.
    pub fn push(&mut self, run: Run) {
        if run.len == 0 {
            return;
        }
        match self.runs.last_mut() {
            Some(last) if (last.src_end(), last.dst_end()) == (run.src, run.dst) => {
                last.len = last.len.saturating_add(run.len);
            }
            _ => self.runs.push(run),
        }
    }

    /// Returns the runs in ascending order, without reordered runs.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Returns whether the remaining rows or columns have the same order in both states.
    #[must_use]
    pub fn keeps_order(&self) -> bool {
        self.reordered_runs.is_empty()
    }

    /// Returns whether the map leaves every index unchanged.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        matches!(self.runs.as_slice(), [Run { src: 0, dst: 0, len }] if *len == self.limit)
    }

    /// Returns whether these rows or columns have the same indexes in both states.
    #[must_use]
    pub fn is_identity_of(&self, lines: &Range<u32>) -> bool {
        let contains_lines =
            |run: &Run| run.src == run.dst && run.src <= lines.start && lines.end <= run.src_end();
        self.runs_ending_after_src(lines.start).first().is_some_and(contains_lines)
    }

    /// Returns the index of a row or column in the newer state, or `None` if it was deleted.
    #[must_use]
    pub fn get(&self, src: u32) -> Option<u32> {
        let contains_src = |run: &&Run| (run.src..run.src_end()).contains(&src);
        let ordered_run = self.runs_ending_after_src(src).first().filter(contains_src);
        let run = ordered_run.or_else(|| self.reordered_runs.iter().find(contains_src))?;
        Some(run.dst.saturating_add(src.saturating_sub(run.src)))
    }

    /// Returns the index of a row or column in the older state, or `None` if it was inserted.
    #[must_use]
    pub fn source(&self, dst: u32) -> Option<u32> {
        let contains_dst = |run: &&Run| (run.dst..run.dst_end()).contains(&dst);
        let ordered_run = self.runs_ending_after_dst(dst).first().filter(contains_dst);
        let run = ordered_run.or_else(|| self.reordered_runs.iter().find(contains_dst))?;
        Some(run.src.saturating_add(dst.saturating_sub(run.dst)))
    }

    /// Returns the rows or columns of the older state that are at the indexes `dst` in the newer state.
    pub fn sources_of(&self, dst: &Range<u32>) -> impl Iterator<Item = Range<u32>> {
        let (start, end) = (dst.start, dst.end);
        let ordered = self.runs_ending_after_dst(start).iter().take_while(move |run| run.dst < end);
        ordered.chain(&self.reordered_runs).filter_map(move |run| {
            let (first, last) = (run.dst.max(start), run.dst_end().min(end));
            (first < last).then(|| run.src + (first - run.dst)..run.src + (last - run.dst))
        })
    }

    /// Maps an insertion before row `before` of the older state to an index in the newer state. The
    /// rows are inserted directly before the first remaining row at or after `before`, and
    /// therefore after rows that other users inserted there.
    #[must_use]
    pub fn insertion_point(&self, before: u32) -> u32 {
        let next_ordered_run = self.runs_ending_after_src(before).first().copied();
        let reordered_runs = self.reordered_runs.iter();
        let later_reordered_runs = reordered_runs.filter_map(|run| run.within(before, self.limit));
        let run_of_first_kept_row = next_ordered_run
            .into_iter()
            .chain(later_reordered_runs)
            .min_by_key(|run| run.src.max(before));
        match run_of_first_kept_row {
            Some(run) => run.dst.saturating_add(before.saturating_sub(run.src)),
            None => self.runs.last().map_or(self.limit, |run| run.dst_end()),
        }
    }

    /// Returns the remaining rows of `spans`, as spans in the newer state. Rows inserted between
    /// them are not included, because clearing and deleting must not affect rows that the author
    /// has not seen.
    #[must_use]
    pub fn kept_spans(&self, spans: &Spans) -> Spans {
        let mut kept_spans = Vec::new();
        for span in spans.iter() {
            let part_in_span = |run: &Run| run.within(span.first, span.end());
            let ordered_runs = self.runs_ending_after_src(span.first).iter();
            let ordered_parts = ordered_runs.map_while(part_in_span);
            let reordered_parts = self.reordered_runs.iter().filter_map(part_in_span);
            for part in ordered_parts.chain(reordered_parts) {
                kept_spans.push(Span { first: part.dst, count: part.len });
            }
        }
        kept_spans.sort_by_key(|span| span.first);
        Spans::from_sorted(kept_spans)
    }

    /// Maps `spans` to the newer state. Rows inserted inside a span are included, so that range
    /// formats extend to them. A span that covers the whole axis still covers the whole axis.
    #[must_use]
    pub fn covering_spans(&self, spans: &Spans) -> Spans {
        let covering_spans = spans.iter().filter_map(|span| self.covering_span(span));
        Spans::from_sorted(covering_spans.collect())
    }

    fn covering_span(&self, span: Span) -> Option<Span> {
        let is_whole_axis = span.first == 0 && span.end() >= self.limit;
        if is_whole_axis {
            return Some(span);
        }
        let kept_spans = self.kept_spans(&Spans::one(span.first, span.count));
        let first = kept_spans.iter().next()?.first;
        let end = kept_spans.iter().last()?.end();
        Some(Span { first, count: end.saturating_sub(first) })
    }

    /// Returns the inverse map, from the newer state to the older state.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let reversed = |runs: &[Run]| runs.iter().map(|run| run.reversed()).collect();
        Self {
            limit: self.limit,
            runs: reversed(&self.runs),
            reordered_runs: reversed(&self.reordered_runs),
        }
    }

    /// Adds a run of rows that the author inserted. The order of the run relative to other runs may
    /// differ between the two states. An invalid run is ignored.
    #[must_use]
    pub fn with_run(mut self, run: Run) -> Self {
        if run.len == 0 || run.src_end().max(run.dst_end()) > self.limit {
            return self;
        }
        let run_index = self.runs.partition_point(|other| other.src < run.src);
        let later_runs = self.runs.split_off(run_index);
        let fits_after_previous =
            self.runs.last().is_none_or(|previous| previous.is_entirely_before(run));
        let fits_before_next = later_runs.first().is_none_or(|next| run.is_entirely_before(*next));
        if fits_after_previous && fits_before_next {
            self.push(run);
        } else {
            self.reordered_runs.push(run);
        }
        for later_run in later_runs {
            self.push(later_run);
        }
        self
    }

    fn runs_ending_after_src(&self, src: u32) -> &[Run] {
        let first_index = self.runs.partition_point(|run| run.src_end() <= src);
        self.runs.get(first_index..).unwrap_or_default()
    }

    fn runs_ending_after_dst(&self, dst: u32) -> &[Run] {
        let first_index = self.runs.partition_point(|run| run.dst_end() <= dst);
        self.runs.get(first_index..).unwrap_or_default()
    }
}
