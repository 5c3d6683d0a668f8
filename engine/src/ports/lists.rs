//! Port of the spreadsheet lists of people.

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_catalog::{spreadsheet::ListEntry, spreadsheet::Person};

use super::PortError;

/// One page of a person's spreadsheet list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPage {
    /// Entries in the order of spreadsheet ids, including entries of spreadsheets that are no
    /// longer shared with the person.
    pub entries: Vec<ListEntry>,
    /// Set if there may be more entries after `entries`.
    pub more: bool,
}

/// Spreadsheet lists of people, stored in the Feed table.
#[async_trait]
pub trait Lists: Send + Sync {
    /// Writes an entry of a person's list, unless the stored entry is derived from more events.
    /// Idempotent.
    ///
    /// # Errors
    /// [`PortError`] if the request fails.
    async fn put_listed(&self, person: &Person, entry: &ListEntry) -> Result<(), PortError>;

    /// Returns entries of a person's list after a spreadsheet, at most `limit`. Eventually
    /// consistent.
    ///
    /// # Errors
    /// [`PortError`] if the request fails or a record is unreadable.
    async fn listed(
        &self,
        person: &Person,
        after: Option<LogId>,
        limit: u32,
    ) -> Result<ListPage, PortError>;
}
