//! The simulated Feed table.

use std::sync::Arc;

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_base::limits::FEED_PARTITION_ITEMS;
use cellar_catalog::feed::{Checkpoint, Feed, Item, Mark};
use cellar_catalog::stream::StreamName;
use cellar_catalog::{spreadsheet::ListEntry, spreadsheet::Person};
use cellar_engine::ports::{
    FeedTable, FeedWriteOutcome, ListPage, Lists, PortError, ReadConsistency,
};

use crate::process::Process;
use crate::rare::RareEvent;

impl Process {
    fn counted_put(&self, outcome: &FeedWriteOutcome) {
        if *outcome == FeedWriteOutcome::Exists {
            self.world().count(RareEvent::PlaceTaken);
        }
    }
}

#[async_trait]
impl FeedTable for Process {
    async fn newest_partition(
        &self,
        consistency: ReadConsistency,
    ) -> Result<Option<(u64, Feed)>, PortError> {
        let process = self.clone();
        let effect = async move {
            let world = process.world();
            let leader = world.index.newest_partition(ReadConsistency::Strong).await?;
            if !process.is_stale(consistency) {
                return Ok(leader);
            }
            let shown = world.partitions_shown.range(.., world.time.elapsed_ms()).pop();
            Ok(process.count_if_stale(shown, &leader))
        };
        let what = format!("newest partition, {consistency:?}");
        self.call(what, effect).await.and_then(|newest| newest)
    }

    async fn begin_partition(&self, partition: u64, feed: Feed) -> FeedWriteOutcome {
        let process = self.clone();
        let effect = async move {
            let outcome = process.world().index.begin_partition(partition, feed).await;
            if outcome == FeedWriteOutcome::Done {
                process.world().partition_begun(partition, feed);
            }
            process.counted_put(&outcome);
            outcome
        };
        let what = format!("begin partition {partition}");
        self.call(what, effect).await.unwrap_or_else(FeedWriteOutcome::Unknown)
    }

    async fn last_item(&self, partition: u64) -> Result<Option<(u64, Item)>, PortError> {
        let world = Arc::clone(self.world());
        let effect = async move { world.index.last_item(partition).await };
        self.call(format!("last item of partition {partition}"), effect).await.and_then(|last| last)
    }

    async fn put_item(&self, at: Checkpoint, item: &Item) -> FeedWriteOutcome {
        let (process, item) = (self.clone(), item.clone());
        let effect = async move {
            let outcome = process.world().index.put_item(at, &item).await;
            if outcome == FeedWriteOutcome::Done {
                process.world().item_put(at, &item);
            }
            process.counted_put(&outcome);
            outcome
        };
        let what = format!("put item {at}");
        self.call(what, effect).await.unwrap_or_else(FeedWriteOutcome::Unknown)
    }

    async fn items(
        &self,
        from: Checkpoint,
        limit: u32,
        consistency: ReadConsistency,
    ) -> Result<Vec<(u64, Item)>, PortError> {
        let process = self.clone();
        let effect = async move {
            let world = process.world();
            let leader = world.index.items(from, limit, ReadConsistency::Strong).await?;
            if !process.is_stale(consistency) {
                return Ok(leader);
            }
            let last = Checkpoint::at(from.partition(), FEED_PARTITION_ITEMS - 1).unwrap_or(from);
            let shown = world.items_shown.range(from..=last, world.time.elapsed_ms());
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            let shown = shown.into_iter().take(limit).map(|(at, item)| (at.offset(), item));
            Ok(process.count_if_stale(shown.collect(), &leader))
        };
        let what = format!("items from {from}, {consistency:?}");
        self.call(what, effect).await.and_then(|items| items)
    }

    async fn mark(&self, stream: &StreamName) -> Result<Option<Mark>, PortError> {
        let (world, of) = (Arc::clone(self.world()), stream.clone());
        let effect = async move { world.index.mark(&of).await };
        self.call(format!("mark of {stream}"), effect).await.and_then(|mark| mark)
    }

    async fn raise_mark(&self, stream: &StreamName, mark: Mark) -> Result<(), PortError> {
        let (world, of) = (Arc::clone(self.world()), stream.clone());
        let effect = async move { world.index.raise_mark(&of, mark).await };
        let what = format!("raise the mark of {stream} to {}", mark.next);
        self.call(what, effect).await.and_then(|raised| raised)
    }
}

#[async_trait]
impl Lists for Process {
    async fn put_listed(&self, person: &Person, entry: &ListEntry) -> Result<(), PortError> {
        let (world, of, entry) = (Arc::clone(self.world()), person.clone(), entry.clone());
        let what = format!("list {} of {} events for {person}", entry.log, entry.version);
        let effect = async move { world.index.put_listed(&of, &entry).await };
        self.call(what, effect).await.and_then(|put| put)
    }

    async fn listed(
        &self,
        person: &Person,
        after: Option<LogId>,
        limit: u32,
    ) -> Result<ListPage, PortError> {
        let (world, of) = (Arc::clone(self.world()), person.clone());
        let effect = async move { world.index.listed(&of, after, limit).await };
        self.call(format!("the list of {person}"), effect).await.and_then(|page| page)
    }
}
