//! The indexer as a Lambda: batches of the EventStream table's stream in, and of the Entry table's if the entries of
//! logs are to be in the feed, too; the index written.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use aws_lambda_events::event::dynamodb::{Event, EventRecord};
use aws_lambda_events::event::streams::DynamoDbEventResponse;
use aws_sdk_dynamodb::Client;
use cellar_base::record::RecordError;
use cellar_base::schema::{
    APPENDED, KINDS, NEXT_INDEX, PARTITION_KEY, SORT_KEY, STREAM, STREAM_INDEX, TYPE,
};
use cellar_catalog::feed::{self, Span};
use cellar_engine::catalog::CatalogLists;
use cellar_engine::feed::{IndexError, Indexer};
use cellar_engine::meter::Meter;
use cellar_engine::ports::{Clock, Index, Lists, Random, Streams};
use cellar_engine::system::{SystemClock, SystemRandom};
use cellar_snapshot::relay::INSERT;

use crate::dynamodb::{DynamoFeed, DynamoStreams, DynamoTables};
use crate::settings::IndexerSettings;
use crate::table_stream::{self, FirstFailed, image, sequence_number};

/// What is read of a tip: which events the write appended; and of an entry: where it is, and its kind. Not what
/// they say.
const ATTRIBUTES: [&str; 8] =
    [STREAM, STREAM_INDEX, NEXT_INDEX, APPENDED, KINDS, PARTITION_KEY, SORT_KEY, TYPE];

/// Why a batch has to be delivered again, or split.
#[derive(Debug, thiserror::Error)]
pub enum IndexerFailure {
    /// The first of several records cannot be read.
    #[error(transparent)]
    Record(#[from] FirstFailed),
    /// The batch was not indexed, or not all of it.
    #[error(transparent)]
    Index(#[from] IndexError),
}

/// Handles batches of the EventStream table's stream.
#[derive(Clone)]
pub struct IndexerHandler {
    indexer: Indexer,
}

/// What a handler works on.
pub struct IndexerPorts {
    /// The index.
    pub index: Arc<dyn Index>,
    /// People's lists of spreadsheets.
    pub lists: Arc<dyn Lists>,
    /// The streams themselves.
    pub streams: Arc<dyn Streams>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Jitter, and the id of the feed.
    pub random: Arc<dyn Random>,
}

impl IndexerPorts {
    /// The indexer over them, in tables of this incarnation: people's lists follow from what is indexed.
    #[must_use]
    pub fn indexer(self, tables_incarnation: u32) -> Indexer {
        let Self { index, lists, streams, clock, random } = self;
        let lists =
            CatalogLists::new(Arc::clone(&streams), lists, Arc::clone(&clock), Arc::clone(&random));
        Indexer::new(index, streams, Arc::new(lists), (clock, random), tables_incarnation)
    }
}

/// The indexer over the tables that the settings name.
#[must_use]
pub fn over_dynamodb(settings: &IndexerSettings, client: Client, meter: Arc<Meter>) -> Indexer {
    let streams =
        DynamoStreams::named(&settings.event_stream_table, client.clone(), Arc::clone(&meter));
    let entries = settings.entry_table.as_ref().map(|entries| {
        // Only entries are read.
        DynamoTables::named(entries, "", client.clone(), Arc::clone(&meter))
    });
    let index = Arc::new(DynamoFeed::named(&settings.feed_table, client, meter));
    let ports = IndexerPorts {
        index: Arc::clone(&index) as _,
        lists: index,
        streams: Arc::new(streams),
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
    };
    let indexer = ports.indexer(settings.incarnation);
    match entries {
        Some(entries) => indexer.with_entries(Arc::new(entries)),
        None => indexer,
    }
}

impl IndexerHandler {
    /// A handler of this indexer.
    #[must_use]
    pub fn new(indexer: Indexer) -> Self {
        Self { indexer }
    }

    /// Handles one batch. A record that cannot be read is reported and the others are indexed: what it told
    /// of is found with the next event of its stream, or by `synth feed repair`.
    ///
    /// # Errors
    /// [`IndexerFailure`]: Lambda delivers the batch again, split.
    pub async fn handle(&self, event: Event) -> Result<DynamoDbEventResponse, IndexerFailure> {
        let records = event.records.len();
        let (mut first, mut failed, mut spans) = (None, None, Vec::new());
        for mut record in event.records {
            let number = sequence_number(&mut record);
            match read(&mut record) {
                Ok(span) => spans.extend(span),
                Err(error) => {
                    tracing::error!(sequence_number = number, %error, "a record cannot be read");
                    failed.get_or_insert_with(|| number.clone());
                }
            }
            first.get_or_insert(number);
        }
        let indexed = self.indexer.index(spans).await.inspect_err(|error| {
            tracing::error!(records, %error, "a batch was not indexed");
        })?;
        tracing::info!(records, indexed.items, indexed.events, indexed.found, "indexed");
        Ok(table_stream::response(records, first.as_ref(), failed)?)
    }
}

/// The events that a change appended; none for an event batch, which was in a tip before, and for an entry to which
/// something was added.
fn read(record: &mut EventRecord) -> Result<Option<Span>, RecordError> {
    let image = image(record, &ATTRIBUTES);
    if image.contains_key(PARTITION_KEY) {
        return (record.event_name == INSERT).then(|| feed::put(&image)).transpose();
    }
    feed::is_appended(&image).then(|| feed::appended(&image)).transpose()
}
