//! Looks into uploaded chunks, and keeps those that are what they must be.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use cellar_core::identity::LogId;
use cellar_core::limits::{IMPORT_CHECKS_AT_ONCE, MAX_STORED_CHUNK_BYTES, MAX_UPLOAD_AGE_S};
use cellar_core::snapshot::SnapshotError;
use cellar_core::snapshot::chunk;
use cellar_core::snapshot::index::{ChildIndex, ChildTile, Children, IndexChunk};
use cellar_core::snapshot::level::{ChunkHash, ChunkRef};
use cellar_core::snapshot::packed::{Bounds, unpack};
use tokio::task::JoinSet;

use super::super::{LogError, retried};
use super::{ImportFault, key};
use crate::meter::carried;
use crate::ports::{BlobKey, Blobs, Clock, Got, Kept, PortError, Random};
use crate::snapshots::new_object;

/// Checks chunks of one log. Everything it does may be repeated.
#[derive(Clone)]
pub(super) struct Checker {
    log: LogId,
    blobs: Arc<dyn Blobs>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
}

/// An object as it is stored.
pub(super) struct Stored {
    hash: ChunkHash,
    key: BlobKey,
    bytes: Bytes,
    modified_s: u64,
}

/// A chunk of an index that was read, and not kept yet.
pub(super) struct IndexRead {
    pub(super) stored: Stored,
    pub(super) children: Children,
}

/// What has to be looked at.
enum Wanted {
    Text(ChunkRef),
    /// A tile, and the places that it has in the index.
    Tile(Vec<ChildTile>),
    Index(ChildIndex),
}

impl Checker {
    pub(super) fn new(
        log: LogId,
        blobs: Arc<dyn Blobs>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Self {
        Self { log, blobs, clock, random }
    }

    /// Reads a chunk of an index.
    pub(super) async fn index(&self, chunk: ChunkRef) -> Result<IndexRead, LogError> {
        let stored = self.read(&chunk).await?;
        let children = decoded_index(&stored).and_then(|index| {
            let other = || stored.fault("it is no chunk of the index of an import");
            let children = index.children().map_err(|why| stored.unreadable(&why))?;
            let children = children.ok_or_else(other)?;
            children.check_stripes().map_err(|why| stored.unreadable(&why))?;
            Ok(children)
        });
        Ok(IndexRead { children: children?, stored })
    }

    /// Checks texts and all that indexes name, a few at the same time: texts and tiles are kept,
    /// chunks of an index must be. Gives how many objects were read.
    pub(super) async fn children(
        &self,
        texts: &[ChunkRef],
        children: &[&Children],
    ) -> Result<u32, LogError> {
        let mut tiles: BTreeMap<ChunkHash, Vec<ChildTile>> = BTreeMap::new();
        for tile in children.iter().flat_map(|children| &children.tiles) {
            tiles.entry(tile.chunk.hash).or_default().push(*tile);
        }
        let indexes = children.iter().flat_map(|children| &children.index);
        let mut wanted = (texts.iter().copied().map(Wanted::Text))
            .chain(indexes.copied().map(Wanted::Index))
            .chain(tiles.into_values().map(Wanted::Tile));
        let (mut running, mut read) = (JoinSet::new(), 0_u32);
        loop {
            while running.len() < IMPORT_CHECKS_AT_ONCE
                && let Some(wanted) = wanted.next()
            {
                let checker = self.clone();
                running.spawn(carried(async move { checker.check(wanted).await }));
            }
            // If one fails, dropping the others ends them.
            let Some(ended) = running.join_next().await else { return Ok(read) };
            ended.map_err(|error| {
                LogError::Store(PortError::temporary(format!("a check ended: {error}")))
            })??;
            read = read.saturating_add(1);
        }
    }

    async fn check(&self, wanted: Wanted) -> Result<(), LogError> {
        match wanted {
            Wanted::Text(chunk) => self.text(&chunk).await,
            Wanted::Tile(places) => self.tile(&places).await,
            Wanted::Index(child) => self.child_index(&child).await,
        }
    }

    async fn text(&self, chunk: &ChunkRef) -> Result<(), LogError> {
        let stored = self.read(chunk).await?;
        if String::from_utf8(stored.unpacked(Bounds::TEXT)?).is_err() {
            return Err(stored.fault("it is no text").into());
        }
        self.keep(&stored).await
    }

    async fn tile(&self, places: &[ChildTile]) -> Result<(), LogError> {
        let Some(first) = places.first() else { return Ok(()) };
        let stored = self.read(&first.chunk).await?;
        stored.check_tile(places)?;
        self.keep(&stored).await
    }

    /// It is kept if it was checked, and then its own chunks are there: they were not much older.
    async fn child_index(&self, child: &ChildIndex) -> Result<(), LogError> {
        let stored = self.read(&child.chunk).await?;
        let index = decoded_index(&stored)?;
        child.check(&index).map_err(|why| stored.unreadable(&why))?;
        let hash = stored.hash;
        match self.repeated(|| self.blobs.pending(&stored.key)).await? {
            Some(false) if self.is_old(&stored) => Err(ImportFault::TooOld { hash }.into()),
            Some(false) => Ok(()),
            Some(true) => Err(ImportFault::Unchecked { hash }.into()),
            None => Err(ImportFault::Missing { hash }.into()),
        }
    }

    async fn read(&self, chunk: &ChunkRef) -> Result<Stored, LogError> {
        let ChunkRef { hash, bytes: said } = *chunk;
        let key = key(self.log, hash)?;
        let longest = u64::try_from(MAX_STORED_CHUNK_BYTES).unwrap_or(u64::MAX);
        let longest = longest.min(chunk.most_stored_bytes());
        let other = |bytes: u64| ImportFault::Unreadable {
            hash,
            why: format!("it has {bytes} bytes, and {said} are said"),
        };
        match self.repeated(|| self.blobs.get(&key, longest)).await? {
            Got::Found { head, bytes } if chunk.is_about(head.length) => {
                Ok(Stored { hash, key, bytes, modified_s: head.modified_s })
            }
            Got::Found { head, .. } => Err(other(head.length).into()),
            Got::TooLong { length } => Err(other(length).into()),
            Got::Absent => Err(ImportFault::Missing { hash }.into()),
        }
    }

    /// Sees to it that an object stays: it does not disappear by itself, and is not so old that it
    /// may be taken for garbage before an entry names it.
    pub(super) async fn keep(&self, stored: &Stored) -> Result<(), LogError> {
        if self.is_old(stored) {
            let again = || new_object(stored.key.clone(), stored.bytes.clone());
            return self.repeated(|| self.blobs.put(again())).await;
        }
        match self.repeated(|| self.blobs.keep(&stored.key)).await? {
            Kept::Kept => Ok(()),
            Kept::Absent => Err(ImportFault::Missing { hash: stored.hash }.into()),
        }
    }

    fn is_old(&self, stored: &Stored) -> bool {
        self.clock.now_ms() / 1_000 > stored.modified_s.saturating_add(MAX_UPLOAD_AGE_S)
    }

    async fn repeated<T, F>(&self, request: impl Fn() -> F) -> Result<T, LogError>
    where
        F: Future<Output = Result<T, PortError>>,
    {
        retried(self.clock.as_ref(), self.random.as_ref(), request).await
    }
}

impl Stored {
    fn fault(&self, why: &str) -> ImportFault {
        ImportFault::Unreadable { hash: self.hash, why: why.to_owned() }
    }

    fn unreadable(&self, why: &SnapshotError) -> ImportFault {
        ImportFault::unreadable(self.hash, why)
    }

    /// What is in it: the bytes of its name.
    fn unpacked(&self, bounds: Bounds) -> Result<Vec<u8>, ImportFault> {
        unpack(self.hash, &self.bytes, bounds).map_err(|why| self.unreadable(&why))
    }

    /// Decoded here, so that no tile waits for another request.
    fn check_tile(&self, places: &[ChildTile]) -> Result<(), ImportFault> {
        let bytes = self.unpacked(Bounds::CHUNK)?;
        let tile = chunk::decode(&bytes).map_err(|why| self.fault(&why.to_string()))?;
        for place in places {
            let is_about = u64::try_from(self.bytes.len()).is_ok_and(|b| place.chunk.is_about(b));
            if !is_about {
                return Err(self.fault("the index gives it another length"));
            }
            place.check(&tile).map_err(|why| self.unreadable(&why))?;
        }
        Ok(())
    }
}

fn decoded_index(stored: &Stored) -> Result<IndexChunk, ImportFault> {
    IndexChunk::decode(&stored.unpacked(Bounds::CHUNK)?).map_err(|why| stored.unreadable(&why))
}
