//! The data that eventually consistent reads see. Each item lags by a different delay, so a page
//! may have gaps.

use std::collections::BTreeMap;
use std::ops::RangeBounds;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The versions of an item. Each consists of the time from which it is visible and the value, or
/// `None` if the version is a deletion.
type Shown<V> = Vec<(u64, Option<V>)>;

/// Items with their versions. Times are in milliseconds since the start of the run.
#[derive(Debug)]
pub struct Versions<K, V> {
    items: Mutex<BTreeMap<K, Shown<V>>>,
}

impl<K, V> Default for Versions<K, V> {
    fn default() -> Self {
        Self { items: Mutex::default() }
    }
}

impl<K: Ord + Clone, V: Clone> Versions<K, V> {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<K, Shown<V>>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a version of an item at `now_ms` that is visible from `shows_ms` on. A value of
    /// `None` deletes the item. Versions become visible in the order in which they were written.
    pub fn write(&self, key: K, now_ms: u64, shows_ms: u64, value: Option<V>) {
        let mut items = self.lock();
        let versions = items.entry(key).or_default();
        let shown = versions.iter().rposition(|(shows_ms, _)| *shows_ms <= now_ms);
        // Remove versions that no read can see any more, because reads never ask for an earlier
        // time than now.
        versions.drain(..shown.unwrap_or(0));
        let last_ms = versions.last().map_or(0, |(shows_ms, _)| *shows_ms);
        versions.push((shows_ms.max(last_ms), value));
    }

    /// Returns the visible values of the items in a key range, in ascending order.
    pub fn range(&self, keys: impl RangeBounds<K>, now_ms: u64) -> Vec<(K, V)> {
        let items = self.lock();
        let mut shown_items = Vec::new();
        for (key, versions) in items.range(keys) {
            let shown_version = versions.iter().rev().find(|(shows_ms, _)| *shows_ms <= now_ms);
            if let Some((_, Some(value))) = shown_version {
                shown_items.push((key.clone(), value.clone()));
            }
        }
        shown_items
    }
}
