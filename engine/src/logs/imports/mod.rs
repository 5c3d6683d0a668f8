//! Imports: chunks are uploaded, checked and kept, and only then named by an entry (design
//! `3-snapshots.md` §8).
//!
//! An object under a chunk's key that has no pending tag was put there by a worker on snapshots, or was
//! checked here before its tag went. A chunk of an index is kept only once all that it names is: so one
//! without the tag proves that all below it is sound, and each request looks one layer down. Nobody
//! can replace it: a presigned upload works only where no object is.
//!
//! Texts are objects under the same keys, but none of them passes for a chunk of an index, whoever
//! stores it: those begin with a byte that no text begins with.

mod check;
mod fault;

pub use fault::ImportFault;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use cellar_core::append::Request;
use cellar_core::identity::{ClientKey, LogId};
use cellar_core::limits::{
    MAX_IMPORT_OBJECT_BYTES, MAX_IMPORT_OBJECTS, MAX_PRESIGNED_S, MAX_STORED_CHUNK_BYTES,
};
use cellar_core::position::Position;
use cellar_core::snapshot::index::Children;
use cellar_core::snapshot::keys::chunk_key;
use cellar_core::snapshot::level::{ChunkHash, ChunkRef};

use super::{LogError, Logs};
use crate::ports::{BlobKey, PortError, PresignedRequest, UploadGrant};
use crate::snapshots::{CONTENT_ENCODING, CONTENT_TYPE};
use check::Checker;

/// A chunk that is to be uploaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkToUpload {
    /// Its name, and its bytes as stored.
    pub chunk: ChunkRef,
    /// SHA-256 of these.
    pub sha256: [u8; 32],
}

impl Logs {
    /// Grants the uploads of chunks to a log that exists, in their order: each where no object is.
    ///
    /// # Errors
    /// [`LogError::Import`] if there are none or too many, or one is too long; [`LogError::NotFound`],
    /// [`LogError::Store`].
    pub async fn grant_chunks(
        &self,
        log: LogId,
        chunks: &[ChunkToUpload],
    ) -> Result<Vec<PresignedRequest>, LogError> {
        match chunks.len() {
            0 => return Err(ImportFault::Nothing.into()),
            1..=MAX_IMPORT_OBJECTS => {}
            objects => return Err(ImportFault::TooMany { objects }.into()),
        }
        chunks.iter().try_for_each(|upload| check_length(&upload.chunk))?;
        self.head(log, None).await?;
        let family = self.family(log).await?;
        let now_s = self.clock.now_ms() / 1_000;
        let mut granted = Vec::with_capacity(chunks.len());
        for ChunkToUpload { chunk, sha256 } in chunks {
            let grant = UploadGrant {
                key: key(family, chunk.hash)?,
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

    /// Checks uploaded texts, and a chunk of an index with all that it names, and keeps them. Gives how
    /// many objects were read. Repeated, it does the same.
    ///
    /// # Errors
    /// [`LogError::Import`] with what is wrong, [`LogError::NotFound`], [`LogError::Store`].
    pub async fn check_chunks(
        &self,
        log: LogId,
        texts: &[ChunkRef],
        index: Option<&ChunkRef>,
    ) -> Result<u32, LogError> {
        if texts.is_empty() && index.is_none() {
            return Err(ImportFault::Nothing.into());
        }
        texts.iter().chain(index).try_for_each(check_length)?;
        self.head(log, None).await?;
        let checker = self.checker(self.family(log).await?);
        check_bounds(texts, &[])?;
        let index = match index {
            Some(chunk) => Some(checker.index(*chunk).await?),
            None => None,
        };
        let children: Vec<&Children> = index.iter().map(|index| &index.children).collect();
        check_bounds(texts, &children)?;
        let read = checker.children(texts, &children).await?;
        let Some(index) = index else { return Ok(read) };
        checker.keep(&index.stored).await?;
        Ok(read.saturating_add(1))
    }

    /// Checks the chunks of a request's imports, but for those that the log shows to have got through
    /// before: their chunks may be gone since.
    pub(super) async fn check_imports(&self, request: &Request) -> Result<(), LogError> {
        let log = request.log();
        let Some(from) = request.imports().map(|asked| asked.base).min() else { return Ok(()) };
        let own = self.own_mutations(log, request.client(), from).await?;
        let mut children = Vec::new();
        for asked in request.imports() {
            let is_there = own.iter().any(|(at, last)| *at > asked.base && *last >= asked.id);
            if !is_there {
                children.push(of_import(asked.import.index.stripes())?);
            }
        }
        let children: Vec<&Children> = children.iter().collect();
        let checked = match check_bounds(&[], &children) {
            Ok(()) => {
                let checker = self.checker(self.family(log).await?);
                checker.children(&[], &children).await.map(drop)
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
        let walked = self.walk(log, from, None, |entry| {
            if let Some((_, _, last)) = entry.mutation_ids().filter(|(of, ..)| *of == client) {
                own.insert(entry.position, last);
            }
            Ok(ControlFlow::Continue(()))
        });
        match walked.await {
            // The append looks for itself.
            Ok(_) | Err(LogError::Corrupt { .. }) => Ok(own),
            Err(error) => Err(error),
        }
    }

    /// A checker of the chunks of a family of forks.
    fn checker(&self, family: LogId) -> Checker {
        let (blobs, clock, random) = (self.blobs.clone(), self.clock.clone(), self.random.clone());
        Checker::new(family, blobs, clock, random)
    }
}

/// What the index of an operation refers to.
fn of_import(stripes: &cellar_core::snapshot::index::Stripes) -> Result<Children, ImportFault> {
    let fault =
        |why: cellar_core::snapshot::SnapshotError| ImportFault::Index { why: why.to_string() };
    let children = stripes.children().map_err(fault)?;
    children.check_stripes().map_err(fault)?;
    Ok(children)
}

/// The bounds of one request, all its imports together.
fn check_bounds(texts: &[ChunkRef], children: &[&Children]) -> Result<(), LogError> {
    let objects =
        children.iter().map(|children| children.count()).fold(texts.len(), usize::saturating_add);
    if objects > MAX_IMPORT_OBJECTS {
        return Err(ImportFault::TooMany { objects }.into());
    }
    let texts = texts.iter().map(|text| u64::from(text.bytes));
    let bytes = texts.chain(children.iter().map(|children| children.bytes()));
    let bytes = bytes.fold(0, u64::saturating_add);
    if bytes > MAX_IMPORT_OBJECT_BYTES {
        return Err(ImportFault::TooLarge { bytes }.into());
    }
    Ok(())
}

fn check_length(chunk: &ChunkRef) -> Result<(), LogError> {
    let ChunkRef { hash, bytes } = *chunk;
    match usize::try_from(bytes) {
        Ok(1..=MAX_STORED_CHUNK_BYTES) => Ok(()),
        _ => Err(ImportFault::ChunkLength { hash, bytes }.into()),
    }
}

fn key(log: LogId, hash: ChunkHash) -> Result<BlobKey, LogError> {
    let key = BlobKey::new(chunk_key(log, hash));
    key.map_err(|error| LogError::Store(PortError::permanent(error.to_string())))
}
