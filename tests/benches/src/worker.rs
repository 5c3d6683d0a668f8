//! A snapshot worker over objects in memory: each round reads the stored root, folds some entries
//! and stores the next root.

use std::collections::HashMap;

use cellar_base::identity::ClientKey;
use cellar_base::position::Position;
use cellar_sheet::operation::Operation;
use cellar_snapshot::chunk::chunk_of;
use cellar_snapshot::compaction::{
    CompactionBase, CompactionFold, CompactionPlan, plan_compaction,
};
use cellar_snapshot::level::{ChunkHash, Level};
use cellar_snapshot::merge::{Merge, MergeStep, SheetInput};
use cellar_snapshot::objects::{Fetch, ObjectKind, ObjectRequest, Objects};
use cellar_snapshot::root::Root;

use crate::Failure;

/// Objects by name, and counts of requests.
#[derive(Default)]
pub(crate) struct Bucket {
    objects: HashMap<ChunkHash, Vec<u8>>,
    pub(crate) puts: usize,
    pub(crate) put_bytes: usize,
    pub(crate) gets: usize,
}

impl Bucket {
    pub(crate) fn put(&mut self, hash: ChunkHash, stored: Vec<u8>) {
        self.puts += 1;
        self.put_bytes += stored.len();
        self.objects.insert(hash, stored);
    }

    pub(crate) fn get(&self, hash: &ChunkHash) -> Result<&[u8], Failure> {
        Ok(self.objects.get(hash).ok_or("an object was never stored")?)
    }

    /// Repeats a request, and fetches its missing objects, until it returns a result.
    pub(crate) fn ready<T>(
        &mut self,
        mut ask: impl FnMut(&Objects) -> Result<Fetch<T>, Failure>,
    ) -> Result<(T, Fetched), Failure> {
        let (mut objects, mut fetched) = (Objects::default(), Fetched::default());
        loop {
            match ask(&objects)? {
                Fetch::Ready(value) => return Ok((value, fetched)),
                Fetch::Missing(wanted) => {
                    fetched.rounds += 1;
                    for wanted in wanted {
                        self.gets += 1;
                        fetched.sizes.push(wanted.bytes);
                        objects.insert(&wanted, self.get(&wanted.hash)?)?;
                    }
                }
            }
        }
    }
}

/// Objects fetched for a request.
#[derive(Default)]
pub(crate) struct Fetched {
    /// Bytes of each object.
    pub(crate) sizes: Vec<u32>,
    /// Number of rounds of concurrent fetches.
    pub(crate) rounds: usize,
}

/// Snapshots of a log.
#[derive(Default)]
pub(crate) struct Worker {
    pub(crate) bucket: Bucket,
    root: Option<ChunkHash>,
    entries: u32,
    /// Number of rounds that ended in a merge.
    pub(crate) merges: usize,
    /// Bytes of all roots.
    pub(crate) root_bytes: usize,
}

impl Worker {
    /// Reads the newest root from its object.
    pub(crate) fn root(&self) -> Result<Option<Root>, Failure> {
        let read = |hash| Ok(Root::unpack(hash, self.bucket.get(&hash)?)?);
        self.root.map(read).transpose()
    }

    /// Builds one snapshot of entries with one operation each.
    pub(crate) fn round(&mut self, entries: &[Operation]) -> Result<(), Failure> {
        let base = match self.root()? {
            None => CompactionBase::default(),
            Some(root) => {
                self.bucket.gets += 1;
                self.bucket.ready(|objects| Ok(CompactionBase::open(&root, objects)?))?.0
            }
        };
        let mut fold = CompactionFold::new(&base);
        for operation in entries {
            let client = (ClientKey([1; 8]), u64::from(self.entries) + 1);
            let position = position(self.entries)?;
            fold.fold_entry(position, 1_000, Some(client), &[std::slice::from_ref(operation)])
                .unwrap();
            self.entries += 1;
        }
        let folded = fold.finish().ok_or("a round has no entries")?;
        let next = match plan_compaction(&base, &folded)? {
            CompactionPlan::LevelZero(next) => *next,
            CompactionPlan::Merge(mut plan) => {
                self.merges += 1;
                let ask =
                    |objects: &Objects| Ok(plan.load_inputs_or_merge_all(&base, &folded, objects)?);
                let (inputs, _) = self.bucket.ready(ask)?;
                let level = merged(&mut self.bucket, inputs)?;
                plan.finish(&base, &folded, &level)?
            }
        };
        for object in next.objects {
            self.bucket.put(object.chunk.hash, object.stored);
        }
        self.root = Some(next.stored.chunk.hash);
        self.root_bytes += next.stored.stored.len();
        self.bucket.put(next.stored.chunk.hash, next.stored.stored);
        Ok(())
    }
}

fn position(entries: u32) -> Result<Position, Failure> {
    const SEGMENT_ENTRIES: u32 = 10_000;
    Ok(Position::new(entries / SEGMENT_ENTRIES, entries % SEGMENT_ENTRIES + 1)?)
}

fn merged(bucket: &mut Bucket, inputs: Vec<SheetInput>) -> Result<Level, Failure> {
    let mut merge = Merge::new(inputs);
    loop {
        match merge.step(&chunk_of)? {
            MergeStep::Load(chunks) => {
                let mut objects = Objects::default();
                for chunk in chunks {
                    let wanted = ObjectRequest::new(ObjectKind::Tile, chunk);
                    bucket.gets += 1;
                    objects.insert(&wanted, bucket.get(&chunk.hash)?)?;
                    let tile = objects.tile(&chunk.hash).ok_or("a tile is missing")?;
                    merge.provide(chunk.hash, tile.clone());
                }
            }
            MergeStep::Tile { chunk: Some(chunk), .. } => {
                bucket.put(chunk.chunk.hash, chunk.stored);
            }
            MergeStep::Tile { chunk: None, .. } => {}
            MergeStep::Done(level) => return Ok(level),
        }
    }
}
