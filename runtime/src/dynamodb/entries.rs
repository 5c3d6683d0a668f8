//! The Entry table.

use std::sync::Arc;

use async_trait::async_trait;
use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder;
use aws_sdk_dynamodb::types::{
    AttributeValue, ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure,
};
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_PAGE_ENTRIES;
use cellar_base::position::Position;
use cellar_base::schema::{EXTERNAL, PARTITION_KEY, SORT_KEY, TYPE};
use cellar_base::{record, record::item_bytes};
use cellar_engine::ports::{Entries, Page, PortError, PutOutcome};
use cellar_log::entry::{Content, Entry};
use cellar_log::records::entry::SNAPSHOT;

use super::items::{Attributes, from_attributes, to_attributes, to_value};
use super::{DynamoTables, update_refused, write_units};
use crate::outcome::port_error;

impl DynamoTables {
    fn query_segment(&self, log: LogId, segment: u32, consistent: bool) -> QueryFluentBuilder {
        let partition = cellar_log::records::entry::partition(log, segment);
        self.client
            .query()
            .table_name(&self.entry_table)
            .consistent_read(consistent)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .expression_attribute_names("#s", PARTITION_KEY)
            .expression_attribute_values(":s", to_value(record::Attribute::Bytes(partition)))
    }

    /// A lost put costs what the larger of the two items would have.
    fn refused(&self, put_bytes: usize, winner: &Attributes) -> PutOutcome {
        let winner = from_attributes(winner);
        let winner_bytes = winner.as_ref().map_or(0, item_bytes);
        self.count_refused(write_units(put_bytes.max(winner_bytes)));
        let read = winner.and_then(|winner| Ok(cellar_log::records::entry::decode(&winner)?));
        match read {
            Ok(winner) => {
                PutOutcome::Refused { winner: Arc::new(winner.raise_incarnation(self.incarnation)) }
            }
            Err(error) => PutOutcome::Failed(error),
        }
    }
}

impl DynamoTables {
    fn read(&self, attributes: &Attributes) -> Result<Arc<Entry>, PortError> {
        let entry = cellar_log::records::entry::decode(&from_attributes(attributes)?)?;
        Ok(Arc::new(entry.raise_incarnation(self.incarnation)))
    }

    /// An update of a Snapshot entry's root, under a condition that is to be added to its type's.
    fn update_root(&self, log: LogId, at: Position, root: &str) -> UpdateItemFluentBuilder {
        self.client
            .update_item()
            .table_name(&self.entry_table)
            .set_key(Some(to_attributes(cellar_log::records::entry::key(log, at))))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .update_expression("SET #e = :e")
            .expression_attribute_names("#t", TYPE)
            .expression_attribute_names("#e", EXTERNAL)
            .expression_attribute_values(":t", AttributeValue::S(SNAPSHOT.to_owned()))
            .expression_attribute_values(":e", AttributeValue::S(root.to_owned()))
    }

    /// The root that stands where another was not set.
    async fn standing_root(
        &self,
        log: LogId,
        position: Position,
    ) -> Result<Option<String>, PortError> {
        let entry = self.get(log, position).await?;
        // The refused update is billed for the item that it met.
        let item = entry.as_deref().map(cellar_log::records::entry::encode).transpose()?;
        self.count_refused(write_units(item.as_ref().map_or(1, item_bytes)));
        Ok(match entry.as_deref().map(|entry| &entry.content) {
            Some(Content::Snapshot { root, .. }) => root.clone(),
            _ => None,
        })
    }
}

#[async_trait]
impl Entries for DynamoTables {
    async fn page(&self, log: LogId, from: Position, consistent: bool) -> Result<Page, PortError> {
        let reply = self
            .query_segment(log, from.segment(), consistent)
            .key_condition_expression("#s = :s AND #n >= :n")
            .expression_attribute_names("#n", SORT_KEY)
            .expression_attribute_values(":n", AttributeValue::N(from.num().to_string()))
            .limit(i32::try_from(MAX_PAGE_ENTRIES).unwrap_or(i32::MAX))
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        self.count_read(reply.consumed_capacity());
        let entries = reply.items().iter().map(|item| self.read(item)).collect::<Result<_, _>>()?;
        Ok(Page { entries, more: reply.last_evaluated_key().is_some() })
    }

    async fn page_back(
        &self,
        log: LogId,
        from: Position,
        limit: u32,
        consistent: bool,
    ) -> Result<Page, PortError> {
        let reply = self
            .query_segment(log, from.segment(), consistent)
            .key_condition_expression("#s = :s AND #n <= :n")
            .expression_attribute_names("#n", SORT_KEY)
            .expression_attribute_values(":n", AttributeValue::N(from.num().to_string()))
            .scan_index_forward(false)
            .limit(i32::try_from(limit).unwrap_or(i32::MAX))
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        self.count_read(reply.consumed_capacity());
        let entries = reply.items().iter().map(|item| self.read(item)).collect::<Result<_, _>>()?;
        Ok(Page { entries, more: reply.last_evaluated_key().is_some() })
    }

    async fn last(
        &self,
        log: LogId,
        segment: u32,
        consistent: bool,
    ) -> Result<Option<Arc<Entry>>, PortError> {
        let reply = self
            .query_segment(log, segment, consistent)
            .key_condition_expression("#s = :s")
            .scan_index_forward(false)
            .limit(1)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        self.count_read(reply.consumed_capacity());
        reply.items().first().map(|item| self.read(item)).transpose()
    }

    async fn get(&self, log: LogId, position: Position) -> Result<Option<Arc<Entry>>, PortError> {
        let reply = self
            .client
            .get_item()
            .table_name(&self.entry_table)
            .set_key(Some(to_attributes(cellar_log::records::entry::key(log, position))))
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        self.count_read(reply.consumed_capacity());
        reply.item().map(|item| self.read(item)).transpose()
    }

    async fn put(&self, entry: &Entry) -> PutOutcome {
        let item = match cellar_log::records::entry::encode(entry) {
            Ok(item) => item,
            Err(error) => return PutOutcome::Failed(error.into()),
        };
        let put_bytes = item_bytes(&item);
        let reply = self
            .client
            .put_item()
            .table_name(&self.entry_table)
            .set_item(Some(to_attributes(item)))
            .condition_expression("attribute_not_exists(#n)")
            .expression_attribute_names("#n", SORT_KEY)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await;
        let error = match reply {
            Ok(reply) => {
                self.count_write(reply.consumed_capacity.as_slice());
                return PutOutcome::Accepted;
            }
            Err(error) => error,
        };
        if let Some(refused) = error.as_service_error().and_then(condition_failed) {
            return match refused {
                Some(winner) => self.refused(put_bytes, winner),
                // Refused, and not told by whom: the same put again will tell.
                None => {
                    self.count_refused(write_units(put_bytes));
                    PutOutcome::Unknown(PortError::temporary("the winner was not returned"))
                }
            };
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
        let stands = self.replace_root(log, position, None, root).await?;
        stands.ok_or_else(|| PortError::permanent("there is no Snapshot entry"))
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
        match update.send().await {
            Ok(reply) => {
                self.count_write(reply.consumed_capacity.as_slice());
                Ok(Some(root.to_owned()))
            }
            Err(error) if update_refused(&error) => self.standing_root(log, position).await,
            Err(error) => Err(port_error(&error)),
        }
    }

    async fn reachable(&self) -> bool {
        let nowhere = LogId::from_uuid(uuid::Uuid::nil());
        self.last(nowhere, 0, false).await.is_ok()
    }
}

type PutItemError = aws_sdk_dynamodb::operation::put_item::PutItemError;

/// If the condition failed: the item that stands there.
fn condition_failed(error: &PutItemError) -> Option<Option<&Attributes>> {
    match error {
        PutItemError::ConditionalCheckFailedException(failed) => Some(failed.item()),
        _ => None,
    }
}
