//! Eviction from full caches.

use std::collections::HashMap;
use std::hash::Hash;

pub(crate) fn evict_oldest<K: Copy + Eq + Hash, V>(
    cache: &mut HashMap<K, V>,
    time_of: impl Fn(&V) -> u64,
) {
    let oldest = cache.iter().min_by_key(|(_, value)| time_of(value)).map(|(key, _)| *key);
    if let Some(key) = oldest {
        cache.remove(&key);
    }
}
