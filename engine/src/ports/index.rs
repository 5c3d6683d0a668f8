//! The Feed table.

use async_trait::async_trait;
use cellar_catalog::feed::{Checkpoint, Feed, Item, Mark};
use cellar_catalog::stream::StreamName;

use super::PortError;

/// What came of a conditional put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexOutcome {
    /// It is there, durably.
    Done,
    /// Something is there already: nothing was written.
    Exists,
    /// It may or may not be there, or may be yet.
    Unknown(PortError),
    /// It is not there and trying again does not help.
    Failed(PortError),
}

/// The Feed table: the feed of everything that was appended. Items and
/// partitions never change; writes are never retried by the port: an unknown outcome is for the machine.
#[async_trait]
pub trait Index: Send + Sync {
    /// The newest partition, and the feed that it belongs to; `None` before the first.
    ///
    /// # Errors
    /// [`PortError`] if the table does not answer or holds a record that cannot be read.
    async fn newest_partition(&self, consistent: bool) -> Result<Option<(u64, Feed)>, PortError>;

    /// Begins a partition, if nobody has.
    async fn begin_partition(&self, partition: u64, feed: Feed) -> IndexOutcome;

    /// The last item of a partition, and its place there. Read consistently.
    ///
    /// # Errors
    /// As [`Index::newest_partition`].
    async fn last_item(&self, partition: u64) -> Result<Option<(u64, Item)>, PortError>;

    /// Puts an item at a place, if nothing is there.
    async fn put_item(&self, at: Checkpoint, item: &Item) -> IndexOutcome;

    /// Some of the items of a partition from a place on, at most `limit`, in order; none only if there are
    /// none. Where it is not consistent, there may be holes.
    ///
    /// # Errors
    /// As [`Index::newest_partition`].
    async fn items(
        &self,
        from: Checkpoint,
        limit: u32,
        consistent: bool,
    ) -> Result<Vec<(u64, Item)>, PortError>;

    /// How far a stream is indexed; `None` if it never was. Read consistently.
    ///
    /// # Errors
    /// As [`Index::newest_partition`].
    async fn mark(&self, stream: &StreamName) -> Result<Option<Mark>, PortError>;

    /// Raises the mark of a stream, unless it is as high, or of a later feed.
    ///
    /// # Errors
    /// As [`Index::newest_partition`]. It may be repeated.
    async fn raise_mark(&self, stream: &StreamName, mark: Mark) -> Result<(), PortError>;
}
