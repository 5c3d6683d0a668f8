//! The objects of a snapshot that were loaded so far. What is missing is asked for, all at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::SnapshotError;
use super::chunk::{self, UnreadableChunk};
use super::index::{Fetched, IndexChunk, PackedLevel};
use super::level::{ChunkHash, ChunkRef, Level};
use super::packed::{Bounds, unpack};
use super::root::{ClientMap, FormatRecords};
use super::tile::Tile;
use crate::root::StoredSheetNumbers;
use cellar_sheet::metadata::SheetNumbers;

/// An object that is needed, and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wanted {
    /// What it is.
    pub kind: ObjectKind,
    /// Which one.
    pub hash: ChunkHash,
    /// Its bytes as stored.
    pub bytes: u32,
}

/// What an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectKind {
    /// A part of a level's index.
    Index,
    /// Cells.
    Tile,
    /// Formats of ranges.
    Formats,
    /// The numbers that sheets ever had.
    Numbers,
    /// The last mutations of clients.
    Clients,
}

/// What was asked for, or what is missing for it.
#[derive(Debug, Clone, PartialEq)]
pub enum Fetch<T> {
    /// Objects to load before asking again.
    Need(Vec<Wanted>),
    /// The answer.
    Ready(T),
}

/// An object that is not what refers to it says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadObject {
    /// Not what it should be.
    #[error("chunk {hash} cannot be read: {why}")]
    Snapshot {
        /// Its name.
        hash: ChunkHash,
        /// Why not.
        why: SnapshotError,
    },
    /// Not a tile.
    #[error("chunk {hash} cannot be read: {why}")]
    Tile {
        /// Its name.
        hash: ChunkHash,
        /// Why not.
        why: UnreadableChunk,
    },
}

/// Objects that were loaded.
#[derive(Debug, Clone, Default)]
pub struct Objects {
    pub(super) index: BTreeMap<ChunkHash, IndexChunk>,
    pub(super) formats: BTreeMap<ChunkHash, FormatRecords>,
    pub(super) numbers: BTreeMap<ChunkHash, SheetNumbers>,
    pub(super) clients: BTreeMap<ChunkHash, ClientMap>,
    pub(super) tiles: BTreeMap<ChunkHash, Arc<Tile>>,
}

impl Wanted {
    /// A chunk of some kind.
    #[must_use]
    pub fn new(kind: ObjectKind, chunk: ChunkRef) -> Self {
        Self { kind, hash: chunk.hash, bytes: chunk.bytes }
    }
}

impl Objects {
    /// Takes in an object as it was stored.
    ///
    /// # Errors
    /// [`BadObject`] if it is damaged or another.
    pub fn insert(&mut self, wanted: &Wanted, stored: &[u8]) -> Result<(), BadObject> {
        let hash = wanted.hash;
        let bad = |why| BadObject::Snapshot { hash, why };
        let bytes = unpack(hash, stored, Bounds::CHUNK).map_err(bad)?;
        match wanted.kind {
            ObjectKind::Index => {
                self.index.insert(hash, IndexChunk::decode(&bytes).map_err(bad)?);
            }
            ObjectKind::Formats => {
                self.formats.insert(hash, FormatRecords::decode(&bytes).map_err(bad)?);
            }
            ObjectKind::Numbers => {
                self.numbers.insert(hash, StoredSheetNumbers::decode(&bytes).map_err(bad)?.0);
            }
            ObjectKind::Clients => {
                self.clients.insert(hash, ClientMap::decode(&bytes).map_err(bad)?);
            }
            ObjectKind::Tile => {
                let tile = chunk::decode(&bytes).map_err(|why| BadObject::Tile { hash, why })?;
                self.tiles.insert(hash, Arc::new(tile));
            }
        }
        Ok(())
    }

    /// A tile, if it was loaded.
    #[must_use]
    pub fn tile(&self, hash: &ChunkHash) -> Option<&Arc<Tile>> {
        self.tiles.get(hash)
    }

    /// How many tiles were loaded.
    #[must_use]
    pub fn tile_count(&self) -> usize {
        self.tiles.len()
    }

    /// Forgets all tiles.
    pub fn drop_tiles(&mut self) {
        self.tiles.clear();
    }
}

impl PackedLevel {
    /// The whole level, with all its index in memory.
    ///
    /// # Errors
    /// As [`PackedLevel::load_all`].
    pub fn all(&self, objects: &Objects) -> Result<Fetch<Level>, SnapshotError> {
        Ok(fetch(self.load_all(&|hash| objects.index.get(hash))?, ObjectKind::Index))
    }
}

/// What an index needs, as objects of a kind.
pub(super) fn fetch<T>(fetched: Fetched<T>, kind: ObjectKind) -> Fetch<T> {
    match fetched {
        Fetched::Need(chunks) => {
            Fetch::Need(chunks.into_iter().map(|chunk| Wanted::new(kind, chunk)).collect())
        }
        Fetched::Ready(ready) => Fetch::Ready(ready),
    }
}

/// Collects what several parts need.
#[derive(Default)]
pub(super) struct Missing(Vec<Wanted>);

impl Missing {
    /// The part, if it is there; otherwise what it needs is noted.
    pub(super) fn take<T>(&mut self, fetch: Fetch<T>) -> Option<T> {
        match fetch {
            Fetch::Ready(ready) => Some(ready),
            Fetch::Need(wanted) => {
                self.0.extend(wanted);
                None
            }
        }
    }

    pub(super) fn need(&mut self, kind: ObjectKind, chunk: ChunkRef) {
        self.0.push(Wanted::new(kind, chunk));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All that is missing, once each; the answer if nothing is.
    pub(super) fn or<T>(mut self, ready: impl FnOnce() -> T) -> Fetch<T> {
        if self.0.is_empty() {
            return Fetch::Ready(ready());
        }
        self.0.sort_unstable();
        self.0.dedup();
        Fetch::Need(self.0)
    }
}
