//! The calls of the HTTP API, one method each.

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
pub use observed::Attempted;
pub use pokes::Pokes;
pub use subject::{author_of_token, subject_key_of_token, subject_of_token};
pub use tally::Spent;

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

/// The status of an answer to a request with an ETag: nothing is new.
const NOT_MODIFIED: u16 = 304;

/// A connection to a Cellar API.
///
/// Every call may be repeated unchanged, and is, a bounded number of times, where that may help:
/// no connection, no answer, a temporary refusal.
#[derive(Debug, Clone)]
pub struct Client {
    transport: Transport,
    identity: Option<String>,
}

/// Which cells to read; everything is optional.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CellsQuery {
    /// The sheet's name; the first sheet without it.
    pub sheet: Option<String>,
    /// The range in A1 notation; the whole sheet without it.
    pub range: Option<String>,
    /// The position in history; the newest without it.
    pub at: Option<Position>,
    /// The cell to go on from, the `next` of the page before.
    pub from: Option<String>,
    /// The highest position this client has seen: the reply is never older.
    pub seen: Option<Position>,
}

impl Client {
    /// A client for the API at `url`, with a bearer token if one is needed.
    ///
    /// # Errors
    /// [`ClientError::InvalidUrl`], [`ClientError::InvalidToken`] or [`ClientError::Setup`];
    /// nothing is sent yet.
    pub fn new(url: &str, token: Option<&str>) -> Result<Self, ClientError> {
        Ok(Self { transport: Transport::new(url, token)?, identity: None })
    }

    /// The same client, with a name of the cloud that stays when its URL changes. An empty name is
    /// none.
    #[must_use]
    pub fn with_identity(self, identity: Option<&str>) -> Self {
        let identity = identity.filter(|identity| !identity.is_empty()).map(str::to_owned);
        Self { identity, ..self }
    }

    /// The same client over the same connections, which tells of each attempt of its requests what came
    /// of it: for who measures or counts.
    #[must_use]
    pub fn observed(self, observe: impl Fn(Attempted) + Send + Sync + 'static) -> Self {
        Self { transport: self.transport.observed(observed::Observer::new(observe)), ..self }
    }

    /// Which cloud this is: its stable name if it has one, otherwise its URL. Everything that is
    /// kept to be sent later is kept under this, so that a local cloud that begins again on
    /// another port still gets it.
    #[must_use]
    pub fn identity(&self) -> &str {
        self.identity.as_deref().unwrap_or_else(|| self.url())
    }

    /// The URL of the API, normalised.
    #[must_use]
    pub fn url(&self) -> &str {
        self.transport.base()
    }

    /// What the requests of this client and its clones have cost so far: the sum of what the replies
    /// told, those to attempts that were repeated included.
    ///
    /// A reply that was lost on its way told nothing, and "not found" does not tell: see
    /// [`Spent::unknown_requests`].
    #[must_use]
    pub fn cost(&self) -> Spent {
        self.transport.tally().spent()
    }

    /// `POST /v1/spreadsheets`: creates a spreadsheet, or finds the one of an earlier call with
    /// the same nonce.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn create(&self, request: &CreateRequest) -> Result<CreateReply, ClientError> {
        let call = Call::new(Method::POST, &["v1", "spreadsheets"]).with_body(request)?;
        self.transport.send(call).await
    }

    /// `POST /v1/spreadsheets/{id}/forks`: forks a spreadsheet, or finds the fork of an earlier call with
    /// the same nonce.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn fork(&self, id: LogId, request: &ForkRequest) -> Result<ForkReply, ClientError> {
        let call = spreadsheet(Method::POST, id, Some("forks")).with_body(request)?;
        self.transport.send(call).await
    }

    /// `GET /v1/spreadsheets/{id}/forks`: one page of a spreadsheet's forks; go on after the reply's
    /// `next`.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn forks(&self, id: LogId, after: Option<u64>) -> Result<ForksReply, ClientError> {
        let call = spreadsheet(Method::GET, id, Some("forks"))
            .with_text("cursor", after.map(|after| after.to_string()));
        self.transport.send(call).await
    }

    /// `GET /v1/spreadsheets/{id}`: the newest snapshot and the entries since.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn load(&self, id: LogId, seen: Option<Position>) -> Result<LoadReply, ClientError> {
        let call = spreadsheet(Method::GET, id, None).with_position("min_position", seen);
        self.transport.send(call).await
    }

    /// `GET /v1/spreadsheets/{id}/entries`: the entries after a position.
    ///
    /// # Errors
    /// [`ClientError`]; a problem of the kind `Reload` if `after` is too far behind.
    pub async fn update(&self, id: LogId, after: Position) -> Result<EntriesReply, ClientError> {
        let call =
            spreadsheet(Method::GET, id, Some("entries")).with_position("after", Some(after));
        self.transport.send(call).await
    }

    /// `POST /v1/spreadsheets/{id}/entries`: appends mutations. See [`crate::editor`] for edits
    /// that survive a crash.
    ///
    /// # Errors
    /// [`ClientError`]; [`ClientError::certainly_not_done`] says whether nothing was appended.
    pub async fn append(
        &self,
        id: LogId,
        request: &AppendRequest,
    ) -> Result<AppendReply, ClientError> {
        let call = spreadsheet(Method::POST, id, Some("entries")).with_body(request)?;
        self.transport.send(call).await
    }

    /// `GET /v1/spreadsheets/{id}/cells`: one page of cells at a position. For the next page set
    /// `at` to the reply's position and `from` to its `next`.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn cells(&self, id: LogId, query: &CellsQuery) -> Result<CellsReply, ClientError> {
        let call = spreadsheet(Method::GET, id, Some("cells"))
            .with_text("sheet", query.sheet.clone())
            .with_text("range", query.range.clone())
            .with_position("at", query.at)
            .with_text("cursor", query.from.clone())
            .with_position("min_position", query.seen);
        self.transport.send(call).await
    }

    /// `GET /v1/spreadsheets/{id}/head`: the newest position, never older than `seen`.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn head(&self, id: LogId, seen: Option<Position>) -> Result<Head, ClientError> {
        let call = spreadsheet(Method::GET, id, Some("head")).with_position("min_position", seen);
        self.transport.send(call).await
    }

    /// As [`Client::head`], for who knows one already: `None` if that is still the newest. The cheap
    /// poll.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn head_unless(&self, id: LogId, known: Head) -> Result<Option<Head>, ClientError> {
        let call = spreadsheet(Method::GET, id, Some("head"))
            .with_position("min_position", Some(known.head))
            .unless(known.etag());
        match self.transport.send::<Head>(call).await {
            Ok(head) => Ok(Some(head).filter(|head| *head != known)),
            Err(ClientError::UnexpectedStatus { status: NOT_MODIFIED, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// `GET /v1/spreadsheets/{id}/history`: one page of entries, newest first, from a position
    /// backwards or from the newest; go on from the reply's `next`.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn history(
        &self,
        id: LogId,
        from: Option<Position>,
        limit: Option<u32>,
    ) -> Result<HistoryReply, ClientError> {
        let call = spreadsheet(Method::GET, id, Some("history"))
            .with_position("until", from)
            .with_text("limit", limit.map(|limit| limit.to_string()));
        self.transport.send(call).await
    }

    /// `GET /v1/spreadsheets/{id}/sheets`: the sheets in the order of their tabs, at a position or
    /// newest; never older than `seen`.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn sheets(
        &self,
        id: LogId,
        at: Option<Position>,
        seen: Option<Position>,
    ) -> Result<SheetsReply, ClientError> {
        let call = spreadsheet(Method::GET, id, Some("sheets"))
            .with_position("at", at)
            .with_position("min_position", seen);
        self.transport.send(call).await
    }

    /// `GET /v1/spreadsheets/{id}/stats`: levels, chunks, and what opening costs; never older than
    /// `seen`.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn stats(
        &self,
        id: LogId,
        seen: Option<Position>,
    ) -> Result<StatsReply, ClientError> {
        let call = spreadsheet(Method::GET, id, Some("stats")).with_position("min_position", seen);
        self.transport.send(call).await
    }

    /// `GET /v1/health`: what runs there and what it reaches; needs no token and sends none.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn health(&self) -> Result<Health, ClientError> {
        self.transport.send(Call::new(Method::GET, &["v1", "health"]).without_token()).await
    }
}

fn spreadsheet(method: Method, id: LogId, part: Option<&'static str>) -> Call {
    let id = id.to_string();
    let path = ["v1", "spreadsheets", &id];
    let call = Call::new(method, &path);
    match part {
        Some(part) => call.with_segment(part),
        None => call,
    }
}
