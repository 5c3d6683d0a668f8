//! Detects whether another client has deleted an edit's sheet before the edit was committed.
//!
//! The response to an edit does not report that the sheet was deleted. A `DeleteSheet` operation in
//! the log does not always take effect, because the last sheet of a spreadsheet cannot be deleted.
//! The client therefore searches the log entries in the response for possible deletions, and asks
//! the server only if it finds one.

use cellar_api::{wire::AppendReply, wire::EntryView, wire::MutationView, wire::SheetView};
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, SheetId};

use crate::text::escape;
use crate::{ClientError, Spreadsheet};

const MAX_LISTED_SHEETS: usize = 10;

/// Returns the sheet that must exist for an operation to have an effect.
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
        | Operation::SetName(_)
        | Operation::Rejected(_) => None,
    }
}

pub(crate) fn deleted_sheet(operation: &Operation) -> Option<SheetId> {
    match operation {
        Operation::DeleteSheet(delete) => Some(delete.sheet),
        Operation::ImportSheet(import) => import.replaces,
        _ => None,
    }
}

/// Returns the position of the last log entry in the response that may delete `sheet`. Entries
/// after `last_position` are ignored. If no entry deletes the sheet but the response is incomplete,
/// returns `last_position`, because a missing entry may delete it. Otherwise, returns `None`.
pub(crate) fn find_possible_deletion(
    reply: &AppendReply,
    sheet: SheetId,
    last_position: Position,
) -> Option<Position> {
    let deletes_sheet = |entry: &&EntryView| {
        let mut operations = entry.mutations.iter().flat_map(MutationView::committed_operations);
        operations.any(|operation| deleted_sheet(operation) == Some(sheet))
    };
    let mut entries_newest_first =
        reply.entries.iter().rev().filter(|entry| entry.position <= last_position);
    match entries_newest_first.find(deletes_sheet) {
        Some(entry) => Some(entry.position),
        None if reply.next.is_some() => Some(last_position),
        None => None,
    }
}

/// The sheet must have existed before. It cannot exist again after its deletion, because undoing
/// the deletion adds a sheet with a new number.
pub(crate) async fn is_deleted_at(
    spreadsheet: &Spreadsheet,
    sheet: SheetId,
    position: Position,
) -> Result<bool, ClientError> {
    let reply = spreadsheet.sheets_at(position).await?;
    Ok(reply.sheets.iter().all(|view| view.sheet != sheet))
}

/// Case is ignored, as on the server.
pub(crate) fn find_sheet<'a>(sheets: &'a [SheetView], name: &str) -> Option<&'a SheetView> {
    let folded_name = name.to_lowercase();
    sheets.iter().find(|sheet| sheet.name.to_lowercase() == folded_name)
}

pub(crate) fn list_sheet_names(sheets: &[SheetView]) -> String {
    let mut names: Vec<String> =
        sheets.iter().take(MAX_LISTED_SHEETS).map(|sheet| escape(&sheet.name)).collect();
    if sheets.len() > MAX_LISTED_SHEETS {
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
            merged: None,
        }
    }

    #[test]
    fn finds_earlier_deletions_and_missing_entries() {
        let deletion = |entries: Vec<EntryView>, next| {
            let reply =
                AppendReply { client_key: None, results: vec![], head: at(9), entries, next };
            find_possible_deletion(&reply, SheetId(2), at(7))
        };
        assert_eq!(deletion(vec![deletes(3, 2), deletes(5, 2), deletes(6, 1)], None), Some(at(5)));
        assert_eq!(deletion(vec![deletes(3, 1), deletes(8, 2)], None), None);
        assert_eq!(deletion(vec![], Some(at(4))), Some(at(7)));
        let mut rejected = deletes(3, 2);
        rejected.mutations[0].committed = Some(vec![]);
        assert_eq!(deletion(vec![rejected], None), None);
    }
}
