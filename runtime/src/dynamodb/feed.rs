//! DynamoDB adapter for the Feed table, which stores the feed and the spreadsheet lists.

use std::sync::Arc;

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};
use cellar_base::identity::LogId;
use cellar_base::record::{Attribute, Item};
use cellar_base::table_attributes::{
    FEED_PARTITION_KEY, FEED_SORT_KEY, FIRST_PARTITION, NEXT_INDEX,
};
use cellar_catalog::feed::{self, Checkpoint, Feed, Mark};
use cellar_catalog::records::feed::{
    PARTITIONS, decode_item, decode_mark, decode_partition, encode_item, encode_partition,
    feed_partition_key, mark_key, offset_sort,
};
use cellar_catalog::records::list::{self, list_partition};
use cellar_catalog::spreadsheet::{ListEntry, Person};
use cellar_catalog::stream::StreamName;
use cellar_engine::meter::Meter;
use cellar_engine::ports::{
    FeedTable, FeedWriteOutcome, ListPage, Lists, PortError, ReadConsistency, WriteOutcome,
};

use super::capacity::{CapacityMeter, MIN_WRITE_UNITS};
use super::conditional::{count_conditional_write, put_record};
use super::items::{self, from_sdk_item, to_sdk_item, to_sdk_limit, to_sdk_value};

/// The Feed table.
#[derive(Debug, Clone)]
pub struct DynamoFeed {
    pub(super) client: Client,
    pub(super) table_name: String,
    pub(super) capacity: CapacityMeter,
}

impl DynamoFeed {
    /// Uses the Feed table with the given name. All requests are counted on `meter`.
    #[must_use]
    pub fn named(table_name: impl Into<String>, client: Client, meter: Arc<Meter>) -> Self {
        Self { client, table_name: table_name.into(), capacity: CapacityMeter::new(meter) }
    }

    /// Reads the record with the given key with strong consistency.
    pub(super) async fn get_record(&self, key: Item) -> Result<Option<Item>, PortError> {
        let get = self
            .client
            .get_item()
            .table_name(&self.table_name)
            .set_key(Some(to_sdk_item(key)))
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let reply = self.capacity.count_reply(get.send().await)?;
        reply.item().map(from_sdk_item).transpose()
    }

    async fn put_new_record(&self, record: Item) -> FeedWriteOutcome {
        let put_if_absent = self
            .client
            .put_item()
            .table_name(&self.table_name)
            .condition_expression("attribute_not_exists(#p)")
            .expression_attribute_names("#p", FEED_PARTITION_KEY);
        match put_record(&self.capacity, put_if_absent, record).await {
            WriteOutcome::Written => FeedWriteOutcome::Done,
            WriteOutcome::Refused => FeedWriteOutcome::Exists,
            WriteOutcome::Unknown(error) => FeedWriteOutcome::Unknown(error),
            WriteOutcome::Failed(error) => FeedWriteOutcome::Failed(error),
        }
    }

    fn query_partition(&self, partition_key: String) -> QueryFluentBuilder {
        self.client
            .query()
            .table_name(&self.table_name)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .expression_attribute_names("#p", FEED_PARTITION_KEY)
            .expression_attribute_values(":p", to_sdk_value(Attribute::Text(partition_key)))
    }

    async fn last_record(
        &self,
        partition_key: String,
        consistency: ReadConsistency,
    ) -> Result<Option<Item>, PortError> {
        let query = self
            .query_partition(partition_key)
            .key_condition_expression("#p = :p")
            .consistent_read(consistency.is_strong())
            .scan_index_forward(false)
            .limit(1);
        Ok(self.read_records(query).await?.pop())
    }

    async fn read_records(&self, query: QueryFluentBuilder) -> Result<Vec<Item>, PortError> {
        let reply = self.capacity.count_reply(query.send().await)?;
        reply.items().iter().map(from_sdk_item).collect()
    }
}

#[async_trait]
impl FeedTable for DynamoFeed {
    async fn newest_partition(
        &self,
        consistency: ReadConsistency,
    ) -> Result<Option<(u64, Feed)>, PortError> {
        let last_record = self.last_record(PARTITIONS.to_owned(), consistency).await?;
        Ok(last_record.as_ref().map(decode_partition).transpose()?)
    }

    async fn begin_partition(&self, partition: u64, feed: Feed) -> FeedWriteOutcome {
        self.put_new_record(encode_partition(partition, feed)).await
    }

    async fn last_item(&self, partition: u64) -> Result<Option<(u64, feed::Item)>, PortError> {
        let last_record =
            self.last_record(feed_partition_key(partition), ReadConsistency::Strong).await?;
        Ok(last_record.as_ref().map(decode_item).transpose()?)
    }

    async fn put_item(&self, at: Checkpoint, item: &feed::Item) -> FeedWriteOutcome {
        match encode_item(at, item) {
            Ok(record) => self.put_new_record(record).await,
            Err(error) => FeedWriteOutcome::Failed(error.into()),
        }
    }

    async fn items(
        &self,
        start: Checkpoint,
        limit: u32,
        consistency: ReadConsistency,
    ) -> Result<Vec<(u64, feed::Item)>, PortError> {
        let start_sort_key = Attribute::Text(offset_sort(start.offset()));
        let query = self
            .query_partition(feed_partition_key(start.partition()))
            .key_condition_expression("#p = :p AND #i >= :i")
            .expression_attribute_names("#i", FEED_SORT_KEY)
            .expression_attribute_values(":i", to_sdk_value(start_sort_key))
            .consistent_read(consistency.is_strong())
            .limit(to_sdk_limit(limit));
        let records = self.read_records(query).await?;
        Ok(records.iter().map(decode_item).collect::<Result<_, _>>()?)
    }

    async fn mark(&self, stream: &StreamName) -> Result<Option<Mark>, PortError> {
        let Some(record) = self.get_record(mark_key(stream)).await? else { return Ok(None) };
        let (_stream, mark) = decode_mark(&record)?;
        Ok(Some(mark))
    }

    async fn raise_mark(&self, stream: &StreamName, mark: Mark) -> Result<(), PortError> {
        let number_value = |number| to_sdk_value(Attribute::Number(number));
        let update = self
            .client
            .update_item()
            .table_name(&self.table_name)
            .set_key(Some(to_sdk_item(mark_key(stream))))
            .update_expression("SET #n = :n, #o = :o")
            .condition_expression("attribute_not_exists(#n) OR #o < :o OR (#o = :o AND #n < :n)")
            .expression_attribute_names("#n", NEXT_INDEX)
            .expression_attribute_names("#o", FIRST_PARTITION)
            .expression_attribute_values(":n", number_value(mark.next))
            .expression_attribute_values(":o", number_value(mark.first_partition))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        // If the condition fails, the stored mark is already at least as high as the new mark.
        count_conditional_write(&self.capacity, update.send().await, MIN_WRITE_UNITS)?;
        Ok(())
    }
}

#[async_trait]
impl Lists for DynamoFeed {
    async fn put_listed(&self, person: &Person, entry: &ListEntry) -> Result<(), PortError> {
        let record = list::encode(person, entry);
        let version = to_sdk_value(Attribute::Number(entry.version));
        let put_unless_newer_exists = self
            .client
            .put_item()
            .table_name(&self.table_name)
            .condition_expression("attribute_not_exists(#v) OR #v <= :v")
            .expression_attribute_names("#v", NEXT_INDEX)
            .expression_attribute_values(":v", version);
        match put_record(&self.capacity, put_unless_newer_exists, record).await {
            WriteOutcome::Written | WriteOutcome::Refused => Ok(()),
            WriteOutcome::Unknown(error) | WriteOutcome::Failed(error) => Err(error),
        }
    }

    async fn listed(
        &self,
        person: &Person,
        after: Option<LogId>,
        limit: u32,
    ) -> Result<ListPage, PortError> {
        let list_query = self.query_partition(list_partition(person)).limit(to_sdk_limit(limit));
        let page_query = match after {
            None => list_query.key_condition_expression("#p = :p"),
            Some(last_log_id) => list_query
                .key_condition_expression("#p = :p AND #i > :i")
                .expression_attribute_names("#i", FEED_SORT_KEY)
                .expression_attribute_values(":i", AttributeValue::S(last_log_id.to_string())),
        };
        let reply = self.capacity.count_reply(page_query.send().await)?;
        let entries: Result<_, _> =
            reply.items().iter().map(|item| items::decode_item(item, list::decode)).collect();
        Ok(ListPage { entries: entries?, more: reply.last_evaluated_key().is_some() })
    }
}
