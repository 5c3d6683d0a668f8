//! Lambda handler of the indexer, which writes the feed. The handler receives change stream records
//! of the EventStream table. If the feed includes appends to logs, it also receives those of the
//! Entry table.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use aws_lambda_events::event::dynamodb::{Event, EventRecord};
use aws_sdk_dynamodb::Client;
use cellar_base::record::RecordError;
use cellar_base::table_attributes::{
    APPENDED, KINDS, NEXT_INDEX, PARTITION_KEY, SORT_KEY, STREAM, STREAM_INDEX, TYPE,
};
use cellar_catalog::feed::{self, Span};
use cellar_engine::catalog::CatalogLists;
use cellar_engine::dead_letters::{DeadLetter, send_dead_letters};
use cellar_engine::feed::Indexer;
use cellar_engine::meter::Meter;
use cellar_engine::ports::{Clock, FeedTable, Jobs, Lists, Random, Streams};
use cellar_engine::system::{SystemClock, SystemRandom};
use cellar_snapshot::relay::INSERT;
use lambda_runtime::Error;

use crate::dynamodb::{DynamoFeed, DynamoStreams, DynamoTables};
use crate::settings::IndexerSettings;
use crate::table_stream::{self, take_new_image, take_sequence_number};

/// Attributes that the indexer reads from change stream records. Event payloads and the operations
/// of log entries are not read.
const ATTRIBUTES: [&str; 8] =
    [STREAM, STREAM_INDEX, NEXT_INDEX, APPENDED, KINDS, PARTITION_KEY, SORT_KEY, TYPE];

/// Handles batches of change stream records from the EventStream and Entry tables.
#[derive(Clone)]
pub struct IndexerHandler {
    indexer: Indexer,
    dead_letters: Arc<dyn Jobs>,
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
    /// Source of random numbers for jitter and for the id of a new feed.
    pub random: Arc<dyn Random>,
}

impl IndexerPorts {
    /// Builds an indexer that also updates the spreadsheet lists. `tables_incarnation` is the
    /// number of times that the tables were restored.
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

/// Builds the indexer that uses the tables of `settings`.
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
    /// Creates a handler that sends malformed records to `dead_letters`.
    #[must_use]
    pub fn new(indexer: Indexer, dead_letters: Arc<dyn Jobs>) -> Self {
        Self { indexer, dead_letters }
    }

    /// Indexes the records of a batch. A malformed record is sent to the dead-letter queue. Its
    /// events are added to the feed when the next event of the same stream is indexed, or by
    /// `synth feed repair`.
    ///
    /// # Errors
    ///
    /// Returns an error if records were not indexed, or if a dead letter was not sent. Lambda then
    /// delivers the batch again.
    pub async fn handle(&self, event: Event) -> Result<(), Error> {
        let record_count = event.records.len();
        let stream_arn = table_stream::stream_arn(&event.records);
        let BatchContents { spans, dead_letters } = read_batch(event.records);
        let indexed = self.indexer.index(spans).await.inspect_err(|error| {
            tracing::error!(records = record_count, %error, "a batch was not indexed");
        })?;
        tracing::info!(
            records = record_count,
            indexed.items,
            indexed.events,
            indexed.found,
            "indexed a batch"
        );
        let sent = send_dead_letters(&*self.dead_letters, &stream_arn, &dead_letters).await;
        sent.map_err(|(_, error)| error.into())
    }
}

/// The contents of a batch of change stream records.
#[derive(Default)]
struct BatchContents {
    /// The events that the records appended.
    spans: Vec<Span>,
    dead_letters: Vec<DeadLetter>,
}

fn read_batch(records: Vec<EventRecord>) -> BatchContents {
    let mut batch = BatchContents::default();
    for mut record in records {
        let sequence_number = take_sequence_number(&mut record);
        match read_appended_span(&mut record) {
            Ok(Some(span)) => batch.spans.push(span),
            Ok(None) => {}
            Err(error) => batch.dead_letters.push(DeadLetter::new(sequence_number, &error)),
        }
    }
    batch
}

/// Returns the events that a change appended to a stream or log. Returns `None` for other changes:
/// the modification of a log entry, and the creation of an event batch, whose events were moved
/// from the tip.
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
