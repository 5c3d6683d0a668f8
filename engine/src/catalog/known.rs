//! The listings that this process knows.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cellar_base::identity::LogId;
use cellar_base::limits::{LISTING_AGE_MS, MAX_CACHED_LISTINGS};
use cellar_catalog::spreadsheet::Listing;
use cellar_catalog::stream::Tip;

/// What the catalog said of a spreadsheet.
#[derive(Debug, Clone)]
pub(super) struct KnownListing {
    /// What it said; `None` if nothing.
    pub(super) listing: Option<Arc<Listing>>,
    /// The tip that says so.
    pub(super) tip: Option<Arc<Tip>>,
    /// When it was read or written, Unix milliseconds.
    pub(super) read_ms: u64,
}

/// At most `MAX_CACHED_LISTINGS`, each for `LISTING_AGE_MS`; the one that was read first makes room.
#[derive(Debug, Default)]
pub(super) struct KnownListings {
    listings: Mutex<HashMap<LogId, KnownListing>>,
}

impl KnownListings {
    fn lock(&self) -> MutexGuard<'_, HashMap<LogId, KnownListing>> {
        self.listings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of a spreadsheet, if it is not too old.
    pub(super) fn get(&self, log: LogId, now_ms: u64) -> Option<KnownListing> {
        let mut listings = self.lock();
        let known = listings.get(&log)?;
        if is_old(known, now_ms) {
            listings.remove(&log);
            return None;
        }
        Some(known.clone())
    }

    /// Learns what was read or written. A read that was overtaken by a later write says nothing new.
    pub(super) fn learn(&self, log: LogId, new: KnownListing) {
        let next = |known: &KnownListing| known.tip.as_ref().map_or(0, |tip| tip.next);
        let mut listings = self.lock();
        match listings.get(&log) {
            Some(known) if next(known) > next(&new) && !is_old(known, new.read_ms) => return,
            Some(_) => {}
            None if listings.len() >= MAX_CACHED_LISTINGS => forget_first(&mut listings),
            None => {}
        }
        listings.insert(log, new);
    }
}

fn is_old(known: &KnownListing, now_ms: u64) -> bool {
    now_ms.saturating_sub(known.read_ms) > LISTING_AGE_MS
}

fn forget_first(listings: &mut HashMap<LogId, KnownListing>) {
    let first = listings.iter().min_by_key(|(_, known)| known.read_ms).map(|(log, _)| *log);
    if let Some(log) = first {
        listings.remove(&log);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(number: usize) -> LogId {
        LogId::from_uuid(uuid::Uuid::from_u128(number as u128))
    }

    #[test]
    fn so_many_listings_are_known_and_no_more() {
        let known = KnownListings::default();
        let new = |read_ms| KnownListing { listing: None, tip: None, read_ms };
        for number in 0..MAX_CACHED_LISTINGS {
            known.learn(log(number), new(number as u64));
        }
        assert!(known.get(log(0), 1).is_some());
        known.learn(log(1), new(2_000));
        known.learn(log(MAX_CACHED_LISTINGS), new(2_000));
        assert_eq!(known.lock().len(), MAX_CACHED_LISTINGS);
        assert!(known.get(log(0), 2_000).is_none());
        assert!(known.get(log(1), 2_000).is_some());
    }
}
