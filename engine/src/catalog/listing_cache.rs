//! Cache of listings.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cellar_base::identity::LogId;
use cellar_base::limits::{LISTING_AGE_MS, MAX_CACHED_LISTINGS};
use cellar_catalog::spreadsheet::Listing;
use cellar_catalog::stream::Tip;

use crate::eviction::evict_oldest;

#[derive(Debug, Clone)]
pub(super) struct CachedListing {
    /// `None` if the spreadsheet is not in the catalog.
    pub(super) listing: Option<Arc<Listing>>,
    /// Latest item of the event stream when the listing was rebuilt. `None` if the stream did not
    /// exist.
    pub(super) tip: Option<Arc<Tip>>,
    /// Time at which the listing was read or written, in milliseconds since the Unix epoch.
    pub(super) read_ms: u64,
}

impl CachedListing {
    fn event_count(&self) -> u64 {
        self.tip.as_ref().map_or(0, |tip| tip.next)
    }
}

/// Caches up to `MAX_CACHED_LISTINGS` spreadsheet listings, each for `LISTING_AGE_MS`. If the cache
/// is full, the oldest listing is evicted.
#[derive(Debug, Default)]
pub(super) struct ListingCache {
    listings: Mutex<HashMap<LogId, CachedListing>>,
}

impl ListingCache {
    fn lock(&self) -> MutexGuard<'_, HashMap<LogId, CachedListing>> {
        self.listings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, log_id: LogId, now_ms: u64) -> Option<CachedListing> {
        let mut listings = self.lock();
        let cached = listings.get(&log_id)?;
        if is_old(cached, now_ms) {
            listings.remove(&log_id);
            return None;
        }
        Some(cached.clone())
    }

    /// Caches a listing, unless a newer version of the listing is already cached.
    pub(super) fn insert(&self, log_id: LogId, new_listing: CachedListing) {
        let mut listings = self.lock();
        let cached_listing = listings.get(&log_id);
        let is_newer_cached = cached_listing.is_some_and(|cached| {
            cached.event_count() > new_listing.event_count() && !is_old(cached, new_listing.read_ms)
        });
        if is_newer_cached {
            return;
        }
        if cached_listing.is_none() && listings.len() >= MAX_CACHED_LISTINGS {
            evict_oldest(&mut listings, |cached| cached.read_ms);
        }
        listings.insert(log_id, new_listing);
    }
}

fn is_old(cached: &CachedListing, now_ms: u64) -> bool {
    now_ms.saturating_sub(cached.read_ms) > LISTING_AGE_MS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(number: usize) -> LogId {
        LogId::from_uuid(uuid::Uuid::from_u128(number as u128))
    }

    #[test]
    fn evicts_the_oldest_listing() {
        let cache = ListingCache::default();
        let new = |read_ms| CachedListing { listing: None, tip: None, read_ms };
        for number in 0..MAX_CACHED_LISTINGS {
            cache.insert(log(number), new(number as u64));
        }
        assert!(cache.get(log(0), 1).is_some());
        cache.insert(log(1), new(2_000));
        cache.insert(log(MAX_CACHED_LISTINGS), new(2_000));
        assert_eq!(cache.lock().len(), MAX_CACHED_LISTINGS);
        assert!(cache.get(log(0), 2_000).is_none());
        assert!(cache.get(log(1), 2_000).is_some());
    }
}
