//! Requests that read the feed and list spreadsheets.

use cellar_api::{wire::FeedReply, wire::SpreadsheetStatus, wire::SpreadsheetsReply};
use cellar_base::identity::LogId;
use reqwest::Method;

use super::Client;
use super::transport::Call;
use crate::ClientError;

/// Parameters of [`Client::feed`]. All are optional.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FeedQuery {
    /// Checkpoint of the last processed item. If unset, the feed is read from its beginning.
    pub after: Option<u64>,
    /// Feed generation that the checkpoint belongs to.
    pub generation: Option<String>,
    /// Maximum number of items.
    pub limit: Option<u32>,
    /// Whether to return the payloads of events.
    pub payloads: bool,
}

/// Parameters of [`Client::spreadsheets`]. All are optional.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SpreadsheetsQuery {
    /// The `next` value of the previous page. Unset for the first page.
    pub cursor: Option<LogId>,
    /// Number of spreadsheets that the server examines per page. The page contains only those that
    /// match.
    pub limit: Option<u32>,
    /// Substring of the name. Upper and lower case are not distinguished.
    pub name: Option<String>,
    /// `true` selects spreadsheets that the caller owns, `false` those that other users own.
    pub mine: Option<bool>,
    /// Status of the returned spreadsheets. The default is active.
    pub status: Option<SpreadsheetStatus>,
}

impl Client {
    /// `GET /v1/feed`: returns one page of feed items after a checkpoint. To follow the feed, use
    /// [`crate::feed`].
    ///
    /// # Errors
    ///
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

    /// `GET /v1/spreadsheets`: returns one page of the spreadsheets that the caller can access. A
    /// page may be empty although more pages follow. Continue as long as the response contains
    /// `next`.
    ///
    /// # Errors
    ///
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
