//! Imports: chunks are uploaded, verified and published before an entry references them.
//!
//! A client uploads chunks to its own key prefix (`uploads/{log}/{client}/{hash}`), which other
//! clients do not read. The server verifies each upload and writes the verified bytes under the key
//! of the fork family (`sheets/{family}/chunks/{hash}`). Only the server writes a family's objects,
//! so no client can occupy or corrupt a key that another log in the family needs.
//!
//! An object is published only after the objects that it references: a tile after its long texts,
//! and a tile index chunk after all its children. Each request therefore checks a single layer.
//!
//! A published text cannot be mistaken for an index chunk: index chunks start with a byte that is
//! invalid in UTF-8.

mod check;
mod fault;
mod found;

pub use fault::ImportFault;

use cellar_sheet::operation::TileIndex;
use cellar_snapshot::index::StripeIndex;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use cellar_base::identity::{ClientKey, LogId};
use cellar_base::limits::{
    MAX_IMPORT_OBJECT_BYTES, MAX_IMPORT_OBJECTS, MAX_PRESIGNED_S, MAX_STORED_CHUNK_BYTES,
    MAX_TILE_LONG_TEXTS,
};
use cellar_base::position::Position;
use cellar_log::append::Request;
use cellar_snapshot::index::Children;
use cellar_snapshot::keys::staged_chunk_key;
use cellar_snapshot::level::ChunkRef;

use super::{LogError, Logs};
use crate::ports::{BlobKey, PortError, PresignedRequest, UploadGrant};
use crate::snapshots::{CONTENT_ENCODING, CONTENT_TYPE};
use check::{ImportChecker, Owner};

/// A chunk that a client wants to upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkToUpload {
    /// Hash and stored size of the chunk.
    pub chunk: ChunkRef,
    /// SHA-256 of the stored bytes.
    pub sha256: [u8; 32],
}

impl Logs {
    /// Returns presigned requests to upload chunks to an existing log, in the order of `chunks`.
    /// The chunks become readable once they are published, either by [`Logs::check_chunks`] or by
    /// appending an import that references them.
    ///
    /// # Errors
    ///
    /// - [`LogError::Import`] if `chunks` is empty or too long, or contains a chunk with an invalid length.
    /// - [`LogError::NotFound`] if the log does not exist.
    /// - [`LogError::Store`] if the store fails.
    pub async fn grant_chunks(
        &self,
        log: LogId,
        client: ClientKey,
        chunks: &[ChunkToUpload],
    ) -> Result<Vec<PresignedRequest>, LogError> {
        match chunks.len() {
            0 => return Err(ImportFault::Nothing.into()),
            1..=MAX_IMPORT_OBJECTS => {}
            objects => return Err(ImportFault::TooMany { objects }.into()),
        }
        chunks.iter().try_for_each(|upload| check_length(&upload.chunk))?;
        self.head(log, None).await?;
        let now_s = self.clock.now_ms() / 1_000;
        let mut granted = Vec::with_capacity(chunks.len());
        for ChunkToUpload { chunk, sha256 } in chunks {
            let grant = UploadGrant {
                key: blob_key(staged_chunk_key(log, client, chunk.hash))?,
                length: u64::from(chunk.bytes),
                sha256: *sha256,
                content_type: Some(CONTENT_TYPE.to_owned()),
                content_encoding: Some(CONTENT_ENCODING.to_owned()),
                valid_s: MAX_PRESIGNED_S,
            };
            granted.push(self.blobs.presign_put(&grant, now_s).await.map_err(LogError::Store)?);
        }
        Ok(granted)
    }

    /// Verifies and publishes uploaded chunks. A tile is published together with the long texts
    /// that it references, and a tile index chunk together with everything that it references.
    /// Returns the number of chunks read. Idempotent.
    ///
    /// # Errors
    ///
    /// - [`LogError::Import`] if a chunk is missing or invalid.
    /// - [`LogError::NotFound`] if the log does not exist.
    /// - [`LogError::Store`] if the store fails.
    pub async fn check_chunks(
        &self,
        log: LogId,
        client: ClientKey,
        tiles: &[ChunkRef],
        index: Option<&ChunkRef>,
    ) -> Result<u32, LogError> {
        if tiles.is_empty() && index.is_none() {
            return Err(ImportFault::Nothing.into());
        }
        tiles.iter().chain(index).try_for_each(check_length)?;
        self.head(log, None).await?;
        remaining_texts(tiles, &[])?;
        let checker = self.checker(log, client).await?;
        let index = match index {
            Some(chunk) => Some(checker.read_index(*chunk).await?),
            None => None,
        };
        let children: Vec<&Children> = index.iter().map(|(_, children)| children).collect();
        let most_texts = match (tiles, &index) {
            ([_], None) => MAX_TILE_LONG_TEXTS,
            _ => remaining_texts(tiles, &children)?,
        };
        let read = checker.check_all(tiles, &children, most_texts).await?;
        let Some((verified, _)) = index else { return Ok(read) };
        checker.publish(verified).await?;
        Ok(read.saturating_add(1))
    }

    /// Verifies and publishes the chunks of a request's imports. Skips imports that are already in
    /// the log, since their uploaded chunks may already have been deleted.
    pub(super) async fn check_imports(&self, request: &Request) -> Result<(), LogError> {
        let log = request.log();
        let Some(from) = request.imports().map(|asked| asked.base).min() else { return Ok(()) };
        let own = self.own_mutations(log, request.client(), from).await?;
        let mut children = Vec::new();
        for asked in request.imports() {
            let is_in_log = own.iter().any(|(at, last)| *at > asked.base && *last >= asked.id);
            if !is_in_log {
                children.push(import_children(&asked.import.tile_index)?);
            }
        }
        let children: Vec<&Children> = children.iter().collect();
        let checked = match remaining_texts(&[], &children) {
            Ok(most_texts) => {
                let checker = self.checker(log, request.client()).await?;
                checker.check_all(&[], &children, most_texts).await.map(drop)
            }
            Err(fault) => Err(fault),
        };
        match checked {
            // If the log does not exist, report that error instead of the chunk fault.
            Err(LogError::Import(fault)) => match self.head(log, None).await {
                Ok(_) => Err(fault.into()),
                Err(error) => Err(error),
            },
            checked => checked,
        }
    }

    /// Returns the positions of the entries that contain a client's mutations, starting at `from`,
    /// with each entry's last mutation id. The read is eventually consistent and may miss
    /// mutations; the append detects every repeated mutation anyway.
    async fn own_mutations(
        &self,
        log: LogId,
        client: ClientKey,
        from: Position,
    ) -> Result<BTreeMap<Position, u64>, LogError> {
        let mut own = BTreeMap::new();
        let walk = self.walk(log, from, None, |entry| {
            if let Some((_, _, last)) = entry.mutation_ids().filter(|(of, ..)| *of == client) {
                own.insert(entry.position, last);
            }
            Ok(ControlFlow::Continue(()))
        });
        match walk.await {
            // The read may miss a repeated mutation, but the append detects it.
            Ok(_) | Err(LogError::Corrupt { .. }) => Ok(own),
            Err(error) => Err(error),
        }
    }

    /// Creates a checker for one client's uploads to a log.
    async fn checker(&self, log: LogId, client: ClientKey) -> Result<ImportChecker, LogError> {
        let owner = Owner { log, family: self.family(log).await?, client };
        let (blobs, clock, random) = (self.blobs.clone(), self.clock.clone(), self.random.clone());
        Ok(ImportChecker::new(owner, blobs, clock, random))
    }
}

/// Returns the chunks referenced by an import's tile index.
fn import_children(index: &TileIndex) -> Result<Children, ImportFault> {
    let fault = |why: cellar_snapshot::SnapshotError| ImportFault::Index { why: why.to_string() };
    let children =
        StripeIndex::of_import(index).and_then(|stripes| stripes.children()).map_err(fault)?;
    children.check_stripes().map_err(fault)?;
    Ok(children)
}

/// Checks the limits of one request, summed over all its imports. Returns the number of long texts
/// that the request may read in addition to its chunks.
fn remaining_texts(tiles: &[ChunkRef], children: &[&Children]) -> Result<usize, LogError> {
    let (mut objects, mut bytes) = (tiles.len(), 0_u64);
    for tile in tiles {
        bytes = bytes.saturating_add(u64::from(tile.bytes));
    }
    for children in children {
        objects = objects.saturating_add(children.count());
        bytes = bytes.saturating_add(children.bytes());
    }
    if bytes > MAX_IMPORT_OBJECT_BYTES {
        return Err(ImportFault::TooLarge { bytes }.into());
    }
    let remaining = MAX_IMPORT_OBJECTS.checked_sub(objects);
    Ok(remaining.ok_or(ImportFault::TooMany { objects })?)
}

fn check_length(chunk: &ChunkRef) -> Result<(), LogError> {
    let ChunkRef { hash, bytes } = *chunk;
    match usize::try_from(bytes) {
        Ok(1..=MAX_STORED_CHUNK_BYTES) => Ok(()),
        _ => Err(ImportFault::ChunkLength { hash, bytes }.into()),
    }
}

fn blob_key(key: String) -> Result<BlobKey, LogError> {
    BlobKey::new(key).map_err(|error| LogError::Store(PortError::permanent(error.to_string())))
}
