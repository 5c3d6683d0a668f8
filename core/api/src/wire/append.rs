//! `POST /v1/spreadsheets/{id}/entries`: append.

use serde::{Deserialize, Serialize};

use super::EntryView;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Rejection};

/// Mutations to append, in the order their client made them.
///
/// Repeat a request unchanged until it is answered: what got through is recognised by the client's
/// name and the mutation's id, and is not appended again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AppendRequest {
    /// The client's name, 1 to 64 bytes, its own for each subject: it numbers its mutations.
    pub client_id: String,
    /// The `incarnation` of the load that the bases come from.
    pub incarnation: u32,
    /// The last id of its own that the client knows to be in the log; 0 if none.
    #[serde(default)]
    pub acked_id: u64,
    /// At least one, at most 1,000, with consecutive ids.
    pub mutations: Vec<SentMutation>,
}

/// One mutation as it is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SentMutation {
    /// 1 for a client's first mutation, then consecutive.
    pub id: u64,
    /// The position the client had seen when it made the edit; never changes for a mutation.
    pub base: Position,
    /// What to do.
    pub op: Operation,
}

/// What became of the mutations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AppendReply {
    /// One for each mutation, in the order of the request.
    pub results: Vec<AppendedMutation>,
    /// The newest entry known to the server, at least as new as every result.
    pub head: Position,
    /// The entries after the lowest base that this request did not write, oldest first.
    pub entries: Vec<EntryView>,
    /// If `entries` was cut: go on with an update after this position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Position>,
}

/// What became of one mutation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AppendedMutation {
    /// Its id.
    pub id: u64,
    /// Whether it was appended now or had been before.
    pub status: MutationStatus,
    /// The entry it is in; absent if it was acknowledged and is not among the entries after the
    /// lowest base that were visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// Why it changed nothing and never will, if it was rejected. The client's numbering goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejection: Option<Rejection>,
    /// What it was committed as, one operation after the other, if that is not what was sent and
    /// this request appended it: nothing if nothing of it was left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed: Option<Vec<Operation>>,
    /// Set if the mutation is in the log and changed nothing: others deleted all that it names after
    /// its base.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_effect: bool,
}

/// Whether a mutation was appended now or had been before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum MutationStatus {
    /// Appended by this request.
    Appended,
    /// Already in the log.
    Duplicate,
    /// It can never succeed: it stands in the log as rejected and changes nothing.
    Rejected,
}
