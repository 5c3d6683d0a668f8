//! Port of the Entry table.

use std::sync::Arc;

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::Entry;

use super::PortError;

/// One page of entries.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Entries of one segment in ascending order. An eventually consistent page may have gaps,
    /// which the caller detects.
    pub entries: Vec<Arc<Entry>>,
    /// Set if the segment may have more entries after `entries`.
    pub more: bool,
}

/// Outcome of a conditional put of an entry.
#[derive(Debug, Clone, PartialEq)]
pub enum PutOutcome {
    /// The entry was written durably.
    Accepted,
    /// The position was taken by another entry.
    Refused {
        /// The entry at the position.
        winner: Arc<Entry>,
    },
    /// The entry may or may not have been written.
    Unknown(PortError),
    /// The entry was not written, and a retry cannot succeed.
    Failed(PortError),
}

/// The Entry table. Adapters do not retry.
#[async_trait]
pub trait Entries: Send + Sync {
    /// Returns one page forward from `from` (inclusive), within its segment.
    ///
    /// # Errors
    /// [`PortError`] if the request fails or a record is unreadable.
    async fn page(&self, log: LogId, from: Position, consistent: bool) -> Result<Page, PortError>;

    /// Returns one page backward from `from` (inclusive), within its segment: at most `limit`
    /// entries in descending order.
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

    /// Returns the newest entry of a segment.
    ///
    /// # Errors
    /// As [`Entries::page`].
    async fn last(
        &self,
        log: LogId,
        segment: u32,
        consistent: bool,
    ) -> Result<Option<Arc<Entry>>, PortError>;

    /// Reads the entry at a position with strong consistency.
    ///
    /// # Errors
    /// As [`Entries::page`].
    async fn get(&self, log: LogId, position: Position) -> Result<Option<Arc<Entry>>, PortError>;

    /// Writes an entry if its position is free. Must not be retried by the adapter: the append
    /// machine decides what an unknown outcome allows.
    async fn put(&self, entry: &Entry) -> PutOutcome;

    /// Sets the root of a Snapshot entry that has none, and returns the root that is stored
    /// afterwards. Besides [`Entries::replace_root`], this is the only change of an existing entry
    /// (I12).
    ///
    /// # Errors
    /// As [`Entries::page`]; permanent if there is no Snapshot entry at the position.
    async fn set_root(
        &self,
        log: LogId,
        position: Position,
        root: &str,
    ) -> Result<String, PortError>;

    /// Sets the root of a Snapshot entry if its current root is `replaces` (`None`: no root), and
    /// returns the root that is stored afterwards. Returns `None` if the entry has no root or is
    /// not a Snapshot entry.
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

    /// Returns whether the table responds.
    async fn reachable(&self) -> bool;
}
