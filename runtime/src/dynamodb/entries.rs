//! The Entry table.

use std::sync::Arc;

use async_trait::async_trait;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder;
use aws_sdk_dynamodb::types::{
    AttributeValue, ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure,
};
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_PAGE_ENTRIES;
use cellar_base::position::Position;
use cellar_base::table_attributes::{EXTERNAL, PARTITION_KEY, SORT_KEY, TYPE};
use cellar_base::{record, record::item_bytes};
use cellar_engine::ports::{Entries, Page, PortError, PutOutcome, ReadConsistency};
use cellar_log::entry::{Content, Entry};
use cellar_log::records;
use cellar_log::records::entry::SNAPSHOT;

use super::DynamoTables;
use super::capacity::{is_condition_failed, write_units};
use super::items::{SdkItem, decode_item, from_sdk_item, to_sdk_item, to_sdk_limit, to_sdk_value};
use crate::outcome::port_error;

/// Number of bytes that DynamoDB bills at least for a write, even if the item does not exist.
const MIN_BILLED_BYTES: usize = 1;

impl DynamoTables {
    fn query_segment(
        &self,
        log_id: LogId,
        segment_number: u32,
        consistency: ReadConsistency,
    ) -> QueryFluentBuilder {
        let partition = records::entry::partition(log_id, segment_number);
        self.client
            .query()
            .table_name(&self.entry_table)
            .consistent_read(consistency.is_strong())
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .expression_attribute_names("#s", PARTITION_KEY)
            .expression_attribute_values(":s", to_sdk_value(record::Attribute::Bytes(partition)))
    }

    /// `number_condition` is a condition on the entry numbers. Its placeholder `:n` is replaced by
    /// the entry number of `start`.
    async fn query_page(
        &self,
        segment_query: QueryFluentBuilder,
        number_condition: &str,
        start: Position,
        limit: u32,
    ) -> Result<Page, PortError> {
        let page_query = segment_query
            .key_condition_expression(format!("#s = :s AND {number_condition}"))
            .expression_attribute_names("#n", SORT_KEY)
            .expression_attribute_values(":n", AttributeValue::N(start.entry_number().to_string()))
            .limit(to_sdk_limit(limit));
        let reply = self.capacity.count_reply(page_query.send().await)?;
        let entries: Result<_, _> =
            reply.items().iter().map(|item| self.decode_entry(item)).collect();
        Ok(Page { entries: entries?, more: reply.last_evaluated_key().is_some() })
    }

    fn decode_entry(&self, item: &SdkItem) -> Result<Arc<Entry>, PortError> {
        let entry = decode_item(item, records::entry::decode)?;
        Ok(Arc::new(entry.raise_incarnation(self.incarnation)))
    }

    /// Counts a put that was rejected because the log already contains an entry at the same
    /// position, and returns the outcome. DynamoDB bills the larger of the two entries.
    fn outcome_of_rejected_put(
        &self,
        put_bytes: usize,
        existing_item: Option<&SdkItem>,
    ) -> PutOutcome {
        let Some(existing_item) = existing_item else {
            self.capacity.count_rejected(write_units(put_bytes));
            // Report an unknown outcome, so that the caller retries the put. The retry returns the
            // existing entry.
            return PutOutcome::Unknown(PortError::temporary("the winner was not returned"));
        };
        let existing_bytes = from_sdk_item(existing_item).map_or(0, |record| item_bytes(&record));
        self.capacity.count_rejected(write_units(put_bytes.max(existing_bytes)));
        match self.decode_entry(existing_item) {
            Ok(winner) => PutOutcome::Refused { winner },
            Err(error) => PutOutcome::Failed(error),
        }
    }

    /// The caller must add a condition to the request.
    fn root_update_request(
        &self,
        log_id: LogId,
        position: Position,
        root: &str,
    ) -> UpdateItemFluentBuilder {
        self.client
            .update_item()
            .table_name(&self.entry_table)
            .set_key(Some(to_sdk_item(records::entry::key(log_id, position))))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .update_expression("SET #e = :e")
            .expression_attribute_names("#t", TYPE)
            .expression_attribute_names("#e", EXTERNAL)
            .expression_attribute_values(":t", AttributeValue::S(SNAPSHOT.to_owned()))
            .expression_attribute_values(":e", AttributeValue::S(root.to_owned()))
    }

    /// DynamoDB bills the size of the existing item.
    fn count_rejected_update(&self, entry: Option<&Entry>) -> Result<(), PortError> {
        let billed_bytes = match entry {
            Some(entry) => item_bytes(&records::entry::encode(entry)?),
            None => MIN_BILLED_BYTES,
        };
        self.capacity.count_rejected(write_units(billed_bytes));
        Ok(())
    }
}

/// Returns the snapshot root of an entry. Returns `None` if the entry is not a Snapshot entry or if
/// its snapshot has not been built yet.
fn snapshot_root(entry: &Entry) -> Option<&str> {
    match &entry.content {
        Content::Snapshot { root, .. } => root.as_deref(),
        _ => None,
    }
}

#[async_trait]
impl Entries for DynamoTables {
    async fn page(
        &self,
        log_id: LogId,
        from: Position,
        consistency: ReadConsistency,
    ) -> Result<Page, PortError> {
        let query = self.query_segment(log_id, from.segment(), consistency);
        self.query_page(query, "#n >= :n", from, MAX_PAGE_ENTRIES).await
    }

    async fn page_back(
        &self,
        log_id: LogId,
        from: Position,
        limit: u32,
        consistency: ReadConsistency,
    ) -> Result<Page, PortError> {
        let query =
            self.query_segment(log_id, from.segment(), consistency).scan_index_forward(false);
        self.query_page(query, "#n <= :n", from, limit).await
    }

    async fn last(
        &self,
        log_id: LogId,
        segment: u32,
        consistency: ReadConsistency,
    ) -> Result<Option<Arc<Entry>>, PortError> {
        let query = self
            .query_segment(log_id, segment, consistency)
            .key_condition_expression("#s = :s")
            .scan_index_forward(false)
            .limit(1);
        let reply = self.capacity.count_reply(query.send().await)?;
        reply.items().first().map(|item| self.decode_entry(item)).transpose()
    }

    async fn get(
        &self,
        log_id: LogId,
        position: Position,
    ) -> Result<Option<Arc<Entry>>, PortError> {
        let get = self
            .client
            .get_item()
            .table_name(&self.entry_table)
            .set_key(Some(to_sdk_item(records::entry::key(log_id, position))))
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let reply = self.capacity.count_reply(get.send().await)?;
        reply.item().map(|item| self.decode_entry(item)).transpose()
    }

    async fn put(&self, entry: &Entry) -> PutOutcome {
        let item = match records::entry::encode(entry) {
            Ok(item) => item,
            Err(error) => return PutOutcome::Failed(error.into()),
        };
        let put_bytes = item_bytes(&item);
        let put = self
            .client
            .put_item()
            .table_name(&self.entry_table)
            .set_item(Some(to_sdk_item(item)))
            .condition_expression("attribute_not_exists(#n)")
            .expression_attribute_names("#n", SORT_KEY)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let Err(error) = self.capacity.count(put.send().await) else {
            return PutOutcome::Accepted;
        };
        if let Some(PutItemError::ConditionalCheckFailedException(failed)) =
            error.as_service_error()
        {
            return self.outcome_of_rejected_put(put_bytes, failed.item());
        }
        let port_error = port_error(&error);
        if port_error.temporary {
            PutOutcome::Unknown(port_error)
        } else {
            PutOutcome::Failed(port_error)
        }
    }

    async fn set_root(
        &self,
        log_id: LogId,
        position: Position,
        root: &str,
    ) -> Result<String, PortError> {
        match self.replace_root(log_id, position, None, root).await? {
            Some(current_root) => Ok(current_root),
            None => Err(PortError::permanent(format!(
                "log {log_id} has no Snapshot entry at {position}"
            ))),
        }
    }

    async fn replace_root(
        &self,
        log_id: LogId,
        position: Position,
        old_root: Option<&str>,
        new_root: &str,
    ) -> Result<Option<String>, PortError> {
        let update = self.root_update_request(log_id, position, new_root);
        let conditional_update = match old_root {
            None => update.condition_expression("#t = :t AND attribute_not_exists(#e)"),
            Some(old_root) => update
                .condition_expression("#t = :t AND #e = :o")
                .expression_attribute_values(":o", AttributeValue::S(old_root.to_owned())),
        };
        match self.capacity.count(conditional_update.send().await) {
            Ok(_) => Ok(Some(new_root.to_owned())),
            Err(error) if is_condition_failed(&error) => {
                let entry = self.get(log_id, position).await?;
                self.count_rejected_update(entry.as_deref())?;
                Ok(entry.as_deref().and_then(snapshot_root).map(str::to_owned))
            }
            Err(error) => Err(port_error(&error)),
        }
    }

    async fn reachable(&self) -> bool {
        let unused_log_id = LogId::from_uuid(uuid::Uuid::nil());
        self.last(unused_log_id, 0, ReadConsistency::Eventual).await.is_ok()
    }
}
