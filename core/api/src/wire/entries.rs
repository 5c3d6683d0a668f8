//! `GET /v1/spreadsheets/{id}` (load) and `GET …/entries?after=` (update).

use serde::{Deserialize, Serialize};

use super::{ForkSource, client_key, hexadecimal};
use cellar_base::identity::ClientKey;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry, ExternalEdits, Mutation};
use cellar_sheet::axis_map::AxisMap;
use cellar_sheet::operation::{Operation, Rejection, SheetId};

/// What a session starts from: the newest snapshot and the entries since.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LoadReply {
    /// The newest position in this reply, or beyond it if there is a `next`.
    pub head: Position,
    /// The incarnation, for appends.
    pub incarnation: u32,
    /// Where it was forked, if it is a fork and the token covers what it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<ForkSource>,
    /// The newest snapshot's root object, if there is a snapshot; without one the entries begin
    /// at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Where the root object is read, for a few minutes: zstd, as the bucket says in
    /// `Content-Encoding`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_url: Option<String>,
    /// The entries from the snapshot on, oldest first; the first is the Snapshot entry itself.
    pub entries: Vec<EntryView>,
    /// If the entries were cut: go on with an update after this position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Position>,
}

/// Entries after a position.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EntriesReply {
    /// The newest position known.
    pub head: Position,
    /// The incarnation; another one than the client's means: load again.
    pub incarnation: u32,
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
    pub created_s: u64,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Which client numbered the mutations, 16 hexadecimal digits: a client knows its own by it, even
    /// if no answer ever came. Absent where there are none, and from servers before this.
    #[serde(default, with = "client_key", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub client_key: Option<ClientKey>,
    /// The client's mutations, for an entry of edits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mutations: Vec<MutationView>,
    /// Where its mutations are, if they are not here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_body: Option<ExternalBody>,
}

impl EntryView {
    /// Where the next entry of the log stands; `None` where no log can go on.
    #[must_use]
    pub fn next_position(&self) -> Option<Position> {
        match self.kind {
            EntryKind::EndSegment => self.position.next_segment(),
            EntryKind::Snapshot | EntryKind::Edits => self.position.next_in_segment(),
        }
    }

    /// The ids of the first and the last of its mutations, if it has any.
    #[must_use]
    pub fn mutation_ids(&self) -> Option<(u64, u64)> {
        if let Some(external) = &self.external_body {
            let last = external.first_id.saturating_add(u64::from(external.count));
            return Some((external.first_id, last.saturating_sub(1)));
        }
        Some((self.mutations.first()?.id, self.mutations.last()?.id))
    }

    /// About how many bytes it takes in memory: for bounds, not for bills.
    #[must_use]
    pub fn weight_bytes(&self) -> usize {
        const FRAME_BYTES: usize = 256;
        /// A presigned URL and what is around it.
        const EXTERNAL_BYTES: usize = 4 * 1024;
        const RUN_BYTES: usize = 12;
        let operations = self.mutations.iter().flat_map(|mutation| {
            std::iter::once(&mutation.op).chain(mutation.committed.iter().flatten())
        });
        let weight = |operation: &Operation| operation.weight_bytes().saturating_add(FRAME_BYTES);
        let external = self.external_body.iter().map(|external| {
            let runs =
                external.axis_maps.iter().map(|moved| moved.rows.len() + moved.columns.len());
            EXTERNAL_BYTES.saturating_add(runs.sum::<usize>().saturating_mul(RUN_BYTES))
        });
        operations.map(weight).chain(external).fold(FRAME_BYTES, usize::saturating_add)
    }
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
    /// What its author meant, in the coordinates of `base`.
    pub op: Operation,
    /// What took effect, one after the other, in the coordinates of what stands before, if that
    /// differs: nothing if nothing of it was left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed: Option<Vec<Operation>>,
}

impl MutationView {
    /// The operations that took effect.
    #[must_use]
    pub fn effective(&self) -> &[Operation] {
        self.committed.as_deref().unwrap_or(std::slice::from_ref(&self.op))
    }

    /// Why it was refused, if it was.
    #[must_use]
    pub fn rejection(&self) -> Option<&Rejection> {
        match self.effective() {
            [Operation::Rejected(rejection)] => Some(rejection),
            _ => None,
        }
    }
}

/// Where the operations of a large entry are, and how they lead to where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExternalBody {
    /// Id of the first mutation.
    pub first_id: u64,
    /// How many mutations the object has.
    pub count: u32,
    /// The position that its author had seen.
    pub base: Position,
    /// Bytes of the object.
    pub bytes: u64,
    /// SHA-256 of the object, hexadecimal: verify it.
    pub sha256: String,
    /// Where to GET it, for a few minutes; load again for a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What has moved between its base and where it stands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub axis_maps: Vec<SheetAxisMaps>,
}

/// Where one sheet of an older space is in a newer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SheetAxisMaps {
    /// Its number in the older space.
    pub sheet: SheetId,
    /// Its number in the newer; absent if it was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<SheetId>,
    /// Its rows: runs of first in the older space, first in the newer, and length.
    pub rows: Vec<(u32, u32, u32)>,
    /// Its columns, likewise.
    pub columns: Vec<(u32, u32, u32)>,
}

impl From<&ExternalEdits> for ExternalBody {
    fn from(external: &ExternalEdits) -> Self {
        let runs =
            |map: &AxisMap| map.runs().iter().map(|run| (run.src, run.dst, run.len)).collect();
        let moved = external.map.sheets().map(|(sheet, map)| SheetAxisMaps {
            sheet,
            target: map.sheet,
            rows: runs(&map.rows),
            columns: runs(&map.columns),
        });
        Self {
            first_id: external.first_id,
            count: external.count,
            base: external.base,
            bytes: external.bytes,
            sha256: hexadecimal(&external.sha256),
            url: None,
            axis_maps: moved.collect(),
        }
    }
}

impl From<&Entry> for EntryView {
    fn from(entry: &Entry) -> Self {
        let kind = match entry.content {
            Content::Snapshot { .. } => EntryKind::Snapshot,
            Content::EndSegment => EntryKind::EndSegment,
            Content::Edits(_) | Content::External(_) => EntryKind::Edits,
        };
        let external = match &entry.content {
            Content::External(external) => Some(ExternalBody::from(external)),
            _ => None,
        };
        let mutations = entry.edits().map(|edits| {
            let mutations = (edits.first_id..).zip(&edits.mutations);
            let view = |(id, mutation): (u64, &Mutation)| MutationView {
                id,
                base: mutation.base,
                op: mutation.authored.clone(),
                committed: mutation.committed.clone(),
            };
            mutations.map(view).collect()
        });
        Self {
            position: entry.position,
            kind,
            created_s: entry.created_s,
            author: entry.author.clone(),
            client_key: entry.mutation_ids().map(|(client, ..)| client),
            mutations: mutations.unwrap_or_default(),
            external_body: external,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_base::identity::ClientKey;
    use cellar_log::transform::{SheetMap, SpaceMap};
    use cellar_sheet::operation::{DeleteSpans, InsertBefore, Operation, SheetId, Spans};

    fn external() -> ExternalEdits {
        let sheet = SheetId::FIRST;
        let map = SpaceMap::of(&[
            Operation::InsertRows(InsertBefore { sheet, before: 3, count: 2 }),
            Operation::DeleteColumns(DeleteSpans { sheet, spans: Spans::one(0, 1) }),
        ]);
        let failed = (SheetId(4), SheetMap { sheet: None, ..SheetMap::identity(SheetId(4)) });
        let moved = map.sheets().map(|(id, map)| (id, map.clone()));
        let map = SpaceMap::from_sheets(moved.chain([failed]));
        let (client, base) = (ClientKey([7; 8]), Position::new(0, 3).unwrap());
        let (object, sha256) = ("uploads/a/b".to_owned(), [9; 32]);
        ExternalEdits { client, first_id: 5, count: 2, base, object, bytes: 7, sha256, map }
    }

    #[test]
    fn its_weight_is_no_less_than_what_a_reply_sends() {
        // Of as many sheets as there can be, each under another number.
        let sheets = (1..=1_000).map(|sheet| {
            (SheetId(u32::MAX - sheet), SheetMap::identity(SheetId(u32::MAX - 2_000 - sheet)))
        });
        let renumbered = ExternalEdits { map: SpaceMap::from_sheets(sheets), ..external() };
        for external in [external(), renumbered] {
            let mut view = ExternalBody::from(&external);
            // As in AWS: key, date, signature, and a session token that is escaped.
            view.url = Some("x".repeat(2_560));
            let sent = serde_json::to_string(&view).unwrap().len();
            assert!(external.weight_bytes() >= sent, "{} < {sent}", external.weight_bytes());
        }
    }
}
