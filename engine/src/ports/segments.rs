//! Port of the Segment table, whose transactions open logs and segments.

use async_trait::async_trait;
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
    /// A record with one of the keys exists; nothing was written.
    Exists,
    /// The transaction may or may not have been committed.
    Unknown(PortError),
    /// The transaction was not committed, and a retry cannot succeed.
    Failed(PortError),
}

/// Records written when a fork is created.
#[derive(Debug, Clone, PartialEq)]
pub struct ForkRecords {
    /// The fork's segment 0, which contains its lineage (source and last shared position).
    pub origin: Segment,
    /// The fork's first own segment.
    pub segment: Segment,
    /// The fork's first own entry.
    pub first: Entry,
    /// The fork's record in its source's fork list.
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
        consistent: bool,
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
        consistent: bool,
    ) -> Result<Option<Segment>, PortError>;

    /// Closes a segment and opens the next one in one transaction. Writes nothing if any of the
    /// records exists.
    async fn roll(&self, transaction: &Transaction) -> CreateOutcome;

    /// Records an entry as its segment's latest entry with a finished snapshot. No-op if a later
    /// entry is already recorded (I9).
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Segments::newest`]. The error is permanent if the segment does
    /// not exist.
    async fn raise_last_snapshot(&self, log_id: LogId, at: Position) -> Result<(), PortError>;

    /// Writes a log's first segment and first entry in one transaction. Writes nothing if either
    /// record exists.
    async fn create(&self, segment: &Segment, entry: &Entry) -> CreateOutcome;

    /// Writes a fork's records in one transaction. Writes nothing if any of them exists.
    async fn fork(&self, records: &ForkRecords) -> CreateOutcome;

    /// Returns a page of a log's forks after the number `after`, oldest first, limited to `limit`
    /// forks. The read is eventually consistent.
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
