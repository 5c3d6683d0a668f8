//! Imports, whose chunks are uploaded, verified and published before an entry references them.
//!
//! A client uploads chunks under its own key prefix (`uploads/{log}/{client}/{hash}`), which other
//! clients do not read. The server verifies each upload and writes the verified bytes under the key
//! of the fork family (`sheets/{family}/chunks/{hash}`). Only the server writes a family's objects,
//! so no client can occupy or corrupt a key that another log in the family needs.
//!
//! An object is published only after the objects that it references: a tile after its long texts,
//! and a tile index chunk after all chunks below it. Each request therefore checks a single layer
//! of the tile index.
//!
//! A text cannot be mistaken for an index chunk, since index chunks start with a byte that is
//! invalid in UTF-8.

mod check;
mod fault;
mod found;

pub use fault::ImportFault;

use std::ops::ControlFlow;
use std::sync::Arc;

use cellar_base::identity::{ClientKey, LogId};
use cellar_base::limits::{
    MAX_IMPORT_OBJECT_BYTES, MAX_IMPORT_OBJECTS, MAX_PRESIGNED_S, MAX_STORED_CHUNK_BYTES,
    MAX_TILE_LONG_TEXTS,
};
use cellar_base::position::Position;
use cellar_log::append::Request;
use cellar_sheet::operation::TileIndex;
use cellar_snapshot::SnapshotError;
use cellar_snapshot::index::{Children, StripeIndex};
use cellar_snapshot::keys::staged_chunk_key;
use cellar_snapshot::level::ChunkRef;

use super::{LogError, Logs, blob_key};
use crate::ports::{PresignedRequest, UploadGrant};
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
    /// Returns presigned requests that upload chunks to an existing log, in the order of `chunks`.
    /// A chunk becomes readable when it is published by [`Logs::publish_chunks`] or by appending an
    /// import that references it.
    ///
    /// # Errors
    ///
    /// - [`LogError::Import`] if `chunks` is empty or too long, or contains a chunk with an invalid
    ///   length.
    /// - [`LogError::NotFound`] if the log does not exist.
    /// - [`LogError::Store`] if the store fails.
    pub async fn grant_chunks(
        &self,
        log_id: LogId,
        client: ClientKey,
        chunks: &[ChunkToUpload],
    ) -> Result<Vec<PresignedRequest>, LogError> {
        match chunks.len() {
            0 => return Err(ImportFault::Nothing.into()),
            1..=MAX_IMPORT_OBJECTS => {}
            chunk_count => return Err(ImportFault::TooMany { objects: chunk_count }.into()),
        }
        for upload in chunks {
            check_length(&upload.chunk)?;
        }
        self.check_exists(log_id).await?;
        let now_s = self.clock.now_ms() / 1_000;
        let mut upload_requests = Vec::with_capacity(chunks.len());
        for ChunkToUpload { chunk, sha256 } in chunks {
            let grant = UploadGrant {
                key: blob_key(staged_chunk_key(log_id, client, chunk.hash))?,
                length: u64::from(chunk.bytes),
                sha256: *sha256,
                content_type: Some(CONTENT_TYPE.to_owned()),
                content_encoding: Some(CONTENT_ENCODING.to_owned()),
                valid_s: MAX_PRESIGNED_S,
            };
            upload_requests
                .push(self.blobs.presign_put(&grant, now_s).await.map_err(LogError::Store)?);
        }
        Ok(upload_requests)
    }

    /// Verifies and publishes uploaded chunks. A tile is published together with its long texts,
    /// and a tile index chunk together with all chunks that it references. May be repeated. Returns
    /// the number of chunks that were checked.
    ///
    /// # Errors
    ///
    /// - [`LogError::Import`] if a chunk is missing or invalid.
    /// - [`LogError::NotFound`] if the log does not exist.
    /// - [`LogError::Store`] if the store fails.
    pub async fn publish_chunks(
        &self,
        log_id: LogId,
        client: ClientKey,
        tiles: &[ChunkRef],
        index: Option<&ChunkRef>,
    ) -> Result<u32, LogError> {
        if tiles.is_empty() && index.is_none() {
            return Err(ImportFault::Nothing.into());
        }
        for chunk in tiles.iter().chain(index) {
            check_length(chunk)?;
        }
        self.check_exists(log_id).await?;
        // Check the limits before the index is read. A single tile never exceeds them.
        let max_texts_without_index = match tiles {
            [_single_tile] => MAX_TILE_LONG_TEXTS,
            tiles => check_chunk_limits(tiles, &[])?,
        };
        let checker = self.import_checker(log_id, client).await?;
        let Some(index) = index else {
            return checker.publish_all(tiles, &[], max_texts_without_index).await;
        };
        let (verified_index, children) = checker.read_index(*index).await?;
        let max_texts = check_chunk_limits(tiles, &[&children])?;
        let checked_count = checker.publish_all(tiles, &[&children], max_texts).await?;
        checker.publish(verified_index).await?;
        Ok(checked_count + 1)
    }

    /// Imports that the log already contains are skipped, since their uploads may have expired.
    pub(super) async fn verify_and_publish_imports(
        &self,
        request: &Request,
    ) -> Result<(), LogError> {
        let log_id = request.log();
        let Some(lowest_base) = request.imports().map(|import| import.base).min() else {
            return Ok(());
        };
        let client_entries = self.entries_of_client(log_id, request.client(), lowest_base).await?;
        let mut new_imports = Vec::new();
        for import_request in request.imports() {
            let is_in_log = client_entries.iter().any(|entry| {
                entry.position > import_request.base && entry.last_id >= import_request.id
            });
            if !is_in_log {
                new_imports.push(import_children(&import_request.import.tile_index)?);
            }
        }
        match self.publish_imports(log_id, request.client(), &new_imports).await {
            Err(LogError::Import(fault)) => {
                // If the log does not exist, return that error instead.
                self.check_exists(log_id).await?;
                Err(fault.into())
            }
            check_result => check_result,
        }
    }

    async fn publish_imports(
        &self,
        log_id: LogId,
        client: ClientKey,
        imports: &[Children],
    ) -> Result<(), LogError> {
        let imports: Vec<&Children> = imports.iter().collect();
        let max_texts = check_chunk_limits(&[], &imports)?;
        let checker = self.import_checker(log_id, client).await?;
        checker.publish_all(&[], &imports, max_texts).await?;
        Ok(())
    }

    /// The read is eventually consistent and may miss entries, which is safe because the append
    /// detects repeated mutations.
    async fn entries_of_client(
        &self,
        log_id: LogId,
        client: ClientKey,
        start_position: Position,
    ) -> Result<Vec<ClientEntry>, LogError> {
        let mut client_entries = Vec::new();
        let walk = self.walk(log_id, start_position, None, |entry| {
            if let Some((entry_client, _, last_id)) = entry.mutation_ids()
                && entry_client == client
            {
                client_entries.push(ClientEntry { position: entry.position, last_id });
            }
            Ok(ControlFlow::Continue(()))
        });
        match walk.await {
            // The read may have missed repeated mutations. The append detects them.
            Ok(_) | Err(LogError::Corrupt { .. }) => Ok(client_entries),
            Err(error) => Err(error),
        }
    }

    async fn import_checker(
        &self,
        log_id: LogId,
        client: ClientKey,
    ) -> Result<ImportChecker, LogError> {
        let owner = Owner { log: log_id, family: self.family(log_id).await?, client };
        let blobs = Arc::clone(&self.blobs);
        let clock = Arc::clone(&self.clock);
        let random = Arc::clone(&self.random);
        Ok(ImportChecker::new(owner, blobs, clock, random))
    }
}

struct ClientEntry {
    position: Position,
    /// Id of the entry's last mutation.
    last_id: u64,
}

fn import_children(tile_index: &TileIndex) -> Result<Children, ImportFault> {
    let to_fault = |error: SnapshotError| ImportFault::Index { why: error.to_string() };
    let stripes = StripeIndex::of_import(tile_index).map_err(to_fault)?;
    let children = stripes.children().map_err(to_fault)?;
    children.check_stripes().map_err(to_fault)?;
    Ok(children)
}

/// Returns how many long texts may be read in addition.
fn check_chunk_limits(tiles: &[ChunkRef], imports: &[&Children]) -> Result<usize, LogError> {
    let mut chunk_count = tiles.len();
    let mut total_bytes: u64 = tiles.iter().map(|tile| u64::from(tile.bytes)).sum();
    for children in imports {
        chunk_count = chunk_count.saturating_add(children.count());
        total_bytes = total_bytes.saturating_add(children.bytes());
    }
    if total_bytes > MAX_IMPORT_OBJECT_BYTES {
        return Err(ImportFault::TooLarge { bytes: total_bytes }.into());
    }
    if chunk_count > MAX_IMPORT_OBJECTS {
        return Err(ImportFault::TooMany { objects: chunk_count }.into());
    }
    Ok(MAX_IMPORT_OBJECTS - chunk_count)
}

fn check_length(chunk: &ChunkRef) -> Result<(), LogError> {
    let ChunkRef { hash, bytes } = *chunk;
    match usize::try_from(bytes) {
        Ok(1..=MAX_STORED_CHUNK_BYTES) => Ok(()),
        _ => Err(ImportFault::ChunkLength { hash, bytes }.into()),
    }
}
