//! Presence, in the Segment table.

use async_trait::async_trait;
use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use cellar_base::identity::LogId;
use cellar_base::record::{Attribute, item_bytes};
use cellar_base::table_attributes::{CLIENT, SEEN, SORT_KEY};
use cellar_engine::ports::{PortError, PresenceOutcome, Presences, ReadConsistency};
use cellar_log::presence::{ShownTimes, StoredPresence};
use cellar_log::records;

use super::DynamoTables;
use super::capacity::write_units;
use super::conditional::{ConditionalWrite, count_conditional_write};
use super::items::{decode_item, to_sdk_item, to_sdk_value};

/// The slot is free, has the client's own presence, or one that is no longer shown.
const MAY_BE_REPLACED: &str = "attribute_not_exists(#n) OR #k = :k OR #t < :first OR #t > :last";

#[async_trait]
impl Presences for DynamoTables {
    /// All slots fit into one page.
    async fn presences(
        &self,
        log_id: LogId,
        consistency: ReadConsistency,
    ) -> Result<Vec<StoredPresence>, PortError> {
        let query = self
            .query_segment_partition(records::presence::partition(log_id))
            .consistent_read(consistency.is_strong());
        let reply = self.capacity.count_reply(query.send().await)?;
        reply.items().iter().map(|item| decode_item(item, records::presence::decode)).collect()
    }

    async fn put_presence(
        &self,
        log_id: LogId,
        stored: &StoredPresence,
        shown: ShownTimes,
    ) -> Result<PresenceOutcome, PortError> {
        let record = records::presence::encode(log_id, stored);
        let record_units = write_units(item_bytes(&record));
        let client = Attribute::Bytes(stored.presence.client.0.to_vec());
        let put = self
            .client
            .put_item()
            .table_name(&self.segment_table)
            .set_item(Some(to_sdk_item(record)))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .condition_expression(MAY_BE_REPLACED)
            .expression_attribute_names("#n", SORT_KEY)
            .expression_attribute_names("#k", CLIENT)
            .expression_attribute_names("#t", SEEN)
            .expression_attribute_values(":k", to_sdk_value(client))
            .expression_attribute_values(":first", to_sdk_value(Attribute::Number(shown.first_ms)))
            .expression_attribute_values(":last", to_sdk_value(Attribute::Number(shown.last_ms)));
        match count_conditional_write(&self.capacity, put.send().await, record_units)? {
            ConditionalWrite::Written => Ok(PresenceOutcome::Stored),
            ConditionalWrite::ConditionFailed => Ok(PresenceOutcome::Taken),
        }
    }

    async fn delete_presence(&self, log_id: LogId, slot: u32) -> Result<(), PortError> {
        self.delete_segment_record(records::presence::key(log_id, slot)).await
    }
}
