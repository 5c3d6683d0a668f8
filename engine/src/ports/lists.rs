//! Port for users' spreadsheet lists.

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_catalog::{spreadsheet::ListEntry, spreadsheet::Person};

use super::PortError;

/// A page of a user's spreadsheet list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPage {
    /// List entries in order of the spreadsheet ids. Spreadsheets that are no longer shared with
    /// the user are included.
    pub entries: Vec<ListEntry>,
    /// Whether the list may contain more entries after `entries`.
    pub more: bool,
}

/// The spreadsheet lists of all users, stored in the Feed table.
#[async_trait]
pub trait Lists: Send + Sync {
    /// Writes an entry of a user's spreadsheet list. Has no effect if the stored entry is based on
    /// more events of the spreadsheet.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails.
    async fn put_listed(&self, person: &Person, entry: &ListEntry) -> Result<(), PortError>;

    /// Returns at most `limit` entries of a user's spreadsheet list, starting after the given
    /// spreadsheet. The read is eventually consistent.
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
