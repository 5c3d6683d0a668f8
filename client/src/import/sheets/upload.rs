//! Objects on their way into the store: asked for in batches, sent a few at a time, and checked.

use cellar_api::{
    wire::ChunkUpload, wire::ImportCheckRequest, wire::ImportUploadsRequest, wire::NewChunk,
    wire::UploadedChunk,
};
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_IMPORT_OBJECTS;
use cellar_snapshot::level::ChunkRef;
use cellar_snapshot::packed::PackedObject;
use tokio::task::{JoinError, JoinSet};

use super::progress::Watch;
use super::read::Object;
use super::requests::IndexObject;
use crate::client::sha256;
use crate::{Client, ClientError};

/// Bytes of objects that are collected before their uploads are asked for: they are in memory.
const BATCH_BYTES: usize = 4 * 1024 * 1024;
/// Objects that are sent at the same time.
const UPLOADS_AT_ONCE: usize = 8;
/// Chunks of indexes that are checked at the same time: the server reads all that each names.
const CHECKS_AT_ONCE: usize = 4;
/// How often the upload of one object is asked for: a URL ends after some minutes.
const MAX_GRANTS: u32 = 3;

/// The objects of one import.
#[derive(Debug)]
pub(super) struct Uploads {
    uploader: Uploader,
    watch: Watch,
    batch: Vec<Object>,
    batch_bytes: usize,
    on_their_way: JoinSet<Result<Sent, ClientError>>,
    /// Tiles that are there and name long texts, each with how many.
    naming: Vec<(UploadedChunk, usize)>,
    /// Chunks of indexes that name only cells, to be checked once all is there.
    leaves: Vec<UploadedChunk>,
    /// Chunks of indexes that name others, to be checked behind these, in their order.
    indexes: Vec<UploadedChunk>,
}

/// Who uploads, and has it checked.
#[derive(Debug, Clone)]
pub(super) struct Uploader {
    pub(super) client: Client,
    /// The client id that the import is appended with.
    pub(super) client_id: String,
}

/// An object that is there.
#[derive(Debug)]
struct Sent {
    chunk: ChunkRef,
    long_texts: usize,
}

impl Uploads {
    pub(super) fn new(uploader: Uploader, watch: Watch) -> Self {
        Self {
            uploader,
            watch,
            batch: Vec::new(),
            batch_bytes: 0,
            on_their_way: JoinSet::new(),
            naming: Vec::new(),
            leaves: Vec::new(),
            indexes: Vec::new(),
        }
    }

    /// Takes an object in.
    pub(super) fn add(&mut self, object: Object) {
        self.batch_bytes = self.batch_bytes.saturating_add(object.packed.stored.len());
        self.batch.push(object);
    }

    /// Takes a chunk of an index in; those first that others name.
    pub(super) fn add_index(&mut self, index: IndexObject) {
        let IndexObject { packed, is_leaf } = index;
        let list = if is_leaf { &mut self.leaves } else { &mut self.indexes };
        list.push(uploaded(packed.chunk));
        self.add(Object { packed, long_texts: 0 });
    }

    /// Whether enough is collected to be sent.
    pub(super) fn is_batch(&self) -> bool {
        self.batch.len() >= MAX_IMPORT_OBJECTS || self.batch_bytes >= BATCH_BYTES
    }

    /// Whether there is anything to send or to check.
    pub(super) fn is_empty(&self) -> bool {
        self.batch.is_empty()
            && self.on_their_way.is_empty()
            && self.naming.is_empty()
            && self.leaves.is_empty()
            && self.indexes.is_empty()
    }

    /// Sends what is collected; returns while the last of it is on its way.
    pub(super) async fn send(&mut self, id: LogId) -> Result<(), ClientError> {
        self.batch_bytes = 0;
        let mut batch = std::mem::take(&mut self.batch);
        while !batch.is_empty() {
            let rest = batch.split_off(batch.len().min(MAX_IMPORT_OBJECTS));
            let chunks = batch.iter().map(|object| new_chunk(&object.packed)).collect();
            let grants = self.uploader.request(id, chunks).await?;
            for (object, grant) in batch.into_iter().zip(grants) {
                while self.on_their_way.len() >= UPLOADS_AT_ONCE {
                    self.wait_for_one().await?;
                }
                self.on_their_way.spawn(self.uploader.clone().put(id, grant, object));
            }
            batch = rest;
        }
        Ok(())
    }

    /// Sends what is left, waits until all is there, and has it checked from the bottom up.
    pub(super) async fn finish(&mut self, id: LogId) -> Result<(), ClientError> {
        self.send(id).await?;
        while !self.on_their_way.is_empty() {
            self.wait_for_one().await?;
        }
        let tiles = in_requests(std::mem::take(&mut self.naming));
        self.check_all(id, tiles.into_iter().map(|tiles| (tiles, None))).await?;
        let leaves = std::mem::take(&mut self.leaves);
        self.check_all(id, leaves.into_iter().map(|leaf| (Vec::new(), Some(leaf)))).await?;
        for index in std::mem::take(&mut self.indexes) {
            self.uploader.clone().check(id, Vec::new(), Some(index)).await?;
        }
        Ok(())
    }

    /// Has tiles and chunks of indexes checked, a few requests at the same time.
    async fn check_all(
        &self,
        id: LogId,
        requests: impl Iterator<Item = (Vec<UploadedChunk>, Option<UploadedChunk>)>,
    ) -> Result<(), ClientError> {
        let mut checks = JoinSet::new();
        for (tiles, index) in requests {
            if checks.len() >= CHECKS_AT_ONCE {
                checks.join_next().await.transpose().map_err(|error| ended(&error))?.transpose()?;
            }
            checks.spawn(self.uploader.clone().check(id, tiles, index));
        }
        while let Some(checked) = checks.join_next().await {
            checked.map_err(|error| ended(&error))??;
        }
        Ok(())
    }

    async fn wait_for_one(&mut self) -> Result<(), ClientError> {
        let Some(done) = self.on_their_way.join_next().await else { return Ok(()) };
        let Sent { chunk, long_texts } = done.map_err(|error| ended(&error))??;
        self.watch.sent(chunk.bytes);
        if long_texts > 0 {
            self.naming.push((uploaded(chunk), long_texts));
        }
        Ok(())
    }
}

/// Divides tiles that name long texts into requests: as many as may be checked together, or one tile that
/// names more texts than that.
fn in_requests(tiles: Vec<(UploadedChunk, usize)>) -> Vec<Vec<UploadedChunk>> {
    let (mut requests, mut left) = (Vec::new(), 0);
    for (tile, texts) in tiles {
        let objects = texts.saturating_add(1);
        if objects > left || requests.is_empty() {
            requests.push(Vec::new());
            left = MAX_IMPORT_OBJECTS;
        }
        left = left.saturating_sub(objects);
        if let Some(request) = requests.last_mut() {
            request.push(tile);
        }
    }
    requests
}

/// A task that ended without an answer: a fault in here.
fn ended(error: &JoinError) -> ClientError {
    ClientError::Setup { why: error.to_string() }
}

impl Uploader {
    async fn request(
        &self,
        id: LogId,
        chunks: Vec<NewChunk>,
    ) -> Result<Vec<ChunkUpload>, ClientError> {
        let request = ImportUploadsRequest { client_id: self.client_id.clone(), chunks };
        self.client.request_import_uploads(id, request).await
    }

    async fn check(
        self,
        id: LogId,
        tiles: Vec<UploadedChunk>,
        index: Option<UploadedChunk>,
    ) -> Result<(), ClientError> {
        let request =
            ImportCheckRequest { client_id: self.client_id, tiles, tile_index_chunk: index };
        self.client.check_import(id, &request).await.map(|_| ())
    }

    /// Uploads one object, with a new URL where one has ended meanwhile.
    async fn put(
        self,
        id: LogId,
        mut grant: ChunkUpload,
        object: Object,
    ) -> Result<Sent, ClientError> {
        let Object { packed, long_texts } = object;
        let mut grants = 1;
        loop {
            match self.client.upload_chunk(&grant, packed.stored.clone()).await {
                Ok(()) => return Ok(Sent { chunk: packed.chunk, long_texts }),
                Err(error) if grants < MAX_GRANTS && asks_for_another(&error) => {}
                Err(error) => return Err(error),
            }
            grants += 1;
            let mut granted = self.request(id, vec![new_chunk(&packed)]).await?;
            // As many as were asked for.
            if let Some(another) = granted.pop() {
                grant = another;
            }
        }
    }
}

/// Whether a new URL may help: this one has ended (403), or the same object was on its way twice
/// (409).
fn asks_for_another(error: &ClientError) -> bool {
    matches!(error, ClientError::UnexpectedStatus { status: 403 | 409, .. })
}

fn new_chunk(packed: &PackedObject) -> NewChunk {
    let UploadedChunk { hash, bytes } = uploaded(packed.chunk);
    NewChunk { hash, bytes, sha256: sha256(&packed.stored) }
}

fn uploaded(chunk: ChunkRef) -> UploadedChunk {
    UploadedChunk { hash: chunk.hash.to_string(), bytes: chunk.bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_checks_as_many_texts_as_it_may() {
        let most = MAX_IMPORT_OBJECTS;
        let tile = |texts: usize| (UploadedChunk { hash: texts.to_string(), bytes: 1 }, texts);
        let counts = |tiles: &[usize]| -> Vec<usize> {
            in_requests(tiles.iter().copied().map(tile).collect()).iter().map(Vec::len).collect()
        };
        assert_eq!(counts(&[]), [] as [usize; 0]);
        assert_eq!(counts(&[1, 1, 1]), [3]);
        assert_eq!(counts(&[most - 3, 1, 1]), [2, 1]);
        assert_eq!(counts(&[most / 2 - 1, most / 2 - 1, 1]), [2, 1]);
        assert_eq!(counts(&[2_000, 1, 2_000, 1, 1]), [1, 1, 1, 2]);
        assert_eq!(counts(&vec![0; most + 1]), [most, 1]);
    }
}
