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
    /// A record with the same key exists, so nothing was written.
    Exists,
    /// The record may have been written, or may still be written later.
    Unknown(PortError),
    /// The record was not written, and a retry cannot succeed.
    Failed(PortError),
}

/// The Feed table, whose items and partitions are immutable. Adapters must not retry writes: the
/// indexing state machine decides how to proceed after an unknown outcome.
#[async_trait]
pub trait FeedTable: Send + Sync {
    /// Returns the number and the feed of the latest partition, or `None` if the table has no
    /// partition.
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
    /// Returns the same errors as [`FeedTable::newest_partition`].
    async fn last_item(&self, partition: u64) -> Result<Option<(u64, Item)>, PortError>;

    /// Writes an item if no item exists at its offset.
    async fn put_item(&self, at: Checkpoint, item: &Item) -> FeedWriteOutcome;

    /// Returns at most `limit` items of a partition in ascending order, starting at checkpoint
    /// `from`. The result is empty only if there are no more items. An eventually consistent result
    /// may have gaps.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`FeedTable::newest_partition`].
    async fn items(
        &self,
        from: Checkpoint,
        limit: u32,
        consistency: ReadConsistency,
    ) -> Result<Vec<(u64, Item)>, PortError>;

    /// Returns a stream's high-water mark, which is the index up to which the feed contains the
    /// stream's events. Returns `None` if the stream was never indexed. The read is strongly
    /// consistent.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`FeedTable::newest_partition`].
    async fn mark(&self, stream: &StreamName) -> Result<Option<Mark>, PortError>;

    /// Raises a stream's high-water mark. Has no effect if the stored mark is at least as high or
    /// belongs to a later feed. Idempotent.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`FeedTable::newest_partition`].
    async fn raise_mark(&self, stream: &StreamName, mark: Mark) -> Result<(), PortError>;
}
