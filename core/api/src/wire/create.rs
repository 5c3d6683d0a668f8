//! Creating a spreadsheet and watching it for changes: `POST /v1/spreadsheets`, `GET
//! /v1/spreadsheets/{id}/head` and `…/pokes`.

use serde::{Deserialize, Serialize};

use cellar_base::identity::LogId;
use cellar_base::position::Position;

/// A spreadsheet to create.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CreateRequest {
    /// Idempotency key, 1 to 64 bytes long, chosen by the client. A repeated request with the same
    /// key returns the spreadsheet that the user has already created with it.
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
    /// Latest position of the spreadsheet, which is the base of the first edit.
    pub head: Position,
    /// Incarnation of the tables: the number of times that they were restored. It must be sent with
    /// edits.
    pub incarnation: u32,
}

/// Latest position of a spreadsheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Head {
    /// Latest position of the spreadsheet.
    pub head: Position,
    /// Incarnation of the tables: the number of times that they were restored. If it has changed,
    /// the client must reload the spreadsheet.
    pub incarnation: u32,
}

impl Head {
    /// Returns the `ETag` of the response. If a later request contains it in `If-None-Match` and
    /// the latest position is unchanged, the status is 304.
    #[must_use]
    pub fn etag(&self) -> String {
        format!("\"{}-{}\"", self.incarnation, self.head.pack())
    }
}

/// A hint that entries were added to a spreadsheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Poke {
    /// Spreadsheet id.
    pub spreadsheet: LogId,
    /// Newest known position.
    pub head: Position,
}
