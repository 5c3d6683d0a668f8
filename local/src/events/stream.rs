//! Reads the embedded DynamoDB's change streams.

use std::time::Duration;

use cellar_engine::ports::PortError;
use dynoxide::Database;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::batch::Record;

/// Maximum number of records per read. Matches DynamoDB's limit.
const READ_LIMIT: usize = 1_000;

/// The change stream of a table.
#[derive(Debug)]
pub(super) struct TableStream {
    database: SharedDatabase,
    arn: String,
    shards: Vec<String>,
}

/// A shard of a change stream.
#[derive(Debug, Clone)]
pub(super) struct Shard {
    database: SharedDatabase,
    pub(super) stream_arn: String,
    pub(super) id: String,
}

/// Wraps the database to implement `Debug`.
#[derive(Clone)]
struct SharedDatabase(Database);

impl std::fmt::Debug for SharedDatabase {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Database")
    }
}

fn parse_request<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

impl TableStream {
    /// Finds a table's change stream and its shards.
    pub(super) fn of_table(database: &Database, table: &str) -> Result<Self, String> {
        let fault = |error: dynoxide::DynoxideError| error.to_string();
        let list = parse_request(json!({ "TableName": table }))?;
        let streams = database.list_streams(list).map_err(fault)?.streams;
        let arn = streams.into_iter().next().map(|stream| stream.stream_arn);
        let arn = arn.ok_or_else(|| format!("the table {table} has no stream"))?;
        let described =
            database.describe_stream(parse_request(json!({ "StreamArn": arn }))?).map_err(fault)?;
        let shards = described.stream_description.shards;
        let shards = shards.into_iter().map(|shard| shard.shard_id).collect();
        Ok(Self { database: SharedDatabase(database.clone()), arn, shards })
    }

    /// Returns the shard ids.
    pub(super) fn shards(&self) -> &[String] {
        &self.shards
    }

    /// Returns the shard `id`.
    pub(super) fn shard(&self, id: &str) -> Shard {
        let (database, stream_arn) = (self.database.clone(), self.arn.clone());
        Shard { database, stream_arn, id: id.to_owned() }
    }
}

impl Shard {
    /// Reads the records after a sequence number, or from the oldest record if `after` is `None`.
    pub(super) async fn read(&self, after: Option<&str>) -> Result<Vec<Record>, PortError> {
        let (shard, after) = (self.clone(), after.map(str::to_owned));
        let read = tokio::task::spawn_blocking(move || shard.read_blocking(after.as_deref()));
        let read = read.await.map_err(|error| error.to_string());
        read.and_then(|records| records).map_err(|error| {
            PortError::temporary(format!("cannot read the stream {}: {error}", self.stream_arn))
        })
    }

    fn read_blocking(&self, after: Option<&str>) -> Result<Vec<Record>, String> {
        let SharedDatabase(database) = &self.database;
        let iterator_type = if after.is_some() { "AFTER_SEQUENCE_NUMBER" } else { "TRIM_HORIZON" };
        let iterator = database
            .get_shard_iterator(parse_request(json!({
                "StreamArn": self.stream_arn, "ShardId": self.id,
                "ShardIteratorType": iterator_type, "SequenceNumber": after,
            }))?)
            .map_err(|error| error.to_string())?
            .shard_iterator;
        let read = json!({ "ShardIterator": iterator, "Limit": READ_LIMIT });
        let reply =
            database.get_records(parse_request(read)?).map_err(|error| error.to_string())?;
        reply.records.into_iter().map(|record| self.to_record(&record)).collect()
    }

    /// Converts a record to the functions' input format, which includes the stream ARN.
    fn to_record(&self, record: &impl serde::Serialize) -> Result<Record, String> {
        let mut event = serde_json::to_value(record).map_err(|error| error.to_string())?;
        if let Some(fields) = event.as_object_mut() {
            fields.insert("eventSourceARN".to_owned(), self.stream_arn.as_str().into());
        }
        let change = event.get("dynamodb");
        let number = change.and_then(|change| change.get("SequenceNumber")?.as_str());
        let sequence_number = number.ok_or("a record has no sequence number")?.to_owned();
        let created_s = change
            .and_then(|change| change.get("ApproximateCreationDateTime")?.as_f64())
            .unwrap_or_default();
        let created = Duration::try_from_secs_f64(created_s).unwrap_or_default();
        let created_ms = u64::try_from(created.as_millis()).unwrap_or(u64::MAX);
        Ok(Record { sequence_number, created_ms, event })
    }
}
