//! HTTP client for the API, with one method per endpoint.

mod address;
mod body;
mod catalog;
mod cell_history;
mod chunks;
mod diff;
mod feed;
mod folder;
mod imports;
mod merge;
mod objects;
mod observed;
mod pages;
mod pokes;
mod retry;
mod search;
mod spreadsheet;
mod subject;
mod tally;
mod transport;

pub use body::{BodyFault, MAX_REPLY_BODY_BYTES, read_body};
pub use cell_history::CellHistoryQuery;
pub use feed::{FeedQuery, SpreadsheetsQuery};
pub(crate) use objects::sha256;
pub use observed::AttemptOutcome;
pub use pages::ItemStream;
pub(crate) use pages::{FeedCursor, check_advances};
pub use pokes::Pokes;
pub use search::{FilterQuery, FilterTotals, FindQuery, FindTotals};
pub(crate) use spreadsheet::LastSeen;
pub use spreadsheet::Spreadsheet;
pub use tally::RequestCosts;
pub use transport::http_client;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cellar_api::wire::{CreateReply, CreateRequest, Health};
use cellar_base::identity::{LogId, SubjectKey};
use cellar_base::position::Position;
use reqwest::Method;

use crate::ClientError;
use crate::files::FileError;
use crate::outbox::new_client_id;
use folder::StateFolder;
use subject::TokenSubject;
pub(crate) use transport::random;
use transport::{Call, Transport};

/// A Cellar API client.
///
/// Every request is idempotent. After a connection failure, a timeout or a temporary server error,
/// a request is retried with backoff a limited number of times.
#[derive(Debug, Clone)]
pub struct Client {
    transport: Transport,
    identity: Option<String>,
    subject: Arc<TokenSubject>,
    folder: StateFolder,
}

/// Optional parameters of [`Spreadsheet::cells`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CellsQuery {
    /// Sheet name. If `None`, the first sheet is read.
    pub sheet: Option<String>,
    /// Range in A1 notation. If `None`, the whole sheet is read.
    pub range: Option<String>,
    /// Position to read at. If `None`, the newest position is used.
    pub at: Option<Position>,
    /// `next` of the previous page, or `None` for the first page.
    pub cursor: Option<String>,
    /// The server returns the cells at this position or a later one. For read-your-writes
    /// consistency, pass the position of your last write.
    pub min_position: Option<Position>,
}

impl CellsQuery {
    /// Creates a query for a range of the first sheet in A1 notation, such as `A1:G20`.
    #[must_use]
    pub fn of_range(range: impl Into<String>) -> Self {
        Self { range: Some(range.into()), ..Self::default() }
    }

    /// Creates a query for all cells of the sheet with the given name.
    #[must_use]
    pub fn of_sheet(name: impl Into<String>) -> Self {
        Self { sheet: Some(name.into()), ..Self::default() }
    }

    /// Selects the sheet with the given name.
    #[must_use]
    pub fn with_sheet(self, name: impl Into<String>) -> Self {
        Self { sheet: Some(name.into()), ..self }
    }

    /// Reads at the given position instead of the newest one.
    #[must_use]
    pub fn at_position(self, position: Position) -> Self {
        Self { at: Some(position), ..self }
    }

    /// Whether all cells of a sheet are read.
    pub(crate) fn selects_whole_sheet(&self) -> bool {
        self.range.is_none() && self.cursor.is_none()
    }

    /// Reads at the given position or a later one. For read-your-writes consistency, pass the
    /// position of your last write.
    #[must_use]
    pub fn at_or_after(self, position: Position) -> Self {
        Self { min_position: Some(position), ..self }
    }
}

impl Client {
    /// Creates an API client, optionally with a bearer token. Sends no request.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::InvalidUrl`], [`ClientError::InvalidToken`],
    /// [`ClientError::ClearText`] or [`ClientError::Setup`].
    pub fn new(url: &str, token: Option<&str>) -> Result<Self, ClientError> {
        Ok(Self {
            transport: Transport::new(url, token)?,
            identity: None,
            subject: Arc::new(TokenSubject::of_token(token)),
            folder: StateFolder::temporary(),
        })
    }

    /// Sets the directory whose `.cellar/` contains the local state: unacknowledged edits, import
    /// journals and cached objects. Several processes may share a directory.
    ///
    /// If this method is not called, the state is stored in a temporary directory, and
    /// unacknowledged edits are lost when the process ends. While the process is running, each edit
    /// is nevertheless committed exactly once.
    #[must_use]
    pub fn with_folder(self, dir: impl Into<PathBuf>) -> Self {
        Self { folder: StateFolder::Permanent(dir.into()), ..self }
    }

    /// Sets the name of the stack ([`Client::identity`]). Unlike the stack's URL, the name never
    /// changes. An empty name is treated as `None`.
    #[must_use]
    pub fn with_identity(self, identity: Option<&str>) -> Self {
        let identity = identity.filter(|identity| !identity.is_empty()).map(str::to_owned);
        Self { identity, ..self }
    }

    /// Returns a client that calls `observe` after each attempt to send a request, for
    /// measurements. The two clients share their connections.
    #[must_use]
    pub fn observed(self, observe: impl Fn(AttemptOutcome) + Send + Sync + 'static) -> Self {
        Self { transport: self.transport.observed(observed::Observer::new(observe)), ..self }
    }

    /// Returns a client of the same stack at another URL or with a renewed token, such as after a local
    /// stack was restarted at another port. The costs of both clients are counted together. Returns
    /// `None` if the token is that of another subject (user), whose local state is separate.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Client::new`].
    pub fn moved_to(&self, url: &str, token: Option<&str>) -> Result<Option<Self>, ClientError> {
        let moved = Self {
            transport: self.transport.moved_to(url, token)?,
            identity: Some(self.identity().to_owned()),
            subject: Arc::new(TokenSubject::of_token(token)),
            folder: self.folder.clone(),
        };
        Ok((moved.subject() == self.subject()).then_some(moved))
    }

    /// Returns the stack name, or the URL if no name is set. Unsent edits are stored under this
    /// identity. If a local stack restarts on another port, its URL changes but its name does not,
    /// so the edits are found again.
    #[must_use]
    pub fn identity(&self) -> &str {
        self.identity.as_deref().unwrap_or_else(|| self.url())
    }

    /// Returns the normalized API URL.
    #[must_use]
    pub fn url(&self) -> &str {
        self.transport.base()
    }

    /// Returns the directory with the local state.
    ///
    /// # Errors
    ///
    /// Returns a [`FileError`] if the temporary directory cannot be created.
    pub fn folder(&self) -> Result<&Path, FileError> {
        self.folder.path()
    }

    /// Returns a short id of the token's subject. The id stays the same when the token is renewed.
    /// Each subject has its own local state, so that one subject's edits are never sent as another
    /// subject.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject.id
    }

    /// Returns the author of log entries that are appended with the client's token. Returns `None`
    /// if the token's subject cannot be read.
    #[must_use]
    pub fn author(&self) -> Option<&str> {
        self.subject.author.as_deref()
    }

    /// Returns the spreadsheets to which the client's token is limited. Empty if the token does not
    /// name spreadsheets.
    #[must_use]
    pub fn named_spreadsheets(&self) -> &[LogId] {
        &self.subject.spreadsheets
    }

    /// Returns the subject from which the server derives client keys
    /// ([`cellar_base::identity::ClientKey::derive`]). Returns `None` if the token's subject cannot
    /// be read.
    #[must_use]
    pub fn subject_key(&self) -> Option<SubjectKey> {
        self.subject.key
    }

    /// Returns the total cost of all requests that this client and its clones have sent, including
    /// retries. Requests whose cost is unknown are counted in [`RequestCosts::unknown_requests`].
    /// These include requests with a "not found" response.
    #[must_use]
    pub fn cost(&self) -> RequestCosts {
        self.transport.tally().total()
    }

    pub(crate) fn unexpected_reply(&self, why: impl Into<String>) -> ClientError {
        ClientError::NotUnderstood { url: self.url().to_owned(), why: why.into() }
    }

    /// Creates a spreadsheet with a name. If a response is lost, the request is retried without
    /// creating a second spreadsheet. To call this method again after an error without creating a
    /// second spreadsheet, use [`Client::create`] with the same nonce each time.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn create_spreadsheet(&self, name: &str) -> Result<Spreadsheet, ClientError> {
        let request = CreateRequest { nonce: new_client_id(), name: Some(name.to_owned()) };
        Ok(self.spreadsheet(self.create(&request).await?.id))
    }

    /// Creates a spreadsheet (`POST /v1/spreadsheets`). The nonce is an idempotency key: if a
    /// request with this nonce has already created a spreadsheet, that spreadsheet is returned.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn create(&self, request: &CreateRequest) -> Result<CreateReply, ClientError> {
        let call = Call::new(Method::POST, &["v1", "spreadsheets"]).with_body(request)?;
        self.transport.send(call).await
    }

    /// Returns the server version and the status of the server's dependencies (`GET /v1/health`).
    /// The request is sent without a token.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn health(&self) -> Result<Health, ClientError> {
        self.transport.send(Call::new(Method::GET, &["v1", "health"]).without_token()).await
    }
}
