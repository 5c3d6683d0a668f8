//! The Replicache protocol: `POST /v1/spreadsheets/{id}/push` and `…/pull`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{EntryView, MutationStatus};
use crate::sync::CookieView;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Rejection};
use cellar_sheet::workbook::ReversalReport;

/// Mutations from the clients of a client group, in the order in which they were made. A push is
/// idempotent, because the server recognizes committed mutations by client id and mutation id.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PushRequest<M> {
    /// Protocol version: 1.
    pub push_version: u32,
    /// Client group id, 1 to 64 bytes long. A client group belongs to the user who sends the push.
    #[serde(rename = "clientGroupID")]
    pub client_group_id: String,
    /// Mutations in the push. May be empty.
    pub mutations: Vec<M>,
    /// Version of the schema that the application's mutators use: "" or "1".
    #[serde(default)]
    pub schema_version: String,
}

/// A pushed mutation. Its arguments are parsed separately, so that malformed arguments do not make
/// the whole push fail.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PushedMutation<A> {
    /// Client id, 1 to 64 bytes.
    #[serde(rename = "clientID")]
    pub client_id: String,
    /// Mutation id. A client numbers its mutations consecutively, starting at 1.
    pub id: u64,
    /// Name of the application's mutator. The server ignores it.
    pub name: String,
    /// Arguments `{base, incarnation, op}`. `op` is the operation. `base` and `incarnation` are the
    /// position and the incarnation in the value of `head` in the client's view when the mutation
    /// was made. A mutation with malformed arguments is rejected.
    pub args: A,
}

/// The results of a push.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PushReply {
    /// Results of the mutations, in push order.
    pub results: Vec<PushedResult>,
    /// Position of the newest entry that the server read. Absent if the server read none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Position>,
    /// Entries after the bases of the mutations, oldest first. The list may be incomplete, and it
    /// may include entries that this push wrote. A pull returns all entries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<EntryView>,
}

/// Result of a pushed mutation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PushedResult {
    /// Client id.
    #[serde(rename = "clientID")]
    pub client_id: String,
    /// Mutation id.
    pub id: u64,
    /// Result of the mutation.
    pub status: PushStatus,
    /// Position of the entry that contains the mutation. Absent if the server did not read the
    /// entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// Reason for the rejection. A rejected mutation has no effect, but its id counts as used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejection: Option<Rejection>,
    /// Operations that took effect. Set only if the mutation was appended by this push and they
    /// differ from the operation that was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed: Option<Vec<Operation>>,
    /// Effect of an undo or revert in numbers. Also set if an import replaced a sheet to which formulas of
    /// other sheets or names refer: `restored` counts those that refer to the imported sheet now. Set
    /// only if the mutation was appended by this push.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reversal: Option<ReversalReport>,
}

/// Status of a pushed mutation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum PushStatus {
    /// The mutation was appended by this push.
    Appended,
    /// The mutation was already in the log.
    Duplicate,
    /// The mutation can never succeed. It was added to the log as rejected and has no effect.
    Rejected,
    /// The mutation was not processed, because earlier mutations from the same client are missing.
    Gap,
}

impl From<MutationStatus> for PushStatus {
    fn from(status: MutationStatus) -> Self {
        match status {
            MutationStatus::Appended => Self::Appended,
            MutationStatus::Duplicate => Self::Duplicate,
            MutationStatus::Rejected => Self::Rejected,
        }
    }
}

/// Request for the changes since the client's last pull.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PullRequest {
    /// Protocol version: 1.
    pub pull_version: u32,
    /// Client group id, 1 to 64 bytes.
    #[serde(rename = "clientGroupID")]
    pub client_group_id: String,
    /// Cookie of the previous response, or null for the first pull.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<CookieView>, required = true))]
    pub cookie: serde_json::Value,
    /// Version of the schema that the client's view uses: "" or "1".
    #[serde(default)]
    pub schema_version: String,
}

/// Changes since the last pull.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PullReply {
    /// Cookie to be sent with the next pull.
    pub cookie: CookieView,
    /// Last mutation ids of the clients in the group that have new mutations, by client id.
    #[serde(rename = "lastMutationIDChanges")]
    pub last_mutation_id_changes: BTreeMap<String, u64>,
    /// Changes to the client's view.
    pub patch: Vec<PatchOperation>,
    /// Whether the response was truncated. If it was, the client should pull again immediately.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

/// A change to a client's view. A view has the keys `head`, `root` and `entry/…`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum PatchOperation {
    /// Removes all keys from the client's view.
    Clear,
    /// Sets the value of a key.
    Put {
        /// Key to set.
        key: String,
        /// New value.
        value: PatchValue,
    },
}

/// A value in a client's view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum PatchValue {
    /// Value of a key `entry/…`: an entry after the snapshot in the view. The key ends with the
    /// position of the entry, as 16 hexadecimal digits. If the entry has an external body, `GET
    /// …/entries` returns its download URL.
    Entry(Box<EntryView>),
    /// Value of the key `root`: the snapshot in the view. The key is absent if the view contains
    /// all entries since the first one.
    Root {
        /// Position of the Snapshot entry.
        position: Position,
        /// Key of the root object of the snapshot. Load the spreadsheet to get a download URL.
        root: String,
    },
    /// Value of the key `head`: the base position and the incarnation for the next mutation.
    Head {
        /// Base position for the next mutation.
        position: Position,
        /// Incarnation of the tables.
        incarnation: u32,
    },
}

/// A Replicache error, sent with status 200.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SyncErrorResponse {
    /// Error code.
    pub error: SyncError,
    /// Part of the protocol whose version is not supported: `push`, `pull` or `schema`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_type: Option<&'static str>,
}

/// Error codes of the Replicache protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SyncError {
    /// The client group or the cookie is unknown. The client must start over with a new client
    /// group.
    ClientStateNotFound,
    /// The protocol version is not supported.
    VersionNotSupported,
}

/// Response to a pull. Errors are sent in the body with status 200, because Replicache clients
/// retry after any other status.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum PullResponse {
    /// Changes since the last pull.
    Reply(PullReply),
    /// A Replicache error.
    Error(SyncErrorResponse),
}

/// Response to a push. Errors are sent in the body with status 200, because Replicache clients
/// retry after any other status.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum PushResponse {
    /// The results of the push.
    Reply(PushReply),
    /// A Replicache error.
    Error(SyncErrorResponse),
}

/// Arguments of a mutation, which are the same for all mutators. Unknown fields are ignored.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MutationArguments {
    /// `head.position` in the client's view when the mutation was made.
    pub base: Position,
    /// `head.incarnation` in the client's view when the mutation was made.
    pub incarnation: u32,
    /// Operation to perform.
    pub op: Operation,
}
