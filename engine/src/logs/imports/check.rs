//! Verifies imported objects and publishes them.

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

use super::super::{LogError, retried};
use super::found::{UnverifiedObject, VerifiedObject, is_old};
use super::{ImportFault, blob_key};
use crate::meter::carried;
use crate::ports::{BlobHead, Blobs, Clock, GetOutcome, PortError, Random};
use crate::snapshots::new_object;

/// The uploading client, its log, and the fork family in which the objects are published.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owner {
    pub(super) log: LogId,
    pub(super) family: LogId,
    pub(super) client: ClientKey,
}

/// Verifies and publishes the objects referenced by one request. Idempotent.
#[derive(Clone)]
pub(super) struct ImportChecker {
    owner: Owner,
    blobs: Arc<dyn Blobs>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    /// Number of long texts that the request may still read.
    texts_left: Arc<AtomicUsize>,
}

/// An object to verify and publish.
enum ObjectToCheck {
    /// A tile and its places in the tile index.
    Tile(ChunkRef, Vec<ChildTile>),
    Index(ChildIndex),
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

    /// Reads and verifies a tile index chunk. The caller may publish the chunk only after
    /// everything it references.
    pub(super) async fn read_index(
        &self,
        chunk: ChunkRef,
    ) -> Result<(VerifiedObject, Children), LogError> {
        Ok(self.find_chunk(&chunk).await?.into_index()?)
    }

    /// Verifies and publishes the given tiles and everything referenced by `children`, with several
    /// objects in flight. Tile index chunks referenced by `children` must already be published.
    /// Reads at most `most_texts` long texts. Returns the number of chunks read, excluding texts.
    pub(super) async fn check_all(
        &self,
        tiles_alone: &[ChunkRef],
        children: &[&Children],
        most_texts: usize,
    ) -> Result<u32, LogError> {
        let texts_left = Arc::new(AtomicUsize::new(most_texts));
        let checker = Self { texts_left, ..self.clone() };
        let mut remaining = objects_to_check(tiles_alone, children);
        let (mut running, mut checked) = (JoinSet::new(), 0_u32);
        loop {
            while running.len() < IMPORT_CHECKS_AT_ONCE
                && let Some(object) = remaining.next()
            {
                let checker = checker.clone();
                running.spawn(carried(async move { checker.check_and_publish(object).await }));
            }
            // If a check fails, dropping the join set aborts the remaining checks.
            let Some(ended) = running.join_next().await else { return Ok(checked) };
            ended.map_err(|error| {
                LogError::Store(PortError::temporary(format!("an import check aborted: {error}")))
            })??;
            checked = checked.saturating_add(1);
        }
    }

    async fn check_and_publish(&self, object: ObjectToCheck) -> Result<(), LogError> {
        match object {
            ObjectToCheck::Tile(chunk, places) => self.check_tile(&chunk, &places).await,
            ObjectToCheck::Index(child) => self.check_child_index(&child).await,
        }
    }

    async fn check_tile(&self, chunk: &ChunkRef, places: &[ChildTile]) -> Result<(), LogError> {
        let (verified, tile) = self.find_chunk(chunk).await?.into_tile(places)?;
        self.publish_texts(&verified, &tile).await?;
        self.publish(verified).await
    }

    /// Publishes the long texts that a tile references. No-op if the tile is already published,
    /// since its texts were published before it.
    async fn publish_texts(&self, verified: &VerifiedObject, tile: &Tile) -> Result<(), LogError> {
        let texts = tile.named_texts();
        let hash = verified.hash;
        if texts.is_empty() || verified.is_published || self.is_published(hash).await? {
            return Ok(());
        }
        self.reserve_texts(hash, texts.len())?;
        stream::iter(texts)
            .map(|text| async move { self.check_text(&text).await })
            .buffer_unordered(IMPORT_CHECKS_AT_ONCE)
            .try_for_each(async |()| Ok(()))
            .await
    }

    /// Deducts `count` texts from the request's text budget.
    fn reserve_texts(&self, hash: ChunkHash, count: usize) -> Result<(), ImportFault> {
        let reserve = |left: usize| left.checked_sub(count);
        let reserved = self.texts_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, reserve);
        match reserved {
            Ok(_) => Ok(()),
            Err(most) => Err(ImportFault::TooManyTexts { hash, texts: count, most }),
        }
    }

    async fn check_text(&self, named: &NamedText) -> Result<(), LogError> {
        let found = self.find(named.hash, Bounds::TEXT.stored_bytes).await?;
        self.publish(found.into_text(named)?).await
    }

    /// Verifies a tile index chunk against its parent. Objects below a published chunk are not
    /// read, since they were published before it.
    async fn check_child_index(&self, child: &ChildIndex) -> Result<(), LogError> {
        let hash = child.chunk.hash;
        let found = self.find_published(hash, max_stored_bytes(&child.chunk)).await?;
        let found = found.ok_or(ImportFault::Unchecked { hash })?.check_length(&child.chunk)?;
        if !found.into_child_index(child)?.is_published {
            return Err(ImportFault::TooOld { hash }.into());
        }
        Ok(())
    }

    /// Publishes an object for its fork family. The caller must already have published everything
    /// that the object references.
    pub(super) async fn publish(&self, verified: VerifiedObject) -> Result<(), LogError> {
        let VerifiedObject { hash, stored, is_published } = verified;
        if is_published {
            return Ok(());
        }
        let key = blob_key(chunk_key(self.owner.family, hash))?;
        self.repeated(|| self.blobs.put(new_object(key.clone(), stored.clone()))).await
    }

    async fn is_published(&self, hash: ChunkHash) -> Result<bool, LogError> {
        let key = blob_key(chunk_key(self.owner.family, hash))?;
        let head = self.repeated(|| self.blobs.head(&key)).await?;
        Ok(head.is_some_and(|head| !is_old(&head, self.now_s())))
    }

    async fn find_chunk(&self, chunk: &ChunkRef) -> Result<UnverifiedObject, LogError> {
        Ok(self.find(chunk.hash, max_stored_bytes(chunk)).await?.check_length(chunk)?)
    }

    /// Finds an object that is published or was uploaded by this client.
    async fn find(&self, hash: ChunkHash, max_bytes: usize) -> Result<UnverifiedObject, LogError> {
        let Owner { log, client, .. } = self.owner;
        let staged = self.get(hash, staged_chunk_key(log, client, hash), max_bytes).await?;
        if let Some((_, stored)) = staged {
            return Ok(UnverifiedObject::staged(hash, stored));
        }
        let published = self.find_published(hash, max_bytes).await?;
        Ok(published.ok_or(ImportFault::Missing { hash })?)
    }

    async fn find_published(
        &self,
        hash: ChunkHash,
        max_bytes: usize,
    ) -> Result<Option<UnverifiedObject>, LogError> {
        let got = self.get(hash, chunk_key(self.owner.family, hash), max_bytes).await?;
        Ok(got.map(|(head, stored)| UnverifiedObject::published(hash, stored, &head, self.now_s())))
    }

    async fn get(
        &self,
        hash: ChunkHash,
        key: String,
        max_bytes: usize,
    ) -> Result<Option<(BlobHead, Bytes)>, LogError> {
        let (key, max_bytes) = (blob_key(key)?, u64::try_from(max_bytes).unwrap_or(u64::MAX));
        match self.repeated(|| self.blobs.get(&key, max_bytes)).await? {
            GetOutcome::Found { head, bytes } => Ok(Some((head, bytes))),
            GetOutcome::Absent => Ok(None),
            GetOutcome::TooLong { length } => {
                let why = format!("the object has {length} bytes; at most {max_bytes} are allowed");
                Err(ImportFault::Unreadable { hash, why }.into())
            }
        }
    }

    fn now_s(&self) -> u64 {
        self.clock.now_ms() / 1_000
    }

    async fn repeated<T, F>(&self, request: impl Fn() -> F) -> Result<T, LogError>
    where
        F: Future<Output = Result<T, PortError>>,
    {
        retried(self.clock.as_ref(), self.random.as_ref(), request).await
    }
}

/// Returns the maximum stored size of a chunk with the given stated length.
fn max_stored_bytes(chunk: &ChunkRef) -> usize {
    let stated = usize::try_from(chunk.max_stored_bytes()).unwrap_or(usize::MAX);
    stated.min(MAX_STORED_CHUNK_BYTES)
}

/// Returns the distinct objects of a request: first the tile index chunks, then the tiles.
fn objects_to_check(
    tiles_alone: &[ChunkRef],
    children: &[&Children],
) -> impl Iterator<Item = ObjectToCheck> + use<> {
    let mut tiles: BTreeMap<ChunkHash, (ChunkRef, Vec<ChildTile>)> =
        tiles_alone.iter().map(|tile| (tile.hash, (*tile, Vec::new()))).collect();
    for tile in children.iter().flat_map(|children| &children.tiles) {
        tiles.entry(tile.chunk.hash).or_insert((tile.chunk, Vec::new())).1.push(*tile);
    }
    let indexes = children.iter().flat_map(|children| &children.index);
    let mut objects: Vec<ObjectToCheck> = indexes.copied().map(ObjectToCheck::Index).collect();
    objects.extend(tiles.into_values().map(|(chunk, places)| ObjectToCheck::Tile(chunk, places)));
    objects.into_iter()
}
