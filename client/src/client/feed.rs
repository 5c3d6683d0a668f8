//! Requests for the feed and the spreadsheet list.

use cellar_api::{wire::FeedReply, wire::SpreadsheetStatus, wire::SpreadsheetsReply};
use cellar_base::identity::LogId;
use reqwest::Method;

use super::Client;
use super::transport::Call;
use crate::ClientError;

/// Parameters of [`Client::feed`]; all are optional.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FeedQuery {
    /// Checkpoint after the last processed item; defaults to the beginning of the feed.
    pub after: Option<u64>,
    /// Generation of the feed that the checkpoint belongs to.
    pub generation: Option<String>,
    /// Maximum number of items.
    pub limit: Option<u32>,
    /// Whether to include the payloads of events.
    pub payloads: bool,
}

/// Parameters of [`Client::spreadsheets`]; all are optional.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SpreadsheetsQuery {
    /// The `next` of the previous page.
    pub cursor: Option<LogId>,
    /// Number of spreadsheets examined per page; the page may contain fewer.
    pub limit: Option<u32>,
    /// Text that the name contains, ignoring case.
    pub name: Option<String>,
    /// Only spreadsheets that the caller owns (`true`), or only those that others own (`false`).
    pub mine: Option<bool>,
    /// Status of the spreadsheets; defaults to active.
    pub status: Option<SpreadsheetStatus>,
}

impl Client {
    /// `GET /v1/feed`: returns one page of feed items after a checkpoint. [`crate::feed`] follows the feed.
    ///
    /// # Errors
    /// Returns a [`ClientError`] if the request fails.
    pub async fn feed(&self, query: &FeedQuery) -> Result<FeedReply, ClientError> {
        let FeedQuery { after, generation, limit, payloads } = query;
        let call = Call::new(Method::GET, &["v1", "feed"])
            .with_text("after", after.map(|after| after.to_string()))
            .with_text("generation", generation.clone())
            .with_text("limit", limit.map(|limit| limit.to_string()))
            .with_text("payloads", payloads.then(|| "true".to_owned()));
        self.transport.send(call).await
    }

    /// `GET /v1/spreadsheets`: returns one page of the spreadsheets that are shared with the
    /// caller. A page may be empty although more follow: continue while the response has a `next`.
    ///
    /// # Errors
    /// Returns a [`ClientError`] if the request fails.
    pub async fn spreadsheets(
        &self,
        query: &SpreadsheetsQuery,
    ) -> Result<SpreadsheetsReply, ClientError> {
        let SpreadsheetsQuery { cursor, limit, name, mine, status } = query;
        let status = status.map(|status| match status {
            SpreadsheetStatus::Active => "active",
            SpreadsheetStatus::Archived => "archived",
            SpreadsheetStatus::Deleted => "deleted",
        });
        let call = Call::new(Method::GET, &["v1", "spreadsheets"])
            .with_text("cursor", cursor.map(|cursor| cursor.to_string()))
            .with_text("limit", limit.map(|limit| limit.to_string()))
            .with_text("name", name.clone())
            .with_text("mine", mine.map(|mine| mine.to_string()))
            .with_text("status", status.map(str::to_owned));
        self.transport.send(call).await
    }
}
