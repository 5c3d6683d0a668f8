//! Port of the Feed table.

use async_trait::async_trait;
use cellar_catalog::feed::{Checkpoint, Feed, Item, Mark};
use cellar_catalog::stream::StreamName;

use super::PortError;

/// Outcome of a conditional put to the Feed table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedWriteOutcome {
    /// The record was written durably.
    Done,
    /// A record with the same key exists; nothing was written.
    Exists,
    /// The record may or may not have been written, or may still be written.
    Unknown(PortError),
    /// The record was not written, and a retry cannot succeed.
    Failed(PortError),
}

/// The Feed table. Items and partitions never change. Adapters must not retry writes: the indexing
/// machine decides what an unknown outcome allows.
#[async_trait]
pub trait FeedTable: Send + Sync {
    /// Returns the newest partition and its feed; `None` before the first partition.
    ///
    /// # Errors
    /// [`PortError`] if the request fails or a record is unreadable.
    async fn newest_partition(&self, consistent: bool) -> Result<Option<(u64, Feed)>, PortError>;

    /// Creates a partition if it does not exist.
    async fn begin_partition(&self, partition: u64, feed: Feed) -> FeedWriteOutcome;

    /// Reads the last item of a partition and its offset with strong consistency.
    ///
    /// # Errors
    /// As [`FeedTable::newest_partition`].
    async fn last_item(&self, partition: u64) -> Result<Option<(u64, Item)>, PortError>;

    /// Writes an item if its place is free.
    async fn put_item(&self, at: Checkpoint, item: &Item) -> FeedWriteOutcome;

    /// Returns items of a partition from `from` on, in order, at most `limit`. Empty only if there
    /// are no more items. An eventually consistent read may have gaps.
    ///
    /// # Errors
    /// As [`FeedTable::newest_partition`].
    async fn items(
        &self,
        from: Checkpoint,
        limit: u32,
        consistent: bool,
    ) -> Result<Vec<(u64, Item)>, PortError>;

    /// Reads with strong consistency how far a stream is indexed; `None` if the stream was never
    /// indexed.
    ///
    /// # Errors
    /// As [`FeedTable::newest_partition`].
    async fn mark(&self, stream: &StreamName) -> Result<Option<Mark>, PortError>;

    /// Raises the mark of a stream, unless the stored mark is as high or belongs to a later feed.
    /// Idempotent.
    ///
    /// # Errors
    /// As [`FeedTable::newest_partition`].
    async fn raise_mark(&self, stream: &StreamName, mark: Mark) -> Result<(), PortError>;
}
