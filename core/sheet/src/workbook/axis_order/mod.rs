//! The order of the rows or columns of a sheet, as a list of permanent ids.
//!
//! Cells are stored by the ids of their row and column, so inserting rows does not move cells. The
//! list is stored as runs of consecutive ids.

mod blocks;
mod common_inserts;
mod index_lookup;

pub use self::index_lookup::IndexLookup;

use self::blocks::Blocks;
use crate::axis_map::{Axis, AxisMap, Run};
use crate::operation::{Span, Spans};

/// Rows or columns with consecutive ids and consecutive indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdRun {
    /// Id of the first row.
    pub first_id: u64,
    /// Index of the first row.
    pub first_index: u32,
    /// Number of ids in the run, at least one.
    pub len: u32,
}

impl IdRun {
    fn end(self) -> u32 {
        self.first_index.saturating_add(self.len)
    }

    /// Returns the id after the run's last id.
    pub fn id_end(self) -> u64 {
        self.first_id.saturating_add(u64::from(self.len))
    }

    /// Returns the index of an id that is in the run.
    pub(super) fn index_of(self, id: u64) -> u32 {
        let offset = u32::try_from(id.saturating_sub(self.first_id)).unwrap_or(u32::MAX);
        self.first_index.saturating_add(offset)
    }

    /// Returns the indices of the ids in `first..end`, which must be in the run.
    fn span_of(self, first: u64, end: u64) -> Span {
        let count = u32::try_from(end.saturating_sub(first)).unwrap_or(u32::MAX);
        Span { first: self.index_of(first), count }
    }

    fn within(self, first: u32, end: u32) -> Option<Self> {
        let first_index = self.first_index.max(first);
        let len = self.end().min(end).checked_sub(first_index).filter(|len| *len > 0)?;
        let skipped_rows = first_index.saturating_sub(self.first_index);
        let first_id = self.first_id.saturating_add(u64::from(skipped_rows));
        Some(Self { first_id, first_index, len })
    }
}

/// The order of the rows or columns of a sheet. Each row or column has an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisOrder {
    limit: u32,
    runs: Blocks,
    next_id: u64,
}

impl AxisOrder {
    pub fn new(axis: Axis) -> Self {
        let limit = axis.limit();
        let run = IdRun { first_id: 0, first_index: 0, len: limit };
        Self { limit, runs: Blocks::one(run), next_id: u64::from(limit) }
    }

    /// Inserts `count` new rows or columns before the index `before`. Returns the runs that were
    /// removed because they moved past the end of the axis.
    pub fn insert(&mut self, before: u32, count: u32) -> Vec<IdRun> {
        let before = before.min(self.limit);
        let inserted_count = count.min(self.limit.saturating_sub(before));
        let kept_count = self.limit.saturating_sub(inserted_count);
        let runs_past_end = self.runs_in(kept_count, self.limit).collect();
        self.runs.remove(kept_count, self.limit);
        self.insert_new_run(before, inserted_count);
        runs_past_end
    }

    /// Deletes the rows or columns in `spans` and adds the same number of new ones at the end.
    /// Returns the deleted runs.
    pub fn delete(&mut self, spans: &Spans) -> Vec<IdRun> {
        let deleted_runs: Vec<IdRun> =
            spans.iter().flat_map(|span| self.runs_in(span.first, span.end())).collect();
        // Deleting the last span first keeps the indices of the other spans valid.
        for span in spans.iter().rev() {
            self.runs.remove(span.first, span.end().min(self.limit));
        }
        let deleted_count = deleted_runs.iter().map(|run| run.len).sum();
        self.insert_new_run(self.limit.saturating_sub(deleted_count), deleted_count);
        deleted_runs
    }

    /// Returns the runs with indices in `first..end`.
    pub fn runs_in(&self, first: u32, end: u32) -> impl Iterator<Item = IdRun> + '_ {
        self.runs.iter_from(first).map_while(move |run| run.within(first, end))
    }

    /// Returns the id at `index`.
    pub fn id(&self, index: u32) -> Option<u64> {
        self.runs.id(index)
    }

    /// Returns a table that finds the index of an id.
    pub fn index_lookup(&self) -> IndexLookup {
        IndexLookup::of(self.runs.iter())
    }

    /// Returns the axis map from this order to the order `to`.
    pub fn map_to(&self, to: &Self, axis: Axis) -> AxisMap {
        let to_lookup = to.index_lookup();
        let mut map = AxisMap::empty(axis);
        for run in self.runs.iter() {
            for (id, span) in to_lookup.overlapping(run.first_id, run.id_end()) {
                map.push(Run { src: run.index_of(id), dst: span.first, len: span.count });
            }
        }
        map
    }

    /// Returns the id of the next row or column. All others have smaller ids.
    pub(super) fn next_id(&self) -> u64 {
        self.next_id
    }

    /// Returns the number of runs, which determines the memory use.
    pub fn run_count(&self) -> usize {
        self.runs.run_count()
    }

    fn insert_new_run(&mut self, before: u32, len: u32) {
        if len > 0 {
            self.runs.insert(before, IdRun { first_id: self.next_id, first_index: before, len });
            self.next_id = self.next_id.saturating_add(u64::from(len));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order() -> AxisOrder {
        AxisOrder {
            limit: 10,
            runs: Blocks::one(IdRun { first_id: 0, first_index: 0, len: 10 }),
            next_id: 10,
        }
    }

    fn ids(order: &AxisOrder) -> Vec<u64> {
        (0..order.limit).map(|index| order.id(index).unwrap()).collect()
    }

    #[test]
    fn ids_follow_inserts_and_deletes() {
        let mut order = order();
        let moved_past_end = order.insert(2, 3);
        assert_eq!(ids(&order), [0, 1, 10, 11, 12, 2, 3, 4, 5, 6]);
        assert_eq!(moved_past_end, [IdRun { first_id: 7, first_index: 7, len: 3 }]);
        let deleted = order.delete(&Spans::one(1, 2));
        assert_eq!(deleted.iter().map(|run| run.first_id).collect::<Vec<_>>(), [1, 10]);
        assert_eq!(ids(&order), [0, 11, 12, 2, 3, 4, 5, 6, 13, 14]);
        let index_lookup = order.index_lookup();
        assert_eq!(
            (index_lookup.index(11), index_lookup.index(6), index_lookup.index(1)),
            (Some(1), Some(7), None)
        );
        assert_eq!(order.insert(10, 5), []);
        assert_eq!(order.insert(9, 5).len(), 1);
        assert_eq!(ids(&order).len(), 10);
    }

    #[test]
    fn missing_in_returns_inserted_and_deleted_places() {
        let before = order();
        let mut after = before.clone();
        after.insert(2, 1);
        after.delete(&Spans::of([4, 6]));
        // The ids are 0 1 10 2 (3) 4 (5) 6 7 8, followed by two new ids.
        assert_eq!(before.index_lookup().missing_in(&after.index_lookup()), Spans::of([3, 5, 9]));
        assert_eq!(after.index_lookup().missing_in(&before.index_lookup()), Spans::of([2, 8, 9]));
    }
}
