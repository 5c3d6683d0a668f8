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
    /// The write may have happened, or may still happen later.
    Unknown(PortError),
    /// The record was not written, and a retry cannot succeed.
    Failed(PortError),
}

/// The Feed table. Its items and partitions are immutable. Adapters must not retry writes: the
/// indexing state machine decides how to continue after an unknown outcome.
#[async_trait]
pub trait FeedTable: Send + Sync {
    /// Returns the newest partition and the feed that it belongs to; `None` if the table has no
    /// partition.
    ///
    /// # Errors
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn newest_partition(&self, consistent: bool) -> Result<Option<(u64, Feed)>, PortError>;

    /// Creates a partition if it does not exist.
    async fn begin_partition(&self, partition: u64, feed: Feed) -> FeedWriteOutcome;

    /// Returns the last item of a partition with its offset. The read is strongly consistent.
    ///
    /// # Errors
    /// Returns the same errors as [`FeedTable::newest_partition`].
    async fn last_item(&self, partition: u64) -> Result<Option<(u64, Item)>, PortError>;

    /// Writes an item if no item exists at its offset.
    async fn put_item(&self, at: Checkpoint, item: &Item) -> FeedWriteOutcome;

    /// Returns at most `limit` items of a partition in ascending order, starting at `from`. The
    /// result is empty only if there are no more items. An eventually consistent read may have
    /// gaps.
    ///
    /// # Errors
    /// Returns the same errors as [`FeedTable::newest_partition`].
    async fn items(
        &self,
        from: Checkpoint,
        limit: u32,
        consistent: bool,
    ) -> Result<Vec<(u64, Item)>, PortError>;

    /// Returns the stored mark of a stream, up to which the stream is indexed; `None` if the stream
    /// was never indexed. The read is strongly consistent.
    ///
    /// # Errors
    /// Returns the same errors as [`FeedTable::newest_partition`].
    async fn mark(&self, stream: &StreamName) -> Result<Option<Mark>, PortError>;

    /// Raises the mark of a stream. Keeps the stored mark if it is at least as high, or if it
    /// belongs to a later feed. Idempotent.
    ///
    /// # Errors
    /// Returns the same errors as [`FeedTable::newest_partition`].
    async fn raise_mark(&self, stream: &StreamName, mark: Mark) -> Result<(), PortError>;
}
