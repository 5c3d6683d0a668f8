//! The objects of snapshots in the object store.

use std::sync::Arc;

use bytes::Bytes;
use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_STORED_CHUNK_BYTES, MAX_STORED_ROOT_BYTES};
use cellar_snapshot::SnapshotError;
use cellar_snapshot::keys::{chunk_key, parse_root_key, root_key};
use cellar_snapshot::level::ChunkHash;
use cellar_snapshot::objects::{BadObject, Fetch, Objects, Wanted};
use cellar_snapshot::packed::{Bounds, unpack};
use cellar_snapshot::root::Root;
use tokio::task::JoinSet;

use super::known_objects::KnownObjects;
use crate::meter::carried;
use crate::ports::{BlobKey, Blobs, GetOutcome, NewBlob, PortError};
use crate::sha256::sha256;

/// The media type of what is in a chunk or a root, once it is decompressed.
pub(crate) const CONTENT_TYPE: &str = "application/vnd.cellar.chunk";
/// How chunks and roots are encoded.
pub(crate) const CONTENT_ENCODING: &str = "zstd";

/// Why an object of a snapshot cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectFault {
    /// It is gone.
    #[error(
        "the object {key} of the snapshot is missing: the log still has everything, and `{}` makes \
         its snapshots anew (of a fork: with the fork's id)",
        mending(key)
    )]
    Missing {
        /// Its key.
        key: String,
    },
    /// It is not what it should be.
    #[error(
        "the object {key} of the snapshot is damaged ({why}): the log still has everything, and `{}` \
         makes its snapshots anew (of a fork: with the fork's id)",
        mending(key)
    )]
    Damaged {
        /// Its key.
        key: String,
        /// What is wrong.
        why: String,
    },
    /// The store does not answer.
    #[error("the store failed: {0}")]
    Store(PortError),
}

impl ObjectFault {
    /// Which object it is and what is wrong with it, without what to do.
    #[must_use]
    pub(crate) fn short(&self) -> String {
        match self {
            Self::Missing { key } => format!("{key} is missing"),
            Self::Damaged { key, why } => format!("{key} is damaged: {why}"),
            Self::Store(error) => error.to_string(),
        }
    }
}

/// Reads and writes chunks and roots.
#[derive(Clone)]
pub(crate) struct ObjectStore {
    blobs: Arc<dyn Blobs>,
    /// What was read before, for readers: a worker reads nothing twice.
    known: Option<Arc<KnownObjects>>,
}

impl ObjectStore {
    pub(crate) fn new(blobs: Arc<dyn Blobs>) -> Self {
        Self { blobs, known: None }
    }

    /// A store that keeps what it has read.
    pub(crate) fn with_memory(blobs: Arc<dyn Blobs>) -> Self {
        Self { blobs, known: Some(Arc::default()) }
    }

    /// Stores a chunk, always: it renews the object's age.
    pub(crate) async fn put_chunk(
        &self,
        log: LogId,
        hash: ChunkHash,
        stored: Vec<u8>,
    ) -> Result<(), ObjectFault> {
        self.put(chunk_key(log, hash), stored).await
    }

    /// Stores a root and gives its key.
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

    /// Reads a root by its key.
    pub(crate) async fn root(&self, key: &str) -> Result<Root, ObjectFault> {
        let damaged = |why: String| ObjectFault::Damaged { key: key.to_owned(), why };
        let parsed = parse_root_key(key).map_err(|error| damaged(error.to_string()))?;
        let stored = get(self.blobs.as_ref(), key, MAX_STORED_ROOT_BYTES).await?;
        Root::unpack(parsed.hash, &stored).map_err(|error| damaged(error.to_string()))
    }

    /// Returns the stored bytes of a chunk. Nobody has verified them, unless they were kept.
    pub(crate) async fn chunk(&self, log: LogId, hash: ChunkHash) -> Result<Bytes, ObjectFault> {
        if let Some(stored) = self.known.as_deref().and_then(|known| known.get(log, hash)) {
            return Ok(stored);
        }
        get(self.blobs.as_ref(), &chunk_key(log, hash), MAX_STORED_CHUNK_BYTES).await
    }

    /// Keeps the stored bytes of a chunk for later reads. The caller has verified that they are the
    /// chunk's: whatever is kept is returned to every reader of the process.
    fn keep(&self, log: LogId, hash: ChunkHash, stored: &Bytes) {
        if let Some(known) = &self.known {
            known.keep(log, hash, stored);
        }
    }

    /// A text that is an object of its own.
    pub(crate) async fn text(&self, log: LogId, hash: ChunkHash) -> Result<String, ObjectFault> {
        let damaged = |why: String| ObjectFault::Damaged { key: chunk_key(log, hash), why };
        let stored = self.chunk(log, hash).await?;
        let bytes = unpack(hash, &stored, Bounds::TEXT).map_err(|why| damaged(why.to_string()))?;
        self.keep(log, hash, &stored);
        String::from_utf8(bytes).map_err(|why| damaged(why.to_string()))
    }

    /// Loads objects, all at once.
    pub(crate) async fn load(
        &self,
        log: LogId,
        wanted: &[Wanted],
        objects: &mut Objects,
    ) -> Result<(), ObjectFault> {
        let mut loads = JoinSet::new();
        for wanted in wanted.iter().copied() {
            let store = self.clone();
            loads.spawn(carried(async move { (wanted, store.chunk(log, wanted.hash).await) }));
        }
        while let Some(loaded) = loads.join_next().await {
            let (wanted, stored) = loaded.map_err(|error| {
                ObjectFault::Store(PortError::temporary(format!("a load ended: {error}")))
            })?;
            let stored = stored?;
            objects.insert(&wanted, &stored).map_err(|why| damaged(log, &wanted, &why))?;
            self.keep(log, wanted.hash, &stored);
        }
        Ok(())
    }

    /// Asks until nothing is missing.
    pub(crate) async fn ready<T>(
        &self,
        log: LogId,
        objects: &mut Objects,
        mut ask: impl FnMut(&Objects) -> Result<Fetch<T>, SnapshotError>,
    ) -> Result<T, ObjectFault> {
        loop {
            match ask(objects).map_err(|error| shape(log, &error))? {
                Fetch::Ready(ready) => return Ok(ready),
                Fetch::Need(wanted) => self.load(log, &wanted, objects).await?,
            }
        }
    }
}

/// A chunk or a root as it is stored: one that stays.
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

/// The command that makes the snapshots anew which have the object with this key.
fn mending(key: &str) -> String {
    // `sheets/`, the log, and what it is.
    let log = key.split('/').nth(1).filter(|log| log.parse::<LogId>().is_ok());
    format!("synth reprocess --rebuild --spreadsheet {}", log.unwrap_or("ID"))
}

/// What a snapshot says of itself cannot be.
pub(crate) fn shape(log: LogId, error: &SnapshotError) -> ObjectFault {
    ObjectFault::Damaged { key: format!("sheets/{log}"), why: error.to_string() }
}

fn damaged(log: LogId, wanted: &Wanted, why: &BadObject) -> ObjectFault {
    ObjectFault::Damaged { key: chunk_key(log, wanted.hash), why: why.to_string() }
}

fn blob_key(key: &str) -> Result<BlobKey, ObjectFault> {
    BlobKey::new(key)
        .map_err(|error| ObjectFault::Damaged { key: key.to_owned(), why: error.to_string() })
}

async fn get(blobs: &dyn Blobs, key: &str, max_bytes: usize) -> Result<Bytes, ObjectFault> {
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
        let store = ObjectStore::with_memory(blobs.clone());
        let (text, tile) = (pack(b"a text", Bounds::TEXT).unwrap(), tile());
        let read = async |chunk: ChunkRef| {
            let wanted = Wanted::new(ObjectKind::Tile, chunk);
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
        // What was damaged was not kept; what is read now is.
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
