//! Updates users' spreadsheet lists from catalog events.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_base::limits::LIST_PUTS_AT_ONCE;
use cellar_catalog::feed::Span;
use cellar_catalog::stream::{Decider, StreamEvent, StreamName};
use cellar_catalog::{
    spreadsheet::CATEGORY, spreadsheet::Catalog, spreadsheet::CatalogEvent, spreadsheet::Listing,
    spreadsheet::Person,
};
use futures_util::stream::{self, StreamExt, TryStreamExt};

use crate::feed::Reactions;
use crate::ports::{Clock, Lists, PortError, Random, ReadConsistency, Streams};
use crate::streams::{StreamError, StreamStore};

/// Updates users' spreadsheet lists when the catalog changes. A list entry is computed from the
/// complete listing and stores the number of events in the listing. An update that contains fewer
/// events than the stored entry has no effect. Updates may therefore be repeated, delayed or
/// reordered.
#[derive(Clone)]
pub struct CatalogLists {
    streams: StreamStore,
    lists: Arc<dyn Lists>,
}

impl CatalogLists {
    /// Creates an updater that reads the catalog from `streams` and writes the spreadsheet lists to
    /// `lists`.
    #[must_use]
    pub fn new(
        streams: Arc<dyn Streams>,
        lists: Arc<dyn Lists>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Self {
        Self { streams: StreamStore::new(streams, clock, random), lists }
    }

    async fn update_lists(&self, stream: &StreamName, first_index: u64) -> Result<(), StreamError> {
        // Skip streams that are not named after a log id, since they do not belong to a
        // spreadsheet.
        let Ok(log_id) = stream.id().parse::<LogId>() else { return Ok(()) };
        let loaded = self.streams.load(&Catalog, stream, ReadConsistency::Strong).await?;
        let (Some(listing), Some(tip)) = (loaded.state, loaded.tip) else { return Ok(()) };
        let version = loaded.next;
        let events =
            self.streams.events_of(&tip, first_index..version, ReadConsistency::Strong).await?;
        let Some(events) = events else { return Ok(()) };
        let mut changes = Vec::with_capacity(events.len());
        for event in &events {
            changes.push(decode_event(stream, event)?);
        }
        self.put_list_entries(log_id, version, &listing, listing.affected_persons(&changes))
            .await?;
        Ok(())
    }

    async fn put_list_entries(
        &self,
        log_id: LogId,
        version: u64,
        listing: &Listing,
        affected_persons: impl IntoIterator<Item = Person>,
    ) -> Result<(), PortError> {
        let puts = affected_persons.into_iter().map(|person| async move {
            let entry = listing.list_entry(log_id, version, &person);
            self.lists.put_listed(&person, &entry).await
        });
        stream::iter(puts).buffer_unordered(LIST_PUTS_AT_ONCE).try_collect().await
    }
}

fn decode_event(stream: &StreamName, event: &StreamEvent) -> Result<CatalogEvent, StreamError> {
    let data = event.data.unpack().map_err(|fault| unreadable_event(stream, &fault.to_string()))?;
    let decoded = Catalog.decode(&event.kind, &data);
    decoded.map_err(|_| unreadable_event(stream, event.kind.as_str()))
}

fn unreadable_event(stream: &StreamName, cause: &str) -> StreamError {
    let message = format!("cannot read an event of the stream `{stream}`: {cause}");
    StreamError::Store(PortError::permanent(message))
}

#[async_trait]
impl Reactions for CatalogLists {
    async fn react(&self, spans: &[Span]) -> Result<(), PortError> {
        let mut first_indexes: BTreeMap<&StreamName, u64> = BTreeMap::new();
        for span in spans.iter().filter(|span| span.stream.category() == CATEGORY) {
            let first_index = first_indexes.entry(&span.stream).or_insert(span.first);
            *first_index = span.first.min(*first_index);
        }
        for (stream, first_index) in first_indexes {
            self.update_lists(stream, first_index).await.map_err(|error| match error {
                StreamError::Store(error) => error,
                error => PortError::permanent(error.to_string()),
            })?;
        }
        Ok(())
    }
}
