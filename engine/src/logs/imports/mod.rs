//! Imports: chunks are uploaded, verified and published, and only then named by an entry.
//!
//! A client uploads under a name of its own (`uploads/{log}/{client}/{hash}`), which nobody else reads.
//! The server reads the upload, verifies it completely, and writes the verified bytes under the family's
//! name (`sheets/{family}/chunks/{hash}`). So all objects of a family are written by the server: nobody
//! can occupy or poison a name that another log of the family needs.
//!
//! What is published is closed: a tile is published only after the long texts that it names, a chunk of
//! an index only after all that it names. So each request looks one layer down.
//!
//! A published text never passes for a chunk of an index: those begin with a byte that no text begins
//! with.

mod check;
mod fault;
mod found;

pub use fault::ImportFault;

use cellar_sheet::operation::TileIndex;
use cellar_snapshot::index::Stripes;
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
use check::{Checker, Owner};

/// A chunk that is to be uploaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkToUpload {
    /// Its name, and its bytes as stored.
    pub chunk: ChunkRef,
    /// SHA-256 of these.
    pub sha256: [u8; 32],
}

impl Logs {
    /// Grants a client the uploads of chunks to a log that exists, in their order. The client has each
    /// checked ([`Logs::check_chunks`]), or appends an import that names it, before anybody reads it.
    ///
    /// # Errors
    /// [`LogError::Import`] if there are none or too many, or one is too long; [`LogError::NotFound`],
    /// [`LogError::Store`].
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

    /// Verifies uploaded tiles with the long texts that they name, and a chunk of an index with all that
    /// it names, and publishes them. Returns how many chunks were read. Repeated, it does the same.
    ///
    /// # Errors
    /// [`LogError::Import`] with what is wrong, [`LogError::NotFound`], [`LogError::Store`].
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
        texts_beside(tiles, &[])?;
        let checker = self.checker(log, client).await?;
        let index = match index {
            Some(chunk) => Some(checker.index(*chunk).await?),
            None => None,
        };
        let children: Vec<&Children> = index.iter().map(|(_, children)| children).collect();
        let most_texts = match (tiles, &index) {
            ([_], None) => MAX_TILE_LONG_TEXTS,
            _ => texts_beside(tiles, &children)?,
        };
        let read = checker.check_all(tiles, &children, most_texts).await?;
        let Some((verified, _)) = index else { return Ok(read) };
        checker.publish(verified).await?;
        Ok(read.saturating_add(1))
    }

    /// Verifies and publishes the chunks of a request's imports, except imports that the log already has:
    /// their chunks may be gone since.
    pub(super) async fn check_imports(&self, request: &Request) -> Result<(), LogError> {
        let log = request.log();
        let Some(from) = request.imports().map(|asked| asked.base).min() else { return Ok(()) };
        let own = self.own_mutations(log, request.client(), from).await?;
        let mut children = Vec::new();
        for asked in request.imports() {
            let is_there = own.iter().any(|(at, last)| *at > asked.base && *last >= asked.id);
            if !is_there {
                children.push(of_import(&asked.import.tile_index)?);
            }
        }
        let children: Vec<&Children> = children.iter().collect();
        let checked = match texts_beside(&[], &children) {
            Ok(most_texts) => {
                let checker = self.checker(log, request.client()).await?;
                checker.check_all(&[], &children, most_texts).await.map(drop)
            }
            Err(fault) => Err(fault),
        };
        match checked {
            // Of what does not exist nothing else is said.
            Err(LogError::Import(fault)) => match self.head(log, None).await {
                Ok(_) => Err(fault.into()),
                Err(error) => Err(error),
            },
            checked => checked,
        }
    }

    /// Where a client's mutations stand from a position on, each with the last id there, as far as
    /// an eventually consistent read shows. The append sees all of it, too, and drops what is there.
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
            // The append looks for itself.
            Ok(_) | Err(LogError::Corrupt { .. }) => Ok(own),
            Err(error) => Err(error),
        }
    }

    /// A checker of what a client uploaded to a log.
    async fn checker(&self, log: LogId, client: ClientKey) -> Result<Checker, LogError> {
        let owner = Owner { log, family: self.family(log).await?, client };
        let (blobs, clock, random) = (self.blobs.clone(), self.clock.clone(), self.random.clone());
        Ok(Checker::new(owner, blobs, clock, random))
    }
}

/// What the index of an operation refers to.
fn of_import(index: &TileIndex) -> Result<Children, ImportFault> {
    let fault = |why: cellar_snapshot::SnapshotError| ImportFault::Index { why: why.to_string() };
    let children =
        Stripes::of_import(index).and_then(|stripes| stripes.children()).map_err(fault)?;
    children.check_stripes().map_err(fault)?;
    Ok(children)
}

/// Checks the bounds of one request, all its imports together. Returns how many long texts it may read
/// beside the chunks that it names.
fn texts_beside(tiles: &[ChunkRef], children: &[&Children]) -> Result<usize, LogError> {
    let objects =
        children.iter().map(|children| children.count()).fold(tiles.len(), usize::saturating_add);
    let tiles = tiles.iter().map(|tile| u64::from(tile.bytes));
    let bytes = tiles.chain(children.iter().map(|children| children.bytes()));
    let bytes = bytes.fold(0, u64::saturating_add);
    if bytes > MAX_IMPORT_OBJECT_BYTES {
        return Err(ImportFault::TooLarge { bytes }.into());
    }
    let left = MAX_IMPORT_OBJECTS.checked_sub(objects);
    Ok(left.ok_or(ImportFault::TooMany { objects })?)
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
