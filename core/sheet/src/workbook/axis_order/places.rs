//! Where ids stand.

use super::IdRun;
use crate::operation::{Span, Spans};

/// Runs by id, to look up many.
#[derive(Debug, Clone)]
pub struct Places {
    runs: Vec<IdRun>,
}

impl Places {
    /// Where `id` stands; `None` if it is gone.
    pub fn index(&self, id: u64) -> Option<u32> {
        let at = self.runs.partition_point(|run| run.id_end() <= id);
        let run = self.runs.get(at).filter(|run| run.id <= id)?;
        let offset = u32::try_from(id.saturating_sub(run.id)).ok()?;
        Some(run.index.saturating_add(offset))
    }

    /// Where the ids from `first` up to `end` stand that are there: each run with its first id.
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

    /// The places of the ids from `first` up to `end` that are there.
    pub fn spans(&self, first: u64, end: u64) -> impl Iterator<Item = Span> + '_ {
        self.overlapping(first, end).map(|(_, span)| span)
    }

    /// Whether an id is one of these.
    pub fn holds(&self, id: u64) -> bool {
        self.index(id).is_some()
    }

    /// Places of runs.
    pub fn of(runs: impl Iterator<Item = IdRun>) -> Self {
        let mut runs: Vec<IdRun> = runs.collect();
        runs.sort_by_key(|run| run.id);
        Self { runs }
    }

    /// The ids of these that are not in `other`, in their order in this one.
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
