//! Runs in blocks, so that a change touches only nearby blocks.

use super::IdRun;

/// Largest number of runs in a block; a larger block is split.
const MAX_BLOCK_RUNS: usize = 512;

/// Consecutive runs, at least one.
#[derive(Debug, Clone)]
struct Block {
    /// Runs; the index of each is relative to the block.
    runs: Vec<IdRun>,
    /// Index of the block.
    index: u32,
    /// Number of ids in the runs.
    len: u32,
}

impl Block {
    fn end(&self) -> u32 {
        self.index.saturating_add(self.len)
    }

    fn of(runs: &[IdRun]) -> Self {
        let mut block = Self { runs: Vec::with_capacity(runs.len()), index: 0, len: 0 };
        for run in runs {
            block.runs.push(IdRun { index: block.len, ..*run });
            block.len = block.len.saturating_add(run.len);
        }
        block
    }

    /// Returns the runs with their absolute index.
    fn placed(&self) -> impl Iterator<Item = IdRun> + '_ {
        self.runs.iter().map(|run| IdRun { index: run.index.saturating_add(self.index), ..*run })
    }

    /// Returns the runs with their absolute index, from the one that ends after `index`.
    fn placed_from(&self, index: u32) -> impl Iterator<Item = IdRun> + '_ {
        let inside = index.saturating_sub(self.index);
        let start = self.runs.partition_point(|run| run.end() <= inside);
        self.placed().skip(start)
    }
}

/// Runs in order, each as long as possible.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
    run_count: usize,
}

/// Equal runs are equal, however they are split into blocks.
impl PartialEq for Blocks {
    fn eq(&self, other: &Self) -> bool {
        self.run_count == other.run_count && self.iter().eq(other.iter())
    }
}

impl Eq for Blocks {}

impl Blocks {
    /// Creates blocks with a single run.
    pub(super) fn one(run: IdRun) -> Self {
        Self { blocks: vec![Block::of(&[run])], run_count: 1 }
    }

    /// Returns the number of runs.
    pub(super) fn run_count(&self) -> usize {
        self.run_count
    }

    /// Returns all runs.
    pub(super) fn iter(&self) -> impl Iterator<Item = IdRun> + '_ {
        self.blocks.iter().flat_map(Block::placed)
    }

    /// Returns the id at `index`.
    pub(super) fn id(&self, index: u32) -> Option<u64> {
        let at = self.blocks.partition_point(|block| block.end() <= index);
        let block = self.blocks.get(at)?;
        let inside = index.saturating_sub(block.index);
        let run = block.runs.get(block.runs.partition_point(|run| run.end() <= inside))?;
        Some(run.id.saturating_add(u64::from(inside.saturating_sub(run.index))))
    }

    /// Returns the runs from the one that ends after `index`.
    pub(super) fn iter_from(&self, index: u32) -> impl Iterator<Item = IdRun> + '_ {
        let start = self.blocks.partition_point(|block| block.end() <= index);
        let (first, rest) = match self.blocks.get(start..) {
            Some([first, rest @ ..]) => (Some(first), rest),
            _ => (None, [].as_slice()),
        };
        let first = first.into_iter().flat_map(move |block| block.placed_from(index));
        first.chain(rest.iter().flat_map(Block::placed))
    }

    /// Replaces the runs in `first..end` by `new`.
    pub(super) fn replace(&mut self, first: u32, end: u32, new: Option<IdRun>) {
        // Includes the neighbors on both sides, which may now join.
        let from = self.blocks.partition_point(|block| block.end() < first);
        let to = self.blocks.partition_point(|block| block.index <= end).max(from);
        let touched = self.blocks.get(from..to).unwrap_or_default();
        let old: usize = touched.iter().map(|block| block.runs.len()).sum();
        let runs = || touched.iter().flat_map(Block::placed);
        let ahead = runs().filter_map(|run| run.within(0, first));
        let behind = runs().filter_map(|run| run.within(end, u32::MAX));
        let joined = joined(ahead.chain(new).chain(behind));
        self.run_count = self.run_count.saturating_sub(old).saturating_add(joined.len());
        // Leaves capacity in both halves, so that the next change does not split again.
        let size = if joined.len() > MAX_BLOCK_RUNS { MAX_BLOCK_RUNS / 2 } else { MAX_BLOCK_RUNS };
        self.blocks.splice(from..to, joined.chunks(size).map(Block::of));
        self.place(from);
    }

    /// Recomputes the indexes of the blocks from one block on.
    fn place(&mut self, from: usize) {
        let before = from.checked_sub(1).and_then(|last| self.blocks.get(last));
        let mut index = before.map_or(0, Block::end);
        for block in self.blocks.iter_mut().skip(from) {
            block.index = index;
            index = block.end();
        }
    }
}

/// Joins adjacent runs; their indexes are no longer valid.
fn joined(runs: impl Iterator<Item = IdRun>) -> Vec<IdRun> {
    let mut joined = Vec::<IdRun>::new();
    for run in runs {
        match joined.last_mut() {
            Some(last) if last.id_end() == run.id => last.len = last.len.saturating_add(run.len),
            _ => joined.push(run),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn expanded(blocks: &Blocks) -> Vec<u64> {
        let mut ids = Vec::new();
        for run in blocks.iter() {
            assert_eq!(run.index as usize, ids.len(), "a run stands behind the one before it");
            ids.extend(run.id..run.id_end());
        }
        ids
    }

    fn check(blocks: &Blocks, ids: &[u64]) {
        assert_eq!(expanded(blocks), ids);
        assert_eq!(blocks.run_count(), blocks.iter().count());
        let all: Vec<IdRun> = blocks.iter().collect();
        assert!(all.windows(2).all(|pair| pair[0].id_end() != pair[1].id), "{all:?}");
        assert!(blocks.blocks.iter().all(|block| (1..=MAX_BLOCK_RUNS).contains(&block.runs.len())));
    }

    proptest! {
        #[test]
        fn replacing_is_replacing_in_a_list(
            steps in proptest::collection::vec((0..40_u32, 0..6_u32, 0..4_u32), 0..60),
        ) {
            let mut blocks = Blocks::one(IdRun { id: 0, index: 0, len: 40 });
            let mut ids: Vec<u64> = (0..40).collect();
            let mut next = 40_u64;
            for (first, gone, len) in steps {
                let length = u32::try_from(ids.len()).unwrap();
                let first = first.min(length);
                let end = (first + gone).min(length);
                let new = (len > 0).then_some(IdRun { id: next, index: 0, len });
                next += u64::from(len);
                blocks.replace(first, end, new);
                let fresh = new.into_iter().flat_map(|run| run.id..run.id_end());
                ids.splice(first as usize..end as usize, fresh);
                check(&blocks, &ids);
                for index in 0..=u32::try_from(ids.len()).unwrap() {
                    let found = blocks.iter_from(index).next();
                    let found = found.map(|run| run.id + u64::from(index - run.index));
                    prop_assert_eq!(found, ids.get(index as usize).copied());
                    prop_assert_eq!(blocks.id(index), found);
                }
            }
        }
    }

    #[test]
    fn many_runs_are_in_many_blocks_and_can_all_be_gone() {
        let mut blocks = Blocks::one(IdRun { id: 0, index: 0, len: 20_000 });
        let mut ids: Vec<u64> = (0..20_000).collect();
        for step in 0..5_000_u32 {
            // All over the list, and again and again at one place.
            let index = if step % 2 == 0 { step * 7 % 20_000 } else { 9 };
            let id = 100_000 + 2 * u64::from(step);
            blocks.replace(index, index, Some(IdRun { id, index: 0, len: 1 }));
            ids.insert(index as usize, id);
        }
        check(&blocks, &ids);
        assert!(blocks.blocks.len() > 10);
        let same = Blocks { blocks: vec![Block::of(&joined(blocks.iter()))], ..blocks.clone() };
        assert!(same == blocks, "whatever the blocks");
        blocks.replace(5, 24_990, None);
        ids.drain(5..24_990);
        check(&blocks, &ids);
        assert_ne!(same, blocks);
        blocks.replace(0, 15, None);
        assert_eq!((blocks.run_count(), blocks.iter().count()), (0, 0));
    }
}
