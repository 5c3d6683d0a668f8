//! Implements the [`Retention`] port, which offloads and trims log segments. Used by operator
//! commands only.

use std::collections::HashMap;

use async_trait::async_trait;
use aws_sdk_dynamodb::types::{
    AttributeValue, DeleteRequest, ReturnConsumedCapacity, WriteRequest,
};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_base::table_attributes::{OFFLOADED, PARTITION_KEY, SORT_KEY, TRIMMED};
use cellar_base::{record::Attribute, record::Item};
use cellar_engine::ports::{PortError, Retention, ScanKey, SegmentPage};
use cellar_log::records;

use super::DynamoTables;
use super::items::{from_attributes, to_attributes, to_value};

/// Maximum number of deletes per request. Matches DynamoDB's limit.
const BATCH_DELETES: usize = 25;
/// Maximum number of attempts to delete one batch. DynamoDB may leave some deletes of a request
/// unprocessed.
const MAX_BATCH_ATTEMPTS: u32 = 10;

#[async_trait]
impl Retention for DynamoTables {
    async fn all_segments(&self, after: Option<ScanKey>) -> Result<SegmentPage, PortError> {
        let after = after.map(|ScanKey { partition, sort }| {
            to_attributes(Item::from([
                (PARTITION_KEY.to_owned(), Attribute::Bytes(partition)),
                (SORT_KEY.to_owned(), Attribute::Number(sort)),
            ]))
        });
        let request = self
            .client
            .scan()
            .table_name(&self.segment_table)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .set_exclusive_start_key(after);
        let reply = self.capacity.count_reply(request.send().await)?;
        let mut segments = Vec::new();
        for item in reply.items() {
            let item = from_attributes(item)?;
            if !records::fork::is_listed(&item) {
                segments.push(records::segment::decode(&item)?);
            }
        }
        let next = reply.last_evaluated_key().map(to_scan_key).transpose()?;
        Ok(SegmentPage { segments, next })
    }

    async fn set_offloaded(&self, log: LogId, segment: u32, key: &str) -> Result<(), PortError> {
        let request = self
            .client
            .update_item()
            .table_name(&self.segment_table)
            .set_key(Some(to_attributes(records::segment::key(log, segment))))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .update_expression("SET #a = :a")
            .condition_expression("attribute_exists(#s)")
            .expression_attribute_names("#s", PARTITION_KEY)
            .expression_attribute_names("#a", OFFLOADED)
            .expression_attribute_values(":a", to_value(Attribute::Text(key.to_owned())));
        self.capacity.count_reply(request.send().await)?;
        Ok(())
    }

    async fn mark_trimmed(
        &self,
        log: LogId,
        segment: u32,
        trimmed_s: u64,
    ) -> Result<(), PortError> {
        let first = Position::new(segment, 0)
            .map_err(|_| PortError::permanent(format!("log {log} has no segment {segment}")))?;
        let request = self
            .client
            .update_item()
            .table_name(&self.entry_table)
            .set_key(Some(to_attributes(records::entry::key(log, first))))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .update_expression("SET #p = if_not_exists(#p, :p)")
            .condition_expression("attribute_exists(#s)")
            .expression_attribute_names("#s", PARTITION_KEY)
            .expression_attribute_names("#p", TRIMMED)
            .expression_attribute_values(":p", AttributeValue::N(trimmed_s.to_string()));
        self.capacity.count_reply(request.send().await)?;
        Ok(())
    }

    async fn delete(&self, log: LogId, positions: &[Position]) -> Result<(), PortError> {
        for batch in positions.chunks(BATCH_DELETES) {
            let requests = batch.iter().map(|position| delete_request(log, *position));
            self.delete_batch(requests.collect::<Result<_, _>>()?).await?;
        }
        Ok(())
    }

    async fn delete_segment(&self, log: LogId, segment: u32) -> Result<(), PortError> {
        self.delete_segment_record(records::segment::key(log, segment)).await
    }

    async fn delete_listed(&self, source: LogId, number: u64) -> Result<(), PortError> {
        self.delete_segment_record(records::fork::key(source, number)).await
    }
}

/// Converts a page's last key to the start key of the next page.
fn to_scan_key(key: &HashMap<String, AttributeValue>) -> Result<ScanKey, PortError> {
    let mut key = from_attributes(key)?;
    match (key.remove(PARTITION_KEY), key.remove(SORT_KEY)) {
        (Some(Attribute::Bytes(partition)), Some(Attribute::Number(sort))) => {
            Ok(ScanKey { partition, sort })
        }
        _ => Err(PortError::permanent("a scan of the Segment table returned an invalid key")),
    }
}

fn delete_request(log: LogId, position: Position) -> Result<WriteRequest, PortError> {
    let delete = DeleteRequest::builder()
        .set_key(Some(to_attributes(records::entry::key(log, position))))
        .build()
        .map_err(|error| PortError::permanent(error.to_string()))?;
    Ok(WriteRequest::builder().delete_request(delete).build())
}

impl DynamoTables {
    /// Deletes an item from the Segment table. No-op if the item does not exist.
    async fn delete_segment_record(&self, key: Item) -> Result<(), PortError> {
        let request = self
            .client
            .delete_item()
            .table_name(&self.segment_table)
            .set_key(Some(to_attributes(key)))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        self.capacity.count_reply(request.send().await)?;
        Ok(())
    }

    /// Deletes entries, retrying deletes that DynamoDB left unprocessed.
    async fn delete_batch(&self, mut requests: Vec<WriteRequest>) -> Result<(), PortError> {
        for _ in 0..MAX_BATCH_ATTEMPTS {
            let request = self
                .client
                .batch_write_item()
                .request_items(&self.entry_table, requests)
                .return_consumed_capacity(ReturnConsumedCapacity::Total);
            let reply = self.capacity.count_reply(request.send().await)?;
            let unprocessed = reply.unprocessed_items.unwrap_or_default();
            requests = unprocessed.into_values().flatten().collect();
            if requests.is_empty() {
                return Ok(());
            }
        }
        Err(PortError::temporary(format!(
            "DynamoDB left deletes unprocessed {MAX_BATCH_ATTEMPTS} times; retry later"
        )))
    }
}
