//! Lookup of row (or column) indices by id.

use super::IdRun;
use crate::operation::{Span, Spans};

/// Lookup table from row (or column) ids to indices.
#[derive(Debug, Clone)]
pub struct Places {
    /// Runs ordered by id.
    runs: Vec<IdRun>,
}

impl Places {
    /// Returns the index of the row (or column) with `id`, or `None` if it was deleted.
    pub fn index(&self, id: u64) -> Option<u32> {
        let at = self.runs.partition_point(|run| run.id_end() <= id);
        let run = self.runs.get(at).filter(|run| run.id <= id)?;
        Some(run.index_of(id))
    }

    /// Returns the indices of the existing ids in `first..end` as spans, each with the id of its
    /// first row.
    pub fn overlapping(&self, first: u64, end: u64) -> impl Iterator<Item = (u64, Span)> + '_ {
        let start = self.runs.partition_point(|run| run.id_end() <= first);
        self.runs.iter().skip(start).map_while(move |run| {
            let id = run.id.max(first);
            let count = run.id_end().min(end).checked_sub(id).filter(|count| *count > 0)?;
            Some((id, Span { first: run.index_of(id), count: u32::try_from(count).ok()? }))
        })
    }

    /// Returns the indices of the existing ids in `first..end` as spans.
    pub fn spans(&self, first: u64, end: u64) -> impl Iterator<Item = Span> + '_ {
        self.overlapping(first, end).map(|(_, span)| span)
    }

    /// Returns whether a row (or column) with `id` exists.
    pub fn contains(&self, id: u64) -> bool {
        self.index(id).is_some()
    }

    /// Creates a lookup table from runs.
    pub fn of(runs: impl Iterator<Item = IdRun>) -> Self {
        let mut runs: Vec<IdRun> = runs.collect();
        runs.sort_by_key(|run| run.id);
        Self { runs }
    }

    /// Returns the indices of the ids that are in this order but not in `other`.
    pub fn missing_in(&self, other: &Self) -> Spans {
        let mut missing = Vec::new();
        for run in &self.runs {
            let end_of_run = (run.id_end(), Span { first: 0, count: 0 });
            let mut gap_start = run.id;
            for (gap_end, common) in other.overlapping(run.id, run.id_end()).chain([end_of_run]) {
                let count = u32::try_from(gap_end.saturating_sub(gap_start)).unwrap_or(u32::MAX);
                missing.push(Span { first: run.index_of(gap_start), count });
                gap_start = gap_end.saturating_add(u64::from(common.count));
            }
        }
        missing.sort_by_key(|span| span.first);
        Spans::from_sorted(missing)
    }
}
