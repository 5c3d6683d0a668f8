//! People's lists of spreadsheets, as what follows from the events of spreadsheets' streams.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_base::limits::LIST_PUTS_AT_ONCE;
use cellar_catalog::feed::Span;
use cellar_catalog::stream::{Decider, StreamName};
use cellar_catalog::{
    spreadsheet::CATEGORY, spreadsheet::Catalog, spreadsheet::CatalogEvent, spreadsheet::Listing,
    spreadsheet::Person,
};
use futures_util::stream::{self, StreamExt, TryStreamExt};

use crate::feed::Reactions;
use crate::ports::{Clock, Lists, PortError, Random, Streams};
use crate::streams::{StreamError, StreamStore};

/// Keeps people's lists. What a list says is made of the whole listing as it is when that is read, and
/// carries how many events it is made of: it may be done twice, late, or in another order.
#[derive(Clone)]
pub struct CatalogLists {
    streams: StreamStore,
    lists: Arc<dyn Lists>,
}

impl CatalogLists {
    /// Lists that are made of these streams.
    #[must_use]
    pub fn new(
        streams: Arc<dyn Streams>,
        lists: Arc<dyn Lists>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Self {
        Self { streams: StreamStore::new(streams, clock, random), lists }
    }

    /// Brings the lists up to date with a spreadsheet's events from an index on.
    async fn follow(&self, name: &StreamName, from: u64) -> Result<(), StreamError> {
        // Streams of this category whose id is none were not written by Cellar.
        let Ok(log) = name.id().parse::<LogId>() else { return Ok(()) };
        let loaded = self.streams.load(&Catalog, name, true).await?;
        let (Some(listing), Some(tip)) = (loaded.state, loaded.tip) else { return Ok(()) };
        let Some(events) = self.streams.events_of(&tip, from, loaded.next, true).await? else {
            return Ok(());
        };
        let events = events.iter().map(|event| {
            let data = event.data.unpack().map_err(|fault| unreadable(name, &fault.to_string()))?;
            Catalog.decode(&event.kind, &data).map_err(|_| unreadable(name, event.kind.as_str()))
        });
        let events: Vec<CatalogEvent> = events.collect::<Result<_, StreamError>>()?;
        self.put(log, loaded.next, &listing, listing.affected_persons(&events)).await?;
        Ok(())
    }

    async fn put(
        &self,
        log: LogId,
        version: u64,
        listing: &Listing,
        people: impl IntoIterator<Item = Person>,
    ) -> Result<(), PortError> {
        let puts = people.into_iter().map(|person| async move {
            let entry = listing.list_entry(log, version, &person);
            self.lists.put_listed(&person, &entry).await
        });
        stream::iter(puts).buffer_unordered(LIST_PUTS_AT_ONCE).try_collect().await
    }
}

fn unreadable(name: &StreamName, what: &str) -> StreamError {
    let message = format!("an event of `{name}` cannot be read: {what}");
    StreamError::Store(PortError::permanent(message))
}

#[async_trait]
impl Reactions for CatalogLists {
    async fn react(&self, spans: &[Span]) -> Result<(), PortError> {
        let mut changed: BTreeMap<&StreamName, u64> = BTreeMap::new();
        for span in spans.iter().filter(|span| span.stream.category() == CATEGORY) {
            let first = changed.entry(&span.stream).or_insert(span.first);
            *first = span.first.min(*first);
        }
        for (name, from) in changed {
            self.follow(name, from).await.map_err(|error| match error {
                StreamError::Store(error) => error,
                error => PortError::permanent(error.to_string()),
            })?;
        }
        Ok(())
    }
}
