//! Whether a sheet was deleted while edits of it were on their way.
//!
//! The server cannot say: whether a DeleteSheet took effect depends on how many sheets there were,
//! because the last one stays. So an edit of a deleted sheet is acknowledged like any other. The
//! entries that come with its answer show that there is a doubt, and only then is it asked about.

use cellar_api::{wire::AppendReply, wire::EntryView, wire::MutationView, wire::SheetView};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, SheetId};

use crate::table::escape;
use crate::{Client, ClientError};

/// Names of sheets that an error lists.
const LISTED_SHEETS: usize = 10;

/// The sheet that an operation needs to have any effect.
pub(crate) fn needed_sheet(operation: &Operation) -> Option<SheetId> {
    match operation {
        Operation::SetCells(set) => Some(set.sheet),
        Operation::ClearRange(clear) => Some(clear.sheet),
        Operation::SetFormat(set) => Some(set.sheet),
        Operation::InsertRows(insert) | Operation::InsertColumns(insert) => Some(insert.sheet),
        Operation::DeleteRows(delete) | Operation::DeleteColumns(delete) => Some(delete.sheet),
        Operation::RenameSheet(rename) => Some(rename.sheet),
        Operation::DeleteSheet(delete) => Some(delete.sheet),
        Operation::AddSheet(_)
        | Operation::ImportSheet(_)
        | Operation::Undo(_)
        | Operation::Revert(_)
        | Operation::Rejected(_) => None,
    }
}

/// The sheet that an operation deletes, if it has any effect.
pub(crate) fn deleted_sheet(operation: &Operation) -> Option<SheetId> {
    match operation {
        Operation::DeleteSheet(delete) => Some(delete.sheet),
        Operation::ImportSheet(import) => import.replaces,
        _ => None,
    }
}

/// Where to look whether a sheet is gone, if the answer to an append gives reason to: at the last
/// entry up to `until` that deletes it, or at `until` if the answer does not have all entries.
pub(crate) fn doubt(reply: &AppendReply, sheet: SheetId, until: Position) -> Option<Position> {
    let of_it = |operation: &Operation| deleted_sheet(operation) == Some(sheet);
    let deletes = |entry: &&EntryView| {
        let mut effective = entry.mutations.iter().flat_map(MutationView::effective);
        entry.position <= until && effective.any(of_it)
    };
    let deleted = reply.entries.iter().rev().find(deletes).map(|entry| entry.position);
    deleted.or(reply.next.map(|_| until))
}

/// Whether a sheet that there was is gone at a position. It never comes back: an undo of its
/// deletion adds a sheet with another number.
pub(crate) async fn is_gone(
    client: &Client,
    spreadsheet: LogId,
    sheet: SheetId,
    at: Position,
) -> Result<bool, ClientError> {
    let sheets = client.sheets(spreadsheet, Some(at), None).await?;
    Ok(sheets.sheets.iter().all(|there| there.sheet != sheet))
}

/// The sheet with a name, whatever the case of its letters, as the server compares them.
pub(crate) fn find_sheet<'a>(sheets: &'a [SheetView], name: &str) -> Option<&'a SheetView> {
    let folded = name.to_lowercase();
    sheets.iter().find(|sheet| sheet.name.to_lowercase() == folded)
}

/// The names of the sheets, for an error.
pub(crate) fn listed_sheets(sheets: &[SheetView]) -> String {
    let mut names: Vec<String> =
        sheets.iter().take(LISTED_SHEETS).map(|sheet| escape(&sheet.name)).collect();
    if sheets.len() > LISTED_SHEETS {
        names.push("…".to_owned());
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use cellar_api::wire::EntryKind;
    use cellar_sheet::operation::DeleteSheet;

    use super::*;

    fn at(num: u32) -> Position {
        Position::new(0, num).unwrap()
    }

    fn deletes(num: u32, sheet: u32) -> EntryView {
        let op = Operation::DeleteSheet(DeleteSheet { sheet: SheetId(sheet) });
        EntryView {
            position: at(num),
            kind: EntryKind::Edits,
            created_s: 0,
            author: None,
            client_key: None,
            mutations: vec![MutationView { id: 1, base: at(0), op, committed: None }],
            external_body: None,
        }
    }

    #[test]
    fn only_a_deletion_of_the_sheet_before_the_edit_or_missing_entries_are_a_reason_to_ask() {
        let doubt = |entries: Vec<EntryView>, next| {
            let reply = AppendReply { results: vec![], head: at(9), entries, next };
            super::doubt(&reply, SheetId(2), at(7))
        };
        assert_eq!(doubt(vec![deletes(3, 2), deletes(5, 2), deletes(6, 1)], None), Some(at(5)));
        assert_eq!(doubt(vec![deletes(3, 1), deletes(8, 2)], None), None);
        assert_eq!(doubt(vec![], Some(at(4))), Some(at(7)));
        let mut rejected = deletes(3, 2);
        rejected.mutations[0].committed = Some(vec![]);
        assert_eq!(doubt(vec![rejected], None), None);
    }
}
