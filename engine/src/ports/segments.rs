//! The Segment table, and the transaction that opens a segment.

use async_trait::async_trait;
use cellar_core::entry::Entry;
use cellar_core::identity::LogId;
use cellar_core::segment::Segment;

use super::PortError;

/// What came of the transaction that opens a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CreateOutcome {
    /// Both records are there now, durably.
    Created,
    /// One of the keys was taken: nothing was written.
    Exists,
    /// It may or may not have happened.
    Unknown(PortError),
    /// It did not happen and trying again does not help.
    Failed(PortError),
}

/// The Segment table (design `2-log.md` §1).
#[async_trait]
pub trait Segments: Send + Sync {
    /// The newest segments of a log, newest first, at most `limit`.
    ///
    /// # Errors
    /// [`PortError`] if the table does not answer or holds a record that cannot be read.
    async fn newest(
        &self,
        log: LogId,
        limit: u8,
        consistent: bool,
    ) -> Result<Vec<Segment>, PortError>;

    /// Writes a log's first segment and first entry in one transaction, each if its key is free.
    async fn create(&self, segment: &Segment, entry: &Entry) -> CreateOutcome;

    /// Whether the table answers.
    async fn reachable(&self) -> bool;
}
