//! The catalog, which stores each spreadsheet's name, status, members and share links in an event
//! stream.

mod listing_cache;
mod lists;
mod refusal_cache;
#[cfg(test)]
pub(crate) mod tests;

pub use lists::CatalogLists;

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_catalog::access::{Access, Need, Principal};
use cellar_catalog::feed::Span;
use cellar_catalog::stream::{Dated, StreamName, Tip, WriterId, newest_first};
use cellar_catalog::{
    spreadsheet::By, spreadsheet::CATALOG_SPLIT_POLICY, spreadsheet::Catalog,
    spreadsheet::CatalogAction, spreadsheet::CatalogEvent, spreadsheet::Command,
    spreadsheet::Listing, spreadsheet::Rejection, spreadsheet::Right, spreadsheet::stream_of,
};

use crate::ports::{Clock, PortError, Random, ReadConsistency, Streams};
use crate::streams::{CachedTip, Events, StreamError, StreamStore, TransactError, Transacted};

use listing_cache::{CachedListing, ListingCache};
use refusal_cache::RefusalCache;

/// The catalog of a stack. Caches spreadsheet listings and access denials.
#[derive(Clone)]
pub struct CatalogStore {
    streams: StreamStore,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    listings: Arc<ListingCache>,
    refusals: Arc<RefusalCache>,
}

/// Result of a catalog change.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// Listing after the change.
    pub listing: Option<Arc<Listing>>,
    /// Events that were appended. Empty if an earlier request already made the same change.
    pub events: Vec<CatalogEvent>,
}

/// Error of the catalog.
pub type CatalogError = TransactError<Rejection>;

impl CatalogStore {
    /// Creates a catalog that stores each spreadsheet's events in an event stream of `streams`.
    #[must_use]
    pub fn new(streams: Arc<dyn Streams>, clock: Arc<dyn Clock>, random: Arc<dyn Random>) -> Self {
        let store = StreamStore::new(streams, Arc::clone(&clock), Arc::clone(&random));
        Self {
            streams: store.with_split_policy(CATALOG_SPLIT_POLICY),
            clock,
            random,
            listings: Arc::default(),
            refusals: Arc::default(),
        }
    }

    /// Checks whether a principal has the access to a spreadsheet that `need` requires.
    ///
    /// Access may be granted based on a listing that was cached up to `LISTING_AGE_MS` ago. Access
    /// may be denied only based on a listing that was cached up to `LISTING_REFUSAL_AGE_MS` ago, so
    /// that new members gain access quickly.
    ///
    /// # Errors
    ///
    /// Returns [`StreamError`] if the listing cannot be read.
    pub async fn access(
        &self,
        principal: &Principal,
        log_id: LogId,
        need: Need,
    ) -> Result<Access, StreamError> {
        let now_s = self.clock.now_ms() / 1_000;
        let access_by = |listing: Option<&Listing>| principal.access(log_id, listing, need, now_s);
        let is_allowed = |listing: Option<&Listing>| access_by(listing) == Access::Allowed;
        let listing = self.cached_or_read(principal, log_id, is_allowed).await?;
        Ok(access_by(listing.as_deref()))
    }

    /// Returns a spreadsheet's listing, which may be cached. The listing is at most
    /// `LISTING_AGE_MS` old if the principal has a role in it, and at most `LISTING_REFUSAL_AGE_MS`
    /// old otherwise.
    ///
    /// # Errors
    ///
    /// Returns [`StreamError`] if the listing cannot be read.
    pub async fn listing(
        &self,
        principal: &Principal,
        log_id: LogId,
    ) -> Result<Option<Arc<Listing>>, StreamError> {
        let now_s = self.clock.now_ms() / 1_000;
        let by = principal.by(log_id);
        let has_role = |listing: Option<&Listing>| {
            by.as_ref().is_some_and(|by| by.role(listing, now_s).is_some())
        };
        self.cached_or_read(principal, log_id, has_role).await
    }

    /// A listing that was cached for one subject is never used to deny access to another subject,
    /// since the fast response would reveal that the spreadsheet exists.
    async fn cached_or_read(
        &self,
        principal: &Principal,
        log_id: LogId,
        is_allowed: impl Fn(Option<&Listing>) -> bool,
    ) -> Result<Option<Arc<Listing>>, StreamError> {
        let Some(right) = principal.right(log_id) else { return Ok(None) };
        let now_ms = self.clock.now_ms();
        let cached_listing = self.listings.get(log_id, now_ms);
        if let Some(cached) = &cached_listing
            && is_allowed(cached.listing.as_deref())
        {
            return Ok(cached.listing.clone());
        }
        let refusal_key = (principal.subject, log_id);
        if let Some(refusal) = self.refusals.get(refusal_key, now_ms) {
            let listing = match cached_listing {
                Some(cached) if cached.read_ms >= refusal.read_ms => cached.listing,
                _ => refusal.listing,
            };
            if !is_allowed(listing.as_deref()) {
                return Ok(listing);
            }
        }
        let CachedListing { listing, read_ms, .. } = self.read_and_cache(log_id, right).await?;
        if !is_allowed(listing.as_deref()) {
            self.refusals.insert(refusal_key, listing.clone(), read_ms);
        }
        Ok(listing)
    }

    /// Reads a spreadsheet's listing. `right` states whether the caller's token grants the role.
    ///
    /// # Errors
    ///
    /// Returns [`StreamError`] if the listing cannot be read.
    pub async fn read_listing(
        &self,
        log_id: LogId,
        right: Right,
    ) -> Result<Option<Arc<Listing>>, StreamError> {
        Ok(self.read_and_cache(log_id, right).await?.listing)
    }

    /// Changes a spreadsheet's listing. Idempotent. If `seen` is set, it must equal the number of
    /// changes in the listing. Otherwise, the change is rejected, unless it was already made.
    ///
    /// # Errors
    ///
    /// Returns [`CatalogError::Rejected`] if the rules reject the change, and
    /// [`CatalogError::Stream`] if the event stream fails.
    pub async fn change(
        &self,
        log_id: LogId,
        by: By,
        action: CatalogAction,
        seen: Option<u64>,
    ) -> Result<Changed, CatalogError> {
        let stream = catalog_stream(log_id)?;
        let now_ms = self.clock.now_ms();
        let cached_tip = match self.listings.get(log_id, now_ms) {
            Some(cached_listing) => CachedTip::Tip(cached_listing.tip),
            // A new spreadsheet usually has no event stream yet, so do not read the stream first.
            None if matches!(action, CatalogAction::Create { .. }) => CachedTip::Tip(None),
            None => CachedTip::Unknown,
        };
        let command = Command { by, action, now_s: now_ms / 1_000, seen };
        let writer = self.new_writer();
        let transacted =
            self.streams.transact(&Catalog, &stream, &command, writer, cached_tip).await;
        let Transacted { state, events, next, tip } = transacted?;
        let listing = state.map(Arc::new);
        // If the latest stream item contains events that the listing does not include, do not cache
        // the listing.
        if let Some(tip) = tip
            && tip.next == next
        {
            self.cache_listing(log_id, listing.clone(), Some(tip));
        }
        Ok(Changed { listing, events })
    }

    /// Returns a page of a spreadsheet's catalog events, newest first. The page contains the events
    /// of one stream item whose indexes are less than `below`.
    ///
    /// # Errors
    ///
    /// Returns [`StreamError`] if the events cannot be read.
    pub async fn changes(
        &self,
        log_id: LogId,
        below: Option<u64>,
    ) -> Result<Events<CatalogEvent>, StreamError> {
        self.streams.events_back(&Catalog, &catalog_stream(log_id)?, below).await
    }

    /// Returns the catalog events in `span`, oldest first.
    ///
    /// # Errors
    ///
    /// Returns [`StreamError`] if the events cannot be read.
    pub async fn events_of_span(
        &self,
        span: &Span,
    ) -> Result<Vec<Dated<CatalogEvent>>, StreamError> {
        let stored = self
            .streams
            .stored_events(&span.stream, span.first..span.next(), ReadConsistency::Eventual)
            .await?;
        let mut events = newest_first(&Catalog, span.first, &stored.unwrap_or_default())?;
        events.reverse();
        Ok(events)
    }

    /// Caches that a spreadsheet does not exist only if the caller's token itself grants the role
    /// ([`Right::Token`]). Otherwise, any caller could fill the cache with made-up ids.
    async fn read_and_cache(
        &self,
        log_id: LogId,
        right: Right,
    ) -> Result<CachedListing, StreamError> {
        let loaded = self
            .streams
            .load(&Catalog, &catalog_stream(log_id)?, ReadConsistency::Eventual)
            .await?;
        let listing = loaded.state.map(Arc::new);
        if listing.is_some() || matches!(right, Right::Token(_)) {
            return Ok(self.cache_listing(log_id, listing, loaded.tip));
        }
        Ok(CachedListing { listing, tip: loaded.tip, read_ms: self.clock.now_ms() })
    }

    fn cache_listing(
        &self,
        log_id: LogId,
        listing: Option<Arc<Listing>>,
        tip: Option<Arc<Tip>>,
    ) -> CachedListing {
        let cached = CachedListing { listing, tip, read_ms: self.clock.now_ms() };
        self.listings.insert(log_id, cached.clone());
        cached
    }

    fn new_writer(&self) -> WriterId {
        let random_half = || u128::from(self.random.next());
        WriterId(((random_half() << u64::BITS) | random_half()).to_le_bytes())
    }
}

fn catalog_stream(log_id: LogId) -> Result<StreamName, StreamError> {
    stream_of(log_id).map_err(|fault| StreamError::Store(PortError::permanent(fault.to_string())))
}
