//! Cache of loaded snapshot objects, and collection of missing objects.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::chunk::{self, UnreadableChunk};
use super::index::{Fetched, IndexChunk, PackedLevel};
use super::level::{ChunkHash, ChunkRef, Level};
use super::packed::{Bounds, unpack};
use super::root::{ClientMap, FormatRecords};
use super::tile::Tile;
use crate::error::SnapshotError;
use crate::root::StoredSheetNumbers;
use cellar_sheet::metadata::SheetNumbers;

/// An object to load and the kind of its contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wanted {
    /// Expected contents.
    pub kind: ObjectKind,
    /// Name of the object.
    pub hash: ChunkHash,
    /// Stored length in bytes.
    pub bytes: u32,
}

/// Content kind of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectKind {
    /// Part of a level's tile index.
    Index,
    /// Cells of a tile.
    Tile,
    /// Range formats of a sheet.
    Formats,
    /// All sheet ids that the workbook has ever used.
    Numbers,
    /// Last mutation of each client.
    Clients,
}

/// A result, or the objects that must be loaded first.
#[derive(Debug, Clone, PartialEq)]
pub enum Fetch<T> {
    /// Load these objects, then repeat the operation.
    Need(Vec<Wanted>),
    /// The result.
    Ready(T),
}

/// An object that does not match the reference to it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadObject {
    /// The object is not a valid snapshot part.
    #[error("chunk {hash} cannot be read: {why}")]
    Snapshot {
        /// Name of the object.
        hash: ChunkHash,
        /// Reason.
        why: SnapshotError,
    },
    /// The object is not a valid tile.
    #[error("chunk {hash} cannot be read: {why}")]
    Tile {
        /// Name of the object.
        hash: ChunkHash,
        /// Reason.
        why: UnreadableChunk,
    },
}

/// In-memory cache of decoded snapshot objects, keyed by name.
#[derive(Debug, Clone, Default)]
pub struct Objects {
    pub(super) index: BTreeMap<ChunkHash, IndexChunk>,
    pub(super) formats: BTreeMap<ChunkHash, FormatRecords>,
    pub(super) numbers: BTreeMap<ChunkHash, SheetNumbers>,
    pub(super) clients: BTreeMap<ChunkHash, ClientMap>,
    pub(super) tiles: BTreeMap<ChunkHash, Arc<Tile>>,
}

impl Wanted {
    /// Returns a request for `chunk` with contents of this `kind`.
    #[must_use]
    pub fn new(kind: ObjectKind, chunk: ChunkRef) -> Self {
        Self { kind, hash: chunk.hash, bytes: chunk.bytes }
    }
}

impl Objects {
    /// Verifies, decodes and caches the stored bytes of a requested object.
    ///
    /// # Errors
    /// [`BadObject`] if the bytes are damaged, of a different kind, or do not match the name.
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

    /// Returns a tile, or `None` if it is not loaded.
    #[must_use]
    pub fn tile(&self, hash: &ChunkHash) -> Option<&Arc<Tile>> {
        self.tiles.get(hash)
    }

    /// Returns the number of loaded tiles.
    #[must_use]
    pub fn tile_count(&self) -> usize {
        self.tiles.len()
    }

    /// Drops all loaded tiles.
    pub fn drop_tiles(&mut self) {
        self.tiles.clear();
    }
}

impl PackedLevel {
    /// Returns the level with its complete tile index, or the index chunks that are not loaded yet.
    ///
    /// # Errors
    /// Returns the same errors as [`PackedLevel::load_all`].
    pub fn load_level(&self, objects: &Objects) -> Result<Fetch<Level>, SnapshotError> {
        Ok(to_fetch(self.load_all(&|hash| objects.index.get(hash))?, ObjectKind::Index))
    }
}

/// Converts the result of an index lookup. Missing chunks become requests for objects of this
/// `kind`.
pub(super) fn to_fetch<T>(fetched: Fetched<T>, kind: ObjectKind) -> Fetch<T> {
    match fetched {
        Fetched::Need(chunks) => {
            Fetch::Need(chunks.into_iter().map(|chunk| Wanted::new(kind, chunk)).collect())
        }
        Fetched::Ready(ready) => Fetch::Ready(ready),
    }
}

/// Collects the missing objects of several lookups.
#[derive(Default)]
pub(super) struct Missing(Vec<Wanted>);

impl Missing {
    /// Returns the result if it is ready, and otherwise records the missing objects and returns
    /// `None`.
    pub(super) fn take_ready<T>(&mut self, fetch: Fetch<T>) -> Option<T> {
        match fetch {
            Fetch::Ready(ready) => Some(ready),
            Fetch::Need(wanted) => {
                self.0.extend(wanted);
                None
            }
        }
    }

    pub(super) fn add(&mut self, kind: ObjectKind, chunk: ChunkRef) {
        self.0.push(Wanted::new(kind, chunk));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the sorted and deduplicated missing objects, or the result of `ready` if none are
    /// missing.
    pub(super) fn ready_or_need<T>(mut self, ready: impl FnOnce() -> T) -> Fetch<T> {
        if self.0.is_empty() {
            return Fetch::Ready(ready());
        }
        self.0.sort_unstable();
        self.0.dedup();
        Fetch::Need(self.0)
    }
}
