//! Creating and listing the forks of a spreadsheet: `POST /v1/spreadsheets/{id}/forks` and `GET
//! …/forks`.

use serde::{Deserialize, Serialize};

use super::PositionOrTime;
use cellar_base::identity::LogId;
use cellar_base::position::Position;

/// A fork to create.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForkRequest {
    /// Idempotency key, 1 to 64 bytes long, chosen by the client. A repeated request with the same
    /// key returns the fork that the user has already created with it.
    pub nonce: String,
    /// Position or time at which the spreadsheet is forked. The default is the latest position. A
    /// client that repeats requests should send a position, because the position of a recent time may
    /// still change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<PositionOrTime>,
    /// Name of the fork, a single line of 1 to 256 bytes. The default is `Fork of` followed by the
    /// name of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl ForkRequest {
    /// Creates a request for a fork with the default name.
    #[must_use]
    pub fn new(nonce: String, at: Option<Position>) -> Self {
        Self { nonce, at: at.map(PositionOrTime::Position), name: None }
    }
}

/// The created fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForkReply {
    /// Id of the fork.
    pub id: LogId,
    /// Id of the spreadsheet that lists the fork. Usually, this is the requested spreadsheet. If
    /// that spreadsheet is itself a fork and shares the position with its source, this is the
    /// source.
    pub source: LogId,
    /// Last position that the fork shares with its source.
    pub position: Position,
    /// Latest position of the fork. The base of an edit can be this position or any position that
    /// is shared with the source.
    pub head: Position,
    /// Incarnation of the tables: the number of times that they were restored. It must be sent with
    /// edits.
    pub incarnation: u32,
}

/// The source of a fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForkSource {
    /// Id of the source spreadsheet.
    pub spreadsheet: LogId,
    /// Last position that the fork shares with its source.
    pub position: Position,
}

/// Forks of a spreadsheet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForksReply {
    /// Forks that the token grants access to, oldest first.
    pub forks: Vec<ForkView>,
    /// Cursor of the next page. Absent on the last page. A page may be empty even if it is not the
    /// last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// A fork in the fork list of its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForkView {
    /// Id of the fork.
    pub id: LogId,
    /// Last position that the fork shares with its source.
    pub position: Position,
    /// Creation time in seconds since the Unix epoch.
    pub created_s: u64,
    /// Author of the fork.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
}
