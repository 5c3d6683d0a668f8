//! Verifies the objects of an import and publishes them.

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
use super::found::{Found, Verified, is_old};
use super::{ImportFault, blob_key};
use crate::meter::carried;
use crate::ports::{BlobHead, Blobs, Clock, Got, PortError, Random};
use crate::snapshots::new_object;

/// Whose uploads are checked, and where their objects are published.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owner {
    pub(super) log: LogId,
    pub(super) family: LogId,
    pub(super) client: ClientKey,
}

/// Verifies and publishes the objects of one request. Everything it does may be repeated.
#[derive(Clone)]
pub(super) struct Checker {
    owner: Owner,
    blobs: Arc<dyn Blobs>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    /// Long texts that may still be read.
    texts_left: Arc<AtomicUsize>,
}

/// An object to verify and publish.
enum Wanted {
    /// A tile, and its places in the index.
    Tile(ChunkRef, Vec<ChildTile>),
    Index(ChildIndex),
}

impl Checker {
    pub(super) fn new(
        owner: Owner,
        blobs: Arc<dyn Blobs>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Self {
        Self { owner, blobs, clock, random, texts_left: Arc::default() }
    }

    /// Reads a chunk of an index. It may be published once all that it names is.
    pub(super) async fn index(&self, chunk: ChunkRef) -> Result<(Verified, Children), LogError> {
        Ok(self.find_chunk(&chunk).await?.index()?)
    }

    /// Verifies and publishes tiles and all that indexes name, several at the same time. Chunks of an
    /// index that others name must be published. Reads at most `most_texts` long texts. Returns how many
    /// chunks were read, without texts.
    pub(super) async fn check_all(
        &self,
        alone: &[ChunkRef],
        children: &[&Children],
        most_texts: usize,
    ) -> Result<u32, LogError> {
        let texts_left = Arc::new(AtomicUsize::new(most_texts));
        let checker = Self { texts_left, ..self.clone() };
        let mut tiles: BTreeMap<ChunkHash, (ChunkRef, Vec<ChildTile>)> =
            alone.iter().map(|tile| (tile.hash, (*tile, Vec::new()))).collect();
        for tile in children.iter().flat_map(|children| &children.tiles) {
            tiles.entry(tile.chunk.hash).or_insert((tile.chunk, Vec::new())).1.push(*tile);
        }
        let indexes = children.iter().flat_map(|children| &children.index);
        let mut wanted = (indexes.copied().map(Wanted::Index))
            .chain(tiles.into_values().map(|(chunk, places)| Wanted::Tile(chunk, places)));
        let (mut running, mut read) = (JoinSet::new(), 0_u32);
        loop {
            while running.len() < IMPORT_CHECKS_AT_ONCE
                && let Some(wanted) = wanted.next()
            {
                let checker = checker.clone();
                running.spawn(carried(async move { checker.check(wanted).await }));
            }
            // If one fails, dropping the others ends them.
            let Some(ended) = running.join_next().await else { return Ok(read) };
            ended.map_err(|error| {
                LogError::Store(PortError::temporary(format!("a check ended: {error}")))
            })??;
            read = read.saturating_add(1);
        }
    }

    async fn check(&self, wanted: Wanted) -> Result<(), LogError> {
        match wanted {
            Wanted::Tile(chunk, places) => self.tile(&chunk, &places).await,
            Wanted::Index(child) => self.child_index(&child).await,
        }
    }

    async fn tile(&self, chunk: &ChunkRef, places: &[ChildTile]) -> Result<(), LogError> {
        let (verified, tile) = self.find_chunk(chunk).await?.tile(places)?;
        self.publish_texts(&verified, &tile).await?;
        self.publish(verified).await
    }

    /// Publishes the long texts that a tile names. Those of a published tile were published before it.
    async fn publish_texts(&self, verified: &Verified, tile: &Tile) -> Result<(), LogError> {
        let texts = tile.named_texts();
        let hash = verified.hash;
        if texts.is_empty() || verified.is_published || self.is_published(hash).await? {
            return Ok(());
        }
        let count = texts.len();
        let take = |left: usize| left.checked_sub(count);
        let taken = self.texts_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        taken.map_err(|most| ImportFault::TooManyTexts { hash, texts: count, most })?;
        stream::iter(texts)
            .map(|text| async move { self.text(&text).await })
            .buffer_unordered(IMPORT_CHECKS_AT_ONCE)
            .try_for_each(async |()| Ok(()))
            .await
    }

    async fn text(&self, named: &NamedText) -> Result<(), LogError> {
        let found = self.find(named.hash, Bounds::TEXT.stored_bytes).await?;
        self.publish(found.text(named)?).await
    }

    /// Verifies a chunk of an index that another names. It is published only after all that it names, so
    /// nothing below it is read again.
    async fn child_index(&self, child: &ChildIndex) -> Result<(), LogError> {
        let hash = child.chunk.hash;
        let longest = longest(&child.chunk);
        let found = self.find_published(hash, longest).await?;
        let found = found.ok_or(ImportFault::Unchecked { hash })?.with_length_of(&child.chunk)?;
        if !found.child_index(child)?.is_published {
            return Err(ImportFault::TooOld { hash }.into());
        }
        Ok(())
    }

    /// Publishes an object under its family's name. The caller has published all that it names.
    pub(super) async fn publish(&self, verified: Verified) -> Result<(), LogError> {
        let Verified { hash, stored, is_published } = verified;
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

    async fn find_chunk(&self, chunk: &ChunkRef) -> Result<Found, LogError> {
        Ok(self.find(chunk.hash, longest(chunk)).await?.with_length_of(chunk)?)
    }

    /// Finds an object: uploaded by this client, or published.
    async fn find(&self, hash: ChunkHash, longest: usize) -> Result<Found, LogError> {
        let Owner { log, client, .. } = self.owner;
        let staged = self.get(hash, staged_chunk_key(log, client, hash), longest).await?;
        if let Some((_, stored)) = staged {
            return Ok(Found::staged(hash, stored));
        }
        let published = self.find_published(hash, longest).await?;
        Ok(published.ok_or(ImportFault::Missing { hash })?)
    }

    async fn find_published(
        &self,
        hash: ChunkHash,
        longest: usize,
    ) -> Result<Option<Found>, LogError> {
        let got = self.get(hash, chunk_key(self.owner.family, hash), longest).await?;
        Ok(got.map(|(head, stored)| Found::published(hash, stored, &head, self.now_s())))
    }

    async fn get(
        &self,
        hash: ChunkHash,
        key: String,
        longest: usize,
    ) -> Result<Option<(BlobHead, Bytes)>, LogError> {
        let (key, most) = (blob_key(key)?, u64::try_from(longest).unwrap_or(u64::MAX));
        match self.repeated(|| self.blobs.get(&key, most)).await? {
            Got::Found { head, bytes } => Ok(Some((head, bytes))),
            Got::Absent => Ok(None),
            Got::TooLong { length } => {
                let why = format!("it has {length} bytes; at most {most} are allowed here");
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

/// The most bytes that a chunk may have, as stored, to be the one that is said.
fn longest(chunk: &ChunkRef) -> usize {
    let said = usize::try_from(chunk.max_stored_bytes()).unwrap_or(usize::MAX);
    said.min(MAX_STORED_CHUNK_BYTES)
}
