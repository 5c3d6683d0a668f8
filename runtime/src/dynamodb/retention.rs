//! Implements the [`Retention`] port, which offloads log segments to S3 and trims them. Only
//! operator commands use this implementation.

use async_trait::async_trait;
use aws_sdk_dynamodb::types::{
    AttributeValue, DeleteRequest, ReturnConsumedCapacity, WriteRequest,
};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_base::record::{Attribute, Item};
use cellar_base::table_attributes::{OFFLOADED, PARTITION_KEY, SORT_KEY, TRIMMED};
use cellar_engine::ports::{PortError, Retention, ScanKey, SegmentPage};
use cellar_log::records;

use super::DynamoTables;
use super::items::{SdkItem, from_sdk_item, to_sdk_item, to_sdk_value};

/// Maximum number of deletes that DynamoDB accepts per batch request.
const MAX_BATCH_DELETES: usize = 25;
/// Maximum number of times that a batch of deletes is sent. DynamoDB may leave some of the deletes
/// unprocessed.
const MAX_BATCH_ATTEMPTS: u32 = 10;

#[async_trait]
impl Retention for DynamoTables {
    async fn all_segments(&self, after: Option<ScanKey>) -> Result<SegmentPage, PortError> {
        let scan = self
            .client
            .scan()
            .table_name(&self.segment_table)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .set_exclusive_start_key(after.map(from_scan_key));
        let reply = self.capacity.count_reply(scan.send().await)?;
        let mut segments = Vec::new();
        for item in reply.items() {
            let record = from_sdk_item(item)?;
            if !records::fork::is_listed(&record) && !records::presence::is_presence(&record) {
                segments.push(records::segment::decode(&record)?);
            }
        }
        let next_key = reply.last_evaluated_key().map(to_scan_key).transpose()?;
        Ok(SegmentPage { segments, next: next_key })
    }

    async fn set_offloaded(
        &self,
        log_id: LogId,
        segment_number: u32,
        object_key: &str,
    ) -> Result<(), PortError> {
        let update = self
            .client
            .update_item()
            .table_name(&self.segment_table)
            .set_key(Some(to_sdk_item(records::segment::key(log_id, segment_number))))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .update_expression("SET #a = :a")
            .condition_expression("attribute_exists(#s)")
            .expression_attribute_names("#s", PARTITION_KEY)
            .expression_attribute_names("#a", OFFLOADED)
            .expression_attribute_values(
                ":a",
                to_sdk_value(Attribute::Text(object_key.to_owned())),
            );
        self.capacity.count_reply(update.send().await)?;
        Ok(())
    }

    async fn mark_trimmed(
        &self,
        log_id: LogId,
        segment_number: u32,
        trimmed_s: u64,
    ) -> Result<(), PortError> {
        let first_position = Position::new(segment_number, 0).map_err(|_| {
            PortError::permanent(format!("log {log_id} has no segment {segment_number}"))
        })?;
        let update = self
            .client
            .update_item()
            .table_name(&self.entry_table)
            .set_key(Some(to_sdk_item(records::entry::key(log_id, first_position))))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .update_expression("SET #p = if_not_exists(#p, :p)")
            .condition_expression("attribute_exists(#s)")
            .expression_attribute_names("#s", PARTITION_KEY)
            .expression_attribute_names("#p", TRIMMED)
            .expression_attribute_values(":p", AttributeValue::N(trimmed_s.to_string()));
        self.capacity.count_reply(update.send().await)?;
        Ok(())
    }

    async fn delete(&self, log_id: LogId, positions: &[Position]) -> Result<(), PortError> {
        for batch_positions in positions.chunks(MAX_BATCH_DELETES) {
            let mut deletes = Vec::new();
            for position in batch_positions {
                deletes.push(build_delete(log_id, *position)?);
            }
            self.delete_batch(deletes).await?;
        }
        Ok(())
    }

    async fn delete_segment(&self, log_id: LogId, segment_number: u32) -> Result<(), PortError> {
        self.delete_segment_record(records::segment::key(log_id, segment_number)).await
    }

    async fn delete_listed(&self, source_log_id: LogId, fork_number: u64) -> Result<(), PortError> {
        self.delete_segment_record(records::fork::key(source_log_id, fork_number)).await
    }
}

fn from_scan_key(ScanKey { partition, sort }: ScanKey) -> SdkItem {
    to_sdk_item(Item::from([
        (PARTITION_KEY.to_owned(), Attribute::Bytes(partition)),
        (SORT_KEY.to_owned(), Attribute::Number(sort)),
    ]))
}

fn to_scan_key(last_key: &SdkItem) -> Result<ScanKey, PortError> {
    let mut key = from_sdk_item(last_key)?;
    match (key.remove(PARTITION_KEY), key.remove(SORT_KEY)) {
        (Some(Attribute::Bytes(partition)), Some(Attribute::Number(sort))) => {
            Ok(ScanKey { partition, sort })
        }
        _ => Err(PortError::permanent("a scan of the Segment table returned an invalid key")),
    }
}

fn build_delete(log_id: LogId, position: Position) -> Result<WriteRequest, PortError> {
    let delete_request = DeleteRequest::builder()
        .set_key(Some(to_sdk_item(records::entry::key(log_id, position))))
        .build()
        .map_err(|error| PortError::permanent(error.to_string()))?;
    Ok(WriteRequest::builder().delete_request(delete_request).build())
}

impl DynamoTables {
    /// Does nothing if the item does not exist.
    pub(super) async fn delete_segment_record(&self, key: Item) -> Result<(), PortError> {
        let delete = self
            .client
            .delete_item()
            .table_name(&self.segment_table)
            .set_key(Some(to_sdk_item(key)))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        self.capacity.count_reply(delete.send().await)?;
        Ok(())
    }

    /// Sends a delete again if DynamoDB left it unprocessed.
    async fn delete_batch(&self, deletes: Vec<WriteRequest>) -> Result<(), PortError> {
        let mut remaining_deletes = deletes;
        for _attempt in 1..=MAX_BATCH_ATTEMPTS {
            let batch_write = self
                .client
                .batch_write_item()
                .request_items(&self.entry_table, remaining_deletes)
                .return_consumed_capacity(ReturnConsumedCapacity::Total);
            let reply = self.capacity.count_reply(batch_write.send().await)?;
            let unprocessed_by_table = reply.unprocessed_items.unwrap_or_default();
            remaining_deletes = unprocessed_by_table.into_values().flatten().collect();
            if remaining_deletes.is_empty() {
                return Ok(());
            }
        }
        Err(PortError::temporary(format!(
            "DynamoDB left deletes unprocessed {MAX_BATCH_ATTEMPTS} times; retry later"
        )))
    }
}
