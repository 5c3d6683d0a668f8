//! A list of runs of consecutive row ids. The list is divided into blocks, so that a change copies
//! only the runs in adjacent blocks.

use super::IdRun;

/// Maximum number of runs in a block. Larger blocks are split.
const MAX_BLOCK_RUNS: usize = 512;

/// Consecutive runs of the list. A block is never empty.
#[derive(Debug, Clone)]
struct Block {
    /// The runs, with indices relative to the start of the block.
    runs: Vec<IdRun>,
    /// Index of the first row of the block in the whole list.
    first_index: u32,
    len: u32,
}

impl Block {
    fn end(&self) -> u32 {
        self.first_index.saturating_add(self.len)
    }

    fn of(runs: &[IdRun]) -> Self {
        let mut block = Self { runs: Vec::with_capacity(runs.len()), first_index: 0, len: 0 };
        for run in runs {
            block.runs.push(IdRun { first_index: block.len, ..*run });
            block.len = block.len.saturating_add(run.len);
        }
        block
    }

    fn absolute_runs(&self) -> impl Iterator<Item = IdRun> + '_ {
        self.runs.iter().map(|run| IdRun {
            first_index: run.first_index.saturating_add(self.first_index),
            ..*run
        })
    }

    fn absolute_runs_from(&self, index: u32) -> impl Iterator<Item = IdRun> + '_ {
        let relative_index = index.saturating_sub(self.first_index);
        let first_run = self.runs.partition_point(|run| run.end() <= relative_index);
        self.absolute_runs().skip(first_run)
    }
}

/// A list of runs, divided into blocks. Runs with consecutive ids are always joined.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
    run_count: usize,
}

/// Compares the runs regardless of how they are divided into blocks.
impl PartialEq for Blocks {
    fn eq(&self, other: &Self) -> bool {
        self.run_count == other.run_count && self.iter().eq(other.iter())
    }
}

impl Eq for Blocks {}

impl Blocks {
    pub(super) fn one(run: IdRun) -> Self {
        Self { blocks: vec![Block::of(&[run])], run_count: 1 }
    }

    pub(super) fn run_count(&self) -> usize {
        self.run_count
    }

    /// Returns all runs with absolute indices.
    pub(super) fn iter(&self) -> impl Iterator<Item = IdRun> + '_ {
        self.blocks.iter().flat_map(Block::absolute_runs)
    }

    pub(super) fn id(&self, index: u32) -> Option<u64> {
        let block_number = self.blocks.partition_point(|block| block.end() <= index);
        let block = self.blocks.get(block_number)?;
        let relative_index = index.saturating_sub(block.first_index);
        let run_number = block.runs.partition_point(|run| run.end() <= relative_index);
        let run = block.runs.get(run_number)?;
        let offset_in_run = relative_index.saturating_sub(run.first_index);
        Some(run.first_id.saturating_add(u64::from(offset_in_run)))
    }

    pub(super) fn iter_from(&self, index: u32) -> impl Iterator<Item = IdRun> + '_ {
        let first_block = self.blocks.partition_point(|block| block.end() <= index);
        // Only the first of these blocks can contain runs that end at or before `index`.
        self.blocks.iter().skip(first_block).flat_map(move |block| block.absolute_runs_from(index))
    }

    pub(super) fn remove(&mut self, first: u32, end: u32) {
        self.replace(first, end, None);
    }

    pub(super) fn insert(&mut self, before: u32, new_run: IdRun) {
        self.replace(before, before, Some(new_run));
    }

    /// Replaces the rows with indices in `first..end` with `new_run`, or removes them if there is
    /// no `new_run`.
    fn replace(&mut self, first: u32, end: u32, new_run: Option<IdRun>) {
        // The new run may have to be joined with runs in the adjacent blocks.
        let first_block = self.blocks.partition_point(|block| block.end() < first);
        let end_block =
            self.blocks.partition_point(|block| block.first_index <= end).max(first_block);
        let old_blocks = self.blocks.get(first_block..end_block).unwrap_or_default();
        let old_runs: Vec<IdRun> = old_blocks.iter().flat_map(Block::absolute_runs).collect();
        let runs_before = old_runs.iter().filter_map(|run| run.within(0, first));
        let runs_after = old_runs.iter().filter_map(|run| run.within(end, u32::MAX));
        let new_runs = join_runs(runs_before.chain(new_run).chain(runs_after));
        self.run_count =
            self.run_count.saturating_sub(old_runs.len()).saturating_add(new_runs.len());
        let new_blocks = new_runs.chunks(runs_per_block(new_runs.len())).map(Block::of);
        self.blocks.splice(first_block..end_block, new_blocks);
        self.update_block_indices(first_block);
    }

    fn update_block_indices(&mut self, first_block: usize) {
        let preceding_block = first_block.checked_sub(1).and_then(|number| self.blocks.get(number));
        let mut next_index = preceding_block.map_or(0, Block::end);
        for block in self.blocks.iter_mut().skip(first_block) {
            block.first_index = next_index;
            next_index = block.end();
        }
    }
}

fn runs_per_block(run_count: usize) -> usize {
    let is_split = run_count > MAX_BLOCK_RUNS;
    // A split creates half-full blocks, so that the next change does not cause another split.
    if is_split { MAX_BLOCK_RUNS / 2 } else { MAX_BLOCK_RUNS }
}

/// Joins runs with consecutive ids. The indices of the returned runs are not set.
fn join_runs(runs: impl Iterator<Item = IdRun>) -> Vec<IdRun> {
    let mut joined = Vec::<IdRun>::new();
    for run in runs {
        match joined.last_mut() {
            Some(last_run) if last_run.id_end() == run.first_id => {
                last_run.len = last_run.len.saturating_add(run.len);
            }
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
                run.first_index as usize,
                ids.len(),
                "each run starts at the end of the previous run"
            );
            ids.extend(run.first_id..run.id_end());
        }
        ids
    }

    fn check(blocks: &Blocks, ids: &[u64]) {
        assert_eq!(expanded(blocks), ids);
        assert_eq!(blocks.run_count(), blocks.iter().count());
        let all: Vec<IdRun> = blocks.iter().collect();
        assert!(all.windows(2).all(|pair| pair[0].id_end() != pair[1].first_id), "{all:?}");
        assert!(blocks.blocks.iter().all(|block| (1..=MAX_BLOCK_RUNS).contains(&block.runs.len())));
    }

    proptest! {
        #[test]
        fn replace_agrees_with_a_plain_list(
            steps in proptest::collection::vec((0..40_u32, 0..6_u32, 0..4_u32), 0..60),
        ) {
            let mut blocks = Blocks::one(IdRun { first_id: 0, first_index: 0, len: 40 });
            let mut ids: Vec<u64> = (0..40).collect();
            let mut next = 40_u64;
            for (first, removed, len) in steps {
                let length = u32::try_from(ids.len()).unwrap();
                let first = first.min(length);
                let end = (first + removed).min(length);
                let new = (len > 0).then_some(IdRun { first_id: next, first_index: 0, len });
                next += u64::from(len);
                blocks.replace(first, end, new);
                let new_ids = new.into_iter().flat_map(|run| run.first_id..run.id_end());
                ids.splice(first as usize..end as usize, new_ids);
                check(&blocks, &ids);
                for first_index in 0..=u32::try_from(ids.len()).unwrap() {
                    let found = blocks.iter_from(first_index).next();
                    let found = found.map(|run| run.first_id + u64::from(first_index - run.first_index));
                    prop_assert_eq!(found, ids.get(first_index as usize).copied());
                    prop_assert_eq!(blocks.id(first_index), found);
                }
            }
        }
    }

    #[test]
    fn many_runs_are_split_into_blocks() {
        let mut blocks = Blocks::one(IdRun { first_id: 0, first_index: 0, len: 20_000 });
        let mut ids: Vec<u64> = (0..20_000).collect();
        for step in 0..5_000_u32 {
            // One half of the insertions is spread over the list, and the other half is in a single
            // place.
            let first_index = if step % 2 == 0 { step * 7 % 20_000 } else { 9 };
            let id = 100_000 + 2 * u64::from(step);
            blocks.replace(
                first_index,
                first_index,
                Some(IdRun { first_id: id, first_index: 0, len: 1 }),
            );
            ids.insert(first_index as usize, id);
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
