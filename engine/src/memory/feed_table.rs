//! An in-memory Feed table. It has the same records and conditions as the DynamoDB table.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cellar_base::record::{Attribute, Item};
use cellar_base::table_attributes::{FEED_PARTITION_KEY, FEED_SORT_KEY};
use cellar_catalog::feed::{self, Checkpoint, Feed, Mark};
use cellar_catalog::records::feed::{
    PARTITIONS, decode_item, decode_mark, decode_partition, encode_item, encode_mark,
    encode_partition, feed_partition_key, item_key, mark_key, offset_sort,
};
use cellar_catalog::records::webhook;
use cellar_catalog::stream::StreamName;
use cellar_catalog::webhook::WebhookProgress;

use crate::ports::{FeedTable, FeedWriteOutcome, PortError, ReadConsistency, WebhookProgresses};

type Key = (String, String);
type Items = BTreeMap<Key, Item>;

/// An in-memory Feed table. All reads are strongly consistent.
#[derive(Debug, Default)]
pub struct MemoryFeed {
    items: Mutex<Items>,
}

fn key_of(record: &Item) -> Key {
    (text_attribute(record, FEED_PARTITION_KEY), text_attribute(record, FEED_SORT_KEY))
}

fn text_attribute(record: &Item, attribute: &str) -> String {
    match record.get(attribute) {
        Some(Attribute::Text(text)) => text.clone(),
        _ => String::new(),
    }
}

impl MemoryFeed {
    pub(super) fn lock(&self) -> MutexGuard<'_, Items> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(crate) fn copied(&self) -> Self {
        Self { items: Mutex::new(self.lock().clone()) }
    }

    #[cfg(test)]
    pub(crate) fn all_records(&self) -> Vec<Item> {
        self.lock().values().cloned().collect()
    }

    fn put_new(&self, record: Item) -> FeedWriteOutcome {
        let mut items = self.lock();
        let key = key_of(&record);
        if items.contains_key(&key) {
            return FeedWriteOutcome::Exists;
        }
        items.insert(key, record);
        FeedWriteOutcome::Done
    }

    fn last_record(&self, partition: &str) -> Option<Item> {
        let items = self.lock();
        let from_partition = items.range((partition.to_owned(), String::new())..);
        let in_partition =
            from_partition.take_while(|((record_partition, _), _)| record_partition == partition);
        in_partition.last().map(|(_, record)| record.clone())
    }

    /// Removes an item to simulate data loss.
    pub fn lose(&self, at: Checkpoint) {
        self.lock().remove(&key_of(&item_key(at)));
    }
}

#[async_trait]
impl FeedTable for MemoryFeed {
    async fn newest_partition(&self, _: ReadConsistency) -> Result<Option<(u64, Feed)>, PortError> {
        let newest_record = self.last_record(PARTITIONS);
        Ok(newest_record.as_ref().map(decode_partition).transpose()?)
    }

    async fn begin_partition(&self, partition: u64, feed: Feed) -> FeedWriteOutcome {
        self.put_new(encode_partition(partition, feed))
    }

    async fn last_item(&self, partition: u64) -> Result<Option<(u64, feed::Item)>, PortError> {
        let last_record = self.last_record(&feed_partition_key(partition));
        Ok(last_record.as_ref().map(decode_item).transpose()?)
    }

    async fn put_item(&self, at: Checkpoint, item: &feed::Item) -> FeedWriteOutcome {
        match encode_item(at, item) {
            Ok(record) => self.put_new(record),
            Err(error) => FeedWriteOutcome::Failed(error.into()),
        }
    }

    async fn items(
        &self,
        from: Checkpoint,
        limit: u32,
        _: ReadConsistency,
    ) -> Result<Vec<(u64, feed::Item)>, PortError> {
        let partition = feed_partition_key(from.partition());
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let items = self.lock();
        let mut page = Vec::new();
        for ((record_partition, _), record) in
            items.range((partition.clone(), offset_sort(from.offset()))..)
        {
            if *record_partition != partition || page.len() == limit {
                break;
            }
            page.push(decode_item(record)?);
        }
        Ok(page)
    }

    async fn mark(&self, stream: &StreamName) -> Result<Option<Mark>, PortError> {
        let items = self.lock();
        let record = items.get(&key_of(&mark_key(stream)));
        Ok(record.map(decode_mark).transpose()?.map(|(_, mark)| mark))
    }

    async fn raise_mark(&self, stream: &StreamName, mark: Mark) -> Result<(), PortError> {
        let mut items = self.lock();
        let key = key_of(&mark_key(stream));
        let stored_mark = items.get(&key).map(decode_mark).transpose()?;
        // A mark of a later feed is always greater than a mark of an earlier feed, even if its
        // index is lower.
        let is_higher = match stored_mark {
            Some((_, stored_mark)) => stored_mark < mark,
            None => true,
        };
        if is_higher {
            items.insert(key, encode_mark(stream, mark));
        }
        Ok(())
    }
}

#[async_trait]
impl WebhookProgresses for MemoryFeed {
    async fn progress(&self) -> Result<Option<WebhookProgress>, PortError> {
        let items = self.lock();
        let record = items.get(&key_of(&webhook::key()));
        Ok(record.map(webhook::decode).transpose()?)
    }

    async fn advance(
        &self,
        from: Option<WebhookProgress>,
        to: WebhookProgress,
    ) -> Result<bool, PortError> {
        let mut items = self.lock();
        let key = key_of(&webhook::key());
        let stored_progress = items.get(&key).map(webhook::decode).transpose()?;
        if stored_progress != from {
            return Ok(false);
        }
        items.insert(key, webhook::encode(to));
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use cellar_catalog::records::feed::partition_sort;

    use super::*;
    use crate::contract;

    #[test]
    fn partitions_sort_as_numbers() {
        assert!(partition_sort(9) < partition_sort(10));
        assert!(offset_sort(99_999) < offset_sort(100_000));
    }

    #[tokio::test]
    async fn memory_keeps_the_contract() {
        contract::feed_table(&MemoryFeed::default()).await;
        contract::lists(&MemoryFeed::default()).await;
        contract::webhook(&MemoryFeed::default()).await;
    }
}
