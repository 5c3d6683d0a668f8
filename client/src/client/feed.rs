//! The feed, and the list of spreadsheets.

use cellar_api::{wire::FeedReply, wire::SpreadsheetStatus, wire::SpreadsheetsReply};
use cellar_base::identity::LogId;
use reqwest::Method;

use super::Client;
use super::transport::Call;
use crate::ClientError;

/// Which part of the feed to read; everything is optional.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FeedQuery {
    /// The `next` of what was handled last; without it, from the beginning.
    pub after: Option<u64>,
    /// The `feed` that it is of.
    pub feed: Option<String>,
    /// At most so many items.
    pub limit: Option<u32>,
    /// Whether to tell what the events say.
    pub events: bool,
}

/// Which spreadsheets to list; everything is optional.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SpreadsheetsQuery {
    /// The `next` of the page before.
    pub after: Option<LogId>,
    /// How many to look at.
    pub limit: Option<u32>,
    /// What their names have in them.
    pub name: Option<String>,
    /// Only those of which whoever asks is an owner, or only others.
    pub mine: Option<bool>,
    /// Only those in this state; without it those in use.
    pub status: Option<SpreadsheetStatus>,
}

impl Client {
    /// `GET /v1/feed`: some of what was appended, from a checkpoint on. [`feed`](crate::feed) follows it.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn feed(&self, query: &FeedQuery) -> Result<FeedReply, ClientError> {
        let FeedQuery { after, feed, limit, events } = query;
        let call = Call::new(Method::GET, &["v1", "feed"])
            .with_text("after", after.map(|after| after.to_string()))
            .with_text("generation", feed.clone())
            .with_text("limit", limit.map(|limit| limit.to_string()))
            .with_text("payloads", events.then(|| "true".to_owned()));
        self.transport.send(call).await
    }

    /// `GET /v1/spreadsheets`: a page of the spreadsheets that are shared with whoever asks. None of a page
    /// may be what was asked for: go on while it has a `next`.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn spreadsheets(
        &self,
        query: &SpreadsheetsQuery,
    ) -> Result<SpreadsheetsReply, ClientError> {
        let SpreadsheetsQuery { after, limit, name, mine, status } = query;
        let status = status.map(|status| match status {
            SpreadsheetStatus::Active => "active",
            SpreadsheetStatus::Archived => "archived",
            SpreadsheetStatus::Deleted => "deleted",
        });
        let call = Call::new(Method::GET, &["v1", "spreadsheets"])
            .with_text("cursor", after.map(|after| after.to_string()))
            .with_text("limit", limit.map(|limit| limit.to_string()))
            .with_text("name", name.clone())
            .with_text("mine", mine.map(|mine| mine.to_string()))
            .with_text("status", status.map(str::to_owned));
        self.transport.send(call).await
    }
}
