//! Adapter for the Feed table, which stores the feed and the spreadsheet lists.

use std::sync::Arc;

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use cellar_base::identity::LogId;
use cellar_base::table_attributes::{
    FEED_PARTITION_KEY, FEED_SORT_KEY, FIRST_PARTITION, NEXT_INDEX,
};
use cellar_base::{record::Attribute, record::Item, record::item_bytes};
use cellar_catalog::feed::{self, Checkpoint, Feed, Mark};
use cellar_catalog::records::feed::{
    PARTITIONS, decode_item, decode_mark, decode_partition, encode_item, encode_partition,
    feed_partition_key, mark_key, offset_sort,
};
use cellar_catalog::records::list::{self, list_partition};
use cellar_catalog::stream::StreamName;
use cellar_catalog::{spreadsheet::ListEntry, spreadsheet::Person};
use cellar_engine::meter::Meter;
use cellar_engine::ports::{FeedTable, FeedWriteOutcome, ListPage, Lists, PortError};

use super::capacity::{CapacityMeter, is_condition_failed, write_units};
use super::items::{from_attributes, to_attributes, to_value};
use crate::outcome::port_error;

/// The Feed table.
#[derive(Debug, Clone)]
pub struct DynamoFeed {
    pub(super) client: Client,
    pub(super) table: String,
    pub(super) capacity: CapacityMeter,
}

impl DynamoFeed {
    /// Uses the table named `table`. Requests are counted on `meter`.
    #[must_use]
    pub fn named(table: impl Into<String>, client: Client, meter: Arc<Meter>) -> Self {
        Self { client, table: table.into(), capacity: CapacityMeter::new(meter) }
    }

    /// Puts a record if a condition on the attribute `name` is met. The condition refers to the
    /// attribute as `#a` and to `value` as `:a`.
    async fn put(
        &self,
        record: Item,
        condition: &str,
        name: &str,
        value: Option<Attribute>,
    ) -> FeedWriteOutcome {
        let units = write_units(item_bytes(&record));
        let mut put = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(to_attributes(record)))
            .condition_expression(condition)
            .expression_attribute_names("#a", name)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        if let Some(value) = value {
            put = put.expression_attribute_values(":a", to_value(value));
        }
        let Err(error) = self.capacity.count(put.send().await) else {
            return FeedWriteOutcome::Done;
        };
        if is_condition_failed(&error) {
            self.capacity.count_rejected(units);
            return FeedWriteOutcome::Exists;
        }
        let error = port_error(&error);
        if error.temporary {
            FeedWriteOutcome::Unknown(error)
        } else {
            FeedWriteOutcome::Failed(error)
        }
    }

    /// Reads a record by key with strong consistency.
    pub(super) async fn get(&self, key: Item) -> Result<Option<Item>, PortError> {
        let get = self
            .client
            .get_item()
            .table_name(&self.table)
            .set_key(Some(to_attributes(key)))
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let reply = self.capacity.count_reply(get.send().await)?;
        reply.item().map(from_attributes).transpose()
    }

    async fn put_new(&self, record: Item) -> FeedWriteOutcome {
        self.put(record, "attribute_not_exists(#a)", FEED_PARTITION_KEY, None).await
    }

    fn query_partition(&self, partition: String) -> QueryFluentBuilder {
        self.client
            .query()
            .table_name(&self.table)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .expression_attribute_names("#p", FEED_PARTITION_KEY)
            .expression_attribute_values(":p", to_value(Attribute::Text(partition)))
    }

    /// Returns the last record of a partition.
    async fn last(&self, partition: String, consistent: bool) -> Result<Option<Item>, PortError> {
        let query = self.query_partition(partition).key_condition_expression("#p = :p");
        let query = query.consistent_read(consistent).scan_index_forward(false).limit(1);
        Ok(self.read_records(query).await?.pop())
    }

    async fn read_records(&self, query: QueryFluentBuilder) -> Result<Vec<Item>, PortError> {
        let reply = self.capacity.count_reply(query.send().await)?;
        reply.items().iter().map(from_attributes).collect()
    }
}

fn with_limit(query: QueryFluentBuilder, limit: u32) -> QueryFluentBuilder {
    query.limit(i32::try_from(limit).unwrap_or(i32::MAX))
}

#[async_trait]
impl FeedTable for DynamoFeed {
    async fn newest_partition(&self, consistent: bool) -> Result<Option<(u64, Feed)>, PortError> {
        let last = self.last(PARTITIONS.to_owned(), consistent).await?;
        Ok(last.as_ref().map(decode_partition).transpose()?)
    }

    async fn begin_partition(&self, partition: u64, feed: Feed) -> FeedWriteOutcome {
        self.put_new(encode_partition(partition, feed)).await
    }

    async fn last_item(&self, partition: u64) -> Result<Option<(u64, feed::Item)>, PortError> {
        let last = self.last(feed_partition_key(partition), true).await?;
        Ok(last.as_ref().map(decode_item).transpose()?)
    }

    async fn put_item(&self, at: Checkpoint, item: &feed::Item) -> FeedWriteOutcome {
        match encode_item(at, item) {
            Ok(record) => self.put_new(record).await,
            Err(error) => FeedWriteOutcome::Failed(error.into()),
        }
    }

    async fn items(
        &self,
        from: Checkpoint,
        limit: u32,
        consistent: bool,
    ) -> Result<Vec<(u64, feed::Item)>, PortError> {
        let query = self
            .query_partition(feed_partition_key(from.partition()))
            .key_condition_expression("#p = :p AND #i >= :i")
            .expression_attribute_names("#i", FEED_SORT_KEY)
            .expression_attribute_values(
                ":i",
                to_value(Attribute::Text(offset_sort(from.offset()))),
            )
            .consistent_read(consistent);
        let records = self.read_records(with_limit(query, limit)).await?;
        Ok(records.iter().map(decode_item).collect::<Result<_, _>>()?)
    }

    async fn mark(&self, stream: &StreamName) -> Result<Option<Mark>, PortError> {
        let record = self.get(mark_key(stream)).await?;
        Ok(record.as_ref().map(decode_mark).transpose()?.map(|(_, mark)| mark))
    }

    async fn raise_mark(&self, stream: &StreamName, mark: Mark) -> Result<(), PortError> {
        let number = |number| to_value(Attribute::Number(number));
        let update = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(to_attributes(mark_key(stream))))
            .update_expression("SET #n = :n, #o = :o")
            .condition_expression("attribute_not_exists(#n) OR #o < :o OR (#o = :o AND #n < :n)")
            .expression_attribute_names("#n", NEXT_INDEX)
            .expression_attribute_names("#o", FIRST_PARTITION)
            .expression_attribute_values(":n", number(mark.next))
            .expression_attribute_values(":o", number(mark.first_partition))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        match self.capacity.count(update.send().await) {
            Ok(_) => Ok(()),
            // The stored high-water mark is already at least as high.
            Err(error) if is_condition_failed(&error) => {
                self.capacity.count_rejected(1);
                Ok(())
            }
            Err(error) => Err(port_error(&error)),
        }
    }
}

#[async_trait]
impl Lists for DynamoFeed {
    async fn put_listed(&self, person: &Person, entry: &ListEntry) -> Result<(), PortError> {
        let record = list::encode(person, entry);
        let condition = "attribute_not_exists(#a) OR #a <= :a";
        let version = Some(Attribute::Number(entry.version));
        match self.put(record, condition, NEXT_INDEX, version).await {
            FeedWriteOutcome::Done | FeedWriteOutcome::Exists => Ok(()),
            FeedWriteOutcome::Unknown(error) | FeedWriteOutcome::Failed(error) => Err(error),
        }
    }

    async fn listed(
        &self,
        person: &Person,
        after: Option<LogId>,
        limit: u32,
    ) -> Result<ListPage, PortError> {
        let query = self.query_partition(list_partition(person));
        let query = match after {
            None => query.key_condition_expression("#p = :p"),
            Some(after) => query
                .key_condition_expression("#p = :p AND #i > :i")
                .expression_attribute_names("#i", FEED_SORT_KEY)
                .expression_attribute_values(":i", to_value(Attribute::Text(after.to_string()))),
        };
        let reply = self.capacity.count_reply(with_limit(query, limit).send().await)?;
        let decode = |item| Ok(list::decode(&from_attributes(item)?)?);
        let entries = reply.items().iter().map(decode).collect::<Result<_, PortError>>()?;
        Ok(ListPage { entries, more: reply.last_evaluated_key().is_some() })
    }
}
