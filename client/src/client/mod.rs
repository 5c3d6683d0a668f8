//! HTTP client for the API, with one method per endpoint.

mod address;
mod body;
mod catalog;
mod chunks;
mod diff;
mod feed;
mod folder;
mod imports;
mod objects;
mod observed;
mod pages;
mod pokes;
mod retry;
mod spreadsheet;
mod subject;
mod tally;
mod transport;

pub use body::{BodyFault, MAX_REPLY_BODY_BYTES, read_body};
pub use feed::{FeedQuery, SpreadsheetsQuery};
pub(crate) use objects::sha256;
pub use observed::AttemptOutcome;
pub use pages::ItemStream;
pub use pokes::Pokes;
pub(crate) use spreadsheet::LastSeen;
pub use spreadsheet::Spreadsheet;
pub use tally::RequestCosts;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cellar_api::wire::{CreateReply, CreateRequest, Health};
use cellar_base::identity::SubjectKey;
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
/// Every request is idempotent. Connection failures, timeouts and temporary server errors are
/// retried with backoff a limited number of times.
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

impl CellsQuery {
    /// Creates a query for a range of the first sheet in A1 notation, such as `A1:G20`.
    #[must_use]
    pub fn of_range(range: impl Into<String>) -> Self {
        Self { range: Some(range.into()), ..Self::default() }
    }

    /// Creates a query for all cells of the sheet with a name.
    #[must_use]
    pub fn of_sheet(name: impl Into<String>) -> Self {
        Self { sheet: Some(name.into()), ..Self::default() }
    }

    /// Selects the sheet with a name.
    #[must_use]
    pub fn with_sheet(self, name: impl Into<String>) -> Self {
        Self { sheet: Some(name.into()), ..self }
    }

    /// Reads at a position instead of the newest one.
    #[must_use]
    pub fn at_position(self, position: Position) -> Self {
        Self { at: Some(position), ..self }
    }

    /// Reads at a position or a later one. For read-your-writes consistency, pass the position of
    /// your last write.
    #[must_use]
    pub fn at_or_after(self, position: Position) -> Self {
        Self { min_position: Some(position), ..self }
    }
}

impl Client {
    /// Creates an API client with an optional bearer token. Sends no request.
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

    /// Sets the directory whose `.cellar/` contains the local state: edits that were not
    /// acknowledged, journals of imports and cached objects. Processes may share a directory.
    ///
    /// Without this call, the state is in a temporary directory. Edits are then sent exactly once
    /// as long as the process runs, but edits that were not acknowledged are lost when it ends.
    #[must_use]
    pub fn with_folder(self, dir: impl Into<PathBuf>) -> Self {
        Self { folder: StateFolder::Permanent(dir.into()), ..self }
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

    /// Returns the directory with the local state.
    ///
    /// # Errors
    ///
    /// Returns a [`FileError`] if the temporary directory cannot be created.
    pub fn folder(&self) -> Result<&Path, FileError> {
        self.folder.path()
    }

    /// Returns a short id of the token's subject, which does not change when the token is renewed.
    /// Local state is separate per subject, so that edits are never sent as another subject.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject.id
    }

    /// Returns the author of entries that are appended with the token, or `None` if the token has
    /// no readable subject.
    #[must_use]
    pub fn author(&self) -> Option<&str> {
        self.subject.author.as_deref()
    }

    /// Returns the subject from which the server derives client keys
    /// ([`cellar_base::identity::ClientKey::derive`]), or `None` if the token has no readable
    /// subject.
    #[must_use]
    pub fn subject_key(&self) -> Option<SubjectKey> {
        self.subject.key
    }

    /// Returns the total cost of all requests sent by this client and its clones, including
    /// retries. Costs are reported in the responses. Lost responses and "not found" responses
    /// report no cost and are counted in [`RequestCosts::unknown_requests`].
    #[must_use]
    pub fn cost(&self) -> RequestCosts {
        self.transport.tally().total()
    }

    /// Creates a spreadsheet with a name.
    ///
    /// A request whose response is lost is retried without creating a second spreadsheet. A caller
    /// that retries after an error needs [`Client::create`], with the same nonce in each attempt.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn create_spreadsheet(&self, name: &str) -> Result<Spreadsheet, ClientError> {
        let request = CreateRequest { nonce: new_client_id(), name: Some(name.to_owned()) };
        Ok(self.spreadsheet(self.create(&request).await?.id))
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
