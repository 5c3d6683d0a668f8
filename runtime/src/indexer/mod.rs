//! Lambda handler of the indexer, which writes the feed. Receives change stream batches of the
//! EventStream table and, if the feed includes log appends, of the Entry table.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use aws_lambda_events::event::dynamodb::{Event, EventRecord};
use aws_lambda_events::event::streams::DynamoDbEventResponse;
use aws_sdk_dynamodb::Client;
use cellar_base::record::RecordError;
use cellar_base::table_attributes::{
    APPENDED, KINDS, NEXT_INDEX, PARTITION_KEY, SORT_KEY, STREAM, STREAM_INDEX, TYPE,
};
use cellar_catalog::feed::{self, Span};
use cellar_engine::catalog::CatalogLists;
use cellar_engine::feed::{IndexError, Indexer};
use cellar_engine::meter::Meter;
use cellar_engine::ports::{Clock, FeedTable, Lists, Random, Streams};
use cellar_engine::system::{SystemClock, SystemRandom};
use cellar_snapshot::relay::INSERT;

use crate::dynamodb::{DynamoFeed, DynamoStreams, DynamoTables};
use crate::settings::IndexerSettings;
use crate::table_stream::{self, FirstRecordFailed, take_new_image, take_sequence_number};

/// Attributes that the indexer reads from a change record. In the record of a tip (item with the
/// newest events of a stream), they identify the events that the write appended. In the record of a
/// log entry, they are the entry's position and type. Payloads are not read.
const ATTRIBUTES: [&str; 8] =
    [STREAM, STREAM_INDEX, NEXT_INDEX, APPENDED, KINDS, PARTITION_KEY, SORT_KEY, TYPE];

/// Reasons for which Lambda must deliver the batch again, either whole or split.
#[derive(Debug, thiserror::Error)]
pub enum IndexerFailure {
    /// The first of several records in the batch is malformed, so Lambda must split the batch.
    #[error(transparent)]
    Record(#[from] FirstRecordFailed),
    /// Some records in the batch were not indexed.
    #[error(transparent)]
    Index(#[from] IndexError),
}

/// Handles change stream batches of the EventStream and Entry tables.
#[derive(Clone)]
pub struct IndexerHandler {
    indexer: Indexer,
}

/// The ports of an indexer.
pub struct IndexerPorts {
    /// The Feed table.
    pub index: Arc<dyn FeedTable>,
    /// The spreadsheet lists, which are stored in the Feed table.
    pub lists: Arc<dyn Lists>,
    /// The EventStream table.
    pub streams: Arc<dyn Streams>,
    pub clock: Arc<dyn Clock>,
    /// Random numbers for jitter and the feed id.
    pub random: Arc<dyn Random>,
}

impl IndexerPorts {
    /// Builds an indexer that also updates the spreadsheet lists. `tables_incarnation` is the
    /// number of table restores.
    #[must_use]
    pub fn build(self, tables_incarnation: u32) -> Indexer {
        let catalog_lists = CatalogLists::new(
            Arc::clone(&self.streams),
            self.lists,
            Arc::clone(&self.clock),
            Arc::clone(&self.random),
        );
        let clock_and_random = (self.clock, self.random);
        Indexer::new(
            self.index,
            self.streams,
            Arc::new(catalog_lists),
            clock_and_random,
            tables_incarnation,
        )
    }
}

/// Builds the indexer over the tables of `settings`.
#[must_use]
pub fn build_indexer(settings: &IndexerSettings, client: Client, meter: Arc<Meter>) -> Indexer {
    let stream_table =
        DynamoStreams::named(&settings.event_stream_table, client.clone(), Arc::clone(&meter));
    let feed_table =
        Arc::new(DynamoFeed::named(&settings.feed_table, client.clone(), Arc::clone(&meter)));
    let ports = IndexerPorts {
        index: Arc::clone(&feed_table) as _,
        lists: feed_table,
        streams: Arc::new(stream_table),
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
    };
    let indexer = ports.build(settings.incarnation);
    match &settings.entry_table {
        Some(entry_table) => {
            // The indexer never uses the Segment table.
            let unused_segment_table = "";
            let tables = DynamoTables::named(entry_table, unused_segment_table, client, meter);
            indexer.with_entries(Arc::new(tables))
        }
        None => indexer,
    }
}

impl IndexerHandler {
    #[must_use]
    pub fn new(indexer: Indexer) -> Self {
        Self { indexer }
    }

    /// Handles one batch. Malformed records are reported, and all other records are indexed. The
    /// events of a malformed record reach the feed when the stream's next event is indexed, or
    /// through `synth feed repair`.
    ///
    /// # Errors
    ///
    /// Returns an [`IndexerFailure`] if Lambda must deliver the batch again, either whole or split.
    pub async fn handle(&self, event: Event) -> Result<DynamoDbEventResponse, IndexerFailure> {
        let record_count = event.records.len();
        let mut first_number = None;
        let mut failed_number = None;
        let mut spans = Vec::new();
        for mut record in event.records {
            let sequence_number = take_sequence_number(&mut record);
            match read_appended_span(&mut record) {
                Ok(Some(span)) => spans.push(span),
                Ok(None) => {}
                Err(error) => {
                    tracing::error!(sequence_number, %error, "cannot read a record");
                    failed_number.get_or_insert_with(|| sequence_number.clone());
                }
            }
            first_number.get_or_insert(sequence_number);
        }
        let indexed = match self.indexer.index(spans).await {
            Ok(indexed) => indexed,
            Err(error) => {
                tracing::error!(records = record_count, %error, "a batch was not indexed");
                return Err(error.into());
            }
        };
        tracing::info!(
            records = record_count,
            indexed.items,
            indexed.events,
            indexed.found,
            "indexed a batch"
        );
        Ok(table_stream::batch_response(record_count, first_number.as_ref(), failed_number)?)
    }
}

/// Returns the events that a change appended. Returns `None` for a modified entry and for an event
/// batch, which contains only events that were moved from the stream's tip.
fn read_appended_span(record: &mut EventRecord) -> Result<Option<Span>, RecordError> {
    let image = take_new_image(record, &ATTRIBUTES);
    let is_entry = image.contains_key(PARTITION_KEY);
    if is_entry && record.event_name == INSERT {
        return feed::entry_span(&image).map(Some);
    }
    if !is_entry && feed::is_append(&image) {
        return feed::appended_span(&image).map(Some);
    }
    Ok(None)
}
