//! Caches snapshot objects in memory. Objects are immutable, so a cached object is never outdated.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_CACHED_OBJECT_BYTES, MAX_CACHED_TILE_BYTES};
use cellar_snapshot::level::ChunkHash;
use cellar_snapshot::tile::Tile;

use crate::eviction::evict_oldest;

type ObjectKey = (LogId, ChunkHash);

/// Caches recently read objects: all in their stored form, and tiles also decoded.
#[derive(Default)]
pub(crate) struct ObjectCache {
    stored: Mutex<Cached<Bytes>>,
    tiles: Mutex<Cached<Arc<Tile>>>,
}

/// If the cache is full, the items that were used longest ago are evicted.
struct Cached<T> {
    total_bytes: usize,
    /// Number of uses of all items.
    uses: u64,
    items: HashMap<ObjectKey, CachedItem<T>>,
}

struct CachedItem<T> {
    item: T,
    bytes: usize,
    /// Value of [`Cached::uses`] when the item was last used.
    last_use: u64,
}

impl<T> Default for Cached<T> {
    fn default() -> Self {
        Self { total_bytes: 0, uses: 0, items: HashMap::new() }
    }
}

impl<T: Clone> Cached<T> {
    fn get(&mut self, key: ObjectKey) -> Option<T> {
        let cached = self.items.get_mut(&key)?;
        self.uses += 1;
        cached.last_use = self.uses;
        Some(cached.item.clone())
    }

    fn insert(&mut self, key: ObjectKey, item: T, bytes: usize, max_bytes: usize) {
        if self.items.contains_key(&key) {
            return;
        }
        self.uses += 1;
        self.items.insert(key, CachedItem { item, bytes, last_use: self.uses });
        self.total_bytes += bytes;
        while self.total_bytes > max_bytes {
            let Some(evicted) = evict_oldest(&mut self.items, |cached| cached.last_use) else {
                break;
            };
            self.total_bytes -= evicted.bytes;
        }
    }
}

fn lock<T>(cache: &Mutex<Cached<T>>) -> MutexGuard<'_, Cached<T>> {
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ObjectCache {
    pub(crate) fn get(&self, log: LogId, hash: ChunkHash) -> Option<Bytes> {
        lock(&self.stored).get((log, hash))
    }

    pub(crate) fn insert(&self, log: LogId, hash: ChunkHash, stored: &Bytes) {
        let bytes = stored.len();
        lock(&self.stored).insert((log, hash), stored.clone(), bytes, MAX_CACHED_OBJECT_BYTES);
    }

    pub(crate) fn tile(&self, log: LogId, hash: ChunkHash) -> Option<Arc<Tile>> {
        lock(&self.tiles).get((log, hash))
    }

    pub(crate) fn insert_tile(&self, log: LogId, hash: ChunkHash, tile: &Arc<Tile>) {
        let bytes = tile.memory_bytes();
        lock(&self.tiles).insert((log, hash), Arc::clone(tile), bytes, MAX_CACHED_TILE_BYTES);
    }
}

#[cfg(test)]
mod tests {
    use cellar_snapshot::tile::{TextLayer, TileColumn};

    use super::*;

    const ONE: ChunkHash = ChunkHash([1; 32]);
    const TWO: ChunkHash = ChunkHash([2; 32]);

    fn log(number: u128) -> LogId {
        LogId::from_uuid(uuid::Uuid::from_u128(number))
    }

    #[test]
    fn the_cache_is_bounded_and_separates_logs() {
        let (cache, log) = (ObjectCache::default(), log(1));
        let all = Bytes::from(vec![0; MAX_CACHED_OBJECT_BYTES]);
        cache.insert(log, ONE, &all);
        cache.insert(log, ONE, &all);
        assert_eq!(cache.get(log, ONE), Some(all));
        assert_eq!(cache.get(self::log(2), ONE), None);
        cache.insert(log, TWO, &Bytes::from_static(b"x"));
        assert_eq!((cache.get(log, ONE), cache.get(log, TWO).is_some()), (None, true));
    }

    #[test]
    fn evicts_what_was_used_longest_ago() {
        let (cache, log) = (ObjectCache::default(), log(1));
        let half = Bytes::from(vec![0; MAX_CACHED_OBJECT_BYTES / 2]);
        cache.insert(log, ONE, &half);
        cache.insert(log, TWO, &half);
        assert!(cache.get(log, ONE).is_some());
        cache.insert(log, ChunkHash([3; 32]), &half);
        assert_eq!((cache.get(log, ONE).is_some(), cache.get(log, TWO)), (true, None));
    }

    /// Returns a tile whose memory is close to `bytes`.
    fn tile_of(bytes: usize) -> Arc<Tile> {
        let mut formats = TextLayer::default();
        formats.push(0, &"x".repeat(bytes));
        Arc::new(Tile { columns: vec![TileColumn { formats, ..TileColumn::default() }] })
    }

    #[test]
    fn decoded_tiles_are_bounded() {
        let (cache, log) = (ObjectCache::default(), log(1));
        let (one, two) = (tile_of(MAX_CACHED_TILE_BYTES / 2), tile_of(1_000));
        cache.insert_tile(log, ONE, &one);
        cache.insert_tile(log, TWO, &two);
        assert!(cache.tile(log, ONE).is_some() && cache.tile(log, TWO).is_some());
        assert!(cache.tile(self::log(2), ONE).is_none());
        let rest = MAX_CACHED_TILE_BYTES - one.memory_bytes() - two.memory_bytes();
        let overhead = two.memory_bytes() - 1_000;
        cache.insert_tile(log, ChunkHash([3; 32]), &tile_of(rest - overhead));
        assert!(cache.tile(log, ONE).is_some(), "exactly full");
        cache.insert_tile(log, ChunkHash([4; 32]), &tile_of(1));
        assert!(cache.tile(log, ONE).is_some() && cache.tile(log, TWO).is_none());
    }
}
