//! The Segment table, and the transaction that opens a segment.

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::Entry;
use cellar_log::records::fork::ListedFork;
use cellar_log::roll::Transaction;
use cellar_log::segment::Segment;

use super::PortError;

/// What came of a transaction that opens a log or a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CreateOutcome {
    /// All of it is there now, durably.
    Created,
    /// One of the keys was taken: nothing was written.
    Exists,
    /// It may or may not have happened.
    Unknown(PortError),
    /// It did not happen and trying again does not help.
    Failed(PortError),
}

/// The records that make a fork.
#[derive(Debug, Clone, PartialEq)]
pub struct ForkRecords {
    /// Segment 0 of the fork, with its lineage.
    pub origin: Segment,
    /// The fork's first own segment.
    pub segment: Segment,
    /// Its first entry.
    pub first: Entry,
    /// By which its source lists it.
    pub listed: ListedFork,
}

/// One page of a list of forks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForkPage {
    /// The forks, the oldest first.
    pub forks: Vec<ListedFork>,
    /// If there may be more: the number to go on behind.
    pub next: Option<u64>,
}

/// The Segment table.
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

    /// The record of one segment.
    ///
    /// # Errors
    /// As [`Segments::newest`].
    async fn segment(
        &self,
        log: LogId,
        segment: u32,
        consistent: bool,
    ) -> Result<Option<Segment>, PortError>;

    /// Ends a segment and begins the next in one transaction, each record if its key is free.
    async fn roll(&self, transaction: &Transaction) -> CreateOutcome;

    /// Records the newest entry of a segment with a completed snapshot; a later one stays (I9).
    ///
    /// # Errors
    /// As [`Segments::newest`]; permanent if there is no such segment.
    async fn raise_last_snapshot(&self, log: LogId, at: Position) -> Result<(), PortError>;

    /// Writes a log's first segment and first entry in one transaction, each if its key is free.
    async fn create(&self, segment: &Segment, entry: &Entry) -> CreateOutcome;

    /// Writes the records of a fork in one transaction, each if its key is free.
    async fn fork(&self, records: &ForkRecords) -> CreateOutcome;

    /// The forks of a log whose numbers are above `after`, the oldest first, at most `limit`: one page,
    /// eventually consistent.
    ///
    /// # Errors
    /// As [`Segments::newest`].
    async fn forks(
        &self,
        source: LogId,
        after: Option<u64>,
        limit: u32,
    ) -> Result<ForkPage, PortError>;

    /// Whether the table answers.
    async fn reachable(&self) -> bool;
}
