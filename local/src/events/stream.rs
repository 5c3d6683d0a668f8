//! Reads the embedded DynamoDB's change streams.

use std::time::Duration;

use cellar_engine::ports::PortError;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::batch::Record;
use crate::database::{DurableDatabase, OperationKind};

/// Matches DynamoDB's limit.
const MAX_RECORDS_PER_READ: usize = 1_000;

#[derive(Debug)]
pub(super) struct TableStream {
    database: DurableDatabase,
    arn: String,
    shard_ids: Vec<String>,
}

#[derive(Debug, Clone)]
pub(super) struct Shard {
    database: DurableDatabase,
    pub(super) stream_arn: String,
    pub(super) id: String,
}

fn parse_request<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

impl TableStream {
    pub(super) fn of_table(database: &DurableDatabase, table_name: &str) -> Result<Self, String> {
        let list_request = parse_request(json!({ "TableName": table_name }))?;
        let database_api = database.unsynced();
        let list_reply =
            database_api.list_streams(list_request).map_err(|error| error.to_string())?;
        let Some(stream) = list_reply.streams.into_iter().next() else {
            return Err(format!("the table {table_name} has no stream"));
        };
        let arn = stream.stream_arn;
        let describe_request = parse_request(json!({ "StreamArn": arn }))?;
        let describe_reply =
            database_api.describe_stream(describe_request).map_err(|error| error.to_string())?;
        let shards = describe_reply.stream_description.shards;
        Ok(Self {
            database: database.clone(),
            arn,
            shard_ids: shards.into_iter().map(|shard| shard.shard_id).collect(),
        })
    }

    pub(super) fn shards(&self) -> Vec<Shard> {
        let mut shards = Vec::new();
        for shard_id in &self.shard_ids {
            shards.push(Shard {
                database: self.database.clone(),
                stream_arn: self.arn.clone(),
                id: shard_id.clone(),
            });
        }
        shards
    }
}

impl Shard {
    /// Reads from the oldest record if `after` is `None`.
    pub(super) async fn read(&self, after: Option<&str>) -> Result<Vec<Record>, PortError> {
        let (shard, after) = (self.clone(), after.map(str::to_owned));
        let task = tokio::task::spawn_blocking(move || shard.read_unsynced(after.as_deref()));
        let read_result = match task.await {
            Ok(read_result) => read_result,
            Err(join_error) => Err(join_error.to_string()),
        };
        let synced = self.database.run(OperationKind::Read, |_| read_result).await;
        synced.unwrap_or_else(|error| Err(error.to_string())).map_err(|error| {
            PortError::temporary(format!("cannot read the stream {}: {error}", self.stream_arn))
        })
    }

    fn read_unsynced(&self, after: Option<&str>) -> Result<Vec<Record>, String> {
        let database = self.database.unsynced();
        let iterator_type = if after.is_some() { "AFTER_SEQUENCE_NUMBER" } else { "TRIM_HORIZON" };
        let iterator_request = parse_request(json!({
            "StreamArn": self.stream_arn, "ShardId": self.id,
            "ShardIteratorType": iterator_type, "SequenceNumber": after,
        }))?;
        let iterator_reply =
            database.get_shard_iterator(iterator_request).map_err(|error| error.to_string())?;
        let records_request = parse_request(json!({
            "ShardIterator": iterator_reply.shard_iterator, "Limit": MAX_RECORDS_PER_READ,
        }))?;
        let records_reply =
            database.get_records(records_request).map_err(|error| error.to_string())?;
        records_reply.records.iter().map(|record| self.to_record(record)).collect()
    }

    fn to_record(&self, record: &impl serde::Serialize) -> Result<Record, String> {
        let mut event = serde_json::to_value(record).map_err(|error| error.to_string())?;
        if let Some(fields) = event.as_object_mut() {
            fields.insert("eventSourceARN".to_owned(), self.stream_arn.as_str().into());
        }
        let change = event.get("dynamodb").unwrap_or(&Value::Null);
        let Some(sequence_number) = change.get("SequenceNumber").and_then(Value::as_str) else {
            return Err("a record has no sequence number".to_owned());
        };
        let sequence_number = sequence_number.to_owned();
        let created_s = change.get("ApproximateCreationDateTime").and_then(Value::as_f64);
        let since_epoch =
            Duration::try_from_secs_f64(created_s.unwrap_or_default()).unwrap_or_default();
        let created_ms = u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX);
        Ok(Record { sequence_number, created_ms, event })
    }
}
