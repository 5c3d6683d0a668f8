//! Pairs the rows or columns that two branches inserted at the same place, and those that replaced
//! as many.

use std::collections::BTreeMap;

use super::{AxisOrder, IdRun, Run};

/// Rows or columns with consecutive ids in both branches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PairedRun {
    first_id: u64,
    other_first_id: u64,
    len: u32,
}

/// The rows that one branch inserted between two rows that both branches have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Gap {
    runs: Vec<IdRun>,
    len: u32,
}

impl Gap {
    fn of(runs: impl Iterator<Item = IdRun>) -> Self {
        let mut gap = Self::default();
        runs.for_each(|run| gap.push(run));
        gap
    }

    fn push(&mut self, run: IdRun) {
        self.len = self.len.saturating_add(run.len);
        self.runs.push(run);
    }
}

impl AxisOrder {
    /// Returns an order with the same rows as this one, in which later rows get ids that no row of
    /// another branch has.
    pub fn branch(&self) -> Self {
        /// Far more ids than a log can assign.
        const IDS_PER_BRANCH: u64 = 1 << 60;
        Self { next_id: self.next_id.saturating_add(IDS_PER_BRANCH), ..self.clone() }
    }

    /// Gives the inserted rows of this branch the ids of the rows that `other` inserted between the
    /// same two rows, if both inserted equally many there. Rows with ids below `first_new_id` existed
    /// before the branches. Returns the order, and a function that maps the ids.
    pub fn with_ids_of(
        &self,
        other: &Self,
        first_new_id: u64,
    ) -> (Self, impl Fn(u64) -> u64 + use<>) {
        self.with_paired_ids(self.paired_runs(other, first_new_id))
    }

    /// Gives the rows that replaced rows of the earlier order `earlier` the ids that they had there.
    /// Each run of `replaced` leads from the replaced rows to the rows that replaced them. Returns the
    /// order, and a function that maps the ids.
    pub fn with_replaced_ids(
        &self,
        earlier: &Self,
        replaced: &[Run],
    ) -> (Self, impl Fn(u64) -> u64 + use<>) {
        let mut pairs = Vec::new();
        for run in replaced {
            let gap = Gap::of(self.runs_in(run.dst, run.dst.saturating_add(run.len)));
            let earlier_gap = Gap::of(earlier.runs_in(run.src, run.src.saturating_add(run.len)));
            pair_gaps(&gap, &earlier_gap, &mut pairs);
        }
        self.with_paired_ids(pairs.into_iter().map(|pair| (pair.first_id, pair)).collect())
    }

    fn with_paired_ids(
        &self,
        pairs: BTreeMap<u64, PairedRun>,
    ) -> (Self, impl Fn(u64) -> u64 + use<>) {
        let lookup = self.index_lookup();
        let mut renamed = self.clone();
        for pair in pairs.values() {
            let Some(first_index) = lookup.index(pair.first_id) else { continue };
            renamed.runs.remove(first_index, first_index.saturating_add(pair.len));
            let run = IdRun { first_id: pair.other_first_id, first_index, len: pair.len };
            renamed.runs.insert(first_index, run);
        }
        let rename = move |id: u64| match pairs.range(..=id).next_back() {
            Some((_, pair)) if id - pair.first_id < u64::from(pair.len) => {
                pair.other_first_id.saturating_add(id - pair.first_id)
            }
            _ => id,
        };
        (renamed, rename)
    }

    /// Returns the pairs by their id in this branch.
    fn paired_runs(&self, other: &Self, first_new_id: u64) -> BTreeMap<u64, PairedRun> {
        let other_gaps = other.gaps(self, first_new_id);
        let mut pairs = Vec::new();
        for (row_before, gap) in &self.gaps(other, first_new_id) {
            let other_gap = other_gaps.get(row_before).filter(|other| other.len == gap.len);
            if let Some(other_gap) = other_gap {
                pair_gaps(gap, other_gap, &mut pairs);
            }
        }
        pairs.into_iter().map(|pair| (pair.first_id, pair)).collect()
    }

    /// Returns the inserted rows by the id after the row before them that both branches have. The rows at the end
    /// of the axis are not included, because each deletion adds rows there.
    fn gaps(&self, other: &Self, first_new_id: u64) -> BTreeMap<Option<u64>, Gap> {
        let other_lookup = other.index_lookup();
        let mut gaps = BTreeMap::new();
        let mut row_before = None;
        let mut gap = Gap::default();
        for run in self.runs.iter() {
            // The ids of a new row may follow those of an older one.
            let (shared, new) = split_at_id(run, first_new_id);
            let kept = other_lookup.overlapping(shared.first_id, shared.id_end());
            let last_kept = kept.last().map(|(id, span)| id.saturating_add(u64::from(span.count)));
            if last_kept.is_some() {
                if gap.len > 0 {
                    gaps.insert(row_before, std::mem::take(&mut gap));
                }
                row_before = last_kept;
            }
            if new.len > 0 {
                gap.push(new);
            }
        }
        gaps
    }
}

/// Both gaps have the same length.
fn pair_gaps(gap: &Gap, other_gap: &Gap, pairs: &mut Vec<PairedRun>) {
    let mut other_runs = other_gap.runs.iter().copied();
    let mut other_rest = other_runs.next();
    for run in &gap.runs {
        let mut rest = *run;
        while let Some(other_run) = other_rest {
            let len = rest.len.min(other_run.len);
            let (first_id, other_first_id) = (rest.first_id, other_run.first_id);
            pairs.push(PairedRun { first_id, other_first_id, len });
            let other_left = skip(other_run, len);
            other_rest = if other_left.len > 0 { Some(other_left) } else { other_runs.next() };
            rest = skip(rest, len);
            if rest.len == 0 {
                break;
            }
        }
    }
}

/// Returns the rows with ids below `id`, and the others.
fn split_at_id(run: IdRun, id: u64) -> (IdRun, IdRun) {
    let len_below = id.saturating_sub(run.first_id).min(u64::from(run.len));
    // At most `run.len`.
    let len_below = u32::try_from(len_below).unwrap_or(run.len);
    (IdRun { len: len_below, ..run }, skip(run, len_below))
}

fn skip(run: IdRun, len: u32) -> IdRun {
    IdRun {
        first_id: run.first_id.saturating_add(u64::from(len)),
        first_index: run.first_index.saturating_add(len),
        len: run.len.saturating_sub(len),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis_map::Axis;
    use cellar_grid::Spans;

    fn branches() -> (AxisOrder, AxisOrder, u64) {
        let shared = AxisOrder::new(Axis::Columns);
        let first_new_id = shared.next_id;
        (shared.clone(), shared.branch(), first_new_id)
    }

    fn common_ids(one: &AxisOrder, other: &AxisOrder, first_new_id: u64) -> Vec<bool> {
        let (renamed, rename) = one.with_ids_of(other, first_new_id);
        let lookup = other.index_lookup();
        (0..10)
            .map(|index| {
                assert_eq!(rename(one.id(index).unwrap()), renamed.id(index).unwrap());
                lookup.contains(renamed.id(index).unwrap())
            })
            .collect()
    }

    #[test]
    fn equal_inserts_at_one_place_are_the_same_rows() {
        let (mut one, mut other, first_new_id) = branches();
        one.insert(2, 1);
        one.insert(2, 2);
        other.insert(2, 3);
        assert_eq!(common_ids(&one, &other, first_new_id), [true; 10]);
        one.insert(8, 1);
        let common = common_ids(&one, &other, first_new_id);
        assert_eq!(common.iter().filter(|is_common| !**is_common).count(), 1);
        assert!(!common[8], "only one branch inserted it");
    }

    #[test]
    fn an_insert_is_paired_although_its_id_follows_that_of_an_older_insert() {
        let mut shared = AxisOrder::new(Axis::Columns);
        shared.insert(2, 1);
        let (mut one, mut other) = (shared.clone(), shared.branch());
        one.insert(3, 1);
        other.insert(3, 1);
        assert_eq!(common_ids(&one, &other, shared.next_id), [true; 10]);
    }

    #[test]
    fn different_inserts_at_one_place_are_different_rows() {
        let (mut one, mut other, first_new_id) = branches();
        one.insert(2, 1);
        other.insert(2, 2);
        let common = common_ids(&one, &other, first_new_id);
        assert_eq!(common.iter().position(|is_common| !is_common), Some(2));
    }

    #[test]
    fn rows_that_one_branch_deleted_do_not_separate_inserts() {
        let (mut one, mut other, first_new_id) = branches();
        other.delete(&Spans::one(1, 1));
        other.insert(1, 1);
        one.insert(2, 1);
        let common = common_ids(&one, &other, first_new_id);
        assert_eq!(common[..4], [true, false, true, true], "the deleted row is at 1");
    }
}
