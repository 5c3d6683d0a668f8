//! `POST /v1/spreadsheets/{id}/forks` and `GET …/forks`.

use serde::{Deserialize, Serialize};

use cellar_base::identity::LogId;
use cellar_base::position::Position;

/// A fork to create.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForkRequest {
    /// Idempotency key, 1 to 64 bytes, chosen by the client. The id of the fork is a hash of it,
    /// the token's subject and the spreadsheet: a repeated request finds the same fork.
    pub nonce: String,
    /// Position to fork at; defaults to the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Position>,
    /// Name, one line of 1 to 256 bytes; defaults to `Fork of` and the name of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl ForkRequest {
    /// Creates a request with the default name.
    #[must_use]
    pub fn new(nonce: String, at: Option<Position>) -> Self {
        Self { nonce, at, name: None }
    }
}

/// The created fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForkReply {
    /// Id of the fork.
    pub id: LogId,
    /// Spreadsheet that lists the fork: the requested one, or the one from which it inherits the
    /// position.
    pub source: LogId,
    /// Last shared position.
    pub position: Position,
    /// Newest position of the fork. It and every position up to `position` can be the base of an
    /// edit.
    pub head: Position,
    /// Incarnation of the tables, for appends.
    pub incarnation: u32,
}

/// The source of a fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForkSource {
    /// Spreadsheet id of the source.
    pub spreadsheet: LogId,
    /// Last shared position.
    pub position: Position,
}

/// Forks of a spreadsheet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForksReply {
    /// Forks that the token grants access to, oldest first.
    pub forks: Vec<ForkView>,
    /// Cursor of the next page, if there may be more forks; a page may be empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// A fork in its source's list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForkView {
    /// Id of the fork.
    pub id: LogId,
    /// Last shared position.
    pub position: Position,
    /// Creation time, Unix seconds.
    pub created_s: u64,
    /// Author of the fork.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
}
