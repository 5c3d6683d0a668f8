//! People's lists of spreadsheets.

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_catalog::{spreadsheet::ListEntry, spreadsheet::Person};

use super::PortError;

/// Some of somebody's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPage {
    /// In the order of the spreadsheets' ids, those that are shared with them no more included.
    pub entries: Vec<ListEntry>,
    /// Whether there may be more behind them.
    pub more: bool,
}

/// People's lists of spreadsheets, in the Feed table.
#[async_trait]
pub trait Lists: Send + Sync {
    /// Puts a spreadsheet into somebody's list, unless what is there is made of more events.
    ///
    /// # Errors
    /// [`PortError`] if the table does not answer. It may be repeated.
    async fn put_listed(&self, person: &Person, entry: &ListEntry) -> Result<(), PortError>;

    /// Some of somebody's list, behind a spreadsheet: at most `limit`. It may be a little old.
    ///
    /// # Errors
    /// [`PortError`] if the table does not answer or holds a record that cannot be read.
    async fn listed(
        &self,
        person: &Person,
        after: Option<LogId>,
        limit: u32,
    ) -> Result<ListPage, PortError>;
}
