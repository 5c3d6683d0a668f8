//! Line maps, which map the bounds of ranges from an older state of a sheet to a newer state.
//!
//! An axis map alone does not determine the new bounds of a range. For example, a range consists of
//! rows 2 and 3. If a row is inserted between them and row 3 is then deleted, the range ends at the
//! inserted row. If row 3 is deleted first and a row is then inserted after row 2, the range ends
//! at row 2. Both histories have the same axis map. A line map therefore also stores, for each
//! deleted row, the new bounds of ranges that started or ended at that row.

mod compose;
mod ends;
#[cfg(test)]
mod tests;

use cellar_grid::axis_map::{Axis, AxisMap};
use cellar_grid::{Span, Spans};

use crate::reference::{Coordinate, Ends};

/// Maps the bounds of ranges from an older state of a sheet to a newer state.
///
/// The composition of several line maps moves every range exactly as the individual maps do,
/// applied one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineMap {
    axis: Axis,
    kept: AxisMap,
    /// Rows or columns of the older state that were deleted, in ascending order.
    deleted: Vec<DeletedLines>,
}

/// Consecutive deleted rows or columns, and the new bounds of ranges that started or ended there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeletedLines {
    /// The deleted rows or columns, as indices in the older state.
    pub span: Span,
    /// First row or column, in the newer state, of a range that started in `span`.
    pub start: u32,
    /// Exclusive end, in the newer state, of a range that ended in `span`.
    pub end: u32,
}

impl LineMap {
    /// Creates a map that leaves every index unchanged.
    #[must_use]
    pub fn identity(axis: Axis) -> Self {
        Self { axis, kept: AxisMap::identity(axis), deleted: Vec::new() }
    }

    /// Creates the map of an insertion of `count` rows or columns before the index `before`. A
    /// range whose last row is pushed past the end of the sheet ends at the last row of the sheet.
    #[must_use]
    pub fn insert(axis: Axis, before: u32, count: u32) -> Self {
        let mut map = Self::of_one_change(AxisMap::insert(axis, before, count), axis);
        for lost in &mut map.deleted {
            (lost.start, lost.end) = (axis.limit(), axis.limit());
        }
        map
    }

    /// Creates the map of a deletion of the rows or columns in `spans`.
    #[must_use]
    pub fn delete(axis: Axis, spans: &Spans) -> Self {
        Self::of_one_change(AxisMap::delete(axis, spans), axis)
    }

    /// Creates a line map from an axis map, as if all deletions had preceded all insertions. The
    /// result is exact for a single change. For several changes, it is an approximation, because
    /// the axis map does not record their order.
    #[must_use]
    pub fn of_one_change(kept: AxisMap, axis: Axis) -> Self {
        let kept_spans = kept.reversed().kept_spans(&Spans::all(axis));
        let deleted_spans = Spans::all(axis).without(&kept_spans);
        let deleted = deleted_spans.iter().map(|span| DeletedLines {
            span,
            start: kept.insertion_point(span.first),
            end: end_of_kept_before(&kept, span.first),
        });
        Self { axis, deleted: deleted.collect(), kept }
    }

    /// Creates a line map from an axis map and the range bounds that it does not determine, as
    /// returned by [`LineMap::undetermined_ends`]. Bounds of rows or columns that still exist are
    /// ignored.
    #[must_use]
    pub fn with_ends(kept: AxisMap, axis: Axis, ends: &[DeletedLines]) -> Self {
        let mut map = Self::of_one_change(kept, axis);
        if !ends.is_empty() {
            map.deleted = ends::replace_ends(&map.deleted, ends);
        }
        map
    }

    /// Returns the deleted rows or columns whose new range bounds the axis map does not determine,
    /// in ascending order. [`LineMap::of_one_change`] would compute other bounds for them.
    #[must_use]
    pub fn undetermined_ends(&self) -> Vec<DeletedLines> {
        let is_undetermined = |lines: &&DeletedLines| {
            let start = self.kept.insertion_point(lines.span.first);
            let end = end_of_kept_before(&self.kept, lines.span.first);
            (start, end) != (lines.start, lines.end)
        };
        self.deleted.iter().filter(is_undetermined).copied().collect()
    }

    /// Returns whether the map leaves every index unchanged.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.kept.is_identity()
    }

    /// Returns the axis map of the rows or columns that still exist.
    #[must_use]
    pub fn kept(&self) -> &AxisMap {
        &self.kept
    }

    /// Returns the deleted rows or columns, in ascending order.
    #[must_use]
    pub fn deleted(&self) -> &[DeletedLines] {
        &self.deleted
    }

    /// Returns the index of a row or column in the newer state, or `None` if it was deleted.
    #[must_use]
    pub fn line(&self, index: u32) -> Option<u32> {
        self.kept.get(index)
    }

    /// Returns the inclusive bounds of a range in the newer state, or `None` if all of its rows or
    /// columns were deleted.
    ///
    /// Rows inserted between the first and last row extend the range. Rows inserted before the
    /// first row or after the last row do not.
    #[must_use]
    pub fn range(&self, first: u32, last: u32) -> Option<(u32, u32)> {
        if !self.kept.keeps_order() {
            return self.reordered_range(first, last);
        }
        let (start, end) = (self.start(first), self.end(last));
        if start < end { Some((start, end - 1)) } else { None }
    }

    /// Returns the bounds of the remaining rows or columns of a range, for a map that changes their
    /// order.
    fn reordered_range(&self, first: u32, last: u32) -> Option<(u32, u32)> {
        let count = last.saturating_sub(first).saturating_add(1);
        let kept_spans = self.kept.kept_spans(&Spans::one(first, count));
        let start = kept_spans.iter().next()?.first;
        Some((start, kept_spans.iter().last()?.end() - 1))
    }

    /// Returns the bounds of an area in the newer state, or `None` if all of its rows or columns
    /// were deleted.
    #[must_use]
    pub fn ends(&self, ends: Ends) -> Option<Ends> {
        let (first, last) = self.range(ends.first.index, ends.last.index)?;
        Some(Ends {
            first: Coordinate { index: first, ..ends.first },
            last: Coordinate { index: last, ..ends.last },
        })
    }

    /// Returns the new start of a range that started at the row or column `index`.
    ///
    /// An index past the end of the sheet stays past the end.
    fn start(&self, index: u32) -> u32 {
        if index >= self.axis.limit() {
            return self.axis.limit();
        }
        match (self.kept.get(index), self.deleted_at(index)) {
            (Some(kept), _) => kept,
            (None, Some(deleted)) => deleted.start,
            (None, None) => self.kept.insertion_point(index),
        }
    }

    /// Returns the new exclusive end of a range that ended at the row or column `index`.
    fn end(&self, index: u32) -> u32 {
        match (self.kept.get(index), self.deleted_at(index)) {
            (Some(kept), _) => kept.saturating_add(1),
            (None, Some(deleted)) => deleted.end,
            (None, None) => end_of_kept_before(&self.kept, index),
        }
    }

    fn deleted_at(&self, index: u32) -> Option<&DeletedLines> {
        let position = self.deleted.partition_point(|deleted| deleted.span.end() <= index);
        self.deleted.get(position).filter(|deleted| deleted.span.contains(index))
    }
}

/// Returns the exclusive end, in the newer state, of the remaining rows or columns before `index`.
fn end_of_kept_before(kept: &AxisMap, index: u32) -> u32 {
    let runs = kept.runs();
    let runs_before = runs.partition_point(|run| run.src < index);
    let last_run = runs_before.checked_sub(1).and_then(|position| runs.get(position));
    last_run.map_or(0, |run| {
        let kept_count = run.len.min(index.saturating_sub(run.src));
        run.dst.saturating_add(kept_count)
    })
}
