//! Reads the feed from a checkpoint.

use std::sync::Arc;

use cellar_base::limits::{FEED_PARTITIONS_PER_INCARNATION, MAX_FEED_PAGE_ITEMS};
use cellar_catalog::feed::{Checkpoint, Content, Feed, FeedId, Item, Span};

use super::error::FeedError;
use crate::ports::{FeedTable, ReadConsistency};

/// Reads the feed of a stack.
#[derive(Clone)]
pub struct FeedReader {
    index: Arc<dyn FeedTable>,
    tables_incarnation: u32,
}

/// One page of the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedPage {
    /// Feed id, or `None` if no event has been indexed yet.
    pub feed: Option<FeedId>,
    /// Items and their checkpoints. Consecutive items need not have consecutive checkpoints.
    pub items: Vec<FeedItem>,
    /// Checkpoint at which the next page starts.
    pub next: Checkpoint,
    /// Whether this page reaches the end of the feed.
    pub is_end: bool,
}

/// An item of the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedItem {
    pub at: Checkpoint,
    /// Time at which the events were added to the feed, in milliseconds since the Unix epoch.
    pub time_ms: u64,
    /// The appended events.
    pub spans: Vec<Span>,
}

type OffsetItems = Vec<(u64, Item)>;

impl FeedReader {
    /// Creates a reader. `tables_incarnation` is the number of times that the tables were restored.
    #[must_use]
    pub fn new(index: Arc<dyn FeedTable>, tables_incarnation: u32) -> Self {
        Self { index, tables_incarnation }
    }

    /// Returns a page of the feed that starts at `requested_start`, or at the beginning of the feed
    /// if `requested_start` is `None`. The page contains at most `limit` and at most
    /// `MAX_FEED_PAGE_ITEMS` items. If `requested_feed` is set, it must be the id of the current
    /// feed.
    ///
    /// A call usually reads the latest partition and the items once each. Each read costs half a
    /// read unit if the items are small.
    ///
    /// # Errors
    ///
    /// Returns [`FeedError`] if the checkpoint is invalid, the feed is damaged or the store fails.
    pub async fn page(
        &self,
        requested_start: Option<Checkpoint>,
        requested_feed: Option<FeedId>,
        limit: u32,
    ) -> Result<FeedPage, FeedError> {
        let limit = limit.clamp(1, MAX_FEED_PAGE_ITEMS);
        let Some((partition, current_feed)) =
            self.find_valid_newest_partition(requested_start, requested_feed).await?
        else {
            return self.empty_page(requested_start, requested_feed);
        };
        let feed_start =
            Checkpoint::at(current_feed.first_partition, 0).map_err(|_| FeedError::Beyond)?;
        let mut page = FeedPage {
            feed: Some(current_feed.id),
            items: Vec::new(),
            next: requested_start.unwrap_or(feed_start),
            is_end: false,
        };
        while !page.is_end && page.items.is_empty() {
            self.add_items(&mut page, partition, limit).await?;
        }
        Ok(page)
    }

    /// Returns the latest partition and its feed, or `None` if the feed is empty. Returns an error
    /// if the requested checkpoint or feed does not exist.
    async fn find_valid_newest_partition(
        &self,
        requested_start: Option<Checkpoint>,
        requested_feed: Option<FeedId>,
    ) -> Result<Option<(u64, Feed)>, FeedError> {
        let Some((partition, current_feed)) =
            self.index.newest_partition(ReadConsistency::Eventual).await?
        else {
            return Ok(None);
        };
        if check_checkpoint(requested_start, requested_feed, partition, current_feed).is_ok() {
            return Ok(Some((partition, current_feed)));
        }
        // The eventually consistent read may have missed a new partition.
        let newest_partition = self.index.newest_partition(ReadConsistency::Strong).await?;
        let (partition, current_feed) = newest_partition.unwrap_or((partition, current_feed));
        check_checkpoint(requested_start, requested_feed, partition, current_feed)?;
        Ok(Some((partition, current_feed)))
    }

    fn empty_page(
        &self,
        requested_start: Option<Checkpoint>,
        requested_feed: Option<FeedId>,
    ) -> Result<FeedPage, FeedError> {
        let first_partition =
            u64::from(self.tables_incarnation).saturating_mul(FEED_PARTITIONS_PER_INCARNATION);
        let feed_start = Checkpoint::at(first_partition, 0).map_err(|_| FeedError::Beyond)?;
        let requested_start = requested_start.unwrap_or(feed_start);
        if requested_feed.is_some() || requested_start < feed_start {
            return Err(FeedError::AnotherFeed);
        }
        if requested_start > feed_start {
            return Err(FeedError::Beyond);
        }
        Ok(FeedPage { feed: None, items: Vec::new(), next: feed_start, is_end: true })
    }

    /// The first item is at the page's `next` checkpoint.
    async fn add_items(
        &self,
        page: &mut FeedPage,
        newest_partition: u64,
        limit: u32,
    ) -> Result<(), FeedError> {
        let partition = page.next.partition();
        let items = self.read_items_from(page.next, newest_partition, limit).await?;
        page.is_end = items.is_empty();
        for (offset, item) in items {
            let checkpoint = Checkpoint::at(partition, offset).map_err(|_| FeedError::Beyond)?;
            match item.content {
                Content::Spans(spans) => {
                    page.items.push(FeedItem { at: checkpoint, time_ms: item.time_ms, spans });
                    page.next = checkpoint.next().map_err(|_| FeedError::Beyond)?;
                }
                Content::End(_) => {
                    let next_partition = partition.saturating_add(1);
                    page.next = Checkpoint::at(next_partition, 0).map_err(|_| FeedError::Beyond)?;
                    page.is_end = false;
                }
            }
        }
        Ok(())
    }

    /// If items seem to be missing, retries with a strongly consistent read.
    async fn read_items_from(
        &self,
        start: Checkpoint,
        newest_partition: u64,
        limit: u32,
    ) -> Result<OffsetItems, FeedError> {
        let is_newest_partition = start.partition() >= newest_partition;
        let read =
            |consistency| self.read_partition(start, is_newest_partition, limit, consistency);
        match read(ReadConsistency::Eventual).await {
            Err(FeedError::Beyond | FeedError::Damaged { .. }) => {
                read(ReadConsistency::Strong).await
            }
            result => result,
        }
    }

    /// Reads consecutive items of a partition, and the item before `start`. If that item does not
    /// exist, the checkpoint `start` is invalid. The result is empty only at the end of the feed.
    async fn read_partition(
        &self,
        start: Checkpoint,
        is_newest_partition: bool,
        limit: u32,
        consistency: ReadConsistency,
    ) -> Result<OffsetItems, FeedError> {
        let items = if start.offset() == 0 {
            self.consecutive_items(start, limit, consistency).await?
        } else {
            let preceding_number = start.number().saturating_sub(1);
            let preceding = Checkpoint::new(preceding_number).map_err(|_| FeedError::Beyond)?;
            let mut items = self.consecutive_items(preceding, limit + 1, consistency).await?;
            if items.is_empty() && is_newest_partition {
                return Err(FeedError::Beyond);
            }
            if items.is_empty() {
                return Err(FeedError::Damaged { at: preceding });
            }
            items.split_off(1)
        };
        if items.is_empty() && !is_newest_partition {
            // Every partition except the latest must have an end item, but this one does not.
            return Err(FeedError::Damaged { at: start });
        }
        Ok(items)
    }

    async fn consecutive_items(
        &self,
        start: Checkpoint,
        limit: u32,
        consistency: ReadConsistency,
    ) -> Result<OffsetItems, FeedError> {
        let items = self.index.items(start, limit, consistency).await?;
        match first_missing_offset(&items, start.offset()) {
            Some(missing_offset) => {
                let at = Checkpoint::at(start.partition(), missing_offset).unwrap_or(start);
                Err(FeedError::Damaged { at })
            }
            None => Ok(items),
        }
    }
}

fn first_missing_offset(items: &[(u64, Item)], first_offset: u64) -> Option<u64> {
    for (expected_offset, (offset, _)) in (first_offset..).zip(items) {
        if *offset != expected_offset {
            return Some(expected_offset);
        }
    }
    None
}

fn check_checkpoint(
    requested_start: Option<Checkpoint>,
    requested_feed: Option<FeedId>,
    newest_partition: u64,
    current_feed: Feed,
) -> Result<(), FeedError> {
    if requested_feed.is_some_and(|requested_feed| requested_feed != current_feed.id) {
        return Err(FeedError::AnotherFeed);
    }
    let Some(requested_start) = requested_start else { return Ok(()) };
    if requested_start.partition() < current_feed.first_partition {
        return Err(FeedError::AnotherFeed);
    }
    // A reader may already have the checkpoint of the next partition's start, even if that
    // partition does not exist yet.
    let is_next_partition_start = requested_start.partition() == newest_partition.saturating_add(1)
        && requested_start.offset() == 0;
    if requested_start.partition() <= newest_partition || is_next_partition_start {
        return Ok(());
    }
    Err(FeedError::Beyond)
}
