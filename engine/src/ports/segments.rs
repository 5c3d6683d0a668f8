//! Port of the Segment table. Its transactions open logs and segments.

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

/// The records that the creation of a fork writes.
#[derive(Debug, Clone, PartialEq)]
pub struct ForkRecords {
    /// Segment 0 of the fork, which contains the fork's lineage.
    pub origin: Segment,
    /// The first segment that belongs to the fork itself.
    pub segment: Segment,
    /// The first entry that belongs to the fork itself.
    pub first: Entry,
    /// The fork's record in its source's list of forks.
    pub listed: ListedFork,
}

/// One page of a list of forks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForkPage {
    /// Forks, oldest first.
    pub forks: Vec<ListedFork>,
    /// Fork number after which the next page starts; `None` on the last page.
    pub next: Option<u64>,
}

/// The Segment table.
#[async_trait]
pub trait Segments: Send + Sync {
    /// Returns at most `limit` segments of a log, from newest to oldest.
    ///
    /// # Errors
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn newest(
        &self,
        log: LogId,
        limit: u8,
        consistent: bool,
    ) -> Result<Vec<Segment>, PortError>;

    /// Returns the record of one segment.
    ///
    /// # Errors
    /// Returns the same errors as [`Segments::newest`].
    async fn segment(
        &self,
        log: LogId,
        segment: u32,
        consistent: bool,
    ) -> Result<Option<Segment>, PortError>;

    /// Closes a segment and opens the next segment in one transaction. Writes nothing if any of the
    /// records exists.
    async fn roll(&self, transaction: &Transaction) -> CreateOutcome;

    /// Records an entry as the newest entry of its segment that has a finished snapshot. If a later
    /// entry is already recorded, that entry is kept (I9).
    ///
    /// # Errors
    /// Returns the same errors as [`Segments::newest`]. The error is permanent if the segment does
    /// not exist.
    async fn raise_last_snapshot(&self, log: LogId, at: Position) -> Result<(), PortError>;

    /// Writes a log's first segment and first entry in one transaction. Writes nothing if either
    /// record exists.
    async fn create(&self, segment: &Segment, entry: &Entry) -> CreateOutcome;

    /// Writes the records of a fork in one transaction. Writes nothing if any record exists.
    async fn fork(&self, records: &ForkRecords) -> CreateOutcome;

    /// Returns a page of at most `limit` forks of a log, oldest first, starting after the number
    /// `after`. The read is eventually consistent.
    ///
    /// # Errors
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
