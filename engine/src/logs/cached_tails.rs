//! Caches the latest entries of recently used logs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_CACHED_TAILS;
use cellar_base::position::Position;
use cellar_log::append::CachedTail;
use cellar_log::append::tail_age::has_expired;
use cellar_log::entry::Entry;

use crate::eviction::evict_oldest;

#[derive(Debug)]
struct TailSlot {
    tail: CachedTail,
    cached_since_ms: u64,
    used_ms: u64,
}

/// The entries of a log are dropped when they have expired, even if they are in use, so that a
/// process does not rely on a stale read forever.
#[derive(Debug, Default)]
pub(super) struct TailCache {
    tails: Mutex<HashMap<LogId, TailSlot>>,
}

impl TailCache {
    fn lock(&self) -> MutexGuard<'_, HashMap<LogId, TailSlot>> {
        self.tails.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, now_ms: u64, entries: &[Arc<Entry>]) {
        let Some(log_id) = entries.first().map(|entry| entry.log) else { return };
        let mut tails = self.lock();
        if !tails.contains_key(&log_id) && tails.len() >= MAX_CACHED_TAILS {
            evict_oldest(&mut tails, |slot| slot.used_ms);
        }
        let new_slot =
            || TailSlot { tail: CachedTail::default(), cached_since_ms: now_ms, used_ms: now_ms };
        let slot = tails.entry(log_id).or_insert_with(new_slot);
        slot.used_ms = now_ms;
        for entry in entries {
            slot.tail.add(entry);
        }
    }

    pub(super) fn entries_from(
        &self,
        now_ms: u64,
        log_id: LogId,
        base: Position,
    ) -> Vec<Arc<Entry>> {
        self.read_tail(now_ms, log_id, |tail| tail.entries_from(base)).unwrap_or_default()
    }

    pub(super) fn covers(&self, now_ms: u64, log_id: LogId, base: Position) -> bool {
        self.read_tail(now_ms, log_id, |tail| tail.covers(base)).unwrap_or(false)
    }

    pub(super) fn has_no_snapshot_after(&self, now_ms: u64, log_id: LogId, base: Position) -> bool {
        self.read_tail(now_ms, log_id, |tail| tail.has_no_snapshot_after(base)).unwrap_or(false)
    }

    pub(super) fn last(&self, now_ms: u64, log_id: LogId) -> Option<Arc<Entry>> {
        self.read_tail(now_ms, log_id, |tail| tail.last().cloned()).flatten()
    }

    /// If the entries have expired, removes them and returns `None`.
    fn read_tail<T>(
        &self,
        now_ms: u64,
        log_id: LogId,
        read: impl Fn(&CachedTail) -> T,
    ) -> Option<T> {
        let mut tails = self.lock();
        let slot = tails.get_mut(&log_id)?;
        if has_expired(slot.cached_since_ms, now_ms) {
            tails.remove(&log_id);
            return None;
        }
        slot.used_ms = now_ms;
        Some(read(&slot.tail))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_base::identity::SubjectKey;
    use cellar_base::limits::CACHED_TAIL_AGE_MS;

    fn first_entry(number: usize) -> Arc<Entry> {
        let subject = SubjectKey::new("test", "known runs");
        let log = LogId::derive(&subject, &number.to_string()).unwrap();
        Arc::new(Entry::first(log, None, 0))
    }

    #[test]
    fn a_tail_expires_at_its_age() {
        let (cache, entry) = (TailCache::default(), first_entry(0));
        cache.add(1_000, &[Arc::clone(&entry)]);
        let at = 1_000 + CACHED_TAIL_AGE_MS;
        assert_eq!(cache.last(at, entry.log), Some(Arc::clone(&entry)));
        cache.add(at, &[Arc::clone(&entry)]);
        assert_eq!(cache.last(at + 1, entry.log), None, "use does not extend the lifetime");
        assert!(cache.lock().is_empty());
    }

    #[test]
    fn evicts_the_least_recently_used_log() {
        let cache = TailCache::default();
        for number in 0..MAX_CACHED_TAILS {
            cache.add(number as u64, &[first_entry(number)]);
        }
        assert!(cache.last(100, first_entry(0).log).is_some());
        cache.add(101, &[first_entry(MAX_CACHED_TAILS)]);
        assert_eq!(cache.lock().len(), MAX_CACHED_TAILS);
        assert!(cache.last(102, first_entry(0).log).is_some());
        assert!(cache.last(102, first_entry(1).log).is_none());
    }
}
