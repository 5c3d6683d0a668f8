//! `POST /v1/spreadsheets/{id}/entries`: append mutations.

use serde::{Deserialize, Serialize};

use super::EntryView;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Rejection};

/// Mutations to append, in the order in which the client made them.
///
/// Repeat a request unchanged until it is answered: the server recognizes committed mutations by
/// client id and mutation id, and does not append them again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AppendRequest {
    /// Client id, 1 to 64 bytes, unique per subject; it numbers the mutations.
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
    /// Position that the client had seen when it made the edit; never changes for a mutation.
    pub base: Position,
    /// Operation to perform.
    pub op: Operation,
}

/// The results of an append.
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

/// The result of one mutation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AppendedMutation {
    /// Mutation id.
    pub id: u64,
    /// Result: appended, duplicate or rejected.
    pub status: MutationStatus,
    /// Position of the entry that contains the mutation; absent if the mutation was acknowledged
    /// and its entry was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// Reason of a rejection; the id counts as used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejection: Option<Rejection>,
    /// Operations that took effect, if this request appended the mutation and they differ from the
    /// sent one; empty if no effect remained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed: Option<Vec<Operation>>,
    /// Set if the mutation is committed without an effect: everything it names was deleted after
    /// its base.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_effect: bool,
}

/// Result of a mutation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum MutationStatus {
    /// Appended by this request.
    Appended,
    /// Already in the log.
    Duplicate,
    /// Recorded in the log as rejected: it can never succeed and has no effect.
    Rejected,
}
