//! `POST /v1/spreadsheets/{id}/entries`: appends mutations.

use serde::{Deserialize, Serialize};

use super::{EntryView, client_key};
use cellar_base::identity::ClientKey;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Rejection};
use cellar_sheet::workbook::ReversalReport;

/// Mutations to be appended, in the order in which the user made them. The request is idempotent,
/// and clients retry it unchanged until the server responds. The server recognizes committed
/// mutations by client id and mutation id and does not append them again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AppendRequest {
    /// Client id, 1 to 64 bytes long and unique per user. Each client numbers its own mutations.
    pub client_id: String,
    /// Incarnation that the server returned with the base positions. It changes when the tables are
    /// restored from a backup.
    pub incarnation: u32,
    /// Highest mutation id that the client knows to be committed, or 0 if there is none.
    #[serde(default)]
    pub acked_id: u64,
    /// Refuses an undo or revert that would change nothing, with the problem `nothing-to-reverse`.
    /// Nothing is appended, and the id of the mutation is not used. Without it, such an undo or
    /// revert is appended as rejected.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refuse_unchanged: bool,
    /// 1 to 1,000 mutations with consecutive ids.
    pub mutations: Vec<SentMutation>,
}

/// One mutation to append.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SentMutation {
    /// Mutation id. A client numbers its mutations consecutively, starting at 1.
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
    /// `client_key` of the entries of this client, as 16 hexadecimal digits, so that the client
    /// recognizes its own entries. Absent in replies of older servers.
    #[serde(default, with = "client_key", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub client_key: Option<ClientKey>,
    /// Results of the mutations, in request order.
    pub results: Vec<AppendedMutation>,
    /// Latest position known to the server. It is not before the position of any result.
    pub head: Position,
    /// Entries from other requests after the lowest base of the mutations, oldest first.
    pub entries: Vec<EntryView>,
    /// Position after which `listEntries` returns further entries. Set if `entries` was truncated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Position>,
}

/// Result of a mutation in an append request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AppendedMutation {
    /// Mutation id.
    pub id: u64,
    /// Whether the mutation was appended, was already committed, or was rejected.
    pub status: MutationStatus,
    /// Position of the entry that contains the mutation. Absent if the request stated that the
    /// mutation was already committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// Reason for the rejection. A rejected mutation has no effect, but its id counts as used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejection: Option<Rejection>,
    /// Operations that took effect. Set only if the mutation was appended by this request and they
    /// differ from the operation that was sent. Empty if the mutation had no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed: Option<Vec<Operation>>,
    /// Whether the mutation was committed without effect because its target had been deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_effect: bool,
    /// Effect of an undo or revert in numbers. Also set if an import replaced a sheet to which formulas of
    /// other sheets or names refer: `restored` counts those that refer to the imported sheet now. Set
    /// only if the mutation was appended by this request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reversal: Option<ReversalReport>,
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
    /// The mutation can never succeed. It was added to the log as rejected and has no effect.
    Rejected,
}
