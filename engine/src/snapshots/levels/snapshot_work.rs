//! Builds one snapshot in bounded units of work.

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_snapshot::SnapshotError;
use cellar_snapshot::chunk::chunk_of;
use cellar_snapshot::compaction::{
    CompactionBase, CompactionPlan, FoldedEntries, MergePlan, NextRoot, plan_compaction,
};
use cellar_snapshot::dependents::SearchedState;
use cellar_snapshot::level::{ChunkHash, ChunkRef, Level};
use cellar_snapshot::merge::{Merge, MergeCursor, MergeStep, MergedTile, RowTooLarge, SheetInput};
use cellar_snapshot::objects::{ObjectKind, ObjectRequest, Objects};
use cellar_snapshot::outdated::{OutdatedAreas, OutdatedBy, find_outdated};
use cellar_snapshot::packed::{Bounds, PackedObject, pack, unpack};
use cellar_snapshot::root::Root;
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::entries_read::{EntriesRead, StepEntries};
use super::progress::{BuildProgress, MergeProgress, TileChain};
use crate::logs::{CalculatedResults, CalculationPieces, Logs, View};
use crate::ports::PortError;
use crate::snapshots::store::{ObjectFault, ObjectStore, snapshot_fault};

/// Maximum number of tiles that one unit of work reuses. It is high, since reusing a tile requires
/// no I/O.
const MAX_REUSED_TILES: usize = 200;

pub(super) struct SnapshotWork {
    job: SnapshotJob,
    /// Original log of the fork family. Snapshot objects are stored under its id.
    family: LogId,
    root_key: Option<String>,
    root: Option<Root>,
    base: CompactionBase,
    /// Merge of the current compaction step, or `None` if the step has no merge or its merge is not
    /// loaded yet.
    merge: Option<LoadedMerge>,
    merge_to_resume: Option<MergeProgress>,
    is_rebuild: bool,
    has_narrow_stripes: bool,
    pieces: CalculationPieces,
}

struct LoadedMerge {
    folded: FoldedEntries,
    plan: MergePlan,
    merge: Merge,
    progress: MergeProgress,
}

pub(super) enum WorkResult {
    Progress(BuildProgress),
    /// An earlier Snapshot entry has no snapshot yet. Its snapshot must be built first.
    EarlierSnapshot(Position),
    Finished {
        root_key: String,
    },
}

impl SnapshotWork {
    pub(super) async fn load(
        store: &ObjectStore,
        job: SnapshotJob,
        family: LogId,
        progress: BuildProgress,
    ) -> Result<Self, ObjectFault> {
        let BuildProgress { root: root_key, merge, is_rebuild, has_narrow_stripes } = progress;
        let (root, base) = load_base(store, family, root_key.as_deref()).await?;
        Ok(Self {
            job,
            family,
            root_key,
            root,
            base,
            merge: None,
            merge_to_resume: merge,
            is_rebuild,
            has_narrow_stripes,
            pieces: CalculationPieces::default(),
        })
    }

    pub(super) fn with_pieces(self, pieces: CalculationPieces) -> Self {
        Self { pieces, ..self }
    }

    pub(super) async fn perform_unit(
        &mut self,
        logs: &Logs,
        store: &ObjectStore,
    ) -> Result<WorkResult, PortError> {
        if let Some(loaded_merge) = self.merge.take() {
            return self.continue_merge(store, loaded_merge).await;
        }
        let folded = loop {
            match self.read_entries(logs).await? {
                EntriesRead::Folded(folded) => break self.with_outdated(store, *folded).await?,
                EntriesRead::EarlierSnapshot(position) => {
                    return Ok(WorkResult::EarlierSnapshot(position));
                }
                EntriesRead::NoEntries => match self.calculate_base(store).await? {
                    Some(results) => break results,
                    None => return self.finish_without_entries(),
                },
                // The base may be outdated after a stale read, or because this worker was suspended
                // while other workers built snapshots. A step across several snapshots would write
                // objects that no other worker writes (I11, I12).
                EntriesRead::LaterBase { root_key } => self.change_base(store, root_key).await?,
            }
        };
        self.put_long_texts(store, &folded).await?;
        let plan =
            plan_compaction(&self.base, &folded).map_err(|error| self.to_build_error(&error))?;
        match plan {
            CompactionPlan::LevelZero(next_root) => {
                self.store_root_and_advance(store, *next_root).await
            }
            CompactionPlan::Merge(merge_plan) => {
                let loaded_merge = self.load_merge(store, folded, *merge_plan).await?;
                self.continue_merge(store, loaded_merge).await
            }
        }
    }

    /// Adds the formulas whose values the entries change.
    async fn with_outdated(
        &self,
        store: &ObjectStore,
        folded: FoldedEntries,
    ) -> Result<FoldedEntries, PortError> {
        let FoldedEntries { level: tail, metadata, .. } = &folded;
        let state = SearchedState { root: self.root.as_ref(), tail, metadata };
        let find = |objects: &Objects| find_outdated(state, OutdatedBy::Changes, &[], objects);
        let outdated = store.load_until_ready(self.family, &mut Objects::default(), find).await?;
        Ok(FoldedEntries { outdated, ..folded })
    }

    /// Returns the results of outdated formulas of the root from which the step starts. Returns `None`
    /// if there are none.
    async fn calculate_base(
        &self,
        store: &ObjectStore,
    ) -> Result<Option<FoldedEntries>, PortError> {
        match &self.root {
            Some(root) if self.has_outdated_formulas(root) => {
                self.calculate(store, root, &self.base).await
            }
            _ => Ok(None),
        }
    }

    /// Returns the results of outdated formulas of a root that the job has reached. Returns `None` if
    /// there are none, or if the others take too much work.
    async fn calculate(
        &self,
        store: &ObjectStore,
        root: &Root,
        base: &CompactionBase,
    ) -> Result<Option<FoldedEntries>, PortError> {
        let ids = (store.clone(), self.job.log, self.family);
        let mut view = View::of_root(ids, root.clone(), base.metadata.clone());
        let CalculatedResults { sheets, outdated } = view.calculate_outdated(self.pieces).await?;
        let outdated = outdated.reduced();
        let outdated_before = root.outdated.as_ref().map_or(u64::MAX, OutdatedAreas::cell_count);
        // A step stores results or leaves fewer outdated cells. Otherwise it would be repeated without
        // end.
        if sheets.is_empty() && outdated.cell_count() >= outdated_before {
            return Ok(None);
        }
        Ok(Some(FoldedEntries::of_results(base, root.position, sheets, outdated)))
    }

    /// Adds the results of outdated formulas to a root that is not stored yet. If they do not fit
    /// into level 0, the next step adds them. Also returns whether a next step may find results.
    async fn with_results(
        &self,
        store: &ObjectStore,
        mut next_root: NextRoot,
    ) -> Result<(NextRoot, bool), PortError> {
        if !self.has_outdated_formulas(&next_root.root) {
            return Ok((next_root, false));
        }
        self.store_objects(store, std::mem::take(&mut next_root.objects)).await?;
        let root = &next_root.root;
        let base = open_base(store, self.family, root).await?;
        let Some(results) = self.calculate(store, root, &base).await? else {
            return Ok((next_root, false));
        };
        match plan_compaction(&base, &results).map_err(|error| self.to_build_error(&error))? {
            CompactionPlan::LevelZero(root_with_results) => {
                let may_continue = self.has_outdated_formulas(&root_with_results.root);
                Ok((*root_with_results, may_continue))
            }
            CompactionPlan::Merge(_) => Ok((next_root, true)),
        }
    }

    /// Returns whether the root is that of the job and has formulas without valid values.
    fn has_outdated_formulas(&self, root: &Root) -> bool {
        let mut sheets = root.all_levels().flat_map(|level| &level.level.sheets);
        let has_formulas = sheets.any(|sheet| sheet.formulas != Some(0));
        let is_outdated = root.outdated.as_ref().is_none_or(|outdated| !outdated.is_empty());
        root.position >= self.job.position && has_formulas && is_outdated
    }

    fn finish_without_entries(&self) -> Result<WorkResult, PortError> {
        match &self.root_key {
            Some(root_key) => Ok(WorkResult::Finished { root_key: root_key.clone() }),
            None => {
                let position = self.job.position;
                Err(PortError::temporary(format!(
                    "the log has no entries up to position {position} yet"
                )))
            }
        }
    }

    async fn read_entries(&self, logs: &Logs) -> Result<EntriesRead, PortError> {
        let step_entries = StepEntries {
            job: self.job,
            base: &self.base,
            is_rebuild: self.is_rebuild,
            may_change_base: !self.is_rebuild && self.merge_to_resume.is_none(),
        };
        step_entries.read(logs).await
    }

    /// Starts the next step from the snapshot with this root.
    async fn change_base(
        &mut self,
        store: &ObjectStore,
        root_key: String,
    ) -> Result<(), ObjectFault> {
        (self.root, self.base) = load_base(store, self.family, Some(&root_key)).await?;
        self.root_key = Some(root_key);
        Ok(())
    }

    async fn put_long_texts(
        &self,
        store: &ObjectStore,
        folded: &FoldedEntries,
    ) -> Result<(), PortError> {
        for long_text in &folded.level.long_texts {
            let object = pack(long_text.text.as_bytes(), Bounds::CHUNK)
                .map_err(|error| self.to_build_error(&error))?;
            store.put_chunk(self.family, object.chunk.hash, object.stored).await?;
        }
        Ok(())
    }

    async fn load_merge(
        &mut self,
        store: &ObjectStore,
        folded: FoldedEntries,
        planned_merge: MergePlan,
    ) -> Result<LoadedMerge, PortError> {
        let mut plan =
            if self.has_narrow_stripes { planned_merge.narrowed() } else { planned_merge };
        let base = &self.base;
        let load_inputs = |objects: &Objects| plan.load_inputs_or_merge_all(base, &folded, objects);
        let inputs: Vec<SheetInput> =
            store.load_until_ready(self.family, &mut Objects::default(), load_inputs).await?;
        let progress = self.merge_to_resume.take().unwrap_or_default();
        let merge = if progress == MergeProgress::default() {
            Merge::new(inputs)
        } else {
            let finished_tiles = self.load_finished_tiles(store, &progress).await?;
            Merge::resume(inputs, finished_tiles, progress.cursor)
        };
        Ok(LoadedMerge { folded, plan, merge, progress })
    }

    /// Returns all finished tiles of a merge in the order in which they were finished. Older tiles
    /// are read from a linked list of objects.
    async fn load_finished_tiles(
        &self,
        store: &ObjectStore,
        progress: &MergeProgress,
    ) -> Result<Vec<MergedTile>, PortError> {
        let mut tile_lists_newest_first = vec![progress.recent.clone()];
        let mut next_link = progress.chain;
        while let Some(link) = next_link {
            let TileChain { previous, tiles } = self.load_chain_link(store, link.hash).await?;
            tile_lists_newest_first.push(tiles);
            next_link = previous;
        }
        Ok(tile_lists_newest_first.into_iter().rev().flatten().collect())
    }

    async fn load_chain_link(
        &self,
        store: &ObjectStore,
        hash: ChunkHash,
    ) -> Result<TileChain, PortError> {
        let stored = store.chunk(self.family, hash).await?;
        let bytes =
            unpack(hash, &stored, Bounds::CHUNK).map_err(|error| self.to_build_error(&error))?;
        TileChain::decode(&bytes).map_err(|error| {
            PortError::permanent(format!("the list of merged tiles {hash} is damaged: {error}"))
        })
    }

    async fn continue_merge(
        &mut self,
        store: &ObjectStore,
        mut loaded_merge: LoadedMerge,
    ) -> Result<WorkResult, PortError> {
        let mut tile_count = 0_usize;
        loop {
            let merge_step = match loaded_merge.merge.step(&chunk_of) {
                Ok(merge_step) => merge_step,
                Err(row_too_large) => return self.restart_with_narrow_stripes(&row_too_large),
            };
            match merge_step {
                MergeStep::Load(chunks) => {
                    load_tiles(store, self.family, &chunks, &mut loaded_merge.merge).await?;
                }
                MergeStep::Tile { tile, chunk: new_chunk, cursor } => {
                    loaded_merge.record_tile(tile, cursor);
                    tile_count += 1;
                    let stores_chunk = new_chunk.is_some();
                    if let Some(PackedObject { chunk, stored }) = new_chunk {
                        store.put_chunk(self.family, chunk.hash, stored).await?;
                    }
                    if stores_chunk || tile_count >= MAX_REUSED_TILES {
                        return self.pause_merge(store, loaded_merge).await;
                    }
                }
                MergeStep::Done(merged_level) => {
                    return self.finish_merge(store, &loaded_merge, &merged_level).await;
                }
            }
        }
    }

    /// Returns the progress of a merge, and keeps the merge in memory for the next unit of work.
    async fn pause_merge(
        &mut self,
        store: &ObjectStore,
        mut loaded_merge: LoadedMerge,
    ) -> Result<WorkResult, PortError> {
        move_excess_tiles_to_chain(store, self.family, &mut loaded_merge.progress).await?;
        let progress = self.progress(Some(loaded_merge.progress.clone()));
        self.merge = Some(loaded_merge);
        Ok(WorkResult::Progress(progress))
    }

    async fn finish_merge(
        &mut self,
        store: &ObjectStore,
        loaded_merge: &LoadedMerge,
        merged_level: &Level,
    ) -> Result<WorkResult, PortError> {
        let LoadedMerge { plan, folded, .. } = loaded_merge;
        let next_root = plan
            .finish(&self.base, folded, merged_level)
            .map_err(|error| self.to_build_error(&error))?;
        self.store_root_and_advance(store, next_root).await
    }

    /// If the position of the job is not reached yet, or if formulas are outdated, the next step starts
    /// from this root.
    async fn store_root_and_advance(
        &mut self,
        store: &ObjectStore,
        next_root: NextRoot,
    ) -> Result<WorkResult, PortError> {
        let (next_root, may_find_results) = self.with_results(store, next_root).await?;
        let is_job_finished = next_root.root.position >= self.job.position && !may_find_results;
        let root_key = self.store_root(store, next_root).await?;
        if is_job_finished {
            return Ok(WorkResult::Finished { root_key });
        }
        self.change_base(store, root_key).await?;
        self.has_narrow_stripes = false;
        Ok(WorkResult::Progress(self.progress(None)))
    }

    /// Stores the objects that a root references, and then the root itself.
    async fn store_root(
        &self,
        store: &ObjectStore,
        next_root: NextRoot,
    ) -> Result<String, ObjectFault> {
        self.store_objects(store, next_root.objects).await?;
        let PackedObject { chunk, stored } = next_root.stored;
        store.put_root(self.family, chunk.hash, stored).await
    }

    async fn store_objects(
        &self,
        store: &ObjectStore,
        objects: Vec<PackedObject>,
    ) -> Result<(), ObjectFault> {
        for PackedObject { chunk, stored } in objects {
            store.put_chunk(self.family, chunk.hash, stored).await?;
        }
        Ok(())
    }

    /// Restarts the compaction step with tiles that have as few columns as possible, since a row
    /// does not fit into a chunk. All workers encounter the same row and restart in the same way.
    fn restart_with_narrow_stripes(
        &mut self,
        error: &RowTooLarge,
    ) -> Result<WorkResult, PortError> {
        if self.has_narrow_stripes {
            return Err(PortError::from_permanent(error));
        }
        self.merge_to_resume = None;
        self.has_narrow_stripes = true;
        Ok(WorkResult::Progress(self.progress(None)))
    }

    fn progress(&self, merge: Option<MergeProgress>) -> BuildProgress {
        BuildProgress {
            root: self.root_key.clone(),
            merge,
            is_rebuild: self.is_rebuild,
            has_narrow_stripes: self.has_narrow_stripes,
        }
    }

    fn to_build_error(&self, error: &SnapshotError) -> PortError {
        snapshot_fault(self.family, error).into()
    }
}

impl LoadedMerge {
    fn record_tile(&mut self, tile: MergedTile, cursor: MergeCursor) {
        self.progress.recent.push(tile);
        self.progress.cursor = cursor;
    }
}

/// Returns an empty state if `root_key` is `None`.
async fn load_base(
    store: &ObjectStore,
    family: LogId,
    root_key: Option<&str>,
) -> Result<(Option<Root>, CompactionBase), ObjectFault> {
    let Some(root_key) = root_key else { return Ok((None, CompactionBase::default())) };
    let root = store.root(root_key).await?;
    let base = open_base(store, family, &root).await?;
    Ok((Some(root), base))
}

async fn open_base(
    store: &ObjectStore,
    family: LogId,
    root: &Root,
) -> Result<CompactionBase, ObjectFault> {
    let open = |objects: &Objects| CompactionBase::open(root, objects);
    store.load_until_ready(family, &mut Objects::default(), open).await
}

async fn load_tiles(
    store: &ObjectStore,
    family: LogId,
    chunks: &[ChunkRef],
    merge: &mut Merge,
) -> Result<(), PortError> {
    let requests: Vec<ObjectRequest> =
        chunks.iter().map(|chunk| ObjectRequest::new(ObjectKind::Tile, *chunk)).collect();
    let mut objects = Objects::default();
    store.load(family, &requests, &mut objects).await?;
    for chunk in chunks {
        if let Some(tile) = objects.tile(&chunk.hash) {
            merge.provide(chunk.hash, Arc::clone(tile));
        }
    }
    Ok(())
}

async fn move_excess_tiles_to_chain(
    store: &ObjectStore,
    family: LogId,
    progress: &mut MergeProgress,
) -> Result<(), PortError> {
    if !progress.has_excess_tiles() {
        return Ok(());
    }
    let recent_tiles = std::mem::take(&mut progress.recent);
    let new_link = TileChain { previous: progress.chain, tiles: recent_tiles };
    let object =
        pack(&new_link.encode(), Bounds::CHUNK).map_err(|error| snapshot_fault(family, &error))?;
    store.put_chunk(family, object.chunk.hash, object.stored).await?;
    progress.chain = Some(object.chunk);
    Ok(())
}

impl From<ObjectFault> for PortError {
    fn from(fault: ObjectFault) -> Self {
        let message = fault.to_string();
        match fault {
            ObjectFault::Store(error) => Self { message, ..error },
            ObjectFault::Missing { .. } | ObjectFault::Damaged { .. } => Self::permanent(message),
        }
    }
}
