//! Caches loaded snapshot objects and collects the objects that are missing.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::chunk;
use super::index::{IndexChunk, Lookup, PackedLevel};
use super::level::{ChunkHash, ChunkRef, Level, StoredTile};
use super::packed::{Bounds, unpack};
use super::root::{ClientMap, FormatRecords};
use super::tile::Tile;
use crate::error::SnapshotError;
use crate::root::StoredSheetNumbers;
use cellar_sheet::metadata::SheetNumbers;

/// An object to load, and the kind of its contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectRequest {
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
    /// All sheet ids ever used in the workbook.
    Numbers,
    /// Last mutation of each client.
    Clients,
}

/// A result, or the objects that must be loaded first.
#[derive(Debug, Clone, PartialEq)]
pub enum Fetch<T> {
    /// Objects to load before the operation is repeated.
    Missing(Vec<ObjectRequest>),
    /// The result.
    Ready(T),
}

/// An object does not match the reference to it, or is not a valid snapshot part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("chunk {hash} cannot be read: {why}")]
pub struct BadObject {
    /// Name of the object.
    pub hash: ChunkHash,
    /// Reason.
    pub why: SnapshotError,
}

/// In-memory cache of decoded snapshot objects, keyed by object name.
#[derive(Debug, Clone, Default)]
pub struct Objects {
    pub(super) index: BTreeMap<ChunkHash, IndexChunk>,
    pub(super) formats: BTreeMap<ChunkHash, FormatRecords>,
    pub(super) numbers: BTreeMap<ChunkHash, SheetNumbers>,
    pub(super) clients: BTreeMap<ChunkHash, ClientMap>,
    pub(super) tiles: BTreeMap<ChunkHash, Arc<Tile>>,
}

impl ObjectRequest {
    /// Returns a request for `chunk` with contents of the given `kind`.
    #[must_use]
    pub fn new(kind: ObjectKind, chunk: ChunkRef) -> Self {
        Self { kind, hash: chunk.hash, bytes: chunk.bytes }
    }
}

impl Objects {
    /// Verifies, decodes and caches the stored bytes of a requested object.
    ///
    /// # Errors
    /// Returns a [`BadObject`] if the bytes are damaged, or do not match the object's kind or name.
    pub fn insert(&mut self, request: &ObjectRequest, stored: &[u8]) -> Result<(), BadObject> {
        let hash = request.hash;
        self.decode_and_insert(request.kind, hash, stored).map_err(|why| BadObject { hash, why })
    }

    /// Adds a tile that was decoded from the object with this name before.
    pub fn insert_tile(&mut self, hash: ChunkHash, tile: Arc<Tile>) {
        self.tiles.insert(hash, tile);
    }

    fn decode_and_insert(
        &mut self,
        kind: ObjectKind,
        hash: ChunkHash,
        stored: &[u8],
    ) -> Result<(), SnapshotError> {
        let bytes = unpack(hash, stored, Bounds::CHUNK)?;
        match kind {
            ObjectKind::Index => {
                self.index.insert(hash, IndexChunk::decode(&bytes)?);
            }
            ObjectKind::Formats => {
                self.formats.insert(hash, FormatRecords::decode(&bytes)?);
            }
            ObjectKind::Numbers => {
                self.numbers.insert(hash, StoredSheetNumbers::decode(&bytes)?.0);
            }
            ObjectKind::Clients => {
                self.clients.insert(hash, ClientMap::decode(&bytes)?);
            }
            ObjectKind::Tile => {
                self.tiles.insert(hash, Arc::new(chunk::decode(&bytes)?));
            }
        }
        Ok(())
    }

    /// Returns a tile, or `None` if it is not loaded.
    #[must_use]
    pub fn tile(&self, hash: &ChunkHash) -> Option<&Arc<Tile>> {
        self.tiles.get(hash)
    }

    /// Returns a tile that is stored inline or in a chunk.
    pub(super) fn stored_tile(
        &self,
        stored: &StoredTile,
    ) -> Result<Fetch<Arc<Tile>>, SnapshotError> {
        const BAD_TILE: SnapshotError = SnapshotError::Shape("a tile in the root cannot be read");
        Ok(match stored {
            StoredTile::Inline(bytes) => {
                Fetch::Ready(Arc::new(chunk::decode(bytes).map_err(|_| BAD_TILE)?))
            }
            StoredTile::Chunk(chunk) => match self.tile(&chunk.hash) {
                Some(tile) => Fetch::Ready(Arc::clone(tile)),
                None => Fetch::Missing(vec![ObjectRequest::new(ObjectKind::Tile, *chunk)]),
            },
        })
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
    /// Returns the level with its complete tile index, or the index chunks that must be loaded
    /// first.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if a loaded chunk does not match the reference to it.
    pub fn load_level(&self, objects: &Objects) -> Result<Fetch<Level>, SnapshotError> {
        Ok(to_fetch(self.load_all(&|hash| objects.index.get(hash))?, ObjectKind::Index))
    }
}

/// Missing chunks become requests for objects of this `kind`.
pub(super) fn to_fetch<T>(lookup: Lookup<T>, kind: ObjectKind) -> Fetch<T> {
    match lookup {
        Lookup::Missing(chunks) => Fetch::Missing(
            chunks.into_iter().map(|chunk| ObjectRequest::new(kind, chunk)).collect(),
        ),
        Lookup::Ready(result) => Fetch::Ready(result),
    }
}

#[derive(Default)]
pub(super) struct MissingObjects(Vec<ObjectRequest>);

impl MissingObjects {
    pub(super) fn ready_or_record_missing<T>(&mut self, fetch: Fetch<T>) -> Option<T> {
        match fetch {
            Fetch::Ready(result) => Some(result),
            Fetch::Missing(requests) => {
                self.0.extend(requests);
                None
            }
        }
    }

    pub(super) fn add(&mut self, kind: ObjectKind, chunk: ChunkRef) {
        self.0.push(ObjectRequest::new(kind, chunk));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `result` if no objects are missing. Otherwise, returns the missing objects, sorted
    /// and without duplicates.
    pub(super) fn into_fetch<T>(self, result: impl FnOnce() -> T) -> Fetch<T> {
        if self.0.is_empty() {
            return Fetch::Ready(result());
        }
        let mut requests = self.0;
        requests.sort_unstable();
        requests.dedup();
        Fetch::Missing(requests)
    }
}
