//! HTTP client for the API, with one method per endpoint.

mod address;
mod body;
mod catalog;
mod chunks;
mod diff;
mod feed;
mod imports;
mod objects;
mod observed;
mod pokes;
mod retry;
mod subject;
mod tally;
mod transport;

pub use body::{BodyFault, MAX_REPLY_BODY_BYTES, read_body};
pub use feed::{FeedQuery, SpreadsheetsQuery};
pub(crate) use objects::sha256;
pub use observed::AttemptOutcome;
pub use pokes::Pokes;
pub use subject::{author_of_token, subject_key_of_token, subject_of_token};
pub use tally::RequestCosts;

use cellar_api::{
    wire::AppendReply, wire::AppendRequest, wire::CellsReply, wire::CreateReply,
    wire::CreateRequest, wire::EntriesReply, wire::ForkReply, wire::ForkRequest, wire::ForksReply,
    wire::Head, wire::Health, wire::HistoryReply, wire::LoadReply, wire::SheetsReply,
    wire::StatsReply,
};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use reqwest::Method;

use crate::ClientError;
pub(crate) use transport::random;
use transport::{Call, Transport};

/// HTTP status returned if the ETag in the request is still current.
const NOT_MODIFIED: u16 = 304;

/// A Cellar API client.
///
/// Every request is idempotent. Connection failures, timeouts and temporary server errors are
/// retried with backoff a limited number of times.
#[derive(Debug, Clone)]
pub struct Client {
    transport: Transport,
    identity: Option<String>,
}

/// Optional parameters of [`Client::cells`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CellsQuery {
    /// Sheet name. Defaults to the first sheet.
    pub sheet: Option<String>,
    /// Range in A1 notation. Defaults to the whole sheet.
    pub range: Option<String>,
    /// Position to read at. Defaults to the newest position.
    pub at: Option<Position>,
    /// `next` of the previous page, or `None` for the first page.
    pub cursor: Option<String>,
    /// Minimum position of the response. For read-your-writes consistency, set this to the position
    /// of your last write.
    pub min_position: Option<Position>,
}

impl Client {
    /// Creates an API client with an optional bearer token. Sends no request.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::InvalidUrl`], [`ClientError::InvalidToken`],
    /// [`ClientError::ClearText`] or [`ClientError::Setup`].
    pub fn new(url: &str, token: Option<&str>) -> Result<Self, ClientError> {
        Ok(Self { transport: Transport::new(url, token)?, identity: None })
    }

    /// Sets the stack name, which stays the same when the URL changes. An empty name is treated as
    /// `None`.
    #[must_use]
    pub fn with_identity(self, identity: Option<&str>) -> Self {
        let identity = identity.filter(|identity| !identity.is_empty()).map(str::to_owned);
        Self { identity, ..self }
    }

    /// Returns a client that calls `observe` after each request attempt, for measurements. Both
    /// clients share their connections.
    #[must_use]
    pub fn observed(self, observe: impl Fn(AttemptOutcome) + Send + Sync + 'static) -> Self {
        Self { transport: self.transport.observed(observed::Observer::new(observe)), ..self }
    }

    /// Returns the stack name, or the URL if no name is set. Unsent edits are stored under this
    /// identity, so a local stack still receives them after it restarts on another port.
    #[must_use]
    pub fn identity(&self) -> &str {
        self.identity.as_deref().unwrap_or_else(|| self.url())
    }

    /// Returns the normalized API URL.
    #[must_use]
    pub fn url(&self) -> &str {
        self.transport.base()
    }

    /// Returns the total cost of all requests sent by this client and its clones, including
    /// retries. Costs are reported in the responses. Lost responses and "not found" responses
    /// report no cost and are counted in [`RequestCosts::unknown_requests`].
    #[must_use]
    pub fn cost(&self) -> RequestCosts {
        self.transport.tally().total()
    }

    /// `POST /v1/spreadsheets`: creates a spreadsheet. The nonce is an idempotency key: a request
    /// with a nonce that was already used returns the existing spreadsheet.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn create(&self, request: &CreateRequest) -> Result<CreateReply, ClientError> {
        let call = Call::new(Method::POST, &["v1", "spreadsheets"]).with_body(request)?;
        self.transport.send(call).await
    }

    /// `POST /v1/spreadsheets/{id}/forks`: forks a spreadsheet. The nonce is an idempotency key: a
    /// request with a nonce that was already used returns the existing fork.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn fork(&self, id: LogId, request: &ForkRequest) -> Result<ForkReply, ClientError> {
        let call = spreadsheet(Method::POST, id, Some("forks")).with_body(request)?;
        self.transport.send(call).await
    }

    /// `GET /v1/spreadsheets/{id}/forks`: returns one page of a spreadsheet's forks, oldest first.
    /// `cursor` is the previous page's `next`.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn forks(&self, id: LogId, cursor: Option<u64>) -> Result<ForksReply, ClientError> {
        let call = spreadsheet(Method::GET, id, Some("forks"))
            .with_text("cursor", cursor.map(|cursor| cursor.to_string()));
        self.transport.send(call).await
    }

    /// `GET /v1/spreadsheets/{id}`: returns the newest snapshot root and the log entries after it,
    /// up to a position that is at or after `min_position`.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn load(
        &self,
        id: LogId,
        min_position: Option<Position>,
    ) -> Result<LoadReply, ClientError> {
        let call = spreadsheet(Method::GET, id, None).with_position("min_position", min_position);
        self.transport.send(call).await
    }

    /// `GET /v1/spreadsheets/{id}/entries`: returns the log entries after a position.
    ///
    /// # Errors
    /// Returns a [`ClientError`] if the request fails, in particular a problem of kind
    /// `ReloadRequired` if the entries after `after` were trimmed.
    pub async fn entries(&self, id: LogId, after: Position) -> Result<EntriesReply, ClientError> {
        let call =
            spreadsheet(Method::GET, id, Some("entries")).with_position("after", Some(after));
        self.transport.send(call).await
    }

    /// `POST /v1/spreadsheets/{id}/entries`: appends mutations. For edits that survive a client
    /// crash, use [`crate::editor`].
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails. [`ClientError::certainly_not_done`] returns
    /// whether it is certain that the mutations were not appended.
    pub async fn append(
        &self,
        id: LogId,
        request: &AppendRequest,
    ) -> Result<AppendReply, ClientError> {
        let call = spreadsheet(Method::POST, id, Some("entries")).with_body(request)?;
        self.transport.send(call).await
    }

    /// `GET /v1/spreadsheets/{id}/cells`: returns one page of cells at a position. To request the
    /// next page, set `at` to the `position` of the response and `cursor` to its `next`.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn cells(&self, id: LogId, query: &CellsQuery) -> Result<CellsReply, ClientError> {
        let call = spreadsheet(Method::GET, id, Some("cells"))
            .with_text("sheet", query.sheet.clone())
            .with_text("range", query.range.clone())
            .with_position("at", query.at)
            .with_text("cursor", query.cursor.clone())
            .with_position("min_position", query.min_position);
        self.transport.send(call).await
    }

    /// `GET /v1/spreadsheets/{id}/head`: returns the newest position, which is at or after
    /// `min_position`.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn head(
        &self,
        id: LogId,
        min_position: Option<Position>,
    ) -> Result<Head, ClientError> {
        let call =
            spreadsheet(Method::GET, id, Some("head")).with_position("min_position", min_position);
        self.transport.send(call).await
    }

    /// Like [`Client::head`], but returns `None` if `known` is still the newest position. Polling
    /// with this request is cheapest.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn head_if_changed(
        &self,
        id: LogId,
        known: Head,
    ) -> Result<Option<Head>, ClientError> {
        let call = spreadsheet(Method::GET, id, Some("head"))
            .with_position("min_position", Some(known.head))
            .if_none_match(known.etag());
        match self.transport.send::<Head>(call).await {
            Ok(head) if head == known => Ok(None),
            Ok(head) => Ok(Some(head)),
            Err(ClientError::UnexpectedStatus { status: NOT_MODIFIED, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// `GET /v1/spreadsheets/{id}/history`: returns one page of log entries up to and including
    /// `until`, newest first. `until` defaults to the newest position; for the next page, set it to
    /// the previous page's `next`.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn history(
        &self,
        id: LogId,
        until: Option<Position>,
        limit: Option<u32>,
    ) -> Result<HistoryReply, ClientError> {
        let call = spreadsheet(Method::GET, id, Some("history"))
            .with_position("until", until)
            .with_text("limit", limit.map(|limit| limit.to_string()));
        self.transport.send(call).await
    }

    /// `GET /v1/spreadsheets/{id}/sheets`: returns the sheets in tab order at position `at`.
    /// Defaults to the newest position, which is at or after `min_position`.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn sheets(
        &self,
        id: LogId,
        at: Option<Position>,
        min_position: Option<Position>,
    ) -> Result<SheetsReply, ClientError> {
        let call = spreadsheet(Method::GET, id, Some("sheets"))
            .with_position("at", at)
            .with_position("min_position", min_position);
        self.transport.send(call).await
    }

    /// `GET /v1/spreadsheets/{id}/stats`: returns the storage statistics and the cost of opening
    /// the spreadsheet, at a position at or after `min_position`.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn stats(
        &self,
        id: LogId,
        min_position: Option<Position>,
    ) -> Result<StatsReply, ClientError> {
        let call =
            spreadsheet(Method::GET, id, Some("stats")).with_position("min_position", min_position);
        self.transport.send(call).await
    }

    /// `GET /v1/health`: returns the server version and the status of its dependencies. The request
    /// is sent without a token.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn health(&self) -> Result<Health, ClientError> {
        self.transport.send(Call::new(Method::GET, &["v1", "health"]).without_token()).await
    }
}

/// Builds a call to `/v1/spreadsheets/{id}` or to a `resource` below that path.
fn spreadsheet(method: Method, id: LogId, resource: Option<&'static str>) -> Call {
    let id = id.to_string();
    let call = Call::new(method, &["v1", "spreadsheets", &id]);
    match resource {
        Some(resource) => call.with_segment(resource),
        None => call,
    }
}
