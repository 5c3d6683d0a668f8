//! `GET /v1/spreadsheets/{id}` (load) and `GET …/entries?after=` (update).

use serde::{Deserialize, Serialize};

use crate::entry::{Content, Entry};
use crate::operation::Operation;
use crate::position::Position;

/// What a session starts from: the newest snapshot and the entries since.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LoadReply {
    /// The newest position in this reply, or beyond it if there is a `next`.
    pub head: Position,
    /// The epoch, for appends.
    pub epoch: u32,
    /// The newest snapshot's root object, if there is a snapshot; without one the entries begin
    /// at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// The entries from the snapshot on, oldest first; the first is the Snapshot entry itself.
    pub entries: Vec<EntryView>,
    /// If the entries were cut: go on with an update after this position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Position>,
}

/// Entries after a position.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UpdateReply {
    /// The newest position known.
    pub head: Position,
    /// The epoch; another one than the client's means: load again.
    pub epoch: u32,
    /// The entries, oldest first.
    pub entries: Vec<EntryView>,
    /// If the entries were cut: go on after this position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Position>,
}

/// One entry as clients see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EntryView {
    /// Where it stands.
    pub position: Position,
    /// What kind of entry it is.
    pub kind: EntryKind,
    /// When it was made, Unix seconds.
    pub created: u64,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// The client's mutations, for an entry of edits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mutations: Vec<MutationView>,
}

/// What kind of entry it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum EntryKind {
    /// A snapshot is to be made here; changes nothing.
    Snapshot,
    /// The log goes on in the next segment; changes nothing.
    EndSegment,
    /// Edits.
    Edits,
}

/// One mutation in an entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MutationView {
    /// Its id with its client.
    pub id: u64,
    /// The position its author had seen.
    pub base: Position,
    /// What took effect, in the coordinates of the entry before.
    pub op: Operation,
    /// What its author meant, in the coordinates of `base`, if that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authored: Option<Operation>,
}

impl From<&Entry> for EntryView {
    fn from(entry: &Entry) -> Self {
        let kind = match entry.content {
            Content::Snapshot { .. } => EntryKind::Snapshot,
            Content::EndSegment => EntryKind::EndSegment,
            Content::Edits(_) => EntryKind::Edits,
        };
        let mutations = entry.edits().map(|edits| {
            let mutations = (edits.first_id..).zip(&edits.mutations);
            let view = |(id, mutation): (u64, &crate::entry::Mutation)| MutationView {
                id,
                base: mutation.base,
                op: mutation.effective().clone(),
                authored: mutation.committed.is_some().then(|| mutation.authored.clone()),
            };
            mutations.map(view).collect()
        });
        Self {
            position: entry.position,
            kind,
            created: entry.created_s,
            author: entry.author.clone(),
            mutations: mutations.unwrap_or_default(),
        }
    }
}
