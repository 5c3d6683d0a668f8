//! `POST /v1/spreadsheets/{id}/push` and `…/pull`: the Replicache protocol.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{EntryView, MutationStatus};
use crate::sync::CookieView;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Rejection};

/// Mutations of the clients of one group, in the order in which they were made.
///
/// Repeating a push is safe: committed mutations are recognized by client and id.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PushRequest<M> {
    /// Protocol version: 1.
    pub push_version: u32,
    /// Client group, 1 to 64 bytes; belongs to the token's subject.
    #[serde(rename = "clientGroupID")]
    pub client_group_id: String,
    /// Mutations; may be empty.
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
    /// `{base, incarnation, op}`: the position and incarnation that the author had seen (`head` of
    /// the client's view), and the operation. Other arguments are rejected.
    pub args: A,
}

/// The results of a push.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PushReply {
    /// The result of each mutation, in the order of the push.
    pub results: Vec<PushedResult>,
    /// Newest entry that the server read, if it read any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Position>,
    /// Entries after the bases, oldest first; entries with earlier mutations of this push may be
    /// among them. The list may be incomplete: a pull returns every entry.
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
    /// Result.
    pub status: PushStatus,
    /// Position of the entry that contains the mutation, if it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// Reason of a rejection; the id counts as used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejection: Option<Rejection>,
    /// Operations that took effect, if this push appended the mutation and they differ from the
    /// sent one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed: Option<Vec<Operation>>,
}

/// Result of a pushed mutation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum PushStatus {
    /// Appended by this push.
    Appended,
    /// Already in the log.
    Duplicate,
    /// Recorded in the log as rejected: it can never succeed and has no effect.
    Rejected,
    /// Not processed: earlier mutations of its client are missing.
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
    /// Client group, 1 to 64 bytes.
    #[serde(rename = "clientGroupID")]
    pub client_group_id: String,
    /// Cookie of the last reply; null for the first pull.
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
    /// Set if the reply was truncated: pull again at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

/// A change of a client's view, whose keys are `head`, `root` and `entry/…`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum PatchOperation {
    /// Clear the client view.
    Clear,
    /// Set a key.
    Put {
        /// Key.
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
    /// `entry/…`: an entry after the root, keyed by its position as 16 hexadecimal digits. `GET
    /// …/entries` has the URL of a large entry's body.
    Entry(Box<EntryView>),
    /// `root`: the snapshot from which the view begins; absent if it begins with the first entry.
    Root {
        /// Position of the Snapshot entry.
        position: Position,
        /// Hash of the root; load the spreadsheet for its URL.
        root: String,
    },
    /// `head`: the base of the next mutation.
    Head {
        /// Position.
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
    /// The error.
    pub error: SyncError,
    /// The unsupported version: `push`, `pull` or `schema`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_type: Option<&'static str>,
}

/// The errors of the Replicache protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SyncError {
    /// The client group or its cookie is unknown: the client starts again as another group.
    ClientStateNotFound,
    /// The protocol version is not supported.
    VersionNotSupported,
}

/// A reply to a Replicache client. Such clients retry on any status but 200, so errors are part of
/// the body.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SyncAnswer<T> {
    /// The requested data.
    Done(T),
    /// An error.
    Refused(SyncErrorResponse),
}

/// The arguments of every mutator. Further fields are ignored.
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
