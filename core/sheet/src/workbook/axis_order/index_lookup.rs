//! Lookup of row (or column) indices by id.

use super::IdRun;
use crate::operation::{Span, Spans};

/// Finds the index of a row or column by its id.
#[derive(Debug, Clone)]
pub struct IndexLookup {
    /// Runs ordered by id.
    runs: Vec<IdRun>,
}

impl IndexLookup {
    /// Returns the index of the row or column with this id, or `None` if it was deleted.
    pub fn index(&self, id: u64) -> Option<u32> {
        let run_number = self.runs.partition_point(|run| run.id_end() <= id);
        let run = self.runs.get(run_number).filter(|run| run.first_id <= id)?;
        Some(run.index_of(id))
    }

    /// Returns the indices of the rows or columns with ids in `first..end`, as spans. Each span is
    /// paired with the id of its first row or column.
    pub fn overlapping(&self, first: u64, end: u64) -> impl Iterator<Item = (u64, Span)> + '_ {
        let first_run = self.runs.partition_point(|run| run.id_end() <= first);
        self.runs.iter().skip(first_run).map_while(move |run| {
            let first_id = run.first_id.max(first);
            let id_count =
                run.id_end().min(end).checked_sub(first_id).filter(|count| *count > 0)?;
            let count = u32::try_from(id_count).ok()?;
            Some((first_id, Span { first: run.index_of(first_id), count }))
        })
    }

    /// Returns the indices of the rows or columns with ids in `first..end`, as spans.
    pub fn spans(&self, first: u64, end: u64) -> impl Iterator<Item = Span> + '_ {
        self.overlapping(first, end).map(|(_, span)| span)
    }

    /// Returns whether a row or column with this id exists.
    pub fn contains(&self, id: u64) -> bool {
        self.index(id).is_some()
    }

    /// Creates a lookup table from runs.
    pub fn of(runs: impl Iterator<Item = IdRun>) -> Self {
        let mut runs: Vec<IdRun> = runs.collect();
        runs.sort_by_key(|run| run.first_id);
        Self { runs }
    }

    /// Returns the indices of the ids that are in this order but not in `other`.
    pub fn missing_in(&self, other: &Self) -> Spans {
        let mut missing_spans = Vec::new();
        for run in &self.runs {
            let mut gap_start = run.first_id;
            for (gap_end, common_span) in other.overlapping(run.first_id, run.id_end()) {
                missing_spans.push(run.span_of(gap_start, gap_end));
                gap_start = gap_end.saturating_add(u64::from(common_span.count));
            }
            missing_spans.push(run.span_of(gap_start, run.id_end()));
        }
        missing_spans.sort_by_key(|span| span.first);
        Spans::from_sorted(missing_spans)
    }
}
