//! Reads and writes snapshot objects in the bucket.

use std::sync::Arc;

use bytes::Bytes;
use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_STORED_CHUNK_BYTES, MAX_STORED_ROOT_BYTES};
use cellar_snapshot::SnapshotError;
use cellar_snapshot::keys::{chunk_key, parse_root_key, root_key};
use cellar_snapshot::level::ChunkHash;
use cellar_snapshot::objects::{BadObject, Fetch, ObjectKind, ObjectRequest, Objects};
use cellar_snapshot::packed::{Bounds, unpack};
use cellar_snapshot::root::Root;
use cellar_snapshot::tile::Tile;
use tokio::task::JoinSet;

use super::object_cache::ObjectCache;
use crate::meter::carried;
use crate::ports::{BlobKey, Blobs, GetOutcome, NewBlob, PortError};
use crate::sha256::sha256;

/// Media type of chunks and roots before they are compressed.
pub(crate) const CONTENT_TYPE: &str = "application/vnd.cellar.chunk";
pub(crate) const CONTENT_ENCODING: &str = "zstd";

/// Reason why a snapshot object cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectFault {
    /// The object does not exist.
    #[error(
        "snapshot object {key} is missing; the log still has all data: run `{}` to rebuild the \
         snapshots (for a fork, use the fork's id)",
        rebuild_command(key)
    )]
    Missing {
        /// S3 key of the object.
        key: String,
    },
    /// The object is invalid, or its content does not match the hash in its name.
    #[error(
        "snapshot object {key} is damaged ({why}); the log still has all data: run `{}` to rebuild \
         the snapshots (for a fork, use the fork's id)",
        rebuild_command(key)
    )]
    Damaged {
        /// S3 key of the object.
        key: String,
        why: String,
    },
    /// A bucket request failed.
    #[error("the store failed: {0}")]
    Store(PortError),
}

impl ObjectFault {
    /// Describes what is wrong with the object, without suggesting a rebuild.
    #[must_use]
    pub(crate) fn summary(&self) -> String {
        match self {
            Self::Missing { key } => format!("{key} is missing"),
            Self::Damaged { key, why } => format!("{key} is damaged: {why}"),
            Self::Store(error) => error.to_string(),
        }
    }
}

#[derive(Clone)]
pub(crate) struct ObjectStore {
    blobs: Arc<dyn Blobs>,
    /// `None` in workers, which read each object only once.
    cache: Option<Arc<ObjectCache>>,
}

impl ObjectStore {
    pub(crate) fn new(blobs: Arc<dyn Blobs>) -> Self {
        Self { blobs, cache: None }
    }

    pub(crate) fn with_cache(blobs: Arc<dyn Blobs>) -> Self {
        Self { blobs, cache: Some(Arc::default()) }
    }

    /// If the chunk already exists, it is written again, which resets its age.
    pub(crate) async fn put_chunk(
        &self,
        log: LogId,
        hash: ChunkHash,
        stored: Vec<u8>,
    ) -> Result<(), ObjectFault> {
        self.put(chunk_key(log, hash), stored).await
    }

    pub(crate) async fn put_root(
        &self,
        log: LogId,
        hash: ChunkHash,
        stored: Vec<u8>,
    ) -> Result<String, ObjectFault> {
        let key = root_key(log, hash);
        self.put(key.clone(), stored).await?;
        Ok(key)
    }

    async fn put(&self, key: String, stored: Vec<u8>) -> Result<(), ObjectFault> {
        let blob = new_object(blob_key(&key)?, stored.into());
        self.blobs.put(blob).await.map_err(ObjectFault::Store)
    }

    pub(crate) async fn root(&self, key: &str) -> Result<Root, ObjectFault> {
        let damaged = |why: String| ObjectFault::Damaged { key: key.to_owned(), why };
        let parsed_key = parse_root_key(key).map_err(|error| damaged(error.to_string()))?;
        let stored = get_object(self.blobs.as_ref(), key, MAX_STORED_ROOT_BYTES).await?;
        Root::unpack(parsed_key.hash, &stored).map_err(|error| damaged(error.to_string()))
    }

    /// Bytes from the cache were verified before. Bytes from the bucket were not.
    pub(crate) async fn chunk(&self, log: LogId, hash: ChunkHash) -> Result<Bytes, ObjectFault> {
        if let Some(stored) = self.cache.as_deref().and_then(|cache| cache.get(log, hash)) {
            return Ok(stored);
        }
        get_object(self.blobs.as_ref(), &chunk_key(log, hash), MAX_STORED_CHUNK_BYTES).await
    }

    /// The caller must have verified the bytes.
    fn cache_verified(&self, log: LogId, hash: ChunkHash, stored: &Bytes) {
        if let Some(cache) = &self.cache {
            cache.insert(log, hash, stored);
        }
    }

    pub(crate) async fn text(&self, log: LogId, hash: ChunkHash) -> Result<String, ObjectFault> {
        let damaged = |why: String| ObjectFault::Damaged { key: chunk_key(log, hash), why };
        let stored = self.chunk(log, hash).await?;
        let text_bytes =
            unpack(hash, &stored, Bounds::TEXT).map_err(|error| damaged(error.to_string()))?;
        self.cache_verified(log, hash, &stored);
        String::from_utf8(text_bytes).map_err(|error| damaged(error.to_string()))
    }

    pub(crate) async fn load(
        &self,
        log: LogId,
        requests: &[ObjectRequest],
        objects: &mut Objects,
    ) -> Result<(), ObjectFault> {
        let mut loads = JoinSet::new();
        for request in requests.iter().copied() {
            if let Some(tile) = self.cached_tile(log, &request) {
                objects.insert_tile(request.hash, tile);
                continue;
            }
            let store = self.clone();
            let load = async move { (request, store.chunk(log, request.hash).await) };
            loads.spawn(carried(load));
        }
        while let Some(join_result) = loads.join_next().await {
            let (request, chunk_result) = join_result.map_err(|error| {
                ObjectFault::Store(PortError::temporary(format!(
                    "loading an object was aborted: {error}"
                )))
            })?;
            let stored = chunk_result?;
            objects
                .insert(&request, &stored)
                .map_err(|error| damaged_object(log, &request, &error))?;
            self.cache_verified(log, request.hash, &stored);
            if let (Some(cache), Some(tile)) = (&self.cache, objects.tile(&request.hash)) {
                cache.insert_tile(log, request.hash, tile);
            }
        }
        Ok(())
    }

    fn cached_tile(&self, log: LogId, request: &ObjectRequest) -> Option<Arc<Tile>> {
        let cache = self.cache.as_ref().filter(|_| request.kind == ObjectKind::Tile)?;
        cache.tile(log, request.hash)
    }

    /// Calls `compute` until it returns a result. If `compute` needs further objects, they are
    /// loaded before the next call.
    pub(crate) async fn load_until_ready<T>(
        &self,
        log: LogId,
        objects: &mut Objects,
        mut compute: impl FnMut(&Objects) -> Result<Fetch<T>, SnapshotError>,
    ) -> Result<T, ObjectFault> {
        loop {
            match compute(objects).map_err(|error| snapshot_fault(log, &error))? {
                Fetch::Ready(result) => return Ok(result),
                Fetch::Missing(requests) => self.load(log, &requests, objects).await?,
            }
        }
    }
}

/// The object does not expire.
pub(crate) fn new_object(key: BlobKey, stored: Bytes) -> NewBlob {
    NewBlob {
        key,
        sha256: sha256(&stored),
        bytes: stored,
        content_type: Some(CONTENT_TYPE.to_owned()),
        content_encoding: Some(CONTENT_ENCODING.to_owned()),
        pending: false,
    }
}

fn rebuild_command(key: &str) -> String {
    // The second segment of an object key is the log id.
    let log_id = key.split('/').nth(1).filter(|segment| segment.parse::<LogId>().is_ok());
    format!("synth reprocess --rebuild --spreadsheet {}", log_id.unwrap_or("ID"))
}

pub(crate) fn snapshot_fault(log: LogId, error: &SnapshotError) -> ObjectFault {
    ObjectFault::Damaged { key: format!("sheets/{log}"), why: error.to_string() }
}

fn damaged_object(log: LogId, request: &ObjectRequest, error: &BadObject) -> ObjectFault {
    ObjectFault::Damaged { key: chunk_key(log, request.hash), why: error.to_string() }
}

fn blob_key(key: &str) -> Result<BlobKey, ObjectFault> {
    BlobKey::new(key)
        .map_err(|error| ObjectFault::Damaged { key: key.to_owned(), why: error.to_string() })
}

async fn get_object(blobs: &dyn Blobs, key: &str, max_bytes: usize) -> Result<Bytes, ObjectFault> {
    let max_bytes = u64::try_from(max_bytes).unwrap_or(u64::MAX);
    match blobs.get(&blob_key(key)?, max_bytes).await.map_err(ObjectFault::Store)? {
        GetOutcome::Found { bytes, .. } => Ok(bytes),
        GetOutcome::Absent => Err(ObjectFault::Missing { key: key.to_owned() }),
        GetOutcome::TooLong { length } => {
            Err(ObjectFault::Damaged { key: key.to_owned(), why: format!("it has {length} bytes") })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{ManualClock, MemoryBlobs};
    use cellar_snapshot::chunk::chunk_of;
    use cellar_snapshot::level::ChunkRef;
    use cellar_snapshot::objects::ObjectKind;
    use cellar_snapshot::packed::{PackedObject, pack};
    use cellar_snapshot::tile::{Tile, TileColumn, TileValue};

    fn log() -> LogId {
        LogId::from_uuid(uuid::Uuid::from_u128(1))
    }

    fn tile() -> PackedObject {
        let mut column = TileColumn::new(0);
        column.values.push(0, TileValue::Bool(true));
        chunk_of(&Tile { columns: vec![column] }).unwrap()
    }

    #[tokio::test]
    async fn only_verified_bytes_are_kept_for_other_readers() {
        let blobs = Arc::new(MemoryBlobs::new(Arc::new(ManualClock::at(0))));
        let store = ObjectStore::with_cache(blobs.clone());
        let (text, tile) = (pack(b"a text", Bounds::TEXT).unwrap(), tile());
        let read = async |chunk: ChunkRef| {
            let wanted = ObjectRequest::new(ObjectKind::Tile, chunk);
            store.load(log(), &[wanted], &mut Objects::default()).await
        };
        for object in [&text, &tile] {
            let damaged = object.stored[1..].to_vec();
            store.put_chunk(log(), object.chunk.hash, damaged).await.unwrap();
        }
        for _ in 0..2 {
            assert!(store.text(log(), text.chunk.hash).await.is_err());
            assert!(read(tile.chunk).await.is_err());
        }
        for object in [&text, &tile] {
            store.put_chunk(log(), object.chunk.hash, object.stored.clone()).await.unwrap();
        }
        // Damaged bytes must not be cached, but verified bytes must be.
        for _ in 0..2 {
            assert_eq!(store.text(log(), text.chunk.hash).await.unwrap(), "a text");
            read(tile.chunk).await.unwrap();
            for object in [&text, &tile] {
                let key = blob_key(&chunk_key(log(), object.chunk.hash)).unwrap();
                blobs.delete(&key).await.unwrap();
            }
        }
    }
}
