//! `POST /v1/spreadsheets`, `GET /v1/spreadsheets/{id}/head` and `…/pokes`.

use serde::{Deserialize, Serialize};

use cellar_base::identity::LogId;
use cellar_base::position::Position;

/// A spreadsheet to create.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CreateRequest {
    /// Idempotency key, 1 to 64 bytes, chosen by the client. The id of the spreadsheet is a hash of
    /// the nonce and the subject of the token, so a repeated request finds the same spreadsheet.
    pub nonce: String,
    /// Name of the spreadsheet, one line of 1 to 256 bytes; absent for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl CreateRequest {
    /// Creates a request without a name.
    #[must_use]
    pub fn new(nonce: String) -> Self {
        Self { nonce, name: None }
    }
}

/// The created spreadsheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CreateReply {
    /// Spreadsheet id.
    pub id: LogId,
    /// Newest position of the spreadsheet, the base of the first edit.
    pub head: Position,
    /// Incarnation of the tables, for appends.
    pub incarnation: u32,
}

/// The newest position of a spreadsheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Head {
    /// Newest position of the spreadsheet.
    pub head: Position,
    /// Incarnation of the tables; if it differs from the client's, load again.
    pub incarnation: u32,
}

impl Head {
    /// Returns the `ETag` of the head. If a request sends it as `If-None-Match` and the head is
    /// unchanged, the response has status 304.
    #[must_use]
    pub fn etag(&self) -> String {
        format!("\"{}-{}\"", self.incarnation, self.head.pack())
    }
}

/// A hint that a spreadsheet has grown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Poke {
    /// Spreadsheet id.
    pub spreadsheet: LogId,
    /// Newest known position.
    pub head: Position,
}
