//! A list of runs stored in blocks, so that a change copies only the runs in nearby blocks.

use super::IdRun;

/// Maximum number of runs per block; a larger block is split.
const MAX_BLOCK_RUNS: usize = 512;

/// A block of one or more consecutive runs.
#[derive(Debug, Clone)]
struct Block {
    /// Runs in the block. Their indices are relative to the start of the block.
    runs: Vec<IdRun>,
    /// Absolute index of the first row of the block.
    index: u32,
    /// Total number of rows in the runs.
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

    /// Returns the runs with absolute indices.
    fn absolute_runs(&self) -> impl Iterator<Item = IdRun> + '_ {
        self.runs.iter().map(|run| IdRun { index: run.index.saturating_add(self.index), ..*run })
    }

    /// Returns the runs that end after `index`, with absolute indices.
    fn absolute_runs_from(&self, index: u32) -> impl Iterator<Item = IdRun> + '_ {
        let relative_index = index.saturating_sub(self.index);
        let start = self.runs.partition_point(|run| run.end() <= relative_index);
        self.absolute_runs().skip(start)
    }
}

/// A list of runs stored in blocks. Each run is as long as possible.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
    run_count: usize,
}

/// Compares the runs, regardless of how they are divided into blocks.
impl PartialEq for Blocks {
    fn eq(&self, other: &Self) -> bool {
        self.run_count == other.run_count && self.iter().eq(other.iter())
    }
}

impl Eq for Blocks {}

impl Blocks {
    /// Creates a list with a single run.
    pub(super) fn one(run: IdRun) -> Self {
        Self { blocks: vec![Block::of(&[run])], run_count: 1 }
    }

    /// Returns the number of runs.
    pub(super) fn run_count(&self) -> usize {
        self.run_count
    }

    /// Returns all runs with absolute indices.
    pub(super) fn iter(&self) -> impl Iterator<Item = IdRun> + '_ {
        self.blocks.iter().flat_map(Block::absolute_runs)
    }

    /// Returns the id at `index`.
    pub(super) fn id(&self, index: u32) -> Option<u64> {
        let at = self.blocks.partition_point(|block| block.end() <= index);
        let block = self.blocks.get(at)?;
        let relative_index = index.saturating_sub(block.index);
        let run = block.runs.get(block.runs.partition_point(|run| run.end() <= relative_index))?;
        Some(run.id.saturating_add(u64::from(relative_index.saturating_sub(run.index))))
    }

    /// Returns the runs that end after `index`, with absolute indices.
    pub(super) fn iter_from(&self, index: u32) -> impl Iterator<Item = IdRun> + '_ {
        let start = self.blocks.partition_point(|block| block.end() <= index);
        // Only the first block can contain runs that end at or before `index`.
        self.blocks.iter().skip(start).flat_map(move |block| block.absolute_runs_from(index))
    }

    /// Replaces the rows with indices in `first..end` by the run `new`.
    pub(super) fn replace(&mut self, first: u32, end: u32, new: Option<IdRun>) {
        // The adjacent blocks are included because their runs may have to be joined with the new
        // run.
        let first_block = self.blocks.partition_point(|block| block.end() < first);
        let end_block = self.blocks.partition_point(|block| block.index <= end).max(first_block);
        let replaced_blocks = self.blocks.get(first_block..end_block).unwrap_or_default();
        let old_run_count: usize = replaced_blocks.iter().map(|block| block.runs.len()).sum();
        let old_runs = || replaced_blocks.iter().flat_map(Block::absolute_runs);
        let runs_before = old_runs().filter_map(|run| run.within(0, first));
        let runs_after = old_runs().filter_map(|run| run.within(end, u32::MAX));
        let runs = join_runs(runs_before.chain(new).chain(runs_after));
        self.run_count = self.run_count.saturating_sub(old_run_count).saturating_add(runs.len());
        // A split creates half-full blocks, so that the next change does not split them again.
        let is_split = runs.len() > MAX_BLOCK_RUNS;
        let block_runs = if is_split { MAX_BLOCK_RUNS / 2 } else { MAX_BLOCK_RUNS };
        self.blocks.splice(first_block..end_block, runs.chunks(block_runs).map(Block::of));
        self.update_block_indices(first_block);
    }

    /// Recomputes the absolute indices of the blocks starting at `first_block`.
    fn update_block_indices(&mut self, first_block: usize) {
        let previous = first_block.checked_sub(1).and_then(|previous| self.blocks.get(previous));
        let mut index = previous.map_or(0, Block::end);
        for block in self.blocks.iter_mut().skip(first_block) {
            block.index = index;
            index = block.end();
        }
    }
}

/// Joins runs with consecutive ids. Does not set the indices of the returned runs.
fn join_runs(runs: impl Iterator<Item = IdRun>) -> Vec<IdRun> {
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
            assert_eq!(
                run.index as usize,
                ids.len(),
                "each run starts at the end of the previous run"
            );
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
        fn replace_agrees_with_a_plain_list(
            steps in proptest::collection::vec((0..40_u32, 0..6_u32, 0..4_u32), 0..60),
        ) {
            let mut blocks = Blocks::one(IdRun { id: 0, index: 0, len: 40 });
            let mut ids: Vec<u64> = (0..40).collect();
            let mut next = 40_u64;
            for (first, removed, len) in steps {
                let length = u32::try_from(ids.len()).unwrap();
                let first = first.min(length);
                let end = (first + removed).min(length);
                let new = (len > 0).then_some(IdRun { id: next, index: 0, len });
                next += u64::from(len);
                blocks.replace(first, end, new);
                let new_ids = new.into_iter().flat_map(|run| run.id..run.id_end());
                ids.splice(first as usize..end as usize, new_ids);
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
    fn many_runs_are_split_into_blocks() {
        let mut blocks = Blocks::one(IdRun { id: 0, index: 0, len: 20_000 });
        let mut ids: Vec<u64> = (0..20_000).collect();
        for step in 0..5_000_u32 {
            // Half of the insertions are spread over the list; the other half are in one place.
            let index = if step % 2 == 0 { step * 7 % 20_000 } else { 9 };
            let id = 100_000 + 2 * u64::from(step);
            blocks.replace(index, index, Some(IdRun { id, index: 0, len: 1 }));
            ids.insert(index as usize, id);
        }
        check(&blocks, &ids);
        assert!(blocks.blocks.len() > 10);
        let same = Blocks { blocks: vec![Block::of(&join_runs(blocks.iter()))], ..blocks.clone() };
        assert!(same == blocks, "blocks are not compared");
        blocks.replace(5, 24_990, None);
        ids.drain(5..24_990);
        check(&blocks, &ids);
        assert_ne!(same, blocks);
        blocks.replace(0, 15, None);
        assert_eq!((blocks.run_count(), blocks.iter().count()), (0, 0));
    }
}
