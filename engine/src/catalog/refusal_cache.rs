//! Caches denied requests by subject and spreadsheet.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cellar_base::identity::{LogId, SubjectKey};
use cellar_base::limits::{LISTING_REFUSAL_AGE_MS, MAX_CACHED_REFUSALS};
use cellar_catalog::spreadsheet::Listing;

use crate::eviction::evict_oldest;

type RefusalKey = (SubjectKey, LogId);

#[derive(Debug, Clone)]
pub(super) struct CachedRefusal {
    /// `None` if the spreadsheet is not in the catalog.
    pub(super) listing: Option<Arc<Listing>>,
    pub(super) read_ms: u64,
}

/// Caches up to `MAX_CACHED_REFUSALS` access denials, each for `LISTING_REFUSAL_AGE_MS`. If the
/// cache is full, the oldest denial is evicted. Denials are cached whether or not the spreadsheet
/// exists, so that response times do not reveal which spreadsheets exist.
#[derive(Debug, Default)]
pub(super) struct RefusalCache {
    refusals: Mutex<HashMap<RefusalKey, CachedRefusal>>,
}

impl RefusalCache {
    fn lock(&self) -> MutexGuard<'_, HashMap<RefusalKey, CachedRefusal>> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, key: RefusalKey, now_ms: u64) -> Option<CachedRefusal> {
        let refusals = self.lock();
        let refusal = refusals.get(&key)?;
        let is_old = now_ms.saturating_sub(refusal.read_ms) > LISTING_REFUSAL_AGE_MS;
        if is_old { None } else { Some(refusal.clone()) }
    }

    pub(super) fn insert(&self, key: RefusalKey, listing: Option<Arc<Listing>>, read_ms: u64) {
        let mut refusals = self.lock();
        if refusals.len() >= MAX_CACHED_REFUSALS && !refusals.contains_key(&key) {
            evict_oldest(&mut refusals, |refusal| refusal.read_ms);
        }
        refusals.insert(key, CachedRefusal { listing, read_ms });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evicts_the_oldest_refusal() {
        let refusals = RefusalCache::default();
        let log = LogId::from_uuid(uuid::Uuid::nil());
        let key = |number: usize| (SubjectKey::new("cellar", &number.to_string()), log);
        for number in 0..MAX_CACHED_REFUSALS {
            refusals.insert(key(number), None, 1_000 + number as u64);
        }
        assert!(refusals.get(key(0), 1_000).is_some());
        refusals.insert(key(1), None, 5_000);
        refusals.insert(key(MAX_CACHED_REFUSALS), None, 5_000);
        assert_eq!(refusals.lock().len(), MAX_CACHED_REFUSALS);
        assert!(refusals.get(key(0), 1_000).is_none());
        assert!(refusals.get(key(1), 5_000).is_some());
    }
}
