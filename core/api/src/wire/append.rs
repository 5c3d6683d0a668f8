//! `POST /v1/spreadsheets/{id}/entries`: appends mutations.

use serde::{Deserialize, Serialize};

use super::EntryView;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Rejection};

/// Mutations to be appended, in the order in which the client made them.
///
/// The request is idempotent, and clients retry it unchanged until the server responds. The server
/// recognizes committed mutations by client id and mutation id, and does not append them again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AppendRequest {
    /// Client id, 1 to 64 bytes, unique per subject. Each client numbers its own mutations.
    pub client_id: String,
    /// Incarnation of the tables when the client loaded the base positions.
    pub incarnation: u32,
    /// Highest mutation id that the client knows to be committed, or 0 if none.
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
    /// Mutation id. The first mutation of a client has the id 1, and ids are consecutive.
    pub id: u64,
    /// Base of the mutation: the latest position that the client had seen when it made the edit. A
    /// retried request must contain the same base.
    pub base: Position,
    /// Operation to perform.
    pub op: Operation,
}

/// Results of an append request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AppendReply {
    /// Results of the mutations, in request order.
    pub results: Vec<AppendedMutation>,
    /// Latest position known to the server. It is not before the position of any result.
    pub head: Position,
    /// Entries after the lowest base that other requests wrote, oldest first.
    pub entries: Vec<EntryView>,
    /// Position (exclusive) from which `listEntries` can continue. Set if `entries` was truncated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Position>,
}

/// Result of one mutation in an append request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AppendedMutation {
    /// Mutation id.
    pub id: u64,
    /// Whether the mutation was appended, already committed or rejected.
    pub status: MutationStatus,
    /// Position of the entry that contains the mutation. Absent if the server did not read the
    /// entry because the client already knew that the mutation was committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// Reason for the rejection. A rejected mutation has no effect, but its id counts as used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejection: Option<Rejection>,
    /// Operations that took effect. Set only if this request appended the mutation and the
    /// operations differ from the sent operation. Empty if the mutation had no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed: Option<Vec<Operation>>,
    /// Whether the mutation was committed without effect, because its target was deleted after its
    /// base.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_effect: bool,
}

/// Status of a mutation in an append request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum MutationStatus {
    /// The mutation was appended by this request.
    Appended,
    /// The mutation was already in the log.
    Duplicate,
    /// The mutation can never succeed. It is in the log as rejected and has no effect.
    Rejected,
}
