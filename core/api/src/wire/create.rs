//! `POST /v1/spreadsheets`, `GET /v1/spreadsheets/{id}/head` and `…/pokes`.

use serde::{Deserialize, Serialize};

use cellar_base::identity::LogId;
use cellar_base::position::Position;

/// A spreadsheet to create.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CreateRequest {
    /// Idempotency key, 1 to 64 bytes, chosen by the client. The spreadsheet id is a hash of this
    /// key and the token's subject, so a retried request returns the existing spreadsheet.
    pub nonce: String,
    /// Name of the spreadsheet, a single line of 1 to 256 bytes. Absent if the spreadsheet is
    /// unnamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl CreateRequest {
    /// Creates a request for an unnamed spreadsheet.
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
    /// Latest position of the spreadsheet, to be used as the base of the first edit.
    pub head: Position,
    /// Incarnation of the tables, required to append edits.
    pub incarnation: u32,
}

/// Latest position of a spreadsheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Head {
    /// Latest position of the spreadsheet.
    pub head: Position,
    /// Incarnation of the tables. If it differs from the incarnation that the client knows, the
    /// client must reload the spreadsheet.
    pub incarnation: u32,
}

impl Head {
    /// Returns the `ETag` of the head. A request with this `ETag` in `If-None-Match` returns status
    /// 304 if the head is unchanged.
    #[must_use]
    pub fn etag(&self) -> String {
        format!("\"{}-{}\"", self.incarnation, self.head.pack())
    }
}

/// Poke: a hint that new entries were appended to a spreadsheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Poke {
    /// Spreadsheet id.
    pub spreadsheet: LogId,
    /// Newest known position.
    pub head: Position,
}
