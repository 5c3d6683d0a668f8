//! The tails that this process knows, one run per log.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cellar_base::identity::LogId;
use cellar_base::limits::{CACHED_TAIL_AGE_MS, MAX_CACHED_TAILS};
use cellar_base::position::Position;
use cellar_log::append::CachedTail;
use cellar_log::entry::Entry;

#[derive(Debug)]
struct Known {
    run: CachedTail,
    born_ms: u64,
    used_ms: u64,
}

/// At most `MAX_CACHED_TAILS` runs; one is forgotten `CACHED_TAIL_AGE_MS` after it began, however much
/// it is used, so that no process goes on for ever on what it once read.
#[derive(Debug, Default)]
pub(super) struct CachedTails {
    runs: Mutex<HashMap<LogId, Known>>,
}

impl CachedTails {
    fn lock(&self) -> MutexGuard<'_, HashMap<LogId, Known>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Learns entries of one log that were read or written.
    pub(super) fn learn(&self, now_ms: u64, entries: &[Arc<Entry>]) {
        let Some(log) = entries.first().map(|entry| entry.log) else { return };
        let mut runs = self.lock();
        if !runs.contains_key(&log) && runs.len() >= MAX_CACHED_TAILS {
            forget_least_recently_used(&mut runs);
        }
        let new = || Known { run: CachedTail::default(), born_ms: now_ms, used_ms: now_ms };
        let known = runs.entry(log).or_insert_with(new);
        known.used_ms = now_ms;
        entries.iter().for_each(|entry| known.run.add(entry));
    }

    /// The entries from `base` on, as far as they are known.
    pub(super) fn entries_from(&self, now_ms: u64, log: LogId, base: Position) -> Vec<Arc<Entry>> {
        self.with(now_ms, log, |run| run.entries_from(base)).unwrap_or_default()
    }

    /// Whether the entry at `base` is known.
    pub(super) fn covers(&self, now_ms: u64, log: LogId, base: Position) -> bool {
        self.with(now_ms, log, |run| run.covers(base)).unwrap_or(false)
    }

    /// The newest entry known.
    pub(super) fn last(&self, now_ms: u64, log: LogId) -> Option<Arc<Entry>> {
        self.with(now_ms, log, |run| run.last().cloned()).flatten()
    }

    fn with<T>(&self, now_ms: u64, log: LogId, read: impl Fn(&CachedTail) -> T) -> Option<T> {
        let mut runs = self.lock();
        let known = runs.get_mut(&log)?;
        if now_ms.saturating_sub(known.born_ms) > CACHED_TAIL_AGE_MS {
            runs.remove(&log);
            return None;
        }
        known.used_ms = now_ms;
        Some(read(&known.run))
    }
}

fn forget_least_recently_used(runs: &mut HashMap<LogId, Known>) {
    let oldest = runs.iter().min_by_key(|(_, known)| known.used_ms).map(|(log, _)| *log);
    if let Some(log) = oldest {
        runs.remove(&log);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_base::identity::SubjectKey;

    fn first(number: usize) -> Arc<Entry> {
        let subject = SubjectKey::new("test", "cached tails");
        let log = LogId::derive(&subject, &number.to_string()).unwrap();
        Arc::new(Entry::first(log, None, 0))
    }

    #[test]
    fn a_tail_expires_at_its_age() {
        let (known, entry) = (CachedTails::default(), first(0));
        known.learn(1_000, &[Arc::clone(&entry)]);
        let at = 1_000 + CACHED_TAIL_AGE_MS;
        assert_eq!(known.last(at, entry.log), Some(Arc::clone(&entry)));
        known.learn(at, &[Arc::clone(&entry)]);
        assert_eq!(known.last(at + 1, entry.log), None, "use does not make it younger");
        assert!(known.lock().is_empty());
    }

    #[test]
    fn the_least_recently_used_log_makes_room() {
        let known = CachedTails::default();
        for number in 0..MAX_CACHED_TAILS {
            known.learn(number as u64, &[first(number)]);
        }
        assert!(known.last(100, first(0).log).is_some());
        known.learn(101, &[first(MAX_CACHED_TAILS)]);
        assert_eq!(known.lock().len(), MAX_CACHED_TAILS);
        assert!(known.last(102, first(0).log).is_some());
        assert!(known.last(102, first(1).log).is_none());
    }
}
