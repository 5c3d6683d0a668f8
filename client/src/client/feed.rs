//! Requests that read the change feed and list spreadsheets.

use cellar_api::wire::{
    FeedItemView, FeedReply, SpreadsheetStatus, SpreadsheetView, SpreadsheetsReply,
};
use cellar_base::identity::LogId;
use reqwest::Method;

use super::pages::{FeedCursor, read_pages};
use super::transport::Call;
use super::{Client, ItemStream};
use crate::ClientError;

/// Optional parameters of [`Client::feed`] and [`Client::feed_page`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct FeedQuery {
    /// Only items after this checkpoint are read. If `None`, the feed is read from its beginning.
    pub after: Option<u64>,
    /// Feed generation to which the checkpoint belongs. Rebuilding the feed starts a new
    /// generation, in which the checkpoint is invalid.
    pub generation: Option<String>,
    /// Maximum number of items.
    pub limit: Option<u32>,
    /// Whether to include event payloads.
    pub payloads: bool,
}

/// Optional parameters of [`Client::spreadsheets`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SpreadsheetsQuery {
    /// `next` of the previous page, or `None` for the first page.
    pub cursor: Option<LogId>,
    /// Number of spreadsheets that the server examines for each page. Fewer spreadsheets may match
    /// and be returned.
    pub limit: Option<u32>,
    /// Substring of the name, case-insensitive.
    pub name: Option<String>,
    /// `true` selects the spreadsheets that the caller owns. `false` selects the other spreadsheets
    /// that the caller can access.
    pub mine: Option<bool>,
    /// Status of the returned spreadsheets. If `None`, active spreadsheets are returned.
    pub status: Option<SpreadsheetStatus>,
}

impl FeedQuery {
    /// Reads only the items after the given checkpoint.
    #[must_use]
    pub fn with_after(self, checkpoint: u64) -> Self {
        Self { after: Some(checkpoint), ..self }
    }

    /// Sets the feed generation to which the checkpoint belongs.
    #[must_use]
    pub fn with_generation(self, generation: impl Into<String>) -> Self {
        Self { generation: Some(generation.into()), ..self }
    }

    /// Limits the number of items per page.
    #[must_use]
    pub fn with_limit(self, limit: u32) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// Includes event payloads.
    #[must_use]
    pub fn with_payloads(self) -> Self {
        Self { payloads: true, ..self }
    }
}

impl SpreadsheetsQuery {
    /// Selects spreadsheets whose name contains the given text, ignoring case.
    #[must_use]
    pub fn with_name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Selects the spreadsheets that the caller owns if `mine` is `true`, or else the other
    /// spreadsheets that the caller can access.
    #[must_use]
    pub fn with_mine(self, mine: bool) -> Self {
        Self { mine: Some(mine), ..self }
    }

    /// Selects spreadsheets with the given status.
    #[must_use]
    pub fn with_status(self, status: SpreadsheetStatus) -> Self {
        Self { status: Some(status), ..self }
    }

    /// Sets the number of spreadsheets that the server examines for each page.
    #[must_use]
    pub fn with_limit(self, limit: u32) -> Self {
        Self { limit: Some(limit), ..self }
    }
}

impl Client {
    /// Returns the spreadsheets that the caller can access, ordered by id.
    pub fn spreadsheets(&self, query: SpreadsheetsQuery) -> ItemStream<SpreadsheetView> {
        let pages = read_pages(self.url(), self, query.cursor, move |client, cursor| {
            let query = SpreadsheetsQuery { cursor, ..query.clone() };
            async move { client.spreadsheets_page(&query).await }
        });
        pages.into_items(|page: SpreadsheetsReply| page.spreadsheets)
    }

    /// Returns the items of the change feed up to its current end. To wait for further items or to
    /// store checkpoints, use [`crate::feed`].
    pub fn feed(&self, query: FeedQuery) -> ItemStream<FeedItemView> {
        let start = FeedCursor::of_query(&query);
        let pages = read_pages(self.url(), self, start, move |client, cursor| {
            let query = FeedCursor::query_page(&query, cursor);
            async move { client.feed_page(&query).await }
        });
        pages.into_items(|page: FeedReply| page.items)
    }

    /// Returns one page of feed items after a checkpoint (`GET /v1/feed`). To follow the feed, use
    /// [`crate::feed`].
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn feed_page(&self, query: &FeedQuery) -> Result<FeedReply, ClientError> {
        let FeedQuery { after, generation, limit, payloads } = query;
        let call = Call::new(Method::GET, &["v1", "feed"])
            .with_text("after", after.map(|after| after.to_string()))
            .with_text("generation", generation.clone())
            .with_text("limit", limit.map(|limit| limit.to_string()))
            .with_text("payloads", payloads.then(|| "true".to_owned()));
        self.transport.send(call).await
    }

    /// Returns one page of the spreadsheets that the caller can access (`GET /v1/spreadsheets`). A
    /// page may be empty although more pages follow. The last page has no `next`.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn spreadsheets_page(
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
