//! `POST /v1/spreadsheets/{id}/entries`: append mutations.

use serde::{Deserialize, Serialize};

use super::EntryView;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Rejection};

/// Mutations to append, in the order in which the client made them.
///
/// Repeat the unchanged request until the server responds. The server recognizes committed
/// mutations by client id and mutation id and does not append them again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AppendRequest {
    /// Client id, 1 to 64 bytes, unique per subject. Each client numbers its own mutations.
    pub client_id: String,
    /// Incarnation of the tables when the bases were loaded.
    pub incarnation: u32,
    /// Highest mutation id that the client knows to be committed; 0 if none.
    #[serde(default)]
    pub acked_id: u64,
    /// Mutations, 1 to 1,000, with consecutive ids.
    pub mutations: Vec<SentMutation>,
}

/// One mutation to append.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SentMutation {
    /// Mutation id: 1 for a client's first mutation, then consecutive.
    pub id: u64,
    /// Position that the client had seen when it made the edit. Repeated requests must send the
    /// same base.
    pub base: Position,
    /// Operation to perform.
    pub op: Operation,
}

/// The results of an append request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AppendReply {
    /// The result of each mutation, in the order of the request.
    pub results: Vec<AppendedMutation>,
    /// Newest position known to the server, at least as new as every result.
    pub head: Position,
    /// Entries after the lowest base that this request did not write, oldest first.
    pub entries: Vec<EntryView>,
    /// Position to continue after with `listEntries`, if `entries` was truncated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Position>,
}

/// The result of one mutation of an append request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AppendedMutation {
    /// Mutation id.
    pub id: u64,
    /// Result: appended, duplicate or rejected.
    pub status: MutationStatus,
    /// Position of the entry that contains the mutation; absent if the client has acknowledged the
    /// mutation, so that the server did not read its entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// Reason of a rejection. A rejected mutation has no effect, but its id counts as used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejection: Option<Rejection>,
    /// Operations that took effect, if they differ from the sent operation and this request
    /// appended the mutation; empty if no effect remained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed: Option<Vec<Operation>>,
    /// Set if the mutation is committed but has no effect, because everything that it names was
    /// deleted after its base.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_effect: bool,
}

/// Result of a mutation of an append request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum MutationStatus {
    /// The mutation was appended by this request.
    Appended,
    /// The mutation was already in the log.
    Duplicate,
    /// The mutation can never succeed. The log contains it as rejected, without effect.
    Rejected,
}
