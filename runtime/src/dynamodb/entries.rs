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
use cellar_engine::ports::{Entries, Page, PortError, PutOutcome};
use cellar_log::entry::{Content, Entry};
use cellar_log::records;
use cellar_log::records::entry::SNAPSHOT;

use super::DynamoTables;
use super::capacity::{is_condition_failed, write_units};
use super::items::{Attributes, from_attributes, to_attributes, to_value};
use crate::outcome::port_error;

impl DynamoTables {
    fn query_segment(&self, log: LogId, segment: u32, consistent: bool) -> QueryFluentBuilder {
        let partition = records::entry::partition(log, segment);
        self.client
            .query()
            .table_name(&self.entry_table)
            .consistent_read(consistent)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .expression_attribute_names("#s", PARTITION_KEY)
            .expression_attribute_values(":s", to_value(record::Attribute::Bytes(partition)))
    }

    /// Queries a segment. `from` is the entry number bound to `:n` in the key condition.
    async fn query_page(
        &self,
        query: QueryFluentBuilder,
        condition: &str,
        from: Position,
        limit: u32,
    ) -> Result<Page, PortError> {
        let query = query
            .key_condition_expression(format!("#s = :s AND {condition}"))
            .expression_attribute_names("#n", SORT_KEY)
            .expression_attribute_values(":n", AttributeValue::N(from.entry_number().to_string()))
            .limit(i32::try_from(limit).unwrap_or(i32::MAX));
        let reply = self.capacity.count_reply(query.send().await)?;
        let entries =
            reply.items().iter().map(|item| self.decode_entry(item)).collect::<Result<_, _>>()?;
        Ok(Page { entries, more: reply.last_evaluated_key().is_some() })
    }

    fn decode_entry(&self, attributes: &Attributes) -> Result<Arc<Entry>, PortError> {
        let entry = records::entry::decode(&from_attributes(attributes)?)?;
        Ok(Arc::new(entry.raise_incarnation(self.incarnation)))
    }

    /// Returns the outcome of a put at a position that already contains another entry. DynamoDB
    /// bills the larger of the two items.
    fn rejected_put(&self, put_bytes: usize, winner: Option<&Attributes>) -> PutOutcome {
        let Some(winner) = winner else {
            self.capacity.count_rejected(write_units(put_bytes));
            // A retry of the put will return the winning entry.
            return PutOutcome::Unknown(PortError::temporary("the winner was not returned"));
        };
        let winner = from_attributes(winner);
        let winner_bytes = winner.as_ref().map_or(0, item_bytes);
        self.capacity.count_rejected(write_units(put_bytes.max(winner_bytes)));
        match winner.and_then(|winner| Ok(records::entry::decode(&winner)?)) {
            Ok(winner) => {
                PutOutcome::Refused { winner: Arc::new(winner.raise_incarnation(self.incarnation)) }
            }
            Err(error) => PutOutcome::Failed(error),
        }
    }

    /// Builds an update that sets the snapshot root of a Snapshot entry. The caller adds the
    /// condition.
    fn update_root(&self, log: LogId, at: Position, root: &str) -> UpdateItemFluentBuilder {
        self.client
            .update_item()
            .table_name(&self.entry_table)
            .set_key(Some(to_attributes(records::entry::key(log, at))))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .update_expression("SET #e = :e")
            .expression_attribute_names("#t", TYPE)
            .expression_attribute_names("#e", EXTERNAL)
            .expression_attribute_values(":t", AttributeValue::S(SNAPSHOT.to_owned()))
            .expression_attribute_values(":e", AttributeValue::S(root.to_owned()))
    }

    /// Handles a rejected root update: counts its request units and returns the current root.
    async fn current_root(
        &self,
        log: LogId,
        position: Position,
    ) -> Result<Option<String>, PortError> {
        let entry = self.get(log, position).await?;
        // DynamoDB bills a rejected update by the existing item's size.
        let item = entry.as_deref().map(records::entry::encode).transpose()?;
        self.capacity.count_rejected(write_units(item.as_ref().map_or(1, item_bytes)));
        Ok(match entry.as_deref().map(|entry| &entry.content) {
            Some(Content::Snapshot { root, .. }) => root.clone(),
            _ => None,
        })
    }
}

#[async_trait]
impl Entries for DynamoTables {
    async fn page(&self, log: LogId, from: Position, consistent: bool) -> Result<Page, PortError> {
        let query = self.query_segment(log, from.segment(), consistent);
        self.query_page(query, "#n >= :n", from, MAX_PAGE_ENTRIES).await
    }

    async fn page_back(
        &self,
        log: LogId,
        from: Position,
        limit: u32,
        consistent: bool,
    ) -> Result<Page, PortError> {
        let query = self.query_segment(log, from.segment(), consistent).scan_index_forward(false);
        self.query_page(query, "#n <= :n", from, limit).await
    }

    async fn last(
        &self,
        log: LogId,
        segment: u32,
        consistent: bool,
    ) -> Result<Option<Arc<Entry>>, PortError> {
        let query = self
            .query_segment(log, segment, consistent)
            .key_condition_expression("#s = :s")
            .scan_index_forward(false)
            .limit(1);
        let reply = self.capacity.count_reply(query.send().await)?;
        reply.items().first().map(|item| self.decode_entry(item)).transpose()
    }

    async fn get(&self, log: LogId, position: Position) -> Result<Option<Arc<Entry>>, PortError> {
        let get = self
            .client
            .get_item()
            .table_name(&self.entry_table)
            .set_key(Some(to_attributes(records::entry::key(log, position))))
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
            .set_item(Some(to_attributes(item)))
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
            return self.rejected_put(put_bytes, failed.item());
        }
        let error = port_error(&error);
        if error.temporary { PutOutcome::Unknown(error) } else { PutOutcome::Failed(error) }
    }

    async fn set_root(
        &self,
        log: LogId,
        position: Position,
        root: &str,
    ) -> Result<String, PortError> {
        let current = self.replace_root(log, position, None, root).await?;
        current.ok_or_else(|| {
            PortError::permanent(format!("log {log} has no Snapshot entry at {position}"))
        })
    }

    async fn replace_root(
        &self,
        log: LogId,
        position: Position,
        replaces: Option<&str>,
        root: &str,
    ) -> Result<Option<String>, PortError> {
        let update = self.update_root(log, position, root);
        let update = match replaces {
            None => update.condition_expression("#t = :t AND attribute_not_exists(#e)"),
            Some(replaces) => update
                .condition_expression("#t = :t AND #e = :o")
                .expression_attribute_values(":o", AttributeValue::S(replaces.to_owned())),
        };
        match self.capacity.count(update.send().await) {
            Ok(_) => Ok(Some(root.to_owned())),
            Err(error) if is_condition_failed(&error) => self.current_root(log, position).await,
            Err(error) => Err(port_error(&error)),
        }
    }

    async fn reachable(&self) -> bool {
        let unused = LogId::from_uuid(uuid::Uuid::nil());
        self.last(unused, 0, false).await.is_ok()
    }
}
