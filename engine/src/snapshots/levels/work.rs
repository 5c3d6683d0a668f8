//! The work on one snapshot, as far as it is.

use crate::logs::LogError;
use std::ops::ControlFlow;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Edits};
use cellar_snapshot::SnapshotError;
use cellar_snapshot::chunk::chunk_of;
use cellar_snapshot::compaction::{
    Base, CompactionFold, CompactionPlan, FoldedEntries, MergePlan, NextRoot, plan_compaction,
};
use cellar_snapshot::level::ChunkRef;
use cellar_snapshot::merge::{Merge, MergeStep, SheetInput};
use cellar_snapshot::objects::{ObjectKind, Objects, Wanted};
use cellar_snapshot::packed::{Bounds, PackedObject, pack, unpack};
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::progress::{BuildProgress, MAX_RECENT_TILES, MergeProgress, TileChain};
use crate::logs::{EntryCursor, Logs};
use crate::snapshots::builder::BuildError;
use crate::snapshots::store::{ObjectFault, ObjectStore, shape};

/// Tiles that are taken over before there is progress: each costs nothing.
const MAX_REUSED_TILES: usize = 200;

/// The work on one snapshot.
pub(super) struct Work {
    job: SnapshotJob,
    /// Where its objects are.
    family: LogId,
    /// Key of the root that the round begins from.
    root: Option<String>,
    base: Base,
    round: Option<Round>,
    /// How far the merge of the progress was, until it is taken up.
    progress: Option<MergeProgress>,
    /// Whether it is made anew.
    anew: bool,
    /// Whether the round is merged into the narrowest stripes.
    narrow: bool,
}

/// A round that merges.
struct Round {
    folded: FoldedEntries,
    plan: MergePlan,
    merge: Merge,
    progress: MergeProgress,
}

/// What a piece of work came to.
pub(super) enum Piece {
    Progress(BuildProgress),
    EarlierSnapshot(Position),
    Finished { root: String },
}

/// What reading the entries of a round came to.
enum Read {
    Folded(Box<FoldedEntries>),
    EarlierSnapshot(Position),
    /// A snapshot behind the base is made, and this is its root: the base is older than it need be.
    LaterBase {
        root: String,
    },
    /// There is nothing behind the base up to the job's position.
    Nothing,
}

impl Work {
    pub(super) async fn open(
        store: &ObjectStore,
        job: SnapshotJob,
        family: LogId,
        progress: BuildProgress,
    ) -> Result<Self, ObjectFault> {
        let BuildProgress { root, merge, anew, narrow } = progress;
        let base = base(store, family, root.as_deref()).await?;
        Ok(Self { job, family, root, base, round: None, progress: merge, anew, narrow })
    }

    /// Does one piece.
    pub(super) async fn piece(
        &mut self,
        logs: &Logs,
        store: &ObjectStore,
    ) -> Result<Piece, BuildError> {
        if self.round.is_none() {
            let folded = match self.read_from_newest(logs, store).await? {
                Read::Folded(folded) => *folded,
                Read::EarlierSnapshot(position) => return Ok(Piece::EarlierSnapshot(position)),
                Read::LaterBase { .. } | Read::Nothing => return self.nothing(),
            };
            self.put_long_texts(store, &folded).await?;
            match plan_compaction(&self.base, &folded).map_err(|error| self.shape(&error))? {
                CompactionPlan::LevelZero(next) => return self.next(store, *next).await,
                CompactionPlan::Merge(plan) if self.narrow => {
                    self.open_round(store, folded, plan.narrowed()).await?;
                }
                CompactionPlan::Merge(plan) => self.open_round(store, folded, *plan).await?,
            }
        }
        self.merge(store).await
    }

    /// The snapshot of what is a snapshot already.
    fn nothing(&self) -> Result<Piece, BuildError> {
        let root = self.root.clone().ok_or_else(|| BuildError {
            temporary: true,
            message: format!("there is no entry up to {} yet", self.job.position),
        })?;
        Ok(Piece::Finished { root })
    }

    /// Reads the entries of the next round, from the newest snapshot before it on. The base may be older:
    /// a replica did not show the newest yet, or this worker stood still while others made it. A round
    /// over both would make objects that nobody else makes (I11, I12).
    async fn read_from_newest(
        &mut self,
        logs: &Logs,
        store: &ObjectStore,
    ) -> Result<Read, BuildError> {
        loop {
            match self.read(logs).await? {
                Read::LaterBase { root } => {
                    self.base = base(store, self.family, Some(&root)).await?;
                    self.root = Some(root);
                }
                read => return Ok(read),
            }
        }
    }

    /// Reads and folds the entries of the next round.
    async fn read(&self, logs: &Logs) -> Result<Read, BuildError> {
        let (job, begin, anew) = (self.job, self.base.position, self.anew);
        let first_own = logs.first_own(job.log).await?;
        let mut fold = CompactionFold::new(&self.base);
        let (mut some, mut earlier, mut later) = (false, None, None);
        // What a merge has done so far belongs to its base.
        let may_begin_later = !anew && self.progress.is_none();
        let mut cursor = EntryCursor::from(begin.unwrap_or(Position::FIRST));
        let read =
            logs.visit_committed(job.log, &mut cursor, Some(job.position), None, |entry, done| {
                let at = entry.position;
                // The base has its own entry, and the first of a log needs no snapshot.
                if Some(at) == begin {
                    return Ok(ControlFlow::Continue(()));
                }
                let undone =
                    matches!(entry.content, Content::Snapshot { root: None, trimmed_s: None });
                // What is made anew begins where it was told to; what is inherited is for others to make.
                let is_own = at >= first_own && at != Position::FIRST;
                if undone && !anew && at != job.position && is_own {
                    earlier = Some(at);
                    return Ok(ControlFlow::Break(()));
                }
                if let Content::Snapshot { root: Some(root), .. } = &entry.content
                    && may_begin_later
                    && at != job.position
                    && is_own
                {
                    later = Some(root.clone());
                    return Ok(ControlFlow::Break(()));
                }
                let client = entry.mutation_ids().map(|(client, _, last)| (client, last));
                let folded = fold.entry(at, entry.created_s, client, done);
                folded.map_err(|_| LogError::Corrupt { at })?;
                if let Some(Edits { client, name: Some(name), .. }) = entry.edits() {
                    fold.client_name(*client, name);
                }
                some = true;
                Ok(if fold.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            });
        read.await?;
        if let Some(position) = earlier {
            return Ok(Read::EarlierSnapshot(position));
        }
        if let Some(root) = later {
            return Ok(Read::LaterBase { root });
        }
        match fold.finish() {
            Some(folded) if some => Ok(Read::Folded(Box::new(folded))),
            _ => Ok(Read::Nothing),
        }
    }

    async fn put_long_texts(
        &self,
        store: &ObjectStore,
        folded: &FoldedEntries,
    ) -> Result<(), BuildError> {
        for text in folded.long_texts() {
            let packed = pack(text.text.as_bytes(), Bounds::CHUNK);
            let packed = packed.map_err(|error| self.shape(&error))?;
            store.put_chunk(self.family, packed.chunk.hash, packed.stored).await?;
        }
        Ok(())
    }

    /// Loads what a merge needs, and takes it up where the progress says.
    async fn open_round(
        &mut self,
        store: &ObjectStore,
        folded: FoldedEntries,
        mut plan: MergePlan,
    ) -> Result<(), BuildError> {
        let (family, base) = (self.family, &self.base);
        let mut objects = Objects::default();
        let ask = |objects: &Objects| plan.inputs(base, &folded, objects);
        let inputs: Vec<SheetInput> = store.ready(family, &mut objects, ask).await?;
        let progress = self.progress.take().unwrap_or_default();
        let merge = match progress == MergeProgress::default() {
            true => Merge::new(inputs),
            false => {
                let done = self.done_tiles(store, &progress).await?;
                Merge::resumed(inputs, done, progress.cursor)
            }
        };
        self.round = Some(Round { folded, plan, merge, progress });
        Ok(())
    }

    /// All tiles that the merge had given, along the chain.
    async fn done_tiles(
        &self,
        store: &ObjectStore,
        progress: &MergeProgress,
    ) -> Result<Vec<cellar_snapshot::merge::MergedTile>, BuildError> {
        let mut parts = vec![progress.recent.clone()];
        let mut before = progress.chain;
        while let Some(part) = before {
            let stored = store.chunk(self.family, part.hash).await?;
            let bytes = unpack(part.hash, &stored, Bounds::CHUNK).map_err(|e| self.shape(&e))?;
            let chain = TileChain::decode(&bytes).map_err(|error| BuildError {
                temporary: false,
                message: format!("the list of merged tiles {} is damaged: {error}", part.hash),
            })?;
            parts.push(chain.tiles);
            before = chain.before;
        }
        Ok(parts.into_iter().rev().flatten().collect())
    }

    /// Goes on with the merge until a chunk is stored, or all is merged.
    async fn merge(&mut self, store: &ObjectStore) -> Result<Piece, BuildError> {
        let family = self.family;
        let Some(round) = self.round.as_mut() else { return self.nothing() };
        let mut reused = 0_usize;
        loop {
            let step = match round.merge.step(&chunk_of) {
                Ok(step) => step,
                // Whoever does it comes to this row, and begins the round anew.
                Err(_) if !self.narrow => return Ok(self.begin_narrow()),
                Err(error) => {
                    return Err(BuildError { temporary: false, message: error.to_string() });
                }
            };
            match step {
                MergeStep::Load(chunks) => {
                    load_tiles(store, family, &chunks, &mut round.merge).await?;
                }
                MergeStep::Tile { tile, chunk, cursor } => {
                    round.progress.recent.push(tile);
                    round.progress.cursor = cursor;
                    reused = reused.saturating_add(1);
                    let stored = chunk.is_some();
                    if let Some(PackedObject { chunk, stored }) = chunk {
                        store.put_chunk(family, chunk.hash, stored).await?;
                    }
                    if stored || reused >= MAX_REUSED_TILES {
                        shorten(store, self.family, &mut round.progress).await?;
                        let merge = Some(round.progress.clone());
                        return Ok(Piece::Progress(self.progress(merge)));
                    }
                }
                MergeStep::Done(level) => {
                    let next = round.plan.finish(&self.base, &round.folded, &level);
                    let next = next.map_err(|error| self.shape(&error))?;
                    return self.next(store, next).await;
                }
            }
        }
    }

    /// Stores the root that a round ends with; the next begins from there.
    async fn next(&mut self, store: &ObjectStore, next: NextRoot) -> Result<Piece, BuildError> {
        let family = self.family;
        for object in next.objects {
            store.put_chunk(family, object.chunk.hash, object.stored).await?;
        }
        let root = store.put_root(family, next.stored.chunk.hash, next.stored.stored).await?;
        if next.root.position >= self.job.position {
            return Ok(Piece::Finished { root });
        }
        self.base = base(store, self.family, Some(&root)).await?;
        self.round = None;
        self.root = Some(root);
        self.narrow = false;
        Ok(Piece::Progress(self.progress(None)))
    }

    /// Begins the round again, with stripes that any row fits.
    fn begin_narrow(&mut self) -> Piece {
        (self.round, self.progress, self.narrow) = (None, None, true);
        Piece::Progress(self.progress(None))
    }

    fn progress(&self, merge: Option<MergeProgress>) -> BuildProgress {
        BuildProgress { root: self.root.clone(), merge, anew: self.anew, narrow: self.narrow }
    }

    fn shape(&self, error: &SnapshotError) -> BuildError {
        shape(self.family, error).into()
    }
}

async fn base(store: &ObjectStore, family: LogId, root: Option<&str>) -> Result<Base, ObjectFault> {
    let Some(root) = root else { return Ok(Base::default()) };
    let root = store.root(root).await?;
    let mut objects = Objects::default();
    store.ready(family, &mut objects, |objects| Base::open(&root, objects)).await
}

async fn load_tiles(
    store: &ObjectStore,
    family: LogId,
    chunks: &[ChunkRef],
    merge: &mut Merge,
) -> Result<(), BuildError> {
    let wanted: Vec<Wanted> =
        chunks.iter().map(|chunk| Wanted::new(ObjectKind::Tile, *chunk)).collect();
    let mut objects = Objects::default();
    store.load(family, &wanted, &mut objects).await?;
    for chunk in chunks {
        if let Some(tile) = objects.tile(&chunk.hash) {
            merge.provide(chunk.hash, Arc::clone(tile));
        }
    }
    Ok(())
}

/// Moves tiles into the chain when there are too many for progress.
async fn shorten(
    store: &ObjectStore,
    family: LogId,
    progress: &mut MergeProgress,
) -> Result<(), BuildError> {
    if progress.recent.len() <= MAX_RECENT_TILES {
        return Ok(());
    }
    let tiles = std::mem::take(&mut progress.recent);
    let chain = TileChain { before: progress.chain, tiles };
    let packed = pack(&chain.encode(), Bounds::CHUNK).map_err(|e| shape(family, &e))?;
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
