//! Which rows (or columns) stand where: each has an id for ever, and the order of ids changes.
//!
//! The plain idea, a list of ids, kept as runs: inserting rows moves no cell, since cells belong to
//! ids and not to numbers.

use crate::axis_map::{Axis, AxisMap, Run};
use crate::operation::{Span, Spans};

/// Neighbours with consecutive ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IdRun {
    /// The id of the first.
    pub(super) id: u64,
    /// Where it stands.
    pub(super) index: u32,
    /// How many, at least one.
    pub(super) len: u32,
}

impl IdRun {
    fn end(self) -> u32 {
        self.index.saturating_add(self.len)
    }

    /// The id behind the last.
    pub(super) fn id_end(self) -> u64 {
        self.id.saturating_add(u64::from(self.len))
    }

    /// The part of it that stands in `first..end`.
    fn within(self, first: u32, end: u32) -> Option<Self> {
        let index = self.index.max(first);
        let len = self.end().min(end).checked_sub(index).filter(|len| *len > 0)?;
        let id = self.id.saturating_add(u64::from(index.saturating_sub(self.index)));
        Some(Self { id, index, len })
    }
}

/// The order of an axis: always as many ids as the axis has places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AxisOrder {
    limit: u32,
    runs: Vec<IdRun>,
    next_id: u64,
}

impl AxisOrder {
    pub(super) fn new(axis: Axis) -> Self {
        let limit = axis.limit();
        let run = IdRun { id: 0, index: 0, len: limit };
        Self { limit, runs: vec![run], next_id: u64::from(limit) }
    }

    /// Inserts new ids; gives the runs that were pushed over the end.
    pub(super) fn insert(&mut self, before: u32, count: u32) -> Vec<IdRun> {
        let before = before.min(self.limit);
        let count = count.min(self.limit.saturating_sub(before));
        let new = self.fresh(count);
        let kept = self.limit.saturating_sub(count);
        let pushed_out = self.parts(kept, self.limit).collect();
        let behind: Vec<IdRun> = self.parts(before, kept).collect();
        let ahead: Vec<IdRun> = self.parts(0, before).collect();
        self.rebuild(ahead.into_iter().chain(new).chain(behind));
        pushed_out
    }

    /// Deletes what stands at `spans`; gives the deleted runs. New ids fill up the end.
    pub(super) fn delete(&mut self, spans: &Spans) -> Vec<IdRun> {
        let (mut kept, mut deleted, mut start) = (Vec::new(), Vec::new(), 0);
        for span in spans.iter() {
            kept.extend(self.parts(start, span.first));
            deleted.extend(self.parts(span.first, span.end()));
            start = span.end();
        }
        kept.extend(self.parts(start, self.limit));
        let count = deleted.iter().map(|run: &IdRun| run.len).sum();
        let new = self.fresh(count);
        self.rebuild(kept.into_iter().chain(new));
        deleted
    }

    /// The runs of what stands in `first..end`.
    pub(super) fn parts(&self, first: u32, end: u32) -> impl Iterator<Item = IdRun> + '_ {
        let start = self.runs.partition_point(|run| run.end() <= first);
        let overlapping = self.runs.iter().skip(start);
        overlapping.map_while(move |run| run.within(first, end))
    }

    /// The id of what stands at `index`.
    pub(super) fn id(&self, index: u32) -> Option<u64> {
        self.parts(index, index.saturating_add(1)).next().map(|run| run.id)
    }

    /// The places of ids, for looking up many.
    pub(super) fn places(&self) -> Places {
        Places::of(&self.runs)
    }

    /// Where each of these ids stands in a later (or earlier) order.
    pub(super) fn map_to(&self, to: &Self, axis: Axis) -> AxisMap {
        let places = to.places();
        let mut map = AxisMap::empty(axis);
        for run in &self.runs {
            for (id, span) in places.overlapping(run.id, run.id_end()) {
                let offset = u32::try_from(id.saturating_sub(run.id)).unwrap_or(u32::MAX);
                let src = run.index.saturating_add(offset);
                map.push(Run { src, dst: span.first, len: span.count });
            }
        }
        map
    }

    /// How many runs: a measure of its memory.
    pub(super) fn run_count(&self) -> usize {
        self.runs.len()
    }

    fn fresh(&mut self, len: u32) -> Option<IdRun> {
        let id = self.next_id;
        self.next_id = self.next_id.saturating_add(u64::from(len));
        (len > 0).then_some(IdRun { id, index: 0, len })
    }

    fn rebuild(&mut self, runs: impl Iterator<Item = IdRun>) {
        let (mut rebuilt, mut index) = (Vec::<IdRun>::new(), 0_u32);
        for run in runs {
            match rebuilt.last_mut() {
                Some(last) if last.id_end() == run.id => {
                    last.len = last.len.saturating_add(run.len);
                }
                _ => rebuilt.push(IdRun { index, ..run }),
            }
            index = index.saturating_add(run.len);
        }
        self.runs = rebuilt;
    }
}

/// Where ids stand.
#[derive(Debug, Clone)]
pub(super) struct Places {
    runs: Vec<IdRun>,
}

impl Places {
    /// Where `id` stands; `None` if it is gone.
    pub(super) fn index(&self, id: u64) -> Option<u32> {
        let at = self.runs.partition_point(|run| run.id_end() <= id);
        let run = self.runs.get(at).filter(|run| run.id <= id)?;
        let offset = u32::try_from(id.saturating_sub(run.id)).ok()?;
        Some(run.index.saturating_add(offset))
    }

    /// Where the ids from `first` up to `end` stand that are there: each run with its first id.
    fn overlapping(&self, first: u64, end: u64) -> impl Iterator<Item = (u64, Span)> + '_ {
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
    pub(super) fn spans(&self, first: u64, end: u64) -> impl Iterator<Item = Span> + '_ {
        self.overlapping(first, end).map(|(_, span)| span)
    }

    /// Whether an id is one of these.
    pub(super) fn holds(&self, id: u64) -> bool {
        self.index(id).is_some()
    }

    /// Places of runs.
    pub(super) fn of(runs: &[IdRun]) -> Self {
        let mut runs = runs.to_vec();
        runs.sort_by_key(|run| run.id);
        Self { runs }
    }

    /// The ids of these that are not in `other`, in their order in this one.
    pub(super) fn missing_in(&self, other: &Self) -> Spans {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn order() -> AxisOrder {
        AxisOrder { limit: 10, runs: vec![IdRun { id: 0, index: 0, len: 10 }], next_id: 10 }
    }

    fn ids(order: &AxisOrder) -> Vec<u64> {
        (0..order.limit).map(|index| order.id(index).unwrap()).collect()
    }

    #[test]
    fn ids_follow_inserts_and_deletes() {
        let mut order = order();
        let out = order.insert(2, 3);
        assert_eq!(ids(&order), [0, 1, 10, 11, 12, 2, 3, 4, 5, 6]);
        assert_eq!(out, [IdRun { id: 7, index: 7, len: 3 }]);
        let gone = order.delete(&Spans::one(1, 2));
        assert_eq!(gone.iter().map(|run| run.id).collect::<Vec<_>>(), [1, 10]);
        assert_eq!(ids(&order), [0, 11, 12, 2, 3, 4, 5, 6, 13, 14]);
        let places = order.places();
        assert_eq!((places.index(11), places.index(6), places.index(1)), (Some(1), Some(7), None));
        assert_eq!(order.insert(10, 5), []);
        assert_eq!(order.insert(9, 5).len(), 1);
        assert_eq!(ids(&order).len(), 10);
    }

    #[test]
    fn what_came_and_went_is_the_difference_of_places() {
        let before = order();
        let mut after = before.clone();
        after.insert(2, 1);
        after.delete(&Spans::of([4, 6]));
        // 0 1 10 2 (3) 4 (5) 6 7 8, then two new ones at the end.
        assert_eq!(before.places().missing_in(&after.places()), Spans::of([3, 5, 9]));
        assert_eq!(after.places().missing_in(&before.places()), Spans::of([2, 8, 9]));
    }
}
