//! Lookup of ids.

use super::IdRun;
use crate::operation::{Span, Spans};

/// Runs ordered by id, for many lookups.
#[derive(Debug, Clone)]
pub struct Places {
    runs: Vec<IdRun>,
}

impl Places {
    /// Returns the place of `id`; `None` if it was deleted.
    pub fn index(&self, id: u64) -> Option<u32> {
        let at = self.runs.partition_point(|run| run.id_end() <= id);
        let run = self.runs.get(at).filter(|run| run.id <= id)?;
        let offset = u32::try_from(id.saturating_sub(run.id)).ok()?;
        Some(run.index.saturating_add(offset))
    }

    /// Returns the existing runs of ids in `first..end`, each with its first id.
    pub fn overlapping(&self, first: u64, end: u64) -> impl Iterator<Item = (u64, Span)> + '_ {
        let start = self.runs.partition_point(|run| run.id_end() <= first);
        self.runs.iter().skip(start).map_while(move |run| {
            let id = run.id.max(first);
            let count = run.id_end().min(end).checked_sub(id).filter(|count| *count > 0)?;
            let offset = u32::try_from(id.saturating_sub(run.id)).ok()?;
            let first = run.index.saturating_add(offset);
            Some((id, Span { first, count: u32::try_from(count).ok()? }))
        })
    }

    /// Returns the places of the existing ids in `first..end`.
    pub fn spans(&self, first: u64, end: u64) -> impl Iterator<Item = Span> + '_ {
        self.overlapping(first, end).map(|(_, span)| span)
    }

    /// Returns whether an id exists.
    pub fn holds(&self, id: u64) -> bool {
        self.index(id).is_some()
    }

    /// Creates the lookup of these runs.
    pub fn of(runs: impl Iterator<Item = IdRun>) -> Self {
        let mut runs: Vec<IdRun> = runs.collect();
        runs.sort_by_key(|run| run.id);
        Self { runs }
    }

    /// Returns the places of the ids that `other` does not have, in this order.
    pub fn missing_in(&self, other: &Self) -> Spans {
        let mut missing = Vec::new();
        for run in &self.runs {
            let end = (run.id_end(), Span { first: 0, count: 0 });
            let mut id = run.id;
            for (there, span) in other.overlapping(run.id, run.id_end()).chain([end]) {
                let offset = u32::try_from(id.saturating_sub(run.id)).unwrap_or(u32::MAX);
                let count = u32::try_from(there.saturating_sub(id)).unwrap_or(u32::MAX);
                missing.push(Span { first: run.index.saturating_add(offset), count });
                id = there.saturating_add(u64::from(span.count));
            }
        }
        missing.sort_by_key(|span| span.first);
        Spans::from_sorted(missing)
    }
}
