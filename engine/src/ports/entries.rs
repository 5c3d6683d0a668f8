//! The Entry table.

use std::sync::Arc;

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::Entry;

use super::PortError;

/// One page of entries.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Entries of one segment in ascending order. What is missing between them is for the caller
    /// to notice: an eventually consistent page may have holes.
    pub entries: Vec<Arc<Entry>>,
    /// Whether the segment may have more behind them.
    pub more: bool,
}

/// What came of a conditional put.
#[derive(Debug, Clone, PartialEq)]
pub enum PutOutcome {
    /// The entry is in the log, durably.
    Accepted,
    /// The key was taken, and this entry has it.
    Refused {
        /// The entry that stands there.
        winner: Arc<Entry>,
    },
    /// It may or may not be in the log.
    Unknown(PortError),
    /// It is not in the log and trying again does not help.
    Failed(PortError),
}

/// The Entry table.
#[async_trait]
pub trait Entries: Send + Sync {
    /// One page forward from `from`, inclusive, within its segment.
    ///
    /// # Errors
    /// [`PortError`] if the table does not answer or holds a record that cannot be read.
    async fn page(&self, log: LogId, from: Position, consistent: bool) -> Result<Page, PortError>;

    /// One page backward from `from`, inclusive, within its segment: at most `limit` entries in
    /// descending order.
    ///
    /// # Errors
    /// As [`Entries::page`].
    async fn page_back(
        &self,
        log: LogId,
        from: Position,
        limit: u32,
        consistent: bool,
    ) -> Result<Page, PortError>;

    /// The newest entry of a segment.
    ///
    /// # Errors
    /// As [`Entries::page`].
    async fn last(
        &self,
        log: LogId,
        segment: u32,
        consistent: bool,
    ) -> Result<Option<Arc<Entry>>, PortError>;

    /// The entry at a position, read consistently.
    ///
    /// # Errors
    /// As [`Entries::page`].
    async fn get(&self, log: LogId, position: Position) -> Result<Option<Arc<Entry>>, PortError>;

    /// Puts an entry if its key is free. Never retried by the port: an unknown outcome is for the
    /// append machine, which knows what may be retried.
    async fn put(&self, entry: &Entry) -> PutOutcome;

    /// Sets the root of a Snapshot entry unless it has one, and gives the one that stands there then:
    /// with [`Entries::replace_root`] the only change that an entry ever sees (I12).
    ///
    /// # Errors
    /// As [`Entries::page`]; permanent if no Snapshot entry stands there.
    async fn set_root(
        &self,
        log: LogId,
        position: Position,
        root: &str,
    ) -> Result<String, PortError>;

    /// Sets the root of a Snapshot entry where `replaces` stands (none: where there is none), and gives
    /// the one that stands there then; none if none does, as there is no such Snapshot entry, or one
    /// without a root.
    ///
    /// # Errors
    /// As [`Entries::page`].
    async fn replace_root(
        &self,
        log: LogId,
        position: Position,
        replaces: Option<&str>,
        root: &str,
    ) -> Result<Option<String>, PortError>;

    /// Whether the table answers.
    async fn reachable(&self) -> bool;
}
