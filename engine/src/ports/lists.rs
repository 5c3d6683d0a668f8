//! Port of the spreadsheet lists, one for each person.

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_catalog::{spreadsheet::ListEntry, spreadsheet::Person};

use super::PortError;

/// One page of a person's spreadsheet list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPage {
    /// Entries sorted by spreadsheet id. Spreadsheets that are no longer shared with the person are
    /// included.
    pub entries: Vec<ListEntry>,
    /// Set if the list may contain more entries after `entries`.
    pub more: bool,
}

/// The spreadsheet lists of all people, stored in the Feed table.
#[async_trait]
pub trait Lists: Send + Sync {
    /// Writes an entry of a person's list. Keeps the stored entry if it was derived from more
    /// events than the new entry. Idempotent.
    ///
    /// # Errors
    /// Returns [`PortError`] if the request fails.
    async fn put_listed(&self, person: &Person, entry: &ListEntry) -> Result<(), PortError>;

    /// Returns at most `limit` entries that follow a spreadsheet in a person's list. The read is
    /// eventually consistent.
    ///
    /// # Errors
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn listed(
        &self,
        person: &Person,
        after: Option<LogId>,
        limit: u32,
    ) -> Result<ListPage, PortError>;
}
