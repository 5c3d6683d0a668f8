//! Caches snapshot objects in memory. Objects are immutable, so a cached object is never outdated.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_CACHED_OBJECT_BYTES;
use cellar_snapshot::level::ChunkHash;

/// Caches recently read objects in their stored form. If the cache is full, the oldest objects are
/// evicted.
#[derive(Default)]
pub(crate) struct ObjectCache {
    contents: Mutex<CacheContents>,
}

#[derive(Default)]
struct CacheContents {
    total_bytes: usize,
    objects: HashMap<(LogId, ChunkHash), Bytes>,
    keys_oldest_first: VecDeque<(LogId, ChunkHash)>,
}

impl ObjectCache {
    pub(crate) fn get(&self, log: LogId, hash: ChunkHash) -> Option<Bytes> {
        let contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        contents.objects.get(&(log, hash)).cloned()
    }

    pub(crate) fn insert(&self, log: LogId, hash: ChunkHash, stored: &Bytes) {
        let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        let replaced_object = contents.objects.insert((log, hash), stored.clone());
        if replaced_object.is_some() {
            return;
        }
        contents.keys_oldest_first.push_back((log, hash));
        contents.total_bytes += stored.len();
        while contents.total_bytes > MAX_CACHED_OBJECT_BYTES {
            let Some(oldest_key) = contents.keys_oldest_first.pop_front() else { break };
            let evicted_object = contents.objects.remove(&oldest_key);
            contents.total_bytes -= evicted_object.map_or(0, |evicted| evicted.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_bounded_and_separates_logs() {
        let (known, log) = (ObjectCache::default(), LogId::from_uuid(uuid::Uuid::from_u128(1)));
        let (one, two) = (ChunkHash([1; 32]), ChunkHash([2; 32]));
        let all = Bytes::from(vec![0; MAX_CACHED_OBJECT_BYTES]);
        known.insert(log, one, &all);
        known.insert(log, one, &all);
        assert_eq!(known.get(log, one), Some(all));
        assert_eq!(known.get(LogId::from_uuid(uuid::Uuid::from_u128(2)), one), None);
        known.insert(log, two, &Bytes::from_static(b"x"));
        assert_eq!((known.get(log, one), known.get(log, two).is_some()), (None, true));
    }
}
