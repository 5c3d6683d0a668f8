//! Port of the Entry table.

use std::sync::Arc;

use async_trait::async_trait;
use cellar_base::consistency::ReadConsistency;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::Entry;

use super::PortError;

/// One page of entries.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Entries of one segment in ascending order. Entries may be missing from an eventually
    /// consistent page. The caller must detect this.
    pub entries: Vec<Arc<Entry>>,
    /// Whether the segment may contain more entries after `entries`.
    pub more: bool,
}

/// Outcome of a conditional entry put.
#[derive(Debug, Clone, PartialEq)]
pub enum PutOutcome {
    /// The entry was written durably.
    Accepted,
    /// The position already has an entry, so nothing was written.
    Refused {
        /// The existing entry at the position.
        winner: Arc<Entry>,
    },
    /// The entry may or may not have been written.
    Unknown(PortError),
    /// The entry was not written, and a retry cannot succeed.
    Failed(PortError),
}

/// The Entry table, which stores the entries of all logs. Adapters must not retry failed requests.
#[async_trait]
pub trait Entries: Send + Sync {
    /// Returns a page of a segment's entries in ascending order, starting at position `from`
    /// (inclusive).
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn page(
        &self,
        log_id: LogId,
        from: Position,
        consistency: ReadConsistency,
    ) -> Result<Page, PortError>;

    /// Returns a page of a segment's entries in descending order, starting at position `from`
    /// (inclusive). The page contains at most `limit` entries.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn page_back(
        &self,
        log_id: LogId,
        from: Position,
        limit: u32,
        consistency: ReadConsistency,
    ) -> Result<Page, PortError>;

    /// Returns the latest entry of a segment.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn last(
        &self,
        log_id: LogId,
        segment: u32,
        consistency: ReadConsistency,
    ) -> Result<Option<Arc<Entry>>, PortError>;

    /// Returns the entry at a position. The read is strongly consistent.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn get(&self, log_id: LogId, position: Position)
    -> Result<Option<Arc<Entry>>, PortError>;

    /// Writes an entry if no entry exists at its position. The adapter must not retry this request,
    /// since the append state machine decides what to do after an unknown outcome.
    async fn put(&self, entry: &Entry) -> PutOutcome;

    /// Sets the root of a Snapshot entry unless it already has a root, and returns the stored root.
    /// Only this method and [`Entries::replace_root`] change an existing entry (I12).
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails. The error is permanent if there is no Snapshot
    /// entry at the position.
    async fn set_root(
        &self,
        log_id: LogId,
        position: Position,
        root: &str,
    ) -> Result<String, PortError>;

    /// Replaces the root of a Snapshot entry if its current root equals `replaces`. `None` means
    /// that the entry has no root yet. Returns the root that is stored afterwards, or `None` if
    /// there is no root or no Snapshot entry.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn replace_root(
        &self,
        log_id: LogId,
        position: Position,
        replaces: Option<&str>,
        root: &str,
    ) -> Result<Option<String>, PortError>;

    /// Returns whether the table responds.
    async fn reachable(&self) -> bool;
}
