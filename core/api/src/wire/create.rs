//! `POST /v1/spreadsheets`, `GET /v1/spreadsheets/{id}/head` and `…/pokes`.

use serde::{Deserialize, Serialize};

use cellar_base::identity::LogId;
use cellar_base::position::Position;

/// A spreadsheet to be created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CreateRequest {
    /// 1 to 64 bytes, chosen by the client. The id is a hash of it and the token's subject:
    /// repeating the request is safe and finds the same spreadsheet.
    pub nonce: String,
    /// What it is called, one line of 1 to 256 bytes; without it, it has no name yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl CreateRequest {
    /// A spreadsheet that has no name yet.
    #[must_use]
    pub fn new(nonce: String) -> Self {
        Self { nonce, name: None }
    }
}

/// The created spreadsheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CreateReply {
    /// Its id.
    pub id: LogId,
    /// Its first position: the base of a first edit.
    pub head: Position,
    /// Its incarnation, for appends.
    pub incarnation: u32,
}

/// The newest position: the cheap poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Head {
    /// The newest entry.
    pub head: Position,
    /// Another incarnation than the one known means: load again.
    pub incarnation: u32,
}

impl Head {
    /// Its `ETag`: with it in `If-None-Match`, the same head is not sent again.
    #[must_use]
    pub fn etag(&self) -> String {
        format!("\"{}-{}\"", self.incarnation, self.head.pack())
    }
}

/// A spreadsheet has grown: all that a poke says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Poke {
    /// Which.
    pub spreadsheet: LogId,
    /// Its newest position, as far as is known.
    pub head: Position,
}
