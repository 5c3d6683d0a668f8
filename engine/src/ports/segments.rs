//! Port for the Segment table, whose transactions open logs and segments.

use async_trait::async_trait;
use cellar_base::consistency::ReadConsistency;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::Entry;
use cellar_log::records::fork::ListedFork;
use cellar_log::roll::Transaction;
use cellar_log::segment::Segment;

use super::PortError;

/// Outcome of a transaction that opens a log or a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CreateOutcome {
    /// All records were written durably.
    Created,
    /// A record with one of the keys exists, so nothing was written.
    Exists,
    /// The transaction may or may not have been committed.
    Unknown(PortError),
    /// The transaction was not committed, and a retry cannot succeed.
    Failed(PortError),
}

/// Records that are written to create a fork.
#[derive(Debug, Clone, PartialEq)]
pub struct ForkRecords {
    /// The fork's segment 0, which contains its lineage (source and last shared position).
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
    /// Number of the fork after which the next page starts, or `None` on the last page.
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

    /// Returns a segment record.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Segments::newest`].
    async fn segment(
        &self,
        log_id: LogId,
        segment: u32,
        consistency: ReadConsistency,
    ) -> Result<Option<Segment>, PortError>;

    /// Closes a segment and opens the next segment in one transaction. If any of the records
    /// exists, nothing is written.
    async fn roll(&self, transaction: &Transaction) -> CreateOutcome;

    /// Records that an entry is the latest entry of its segment with a finished snapshot. Has no
    /// effect if a later entry is already recorded (I9).
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Segments::newest`]. The error is permanent if the segment does
    /// not exist.
    async fn raise_last_snapshot(&self, log_id: LogId, at: Position) -> Result<(), PortError>;

    /// Writes the first segment and first entry of a log in one transaction. If either record
    /// exists, nothing is written.
    async fn create(&self, segment: &Segment, entry: &Entry) -> CreateOutcome;

    /// Writes the records of a fork in one transaction. If any of them exists, nothing is written.
    async fn fork(&self, records: &ForkRecords) -> CreateOutcome;

    /// Returns a page of a log's forks, oldest first, starting after the fork number `after`. The
    /// page contains at most `limit` forks. The read is eventually consistent.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Segments::newest`].
    async fn forks(
        &self,
        source: LogId,
        after: Option<u64>,
        limit: u32,
    ) -> Result<ForkPage, PortError>;

    /// Returns whether the table responds.
    async fn reachable(&self) -> bool;
}
