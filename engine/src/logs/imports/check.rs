//! Verifies uploaded objects and publishes them for a fork family.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use cellar_base::identity::{ClientKey, LogId};
use cellar_base::limits::{IMPORT_CHECKS_AT_ONCE, MAX_STORED_CHUNK_BYTES};
use cellar_snapshot::index::{ChildIndex, ChildTile, Children};
use cellar_snapshot::keys::{chunk_key, staged_chunk_key};
use cellar_snapshot::level::{ChunkHash, ChunkRef};
use cellar_snapshot::packed::Bounds;
use cellar_snapshot::tile::{NamedText, Tile};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use tokio::task::JoinSet;

use super::super::{LogError, blob_key};
use super::ImportFault;
use super::found::{UnverifiedObject, VerifiedObject, is_old};
use crate::meter::carried;
use crate::ports::{BlobHead, Blobs, Clock, GetOutcome, PortError, Random};
use crate::retry::retry_with_jitter;
use crate::snapshots::new_object;

#[derive(Debug, Clone, Copy)]
pub(super) struct Owner {
    pub(super) log: LogId,
    pub(super) family: LogId,
    pub(super) client: ClientKey,
}

/// Checks may be repeated.
#[derive(Clone)]
pub(super) struct ImportChecker {
    owner: Owner,
    blobs: Arc<dyn Blobs>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    /// How many more long texts may be read for this request.
    texts_left: Arc<AtomicUsize>,
}

enum ObjectToCheck {
    Tile(TileToCheck),
    Index(ChildIndex),
}

struct TileToCheck {
    chunk: ChunkRef,
    locations: Vec<ChildTile>,
}

impl ImportChecker {
    pub(super) fn new(
        owner: Owner,
        blobs: Arc<dyn Blobs>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Self {
        Self { owner, blobs, clock, random, texts_left: Arc::default() }
    }

    /// The caller must publish everything that the chunk references before it publishes the chunk
    /// itself.
    pub(super) async fn read_index(
        &self,
        chunk: ChunkRef,
    ) -> Result<(VerifiedObject, Children), LogError> {
        Ok(self.find_chunk(&chunk).await?.into_index()?)
    }

    /// Index chunks in `indexed_chunks` must already be published. Reads at most `max_texts` long
    /// texts. Returns the number of chunks that were checked.
    pub(super) async fn publish_all(
        &self,
        single_tiles: &[ChunkRef],
        indexed_chunks: &[&Children],
        max_texts: usize,
    ) -> Result<u32, LogError> {
        let checker = Self { texts_left: Arc::new(AtomicUsize::new(max_texts)), ..self.clone() };
        let mut remaining_objects = objects_to_check(single_tiles, indexed_chunks).into_iter();
        let mut running_checks = JoinSet::new();
        let mut checked_count = 0_u32;
        loop {
            while running_checks.len() < IMPORT_CHECKS_AT_ONCE
                && let Some(object) = remaining_objects.next()
            {
                let checker = checker.clone();
                running_checks
                    .spawn(carried(async move { checker.verify_and_publish(object).await }));
            }
            // If a check fails, `running_checks` is dropped, which aborts the other checks.
            match running_checks.join_next().await {
                None => return Ok(checked_count),
                Some(Ok(check_result)) => check_result?,
                Some(Err(error)) => {
                    let message = format!("an import check aborted: {error}");
                    return Err(LogError::Store(PortError::temporary(message)));
                }
            }
            checked_count += 1;
        }
    }

    async fn verify_and_publish(&self, object: ObjectToCheck) -> Result<(), LogError> {
        match object {
            ObjectToCheck::Tile(tile) => self.verify_and_publish_tile(&tile).await,
            ObjectToCheck::Index(child) => self.verify_child_index(&child).await,
        }
    }

    async fn verify_and_publish_tile(&self, tile: &TileToCheck) -> Result<(), LogError> {
        let unverified = self.find_chunk(&tile.chunk).await?;
        let (verified_object, decoded_tile) = unverified.into_tile(&tile.locations)?;
        self.publish_texts(&verified_object, &decoded_tile).await?;
        self.publish(verified_object).await
    }

    /// Does nothing if the tile is already published, since its long texts were published first.
    async fn publish_texts(
        &self,
        tile_object: &VerifiedObject,
        tile: &Tile,
    ) -> Result<(), LogError> {
        let texts = tile.named_texts();
        let hash = tile_object.hash;
        if texts.is_empty() || tile_object.is_published || self.is_published(hash).await? {
            return Ok(());
        }
        self.reserve_texts(hash, texts.len())?;
        stream::iter(texts)
            .map(|text| async move { self.verify_and_publish_text(&text).await })
            .buffer_unordered(IMPORT_CHECKS_AT_ONCE)
            .try_for_each(async |()| Ok(()))
            .await
    }

    /// Returns an error if fewer than `count` long texts are left.
    fn reserve_texts(&self, hash: ChunkHash, count: usize) -> Result<(), ImportFault> {
        let reserve = |left: usize| left.checked_sub(count);
        let reserved = self.texts_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, reserve);
        match reserved {
            Ok(_) => Ok(()),
            Err(left) => Err(ImportFault::TooManyTexts { hash, texts: count, most: left }),
        }
    }

    async fn verify_and_publish_text(&self, named_text: &NamedText) -> Result<(), LogError> {
        let text_object = self.find_object(named_text.hash, Bounds::TEXT.stored_bytes).await?;
        self.publish(text_object.into_text(named_text)?).await
    }

    /// The chunk must already be published. Everything that it references was published before it,
    /// so it is not read.
    async fn verify_child_index(&self, child: &ChildIndex) -> Result<(), LogError> {
        let hash = child.chunk.hash;
        let published = self.find_published(hash, max_stored_bytes(&child.chunk)).await?;
        let index_object = published.ok_or(ImportFault::Unchecked { hash })?;
        let index_object = index_object.check_length(&child.chunk)?.into_child_index(child)?;
        if !index_object.is_published {
            return Err(ImportFault::TooOld { hash }.into());
        }
        Ok(())
    }

    /// The caller must already have published everything that the object references.
    pub(super) async fn publish(&self, object: VerifiedObject) -> Result<(), LogError> {
        let VerifiedObject { hash, stored, is_published } = object;
        if is_published {
            return Ok(());
        }
        let key = blob_key(chunk_key(self.owner.family, hash))?;
        self.retry(|| self.blobs.put(new_object(key.clone(), stored.clone()))).await
    }

    async fn is_published(&self, hash: ChunkHash) -> Result<bool, LogError> {
        let key = blob_key(chunk_key(self.owner.family, hash))?;
        let head = self.retry(|| self.blobs.head(&key)).await?;
        Ok(head.is_some_and(|head| !is_old(&head, self.now_s())))
    }

    async fn find_chunk(&self, chunk: &ChunkRef) -> Result<UnverifiedObject, LogError> {
        let object = self.find_object(chunk.hash, max_stored_bytes(chunk)).await?;
        Ok(object.check_length(chunk)?)
    }

    /// Returns an object that this client uploaded or that is already published.
    async fn find_object(
        &self,
        hash: ChunkHash,
        max_bytes: usize,
    ) -> Result<UnverifiedObject, LogError> {
        let Owner { log: log_id, client, .. } = self.owner;
        let staged =
            self.get_object(hash, staged_chunk_key(log_id, client, hash), max_bytes).await?;
        if let Some((_, stored_bytes)) = staged {
            return Ok(UnverifiedObject::staged(hash, stored_bytes));
        }
        let published = self.find_published(hash, max_bytes).await?;
        Ok(published.ok_or(ImportFault::Missing { hash })?)
    }

    async fn find_published(
        &self,
        hash: ChunkHash,
        max_bytes: usize,
    ) -> Result<Option<UnverifiedObject>, LogError> {
        let key = chunk_key(self.owner.family, hash);
        let Some((head, stored_bytes)) = self.get_object(hash, key, max_bytes).await? else {
            return Ok(None);
        };
        Ok(Some(UnverifiedObject::published(hash, stored_bytes, &head, self.now_s())))
    }

    async fn get_object(
        &self,
        hash: ChunkHash,
        key: String,
        max_bytes: usize,
    ) -> Result<Option<(BlobHead, Bytes)>, LogError> {
        let key = blob_key(key)?;
        let max_bytes = u64::try_from(max_bytes).unwrap_or(u64::MAX);
        match self.retry(|| self.blobs.get(&key, max_bytes)).await? {
            GetOutcome::Found { head, bytes } => Ok(Some((head, bytes))),
            GetOutcome::Absent => Ok(None),
            GetOutcome::TooLong { length } => {
                let reason = format!(
                    "the object is {length} bytes long, but the maximum is {max_bytes} bytes"
                );
                Err(ImportFault::Unreadable { hash, why: reason }.into())
            }
        }
    }

    fn now_s(&self) -> u64 {
        self.clock.now_ms() / 1_000
    }

    async fn retry<T, F>(&self, request: impl Fn() -> F) -> Result<T, LogError>
    where
        F: Future<Output = Result<T, PortError>>,
    {
        let result = retry_with_jitter(self.clock.as_ref(), self.random.as_ref(), request).await;
        result.map_err(LogError::Store)
    }
}

fn max_stored_bytes(chunk: &ChunkRef) -> usize {
    let stated = usize::try_from(chunk.max_stored_bytes()).unwrap_or(usize::MAX);
    stated.min(MAX_STORED_CHUNK_BYTES)
}

/// Tile index chunks precede tiles.
fn objects_to_check(single_tiles: &[ChunkRef], indexed_chunks: &[&Children]) -> Vec<ObjectToCheck> {
    let mut objects = Vec::new();
    let mut tiles: BTreeMap<ChunkHash, TileToCheck> = BTreeMap::new();
    for chunk in single_tiles {
        tiles.insert(chunk.hash, TileToCheck { chunk: *chunk, locations: Vec::new() });
    }
    for children in indexed_chunks {
        objects.extend(children.index.iter().copied().map(ObjectToCheck::Index));
        for child_tile in &children.tiles {
            let chunk = child_tile.chunk;
            let tile = tiles.entry(chunk.hash);
            let tile = tile.or_insert(TileToCheck { chunk, locations: Vec::new() });
            tile.locations.push(*child_tile);
        }
    }
    objects.extend(tiles.into_values().map(ObjectToCheck::Tile));
    objects
}
