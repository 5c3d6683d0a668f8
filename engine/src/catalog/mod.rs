//! The catalog: who may do what with which spreadsheet, over the EventStream table.

mod known;
mod lists;
mod refused;
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

use crate::ports::{Clock, PortError, Random, Streams};
use crate::streams::{Events, Known, StreamError, StreamStore, TransactError, Transacted};

use known::{KnownListing, KnownListings};
use refused::Refusals;

/// The catalog of one stack.
#[derive(Clone)]
pub struct CatalogStore {
    streams: StreamStore,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    known: Arc<KnownListings>,
    refused: Arc<Refusals>,
}

/// A change of the catalog that is done.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// What the catalog says now.
    pub listing: Option<Arc<Listing>>,
    /// What was done; nothing if it was done before.
    pub events: Vec<CatalogEvent>,
}

/// Why the catalog was not changed, or says nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// The rules refuse it.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The stream failed.
    #[error(transparent)]
    Stream(#[from] StreamError),
}

impl CatalogStore {
    /// The catalog in these streams.
    #[must_use]
    pub fn new(streams: Arc<dyn Streams>, clock: Arc<dyn Clock>, random: Arc<dyn Random>) -> Self {
        let store = StreamStore::new(streams, Arc::clone(&clock), Arc::clone(&random));
        Self {
            streams: store.with_split_policy(CATALOG_SPLIT_POLICY),
            clock,
            random,
            known: Arc::default(),
            refused: Arc::default(),
        }
    }

    /// Decides whether somebody may do that with a spreadsheet. What the catalog said in the last
    /// `LISTING_AGE_MS` is believed without a read; a refusal only for `LISTING_REFUSAL_AGE_MS`, so that
    /// whoever was just let in does not have to wait.
    ///
    /// # Errors
    /// [`StreamError`] if what the catalog says cannot be read.
    pub async fn access(
        &self,
        principal: &Principal,
        log: LogId,
        need: Need,
    ) -> Result<Access, StreamError> {
        let now_s = self.clock.now_ms() / 1_000;
        let decide = |listing: Option<&Listing>| principal.access(log, listing, need, now_s);
        let allows = |listing: Option<&Listing>| decide(listing) == Access::Allowed;
        let listing = self.believed(principal, log, allows).await?;
        Ok(decide(listing.as_deref()))
    }

    /// The listing of a spreadsheet, at most `LISTING_AGE_MS` old for a principal with a role on it, and at
    /// most `LISTING_REFUSAL_AGE_MS` old for any other.
    ///
    /// # Errors
    /// [`StreamError`] if it cannot be read.
    pub async fn listing(
        &self,
        principal: &Principal,
        log: LogId,
    ) -> Result<Option<Arc<Listing>>, StreamError> {
        let now_s = self.clock.now_ms() / 1_000;
        let by = principal.by(log);
        let has_role = |listing: Option<&Listing>| {
            by.as_ref().is_some_and(|by| by.role(listing, now_s).is_some())
        };
        self.believed(principal, log, has_role).await
    }

    /// The listing, from memory if it is known and allows the request, or if it has just refused the same
    /// subject; otherwise it is read. The read of another subject never refuses a stranger: the short time
    /// of the answer would show that the spreadsheet exists.
    async fn believed(
        &self,
        principal: &Principal,
        log: LogId,
        allows: impl Fn(Option<&Listing>) -> bool,
    ) -> Result<Option<Arc<Listing>>, StreamError> {
        let Some(right) = principal.right(log) else { return Ok(None) };
        let now_ms = self.clock.now_ms();
        let known = self.known.get(log, now_ms);
        if let Some(known) = &known
            && allows(known.listing.as_deref())
        {
            return Ok(known.listing.clone());
        }
        if let Some(refusal) = self.refused.get((principal.subject, log), now_ms) {
            let newer = known.filter(|known| known.read_ms >= refusal.read_ms);
            let listing = newer.map_or(refusal.listing, |known| known.listing);
            if !allows(listing.as_deref()) {
                return Ok(listing);
            }
        }
        let read = self.read(log, right).await?;
        if !allows(read.listing.as_deref()) {
            self.refused.learn((principal.subject, log), read.listing.clone(), read.read_ms);
        }
        Ok(read.listing)
    }

    /// The listing of a spreadsheet, read now, for a principal with this right.
    ///
    /// # Errors
    /// [`StreamError`] if it cannot be read.
    pub async fn read_listing(
        &self,
        log: LogId,
        right: Right,
    ) -> Result<Option<Arc<Listing>>, StreamError> {
        Ok(self.read(log, right).await?.listing)
    }

    /// Changes what the catalog says of a spreadsheet. It may be repeated: what is done is done. With
    /// `seen`, the number of changes that somebody has seen, it is refused if there are others.
    ///
    /// # Errors
    /// [`CatalogError::Rejected`] by the rules, on what the catalog says now; [`CatalogError::Stream`].
    pub async fn change(
        &self,
        log: LogId,
        by: By,
        action: CatalogAction,
        seen: Option<u64>,
    ) -> Result<Changed, CatalogError> {
        let name = name_of(log)?;
        let now_ms = self.clock.now_ms();
        let known = match self.known.get(log, now_ms) {
            Some(known) => Known::Tip(known.tip),
            // Most that are created are new.
            None if matches!(action, CatalogAction::Create { .. }) => Known::Tip(None),
            None => Known::Nothing,
        };
        let command = Command { by, action, now_s: now_ms / 1_000, seen };
        let transacted =
            self.streams.transact(&Catalog, &name, &command, self.writer(), known).await;
        let Transacted { state, events, next, tip } = transacted.map_err(|error| match error {
            TransactError::Rejected(rejection) => CatalogError::Rejected(rejection),
            TransactError::Stream(error) => error.into(),
        })?;
        // A tip that has later events than the state is not its tip.
        let tip = tip.filter(|tip| tip.next == next);
        let listing = state.map(Arc::new);
        if tip.is_some() {
            self.learn(log, listing.clone(), tip);
        }
        Ok(Changed { listing, events })
    }

    /// What was done to a spreadsheet's listing, from the newest back: one item of its stream, below an
    /// index.
    ///
    /// # Errors
    /// [`StreamError`] if it cannot be read.
    pub async fn changes(
        &self,
        log: LogId,
        below: Option<u64>,
    ) -> Result<Events<CatalogEvent>, StreamError> {
        self.streams.events_back(&Catalog, &name_of(log)?, below).await
    }

    /// What was done to a spreadsheet's listing by the events of a span, which is of its stream.
    ///
    /// # Errors
    /// [`StreamError`] if it cannot be read.
    pub async fn told(&self, span: &Span) -> Result<Vec<Dated<CatalogEvent>>, StreamError> {
        let stored =
            self.streams.stored_events(&span.stream, span.first, span.next(), false).await?;
        let mut events = newest_first(&Catalog, span.first, &stored.unwrap_or_default())?;
        events.reverse();
        Ok(events)
    }

    /// Reads what the catalog says. That it says nothing is kept for those only who may see what is not
    /// in the catalog: strangers cannot fill the memory with ids of nothing.
    async fn read(&self, log: LogId, right: Right) -> Result<KnownListing, StreamError> {
        let loaded = self.streams.load(&Catalog, &name_of(log)?, false).await?;
        let listing = loaded.state.map(Arc::new);
        if listing.is_some() || matches!(right, Right::Token(_)) {
            return Ok(self.learn(log, listing, loaded.tip));
        }
        Ok(KnownListing { listing, tip: loaded.tip, read_ms: self.clock.now_ms() })
    }

    fn learn(
        &self,
        log: LogId,
        listing: Option<Arc<Listing>>,
        tip: Option<Arc<Tip>>,
    ) -> KnownListing {
        let known = KnownListing { listing, tip, read_ms: self.clock.now_ms() };
        self.known.learn(log, known.clone());
        known
    }

    fn writer(&self) -> WriterId {
        let half = || u128::from(self.random.next());
        WriterId(((half() << u64::BITS) | half()).to_le_bytes())
    }
}

fn name_of(log: LogId) -> Result<StreamName, StreamError> {
    stream_of(log).map_err(|fault| StreamError::Store(PortError::permanent(fault.to_string())))
}
