//! `POST /v1/spreadsheets/{id}/push` and `…/pull`: the Replicache protocol.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{EntryView, MutationStatus};
use crate::sync::CookieView;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Rejection};

/// Mutations of the clients of one client group, in the order in which they were made.
///
/// A push can be repeated safely: the server recognizes committed mutations by client and mutation
/// id.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PushRequest<M> {
    /// Protocol version: 1.
    pub push_version: u32,
    /// Client group id, 1 to 64 bytes. A client group belongs to the subject of the token.
    #[serde(rename = "clientGroupID")]
    pub client_group_id: String,
    /// Mutations of the push; may be empty.
    pub mutations: Vec<M>,
    /// Version of the application's mutators: "" or "1".
    #[serde(default)]
    pub schema_version: String,
}

/// A pushed mutation, whose arguments are not parsed yet.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PushedMutation<A> {
    /// Client id, 1 to 64 bytes.
    #[serde(rename = "clientID")]
    pub client_id: String,
    /// Mutation id: 1 for a client's first mutation, then consecutive.
    pub id: u64,
    /// Name of the application's mutator; ignored.
    pub name: String,
    /// Arguments `{base, incarnation, op}`: position and incarnation of `head` in the client's view
    /// when the mutation was made, and the operation. A mutation with invalid arguments is
    /// rejected.
    pub args: A,
}

/// The results of a push.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PushReply {
    /// The result of each mutation, in the order of the push.
    pub results: Vec<PushedResult>,
    /// Position of the newest entry that the server read, if it read any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Position>,
    /// Entries after the bases of the mutations, oldest first, possibly including entries of this
    /// push. The list may be incomplete; a pull returns all entries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<EntryView>,
}

/// The result of a pushed mutation.
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
    /// Position of the entry that contains the mutation, if the server read the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// Reason of a rejection. A rejected mutation has no effect, but its id counts as used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejection: Option<Rejection>,
    /// Operations that took effect, if they differ from the sent operation and this push appended
    /// the mutation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed: Option<Vec<Operation>>,
}

/// Result of a pushed mutation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum PushStatus {
    /// The mutation was appended by this push.
    Appended,
    /// The mutation was already in the log.
    Duplicate,
    /// The mutation can never succeed. The log contains it as rejected, without effect.
    Rejected,
    /// The mutation was not processed, because earlier mutations of its client are missing.
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

/// Requests the changes since the last pull.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PullRequest {
    /// Protocol version: 1.
    pub pull_version: u32,
    /// Client group id, 1 to 64 bytes.
    #[serde(rename = "clientGroupID")]
    pub client_group_id: String,
    /// Cookie of the previous reply; null for the first pull.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<CookieView>))]
    pub cookie: serde_json::Value,
    /// Version of the client's view: "" or "1".
    #[serde(default)]
    pub schema_version: String,
}

/// The changes since the last pull.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PullReply {
    /// Cookie to send with the next pull.
    pub cookie: CookieView,
    /// Last mutation id of each client of the group that has new mutations.
    #[serde(rename = "lastMutationIDChanges")]
    pub last_mutation_id_changes: BTreeMap<String, u64>,
    /// Changes of the client's view.
    pub patch: Vec<PatchOperation>,
    /// Set if the reply was truncated; the client should pull again immediately.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

/// A change of a client's view, whose keys are `head`, `root` and `entry/…`.
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

/// A value of a client's view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum PatchValue {
    /// Value of `entry/…`: an entry after the root. The key contains the position as 16 hexadecimal
    /// digits. `GET …/entries` returns the URL of a large entry's body.
    Entry(Box<EntryView>),
    /// Value of `root`: the snapshot with which the view begins. The key is absent if the view
    /// begins with the first entry.
    Root {
        /// Position of the Snapshot entry.
        position: Position,
        /// Hash of the root. Loading the spreadsheet returns its URL.
        root: String,
    },
    /// Value of `head`: position and incarnation for the next mutation.
    Head {
        /// Base of the next mutation.
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
    /// The unsupported version: `push`, `pull` or `schema`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_type: Option<&'static str>,
}

/// Error codes of the Replicache protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SyncError {
    /// The client group or its cookie is unknown. The client must start again with a new client
    /// group.
    ClientStateNotFound,
    /// The protocol version is not supported.
    VersionNotSupported,
}

/// The response to a pull. Replicache clients retry on any status but 200, so errors are part of
/// the body.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum PullResponse {
    /// The changes since the last pull.
    Reply(PullReply),
    /// A Replicache error.
    Error(SyncErrorResponse),
}

/// The response to a push. Replicache clients retry on any status but 200, so errors are part of
/// the body.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum PushResponse {
    /// The results of the push.
    Reply(PushReply),
    /// A Replicache error.
    Error(SyncErrorResponse),
}

/// Arguments of a mutation, the same for every mutator. Further fields are ignored.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MutationArguments {
    /// `head.position` of the client's view when the mutation was made.
    pub base: Position,
    /// `head.incarnation` of the client's view when the mutation was made.
    pub incarnation: u32,
    /// Operation to perform.
    pub op: Operation,
}
