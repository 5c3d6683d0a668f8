//! Reading a spreadsheet's log: `GET /v1/spreadsheets/{id}` loads the newest snapshot and the
//! entries after it, and `GET …/entries` lists entries.

use serde::{Deserialize, Serialize};

use super::{ForkSource, MergedView, client_key, hexadecimal};
use cellar_base::identity::ClientKey;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry, ExternalEdits, Mutation};
use cellar_sheet::axis_map::AxisMap;
use cellar_sheet::operation::{Operation, Rejection, SheetId};

/// The newest snapshot of a spreadsheet and the entries after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LoadReply {
    /// Latest position known to the server, or the position of the request's `at`.
    pub head: Position,
    /// Incarnation of the tables: the number of times that they were restored. It must be sent with
    /// edits.
    pub incarnation: u32,
    /// The spreadsheet from which this spreadsheet was forked. Absent if the token does not grant
    /// access to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<ForkSource>,
    /// Key of the root object of the snapshot, such as `sheets/{log}/roots/{hash}`. If there is
    /// no snapshot, the key is absent and `entries` starts with the first entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Download URL of the root object, valid for a few minutes. The `Content-Encoding` header of
    /// the download specifies the compression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_url: Option<String>,
    /// Entries starting with the Snapshot entry of the snapshot, oldest first.
    pub entries: Vec<EntryView>,
    /// Position after which `listEntries` returns further entries. Set if `entries` was truncated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Position>,
}

/// Entries after the requested position.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EntriesReply {
    /// Latest position known to the server.
    pub head: Position,
    /// Incarnation of the tables: the number of times that they were restored. If it has changed,
    /// the client must reload the spreadsheet.
    pub incarnation: u32,
    /// Entries, oldest first.
    pub entries: Vec<EntryView>,
    /// Position after which the next request returns further entries. Set if the entries were
    /// truncated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Position>,
}

/// One entry of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EntryView {
    /// Position of the entry.
    pub position: Position,
    /// Kind of the entry.
    pub kind: EntryKind,
    /// Creation time in seconds since the Unix epoch.
    pub created_s: u64,
    /// Author of the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Identifies the client that wrote the entry: a hash of the user and the client id, as 16
    /// hexadecimal digits. Clients use it to recognize their own entries. Absent if the entry has
    /// no mutations.
    #[serde(default, with = "client_key", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub client_key: Option<ClientKey>,
    /// Mutations in the entry. Empty if the kind is not `edits`, or if the mutations are stored as
    /// an object.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mutations: Vec<MutationView>,
    /// The object that contains the mutations, if they are not stored in the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_body: Option<ExternalBody>,
    /// Where the mutations were made, if they were merged from a fork. `author` is then the author of
    /// the edit, and `created_s` the time of the merge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<MergedView>,
}

impl EntryView {
    /// Returns the position of the next entry, or `None` if the log is full.
    #[must_use]
    pub fn next_position(&self) -> Option<Position> {
        match self.kind {
            EntryKind::EndSegment => self.position.next_segment(),
            EntryKind::Snapshot | EntryKind::Edits => self.position.next_in_segment(),
        }
    }

    /// Returns the first and the last mutation id, or `None` if the entry has no mutations.
    #[must_use]
    pub fn mutation_ids(&self) -> Option<(u64, u64)> {
        if let Some(external) = &self.external_body {
            let last = external.first_id.saturating_add(u64::from(external.count));
            return Some((external.first_id, last.saturating_sub(1)));
        }
        Some((self.mutations.first()?.id, self.mutations.last()?.id))
    }

    /// Returns the approximate size of the entry in memory, in bytes.
    #[must_use]
    pub fn weight_bytes(&self) -> usize {
        const FRAME_BYTES: usize = 256;
        /// Approximate size of an external body in memory, including its presigned URL, in bytes.
        const EXTERNAL_BYTES: usize = 4 * 1024;
        const RUN_BYTES: usize = 12;
        let mut total_bytes = FRAME_BYTES;
        for mutation in &self.mutations {
            let committed_operations = mutation.committed.iter().flatten();
            for operation in std::iter::once(&mutation.op).chain(committed_operations) {
                let operation_bytes = operation.weight_bytes().saturating_add(FRAME_BYTES);
                total_bytes = total_bytes.saturating_add(operation_bytes);
            }
        }
        if let Some(external) = &self.external_body {
            let run_counts =
                external.axis_maps.iter().map(|maps| maps.rows.len() + maps.columns.len());
            let map_bytes = run_counts.sum::<usize>().saturating_mul(RUN_BYTES);
            total_bytes = total_bytes.saturating_add(EXTERNAL_BYTES).saturating_add(map_bytes);
        }
        total_bytes
    }
}

/// Kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum EntryKind {
    /// Marks the position of a snapshot. The entry contains no mutations.
    Snapshot,
    /// Ends a log segment. The entry contains no mutations.
    EndSegment,
    /// Contains mutations from one client.
    Edits,
}

/// A mutation of an entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MutationView {
    /// Mutation id, assigned by the client.
    pub id: u64,
    /// Base of the mutation: the latest position that the client had seen when the user made the
    /// edit.
    pub base: Position,
    /// The operation as the user made it, in the row and column numbers of `base`.
    pub op: Operation,
    /// The committed operations, in the row and column numbers after the preceding mutation. Absent
    /// if equal to `op`. Empty if the mutation had no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed: Option<Vec<Operation>>,
}

impl MutationView {
    fn new(id: u64, mutation: &Mutation) -> Self {
        Self {
            id,
            base: mutation.base,
            op: mutation.authored.clone(),
            committed: mutation.committed.clone(),
        }
    }

    /// Returns the operations that took effect.
    #[must_use]
    pub fn committed_operations(&self) -> &[Operation] {
        self.committed.as_deref().unwrap_or(std::slice::from_ref(&self.op))
    }

    /// Returns why the mutation was rejected, or `None` if it was not rejected.
    #[must_use]
    pub fn rejection(&self) -> Option<&Rejection> {
        match self.committed_operations() {
            [Operation::Rejected(rejection)] => Some(rejection),
            _ => None,
        }
    }
}

/// The object that contains the operations of a large entry. Clients use the axis maps to transform
/// the operations from the base to the position of the entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExternalBody {
    /// Id of the first mutation in the object.
    pub first_id: u64,
    /// Number of mutations in the object.
    pub count: u32,
    /// Base of the mutations: the latest position that the client had seen when the user made the
    /// edits.
    pub base: Position,
    /// Size of the object in bytes.
    pub bytes: u64,
    /// SHA-256 hash of the object, in hexadecimal.
    pub sha256: String,
    /// Download URL of the object, valid for a few minutes. Listing the entries again returns a new
    /// URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Axis maps from the base to the entry, for each sheet whose rows or columns have moved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub axis_maps: Vec<SheetAxisMaps>,
    /// Sheets that formulas in the object name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named_sheets: Vec<NamedSheet>,
}

/// A sheet that formulas of an uploaded object name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NamedSheet {
    /// Name of the sheet at the base position, in lower case.
    pub name: String,
    /// Number of the sheet at the base position.
    pub sheet: SheetId,
    /// Name of the sheet at the position of the entry. Absent if the sheet was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_name: Option<String>,
}

/// Describes how the row and column numbers of a sheet changed between the base and the entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SheetAxisMaps {
    /// Number of the sheet at the base position.
    pub sheet: SheetId,
    /// Number of the sheet at the position of the entry. Absent if the sheet was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<SheetId>,
    /// Runs of consecutive rows that still exist. Each run consists of three numbers: the first row
    /// at the base, the first row at the entry, and the number of rows.
    pub rows: Vec<(u32, u32, u32)>,
    /// Runs of consecutive columns that still exist. Each run consists of three numbers: the first
    /// column at the base, the first column at the entry, and the number of columns.
    pub columns: Vec<(u32, u32, u32)>,
}

impl From<&ExternalEdits> for ExternalBody {
    fn from(external: &ExternalEdits) -> Self {
        let run_tuples =
            |map: &AxisMap| map.runs().iter().map(|run| (run.src, run.dst, run.len)).collect();
        let axis_maps = external.map.sheets().map(|(sheet, map)| SheetAxisMaps {
            sheet,
            target: map.target,
            rows: run_tuples(&map.rows),
            columns: run_tuples(&map.columns),
        });
        let named_sheets = external.map.formula_sheets().names().map(|(name, sheet)| NamedSheet {
            name: name.to_owned(),
            sheet: sheet.sheet,
            target_name: sheet.later_name.clone(),
        });
        Self {
            first_id: external.first_id,
            count: external.count,
            base: external.base,
            bytes: external.bytes,
            sha256: hexadecimal(&external.sha256),
            url: None,
            axis_maps: axis_maps.collect(),
            named_sheets: named_sheets.collect(),
        }
    }
}

impl From<&Entry> for EntryView {
    fn from(entry: &Entry) -> Self {
        let mut view = Self {
            position: entry.position,
            kind: EntryKind::Edits,
            created_s: entry.created_s,
            author: entry.author.clone(),
            client_key: entry.mutation_ids().map(|(client, ..)| client),
            mutations: Vec::new(),
            external_body: None,
            merged: entry.merged().map(MergedView::from),
        };
        match &entry.content {
            Content::Snapshot { .. } => view.kind = EntryKind::Snapshot,
            Content::EndSegment => view.kind = EntryKind::EndSegment,
            Content::External(external) => {
                view.external_body = Some(ExternalBody::from(external));
            }
            Content::Edits(edits) => {
                for (id, mutation) in (edits.first_id..).zip(&edits.mutations) {
                    view.mutations.push(MutationView::new(id, mutation));
                }
            }
        }
        view
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_base::identity::ClientKey;
    use cellar_log::transform::{FormulaSheet, FormulaSheets, SheetMap, SpaceMap};
    use cellar_sheet::operation::{DeleteSpans, InsertBefore, Operation, SheetId, Spans};

    fn external() -> ExternalEdits {
        let sheet = SheetId::FIRST;
        let map = SpaceMap::from_operations(&[
            Operation::InsertRows(InsertBefore { sheet, before: 3, count: 2 }),
            Operation::DeleteColumns(DeleteSpans { sheet, spans: Spans::one(0, 1) }),
        ]);
        let failed = (SheetId(4), SheetMap { target: None, ..SheetMap::identity(SheetId(4)) });
        let moved = map.sheets().map(|(id, map)| (id, map.clone()));
        let map = SpaceMap::from_sheets(moved.chain([failed]));
        let (client, base) = (ClientKey([7; 8]), Position::new(0, 3).unwrap());
        let (object, sha256) = ("uploads/a/b".to_owned(), [9; 32]);
        ExternalEdits { client, first_id: 5, count: 2, base, object, bytes: 7, sha256, map }
    }

    #[test]
    fn weight_is_an_upper_bound_of_the_json() {
        // Axis maps of the maximum number of sheets. Each sheet has a new number.
        let sheets = (1..=1_000).map(|sheet| {
            (SheetId(u32::MAX - sheet), SheetMap::identity(SheetId(u32::MAX - 2_000 - sheet)))
        });
        let renumbered = ExternalEdits { map: SpaceMap::from_sheets(sheets), ..external() };
        let names = (0..1_000).map(|sheet| {
            let later_name = Some("\u{1}".repeat(31));
            let formula_sheet = FormulaSheet { sheet: SheetId(u32::MAX - sheet), later_name };
            (format!("{sheet:031}"), formula_sheet)
        });
        let map = external().map.with_formula_sheets(FormulaSheets::from_names(names));
        let named = ExternalEdits { map, ..external() };
        for external in [external(), renumbered, named] {
            let mut view = ExternalBody::from(&external);
            // A presigned URL of the usual length, with a signature and a session token.
            view.url = Some("x".repeat(2_560));
            let sent = serde_json::to_string(&view).unwrap().len();
            assert!(external.weight_bytes() >= sent, "{} < {sent}", external.weight_bytes());
        }
    }
}
