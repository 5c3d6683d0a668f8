//! Port of the Segment table, and of the transactions that open segments.

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
    /// The transaction may or may not have happened.
    Unknown(PortError),
    /// The transaction did not happen, and a retry cannot succeed.
    Failed(PortError),
}

/// The records of a new fork.
#[derive(Debug, Clone, PartialEq)]
pub struct ForkRecords {
    /// Segment 0 of the fork, with its lineage.
    pub origin: Segment,
    /// The fork's first own segment.
    pub segment: Segment,
    /// The fork's first own entry.
    pub first: Entry,
    /// The fork's record in the list of its source.
    pub listed: ListedFork,
}

/// One page of a list of forks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForkPage {
    /// Forks, oldest first.
    pub forks: Vec<ListedFork>,
    /// Number after which the next page starts; `None` on the last page.
    pub next: Option<u64>,
}

/// The Segment table.
#[async_trait]
pub trait Segments: Send + Sync {
    /// Returns the newest segments of a log, newest first, at most `limit`.
    ///
    /// # Errors
    /// [`PortError`] if the request fails or a record is unreadable.
    async fn newest(
        &self,
        log: LogId,
        limit: u8,
        consistent: bool,
    ) -> Result<Vec<Segment>, PortError>;

    /// Returns the record of one segment.
    ///
    /// # Errors
    /// As [`Segments::newest`].
    async fn segment(
        &self,
        log: LogId,
        segment: u32,
        consistent: bool,
    ) -> Result<Option<Segment>, PortError>;

    /// Closes a segment and opens the next in one transaction, if none of the records exists.
    async fn roll(&self, transaction: &Transaction) -> CreateOutcome;

    /// Records the newest entry of a segment with a finished snapshot; a later recorded entry is
    /// kept (I9).
    ///
    /// # Errors
    /// As [`Segments::newest`]; permanent if the segment does not exist.
    async fn raise_last_snapshot(&self, log: LogId, at: Position) -> Result<(), PortError>;

    /// Writes a log's first segment and first entry in one transaction, if neither exists.
    async fn create(&self, segment: &Segment, entry: &Entry) -> CreateOutcome;

    /// Writes the records of a fork in one transaction, if none of them exists.
    async fn fork(&self, records: &ForkRecords) -> CreateOutcome;

    /// Returns one page of the forks of a log with numbers greater than `after`, oldest first, at
    /// most `limit`. Eventually consistent.
    ///
    /// # Errors
    /// As [`Segments::newest`].
    async fn forks(
        &self,
        source: LogId,
        after: Option<u64>,
        limit: u32,
    ) -> Result<ForkPage, PortError>;

    /// Returns whether the table responds.
    async fn reachable(&self) -> bool;
}
