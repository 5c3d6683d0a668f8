//! `POST /v1/spreadsheets/{id}/forks` and `GET …/forks`: forks of a spreadsheet.

use serde::{Deserialize, Serialize};

use cellar_base::identity::LogId;
use cellar_base::position::Position;

/// A fork to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForkRequest {
    /// 1 to 64 bytes, chosen by the client. The fork's id is a hash of it, the token's subject and the
    /// spreadsheet: repeating the request is safe and finds the same fork.
    pub nonce: String,
    /// The last position that both share; without it the newest there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Position>,
    /// What the fork is called, one line of 1 to 256 bytes; without it `Fork of` what it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl ForkRequest {
    /// A fork that is called after what it comes from.
    #[must_use]
    pub fn new(nonce: String, at: Option<Position>) -> Self {
        Self { nonce, at, name: None }
    }
}

/// The fork that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForkReply {
    /// Its id.
    pub id: LogId,
    /// The spreadsheet that it comes from: the one asked for, or, if that inherits the position itself,
    /// the one that it inherits it from. The fork is in the list of this one.
    pub source: LogId,
    /// The last position that both share.
    pub position: Position,
    /// Its newest position: the base of a first edit. So is any position up to `position`.
    pub head: Position,
    /// Its incarnation, for appends.
    pub incarnation: u32,
}

/// Where a fork comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForkSource {
    /// The spreadsheet.
    pub spreadsheet: LogId,
    /// The last position that both share.
    pub position: Position,
}

/// Forks of a spreadsheet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForksReply {
    /// The forks that the token covers, the oldest first.
    pub forks: Vec<ForkView>,
    /// If there may be more, even if there are none here: go on after this number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// A fork in the list of the spreadsheet that it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForkView {
    /// Its id.
    pub id: LogId,
    /// The last position that both share.
    pub position: Position,
    /// When it was made, Unix seconds.
    pub created_s: u64,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
}
