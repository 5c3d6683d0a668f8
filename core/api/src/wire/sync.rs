//! `POST /v1/spreadsheets/{id}/push` and `…/pull`: the Replicache protocol (design `4-sync.md` §4).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{EntryView, MutationStatus};
use crate::sync::CookieView;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Rejection};

/// Mutations of the clients of one group, in the order in which they were made.
///
/// Repeat it as often as you like: what got through is recognised by its client and id.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PushRequest<M> {
    /// 1.
    pub push_version: u32,
    /// The group, 1 to 64 bytes: bound to whoever the token belongs to.
    #[serde(rename = "clientGroupID")]
    pub client_group_id: String,
    /// The mutations; none is fine.
    pub mutations: Vec<M>,
    /// The version of the application's mutators: "" or "1".
    #[serde(default)]
    pub schema_version: String,
}

/// A mutation of a push, its arguments unread.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PushedMutation<A> {
    /// Its client, 1 to 64 bytes.
    #[serde(rename = "clientID")]
    pub client_id: String,
    /// 1 for a client's first mutation, then consecutive.
    pub id: u64,
    /// What the application calls the mutator: of no meaning here.
    pub name: String,
    /// `{base, incarnation, op}`, whatever the mutator is called: the position and the incarnation that its author
    /// had seen (`head` of the client's view), and what to do. Whatever is none of that is rejected.
    pub args: A,
}

/// What became of a push.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PushReply {
    /// One for each mutation, in the order of the push.
    pub results: Vec<PushedResult>,
    /// The newest entry that was seen, if any was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Position>,
    /// Entries behind the bases, oldest first: what the authors may not have seen. One that holds earlier
    /// mutations of this push may be among them. They need not be all, as where they were cut is not told:
    /// a pull has every entry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<EntryView>,
}

/// What became of a pushed mutation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PushedResult {
    /// Its client.
    #[serde(rename = "clientID")]
    pub client_id: String,
    /// Its id.
    pub id: u64,
    /// What became of it.
    pub status: PushStatus,
    /// The entry it is in, if that was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// Why it changed nothing and never will, if it was rejected. The client's numbering goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejection: Option<Rejection>,
    /// What it was committed as, if that is not what was sent and this push appended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed: Option<Vec<Operation>>,
}

/// What became of a pushed mutation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum PushStatus {
    /// Appended by this push.
    Appended,
    /// Already in the log.
    Duplicate,
    /// It can never succeed: it stands in the log as rejected and changes nothing.
    Rejected,
    /// Not looked at: mutations of its client before it are missing.
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

/// Asks what is new.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PullRequest {
    /// 1.
    pub pull_version: u32,
    /// The group, 1 to 64 bytes.
    #[serde(rename = "clientGroupID")]
    pub client_group_id: String,
    /// The cookie of the last reply; null at first.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<CookieView>))]
    pub cookie: serde_json::Value,
    /// The version of the client's view: "" or "1".
    #[serde(default)]
    pub schema_version: String,
}

/// What is new.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PullReply {
    /// To be handed back with the next pull.
    pub cookie: CookieView,
    /// The last mutation of each client of the group that has new ones.
    #[serde(rename = "lastMutationIDChanges")]
    pub last_mutation_id_changes: BTreeMap<String, u64>,
    /// What changes in the client's view.
    pub patch: Vec<PatchOperation>,
    /// Whether the reply was cut: there is more already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

/// A change of a client's view, which has `head`, `root` and `entry/…`: what a load has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum PatchOperation {
    /// Forget everything.
    Clear,
    /// Set a key.
    Put {
        /// The key.
        key: String,
        /// Its value.
        value: PatchValue,
    },
}

/// A value of a client's view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum PatchValue {
    /// `entry/…`: one entry behind the root, under its position as 16 hexadecimal digits. Where the body
    /// of a large one is, `GET …/entries` says.
    Entry(Box<EntryView>),
    /// `root`: the snapshot from which the view begins; absent if it begins with the log.
    Root {
        /// The position of its Snapshot entry.
        position: Position,
        /// Its object: `GET …` (load) says where it is.
        root: String,
    },
    /// `head`: what the next mutation is based on.
    Head {
        /// The position.
        position: Position,
        /// Its incarnation.
        incarnation: u32,
    },
}

/// A refusal that the protocol's clients know, with status 200 as they expect it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SyncErrorResponse {
    /// Which.
    pub error: SyncError,
    /// Of what the version is not supported: `push`, `pull` or `schema`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_type: Option<&'static str>,
}

/// The kinds of refusals that the protocol's clients know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SyncError {
    /// Nothing is known of the client or of what it has read: it begins anew as another group.
    ClientStateNotFound,
    /// A version that this server does not know.
    VersionNotSupported,
}

/// What the protocol's clients read from a reply with status 200: they repeat anything else.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SyncAnswer<T> {
    /// What was asked for.
    Done(T),
    /// A refusal.
    Refused(SyncErrorResponse),
}

/// The arguments of every mutator, whatever it is called. An application may add what it likes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MutationArguments {
    /// `head.position` of the client's view when the mutation was made.
    pub base: Position,
    /// `head.incarnation` of the client's view when the mutation was made.
    pub incarnation: u32,
    /// What to do.
    pub op: Operation,
}
