//! Port for the Segment table. Logs and segments are created in transactions of this port.

use async_trait::async_trait;
use cellar_base::consistency::ReadConsistency;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::Entry;
use cellar_log::records::fork::ListedFork;
use cellar_log::roll::Transaction;
use cellar_log::segment::Segment;

use super::PortError;

/// Outcome of a transaction that creates a log or a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CreateOutcome {
    /// All records were written durably.
    Created,
    /// One of the records already exists, so nothing was written.
    Exists,
    /// The transaction may or may not have been committed.
    Unknown(PortError),
    /// The transaction was not committed, and a retry cannot succeed.
    Failed(PortError),
}

/// The records that are written when a log is forked.
#[derive(Debug, Clone, PartialEq)]
pub struct ForkRecords {
    /// The fork's segment 0, which states the fork's source and the last shared position.
    pub origin: Segment,
    /// The fork's first own segment.
    pub segment: Segment,
    /// The fork's first own entry.
    pub first: Entry,
    /// The fork's record in the fork list of its source.
    pub listed: ListedFork,
}

/// A page of a fork list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForkPage {
    /// Forks, oldest first.
    pub forks: Vec<ListedFork>,
    /// Fork number after which the next page starts, or `None` on the last page.
    pub next: Option<u64>,
}

/// The Segment table.
#[async_trait]
pub trait Segments: Send + Sync {
    /// Returns at most `limit` segments of a log, from newest to oldest.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn newest(
        &self,
        log_id: LogId,
        limit: u8,
        consistency: ReadConsistency,
    ) -> Result<Vec<Segment>, PortError>;

    /// Returns a segment record, or `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn segment(
        &self,
        log_id: LogId,
        segment: u32,
        consistency: ReadConsistency,
    ) -> Result<Option<Segment>, PortError>;

    /// Closes a segment and opens the next one in one transaction. If any of the records already
    /// exists, nothing is written.
    async fn roll(&self, transaction: &Transaction) -> CreateOutcome;

    /// Records in a segment that its entry at `position` has a finished snapshot. Has no effect if
    /// the snapshot of a later entry is already recorded (I9).
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails. The error is permanent if the segment does not
    /// exist.
    async fn raise_last_snapshot(&self, log_id: LogId, at: Position) -> Result<(), PortError>;

    /// Writes the first segment and the first entry of a log in one transaction. If either record
    /// already exists, nothing is written.
    async fn create(&self, segment: &Segment, entry: &Entry) -> CreateOutcome;

    /// Writes the records of a fork in one transaction. If any of them already exists, nothing is
    /// written.
    async fn fork(&self, records: &ForkRecords) -> CreateOutcome;

    /// Returns a page of a log's forks, oldest first, starting after the fork number `after`. The
    /// page contains at most `limit` forks. The read is eventually consistent.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn forks(
        &self,
        source: LogId,
        after: Option<u64>,
        limit: u32,
    ) -> Result<ForkPage, PortError>;

    /// Returns whether the table responds.
    async fn reachable(&self) -> bool;
}
