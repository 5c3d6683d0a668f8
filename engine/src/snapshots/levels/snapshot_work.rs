//! Work on one snapshot, performed in bounded pieces.

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_snapshot::SnapshotError;
use cellar_snapshot::chunk::chunk_of;
use cellar_snapshot::compaction::{
    CompactionBase, CompactionPlan, FoldedEntries, MergePlan, NextRoot, plan_compaction,
};
use cellar_snapshot::level::ChunkRef;
use cellar_snapshot::merge::{Merge, MergeCursor, MergeStep, MergedTile, RowTooLarge, SheetInput};
use cellar_snapshot::objects::{ObjectKind, ObjectRequest, Objects};
use cellar_snapshot::packed::{Bounds, PackedObject, pack, unpack};
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::entries_read::{EntriesRead, StepEntries};
use super::progress::{BuildProgress, MAX_RECENT_TILES, MergeProgress, TileChain};
use crate::logs::Logs;
use crate::snapshots::builder::BuildError;
use crate::snapshots::store::{ObjectFault, ObjectStore, snapshot_fault};

/// Maximum number of tiles that a piece of work reuses unchanged. Reusing a tile requires no I/O.
const MAX_REUSED_TILES: usize = 200;

/// Work on one snapshot.
pub(super) struct SnapshotWork {
    job: SnapshotJob,
    /// Log under whose id the snapshot objects are stored.
    family: LogId,
    /// Root key from which the current compaction step starts.
    root: Option<String>,
    base: CompactionBase,
    /// Merge of the current compaction step, or `None` if the step has no merge or the merge is not
    /// loaded yet.
    merge: Option<OpenMerge>,
    /// Progress of a merge that is not loaded yet.
    merge_to_resume: Option<MergeProgress>,
    /// Whether the snapshot is rebuilt from scratch.
    is_rebuild: bool,
    /// Whether the current compaction step merges into the narrowest stripes.
    has_narrow_stripes: bool,
}

/// The merge of a compaction step.
struct OpenMerge {
    folded: FoldedEntries,
    plan: MergePlan,
    merge: Merge,
    progress: MergeProgress,
}

/// Result of one piece of work.
pub(super) enum PieceResult {
    Progress(BuildProgress),
    /// An earlier Snapshot entry's snapshot must be built first.
    EarlierSnapshot(Position),
    Finished {
        root: String,
    },
}

impl SnapshotWork {
    /// Loads the work from its progress, including its base.
    pub(super) async fn open(
        store: &ObjectStore,
        job: SnapshotJob,
        family: LogId,
        progress: BuildProgress,
    ) -> Result<Self, ObjectFault> {
        let BuildProgress { root, merge, is_rebuild, has_narrow_stripes } = progress;
        let base = load_base(store, family, root.as_deref()).await?;
        Ok(Self {
            job,
            family,
            root,
            base,
            merge: None,
            merge_to_resume: merge,
            is_rebuild,
            has_narrow_stripes,
        })
    }

    /// Performs one bounded piece of work.
    pub(super) async fn perform_piece(
        &mut self,
        logs: &Logs,
        store: &ObjectStore,
    ) -> Result<PieceResult, BuildError> {
        let open_merge = match self.merge.take() {
            Some(open_merge) => open_merge,
            None => {
                let folded = match self.read_entries(logs, store).await? {
                    EntriesRead::Folded(folded) => *folded,
                    EntriesRead::EarlierSnapshot(position) => {
                        return Ok(PieceResult::EarlierSnapshot(position));
                    }
                    EntriesRead::LaterBase { .. } | EntriesRead::NoEntries => {
                        return self.finish_without_entries();
                    }
                };
                self.put_long_texts(store, &folded).await?;
                match plan_compaction(&self.base, &folded).map_err(|error| self.fault(&error))? {
                    CompactionPlan::LevelZero(next) => return self.finish_step(store, *next).await,
                    CompactionPlan::Merge(plan) => self.open_merge(store, folded, *plan).await?,
                }
            }
        };
        self.continue_merge(store, open_merge).await
    }

    /// Finishes a snapshot whose base already includes all entries up to the job's position.
    fn finish_without_entries(&self) -> Result<PieceResult, BuildError> {
        let root = self.root.clone().ok_or_else(|| BuildError {
            temporary: true,
            message: format!("the log has no entry up to {} yet", self.job.position),
        })?;
        Ok(PieceResult::Finished { root })
    }

    /// Reads the entries of the next compaction step. If a snapshot newer than the base exists, the
    /// step starts from that snapshot instead. The base may be stale after a stale read, or because
    /// this worker was suspended while others built snapshots. A step that spanned several
    /// snapshots would write objects that no other worker writes (I11, I12).
    async fn read_entries(
        &mut self,
        logs: &Logs,
        store: &ObjectStore,
    ) -> Result<EntriesRead, BuildError> {
        loop {
            let step = StepEntries {
                job: self.job,
                base: &self.base,
                is_rebuild: self.is_rebuild,
                may_change_base: !self.is_rebuild && self.merge_to_resume.is_none(),
            };
            match step.read(logs).await? {
                EntriesRead::LaterBase { root } => {
                    self.base = load_base(store, self.family, Some(&root)).await?;
                    self.root = Some(root);
                }
                read => return Ok(read),
            }
        }
    }

    async fn put_long_texts(
        &self,
        store: &ObjectStore,
        folded: &FoldedEntries,
    ) -> Result<(), BuildError> {
        for text in folded.long_texts() {
            let packed = pack(text.text.as_bytes(), Bounds::CHUNK);
            let packed = packed.map_err(|error| self.fault(&error))?;
            store.put_chunk(self.family, packed.chunk.hash, packed.stored).await?;
        }
        Ok(())
    }

    /// Loads a merge's inputs and resumes the merge from the stored progress.
    async fn open_merge(
        &mut self,
        store: &ObjectStore,
        folded: FoldedEntries,
        plan: MergePlan,
    ) -> Result<OpenMerge, BuildError> {
        let mut plan = if self.has_narrow_stripes { plan.narrowed() } else { plan };
        let (family, base) = (self.family, &self.base);
        let mut objects = Objects::default();
        let load_inputs = |objects: &Objects| plan.load_inputs(base, &folded, objects);
        let inputs: Vec<SheetInput> = store.ready(family, &mut objects, load_inputs).await?;
        let progress = self.merge_to_resume.take().unwrap_or_default();
        let merge = if progress == MergeProgress::default() {
            Merge::new(inputs)
        } else {
            let finished = self.load_finished_tiles(store, &progress).await?;
            Merge::resume(inputs, finished, progress.cursor)
        };
        Ok(OpenMerge { folded, plan, merge, progress })
    }

    /// Returns all finished tiles of a merge, in the order in which they were finished. Older tiles
    /// are read from the object chain.
    async fn load_finished_tiles(
        &self,
        store: &ObjectStore,
        progress: &MergeProgress,
    ) -> Result<Vec<MergedTile>, BuildError> {
        let mut parts = vec![progress.recent.clone()];
        let mut next = progress.chain;
        while let Some(part) = next {
            let stored = store.chunk(self.family, part.hash).await?;
            let bytes = unpack(part.hash, &stored, Bounds::CHUNK).map_err(|e| self.fault(&e))?;
            let chain = TileChain::decode(&bytes).map_err(|error| BuildError {
                temporary: false,
                message: format!("the list of merged tiles {} is damaged: {error}", part.hash),
            })?;
            parts.push(chain.tiles);
            next = chain.previous;
        }
        Ok(parts.into_iter().rev().flatten().collect())
    }

    /// Continues a merge until it has stored a chunk or is finished.
    async fn continue_merge(
        &mut self,
        store: &ObjectStore,
        mut open_merge: OpenMerge,
    ) -> Result<PieceResult, BuildError> {
        let mut tile_count = 0_usize;
        loop {
            let step = match open_merge.merge.step(&chunk_of) {
                Ok(step) => step,
                Err(error) => return self.handle_large_row(&error),
            };
            match step {
                MergeStep::Load(chunks) => {
                    load_tiles(store, self.family, &chunks, &mut open_merge.merge).await?;
                }
                MergeStep::Tile { tile, chunk, cursor } => {
                    open_merge.record_tile(tile, cursor);
                    tile_count = tile_count.saturating_add(1);
                    let is_stored = chunk.is_some();
                    if let Some(PackedObject { chunk, stored }) = chunk {
                        store.put_chunk(self.family, chunk.hash, stored).await?;
                    }
                    if is_stored || tile_count >= MAX_REUSED_TILES {
                        offload_recent_tiles(store, self.family, &mut open_merge.progress).await?;
                        let progress = self.progress(Some(open_merge.progress.clone()));
                        self.merge = Some(open_merge);
                        return Ok(PieceResult::Progress(progress));
                    }
                }
                MergeStep::Done(level) => {
                    let next = open_merge.plan.finish(&self.base, &open_merge.folded, &level);
                    let next = next.map_err(|error| self.fault(&error))?;
                    return self.finish_step(store, next).await;
                }
            }
        }
    }

    /// Stores the root at the end of a compaction step. If the job's position has not been reached,
    /// the next step starts from this root.
    async fn finish_step(
        &mut self,
        store: &ObjectStore,
        next: NextRoot,
    ) -> Result<PieceResult, BuildError> {
        let family = self.family;
        for object in next.objects {
            store.put_chunk(family, object.chunk.hash, object.stored).await?;
        }
        let root = store.put_root(family, next.stored.chunk.hash, next.stored.stored).await?;
        if next.root.position >= self.job.position {
            return Ok(PieceResult::Finished { root });
        }
        self.base = load_base(store, family, Some(&root)).await?;
        self.root = Some(root);
        self.has_narrow_stripes = false;
        Ok(PieceResult::Progress(self.progress(None)))
    }

    /// Restarts the compaction step with the narrowest stripes, so that every row fits into a
    /// chunk. Every worker encounters the same row and restarts in the same way.
    fn handle_large_row(&mut self, error: &RowTooLarge) -> Result<PieceResult, BuildError> {
        if self.has_narrow_stripes {
            return Err(BuildError { temporary: false, message: error.to_string() });
        }
        self.merge_to_resume = None;
        self.has_narrow_stripes = true;
        Ok(PieceResult::Progress(self.progress(None)))
    }

    fn progress(&self, merge: Option<MergeProgress>) -> BuildProgress {
        BuildProgress {
            root: self.root.clone(),
            merge,
            is_rebuild: self.is_rebuild,
            has_narrow_stripes: self.has_narrow_stripes,
        }
    }

    fn fault(&self, error: &SnapshotError) -> BuildError {
        snapshot_fault(self.family, error).into()
    }
}

impl OpenMerge {
    fn record_tile(&mut self, tile: MergedTile, cursor: MergeCursor) {
        self.progress.recent.push(tile);
        self.progress.cursor = cursor;
    }
}

/// Loads the base of a compaction step from a root, or the empty state if there is no root.
async fn load_base(
    store: &ObjectStore,
    family: LogId,
    root: Option<&str>,
) -> Result<CompactionBase, ObjectFault> {
    let Some(root) = root else { return Ok(CompactionBase::default()) };
    let root = store.root(root).await?;
    let mut objects = Objects::default();
    store.ready(family, &mut objects, |objects| CompactionBase::open(&root, objects)).await
}

/// Loads tiles and passes them to the merge.
async fn load_tiles(
    store: &ObjectStore,
    family: LogId,
    chunks: &[ChunkRef],
    merge: &mut Merge,
) -> Result<(), BuildError> {
    let wanted: Vec<ObjectRequest> =
        chunks.iter().map(|chunk| ObjectRequest::new(ObjectKind::Tile, *chunk)).collect();
    let mut objects = Objects::default();
    store.load(family, &wanted, &mut objects).await?;
    for chunk in chunks {
        if let Some(tile) = objects.tile(&chunk.hash) {
            merge.provide(chunk.hash, Arc::clone(tile));
        }
    }
    Ok(())
}

/// If the progress contains too many finished tiles, moves them to the object chain.
async fn offload_recent_tiles(
    store: &ObjectStore,
    family: LogId,
    progress: &mut MergeProgress,
) -> Result<(), BuildError> {
    if progress.recent.len() <= MAX_RECENT_TILES {
        return Ok(());
    }
    let tiles = std::mem::take(&mut progress.recent);
    let chain = TileChain { previous: progress.chain, tiles };
    let packed = pack(&chain.encode(), Bounds::CHUNK).map_err(|e| snapshot_fault(family, &e))?;
    store.put_chunk(family, packed.chunk.hash, packed.stored).await?;
    progress.chain = Some(packed.chunk);
    Ok(())
}

impl From<ObjectFault> for BuildError {
    fn from(fault: ObjectFault) -> Self {
        let temporary = match &fault {
            ObjectFault::Store(error) => error.temporary,
            ObjectFault::Missing { .. } | ObjectFault::Damaged { .. } => false,
        };
        Self { temporary, message: fault.to_string() }
    }
}
