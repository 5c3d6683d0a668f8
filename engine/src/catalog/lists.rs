//! Updates users' spreadsheet lists after catalog events.

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

/// Updates spreadsheet lists. Each list entry is derived from the complete listing and records how
/// many events it includes, so updates may be repeated, delayed or reordered.
#[derive(Clone)]
pub struct CatalogLists {
    streams: StreamStore,
    lists: Arc<dyn Lists>,
}

impl CatalogLists {
    /// Creates an updater that derives `lists` from `streams`.
    #[must_use]
    pub fn new(
        streams: Arc<dyn Streams>,
        lists: Arc<dyn Lists>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Self {
        Self { streams: StreamStore::new(streams, clock, random), lists }
    }

    /// Updates the lists of all users affected by a spreadsheet's events, starting at index `from`.
    async fn update_lists(&self, name: &StreamName, from: u64) -> Result<(), StreamError> {
        // Ignore streams in this category whose id is not a log id: Cellar did not write them.
        let Ok(log) = name.id().parse::<LogId>() else { return Ok(()) };
        let loaded = self.streams.load(&Catalog, name, true).await?;
        let (Some(listing), Some(tip)) = (loaded.state, loaded.tip) else { return Ok(()) };
        let Some(events) = self.streams.events_of(&tip, from, loaded.next, true).await? else {
            return Ok(());
        };
        let changes = events.iter().map(|event| {
            let data = event.data.unpack().map_err(|fault| unreadable(name, &fault.to_string()))?;
            Catalog.decode(&event.kind, &data).map_err(|_| unreadable(name, event.kind.as_str()))
        });
        let changes: Vec<CatalogEvent> = changes.collect::<Result<_, StreamError>>()?;
        self.put_entries(log, loaded.next, &listing, listing.affected_persons(&changes)).await?;
        Ok(())
    }

    async fn put_entries(
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

fn unreadable(name: &StreamName, cause: &str) -> StreamError {
    let message = format!("an event of the stream `{name}` is unreadable: {cause}");
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
            self.update_lists(name, from).await.map_err(|error| match error {
                StreamError::Store(error) => error,
                error => PortError::permanent(error.to_string()),
            })?;
        }
        Ok(())
    }
}
