//! In-memory cache of snapshot objects. Objects are immutable, so cached objects never become
//! stale.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_CACHED_OBJECT_BYTES;
use cellar_snapshot::level::ChunkHash;

/// Cache of recently read objects in their stored form. When the cache is full, the oldest objects
/// are evicted.
#[derive(Default)]
pub(crate) struct ObjectCache {
    entries: Mutex<CacheEntries>,
}

#[derive(Default)]
struct CacheEntries {
    bytes: usize,
    objects: HashMap<(LogId, ChunkHash), Bytes>,
    order: VecDeque<(LogId, ChunkHash)>,
}

impl ObjectCache {
    pub(crate) fn get(&self, log: LogId, hash: ChunkHash) -> Option<Bytes> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.objects.get(&(log, hash)).cloned()
    }

    pub(crate) fn insert(&self, log: LogId, hash: ChunkHash, stored: &Bytes) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.objects.insert((log, hash), stored.clone()).is_some() {
            return;
        }
        entries.order.push_back((log, hash));
        entries.bytes = entries.bytes.saturating_add(stored.len());
        while entries.bytes > MAX_CACHED_OBJECT_BYTES {
            let Some(oldest) = entries.order.pop_front() else { break };
            let evicted_bytes = entries.objects.remove(&oldest).map_or(0, |stored| stored.len());
            entries.bytes = entries.bytes.saturating_sub(evicted_bytes);
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
