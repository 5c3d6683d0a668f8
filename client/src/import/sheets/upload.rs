//! Objects on their way into the store: asked for in batches, sent a few at a time, and checked.

use cellar_core::api::{ChunkUpload, ImportCheckRequest, NewChunk, UploadedChunk};
use cellar_core::identity::LogId;
use cellar_core::limits::MAX_IMPORT_OBJECTS;
use cellar_core::snapshot::level::ChunkRef;
use cellar_core::snapshot::packed::PackedObject;
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
    client: Client,
    watch: Watch,
    batch: Vec<Object>,
    batch_bytes: usize,
    on_their_way: JoinSet<Result<Sent, ClientError>>,
    /// Texts that are there and not checked yet.
    texts: Vec<UploadedChunk>,
    /// Chunks of indexes that name only cells, to be checked once all is there.
    leaves: Vec<UploadedChunk>,
    /// Chunks of indexes that name others, to be checked behind these, in their order.
    indexes: Vec<UploadedChunk>,
}

/// An object that is there.
#[derive(Debug)]
struct Sent {
    chunk: ChunkRef,
    is_text: bool,
}

impl Uploads {
    pub(super) fn new(client: Client, watch: Watch) -> Self {
        Self {
            client,
            watch,
            batch: Vec::new(),
            batch_bytes: 0,
            on_their_way: JoinSet::new(),
            texts: Vec::new(),
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
        self.add(Object { packed, is_text: false });
    }

    /// Whether enough is collected to be sent.
    pub(super) fn is_batch(&self) -> bool {
        self.batch.len() >= MAX_IMPORT_OBJECTS || self.batch_bytes >= BATCH_BYTES
    }

    /// Whether there is anything to send or to check.
    pub(super) fn is_empty(&self) -> bool {
        self.batch.is_empty()
            && self.on_their_way.is_empty()
            && self.texts.is_empty()
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
            let grants = self.client.request_import_uploads(id, chunks).await?;
            for (object, grant) in batch.into_iter().zip(grants) {
                while self.on_their_way.len() >= UPLOADS_AT_ONCE {
                    self.wait_for_one(id).await?;
                }
                let client = self.client.clone();
                self.on_their_way.spawn(put(client, id, grant, object));
            }
            batch = rest;
        }
        Ok(())
    }

    /// Sends what is left, waits until all is there, and has the texts and the indexes checked.
    pub(super) async fn finish(&mut self, id: LogId) -> Result<(), ClientError> {
        self.send(id).await?;
        while !self.on_their_way.is_empty() {
            self.wait_for_one(id).await?;
        }
        self.check_texts(id).await?;
        let mut checks = JoinSet::new();
        for leaf in std::mem::take(&mut self.leaves) {
            if checks.len() >= CHECKS_AT_ONCE {
                checks.join_next().await.transpose().map_err(|error| ended(&error))?.transpose()?;
            }
            checks.spawn(check_index(self.client.clone(), id, leaf));
        }
        while let Some(checked) = checks.join_next().await {
            checked.map_err(|error| ended(&error))??;
        }
        for index in std::mem::take(&mut self.indexes) {
            check_index(self.client.clone(), id, index).await?;
        }
        Ok(())
    }

    async fn wait_for_one(&mut self, id: LogId) -> Result<(), ClientError> {
        let Some(done) = self.on_their_way.join_next().await else { return Ok(()) };
        let sent = done.map_err(|error| ended(&error))??;
        self.watch.sent(sent.chunk.bytes);
        if sent.is_text {
            self.texts.push(uploaded(sent.chunk));
        }
        if self.texts.len() >= MAX_IMPORT_OBJECTS {
            self.check_texts(id).await?;
        }
        Ok(())
    }

    async fn check_texts(&mut self, id: LogId) -> Result<(), ClientError> {
        let texts = std::mem::take(&mut self.texts);
        if texts.is_empty() {
            return Ok(());
        }
        let request = ImportCheckRequest { texts, index: None };
        self.client.check_import(id, &request).await.map(|_| ())
    }
}

async fn check_index(client: Client, id: LogId, index: UploadedChunk) -> Result<(), ClientError> {
    let request = ImportCheckRequest { index: Some(index), ..Default::default() };
    client.check_import(id, &request).await.map(|_| ())
}

/// A task that ended without an answer: a fault in here.
fn ended(error: &JoinError) -> ClientError {
    ClientError::Setup { why: error.to_string() }
}

/// Uploads one object, with a new URL where one has ended meanwhile.
async fn put(
    client: Client,
    id: LogId,
    mut grant: ChunkUpload,
    object: Object,
) -> Result<Sent, ClientError> {
    let Object { packed, is_text } = object;
    let mut grants = 1;
    loop {
        match client.upload_chunk(&grant, packed.stored.clone()).await {
            Ok(()) => return Ok(Sent { chunk: packed.chunk, is_text }),
            Err(error) if grants < MAX_GRANTS && asks_for_another(&error) => {}
            Err(error) => return Err(error),
        }
        grants += 1;
        let mut granted = client.request_import_uploads(id, vec![new_chunk(&packed)]).await?;
        // As many as were asked for.
        if let Some(another) = granted.pop() {
            grant = another;
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
