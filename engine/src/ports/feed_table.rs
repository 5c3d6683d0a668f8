//! Port of the Feed table.

use async_trait::async_trait;
use cellar_base::consistency::ReadConsistency;
use cellar_catalog::feed::{Checkpoint, Feed, Item, Mark};
use cellar_catalog::stream::StreamName;

use super::PortError;

/// Outcome of a conditional put to the Feed table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedWriteOutcome {
    /// The record was written durably.
    Done,
    /// A record with the same key already exists, so nothing was written.
    Exists,
    /// The record may have been written, or may still be written later.
    Unknown(PortError),
    /// The record was not written, and a retry cannot succeed.
    Failed(PortError),
}

/// The Feed table. Its items and partitions are immutable. Adapters must not retry writes, since
/// the indexing state machine decides what to do after an unknown outcome.
#[async_trait]
pub trait FeedTable: Send + Sync {
    /// Returns the latest partition and its feed, or `None` if the table has no partition.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn newest_partition(
        &self,
        consistency: ReadConsistency,
    ) -> Result<Option<(u64, Feed)>, PortError>;

    /// Creates a partition if it does not exist.
    async fn begin_partition(&self, partition: u64, feed: Feed) -> FeedWriteOutcome;

    /// Returns the last item of a partition and its offset. The read is strongly consistent.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn last_item(&self, partition: u64) -> Result<Option<(u64, Item)>, PortError>;

    /// Writes an item unless an item already exists at its offset.
    async fn put_item(&self, at: Checkpoint, item: &Item) -> FeedWriteOutcome;

    /// Returns at most `limit` items of a partition in ascending order, starting at checkpoint
    /// `from`. The result is empty only if there are no more items. Items may be missing from an
    /// eventually consistent result.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn items(
        &self,
        from: Checkpoint,
        limit: u32,
        consistency: ReadConsistency,
    ) -> Result<Vec<(u64, Item)>, PortError>;

    /// Returns the high-water mark of a stream: all of the stream's events with lower indexes are
    /// in the feed. Returns `None` if the stream was never indexed. The read is strongly
    /// consistent.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn mark(&self, stream: &StreamName) -> Result<Option<Mark>, PortError>;

    /// Raises the high-water mark of a stream. Has no effect if the stored mark is already as high
    /// or belongs to a later feed.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails.
    async fn raise_mark(&self, stream: &StreamName, mark: Mark) -> Result<(), PortError>;
}
