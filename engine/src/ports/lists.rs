//! Port for users' spreadsheet lists.

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_catalog::{spreadsheet::ListEntry, spreadsheet::Person};

use super::PortError;

/// A page of a user's spreadsheet list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPage {
    /// Entries sorted by spreadsheet id. Includes entries for spreadsheets that are no longer
    /// shared with the user.
    pub entries: Vec<ListEntry>,
    /// Whether the list may contain more entries after `entries`.
    pub more: bool,
}

/// The spreadsheet lists of all users, stored in the Feed table.
#[async_trait]
pub trait Lists: Send + Sync {
    /// Writes an entry of a user's list. Has no effect if the stored entry was derived from more
    /// events. Idempotent.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails.
    async fn put_listed(&self, person: &Person, entry: &ListEntry) -> Result<(), PortError>;

    /// Returns at most `limit` entries of a user's list, starting after a given spreadsheet. The
    /// read is eventually consistent.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn listed(
        &self,
        person: &Person,
        after: Option<LogId>,
        limit: u32,
    ) -> Result<ListPage, PortError>;
}
