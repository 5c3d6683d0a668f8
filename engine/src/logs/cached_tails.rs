//! Cache of the newest entries of each log.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cellar_base::identity::LogId;
use cellar_base::limits::{KNOWN_RUN_AGE_MS, MAX_KNOWN_LOGS};
use cellar_base::position::Position;
use cellar_log::append::KnownRun;
use cellar_log::entry::Entry;

/// The cached newest entries of one log.
#[derive(Debug)]
struct CachedTail {
    run: KnownRun,
    created_ms: u64,
    used_ms: u64,
}

/// Cached tails of at most `MAX_KNOWN_LOGS` logs. A tail expires `KNOWN_RUN_AGE_MS` after its
/// creation, even if it is in use, so that no process relies on old reads forever.
#[derive(Debug, Default)]
pub(super) struct TailCache {
    tails: Mutex<HashMap<LogId, CachedTail>>,
}

impl TailCache {
    fn lock(&self) -> MutexGuard<'_, HashMap<LogId, CachedTail>> {
        self.tails.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Caches entries of one log that were read or written.
    pub(super) fn add(&self, now_ms: u64, entries: &[Arc<Entry>]) {
        let Some(log) = entries.first().map(|entry| entry.log) else { return };
        let mut tails = self.lock();
        if !tails.contains_key(&log) && tails.len() >= MAX_KNOWN_LOGS {
            evict_least_recently_used(&mut tails);
        }
        let new_tail =
            || CachedTail { run: KnownRun::default(), created_ms: now_ms, used_ms: now_ms };
        let tail = tails.entry(log).or_insert_with(new_tail);
        tail.used_ms = now_ms;
        entries.iter().for_each(|entry| tail.run.learn(entry));
    }

    /// Returns the cached entries from `base` on.
    pub(super) fn entries_from(&self, now_ms: u64, log: LogId, base: Position) -> Vec<Arc<Entry>> {
        self.read_tail(now_ms, log, |run| run.entries_from(base)).unwrap_or_default()
    }

    /// Returns whether the entry at `base` is cached.
    pub(super) fn covers(&self, now_ms: u64, log: LogId, base: Position) -> bool {
        self.read_tail(now_ms, log, |run| run.covers(base)).unwrap_or(false)
    }

    /// Returns the newest cached entry of a log.
    pub(super) fn last(&self, now_ms: u64, log: LogId) -> Option<Arc<Entry>> {
        self.read_tail(now_ms, log, |run| run.last().cloned()).flatten()
    }

    /// Applies `read` to the cached tail of a log; removes the tail if it has expired.
    fn read_tail<T>(&self, now_ms: u64, log: LogId, read: impl Fn(&KnownRun) -> T) -> Option<T> {
        let mut tails = self.lock();
        let tail = tails.get_mut(&log)?;
        if now_ms.saturating_sub(tail.created_ms) > KNOWN_RUN_AGE_MS {
            tails.remove(&log);
            return None;
        }
        tail.used_ms = now_ms;
        Some(read(&tail.run))
    }
}

fn evict_least_recently_used(tails: &mut HashMap<LogId, CachedTail>) {
    let oldest = tails.iter().min_by_key(|(_, tail)| tail.used_ms).map(|(log, _)| *log);
    if let Some(log) = oldest {
        tails.remove(&log);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_base::identity::SubjectKey;

    fn first_entry(number: usize) -> Arc<Entry> {
        let subject = SubjectKey::new("test", "known runs");
        let log = LogId::derive(&subject, &number.to_string()).unwrap();
        Arc::new(Entry::first(log, None, 0))
    }

    #[test]
    fn a_tail_expires_at_its_age() {
        let (cache, entry) = (TailCache::default(), first_entry(0));
        cache.add(1_000, &[Arc::clone(&entry)]);
        let at = 1_000 + KNOWN_RUN_AGE_MS;
        assert_eq!(cache.last(at, entry.log), Some(Arc::clone(&entry)));
        cache.add(at, &[Arc::clone(&entry)]);
        assert_eq!(cache.last(at + 1, entry.log), None, "use does not extend the lifetime");
        assert!(cache.lock().is_empty());
    }

    #[test]
    fn evicts_the_least_recently_used_log() {
        let cache = TailCache::default();
        for number in 0..MAX_KNOWN_LOGS {
            cache.add(number as u64, &[first_entry(number)]);
        }
        assert!(cache.last(100, first_entry(0).log).is_some());
        cache.add(101, &[first_entry(MAX_KNOWN_LOGS)]);
        assert_eq!(cache.lock().len(), MAX_KNOWN_LOGS);
        assert!(cache.last(102, first_entry(0).log).is_some());
        assert!(cache.last(102, first_entry(1).log).is_none());
    }
}
