//! Eviction from full caches.

use std::collections::HashMap;
use std::hash::Hash;

/// Removes and returns the value with the earliest time.
pub(crate) fn evict_oldest<K: Copy + Eq + Hash, V>(
    cache: &mut HashMap<K, V>,
    time_of: impl Fn(&V) -> u64,
) -> Option<V> {
    let oldest = cache.iter().min_by_key(|(_, value)| time_of(value)).map(|(key, _)| *key);
    cache.remove(&oldest?)
}
