//! Transforms one operation by one map.

use super::space_map::{SheetMap, SpaceMap};
use cellar_sheet::operation::{
    AddSheet, CellEdit, ClearRange, DeleteSheet, DeleteSpans, ImportSheet, InsertBefore, Operation,
    RenameSheet, SetCells, SetFormat, SheetId,
};

/// Returns the committed operations in the later coordinates: empty if no effect remains, `None` if
/// the operation is unchanged.
#[must_use]
pub fn transform(operation: &Operation, map: &SpaceMap) -> Option<Vec<Operation>> {
    if map.is_identity() {
        return None;
    }
    let committed = moved(operation, map);
    (committed.as_ref() != Some(operation)).then(|| committed.into_iter().collect())
}

fn moved(operation: &Operation, map: &SpaceMap) -> Option<Operation> {
    match operation {
        Operation::SetCells(set) => set_cells(set, &map.sheet(set.sheet)),
        Operation::ClearRange(clear) => {
            let (sheet, map) = there(clear.sheet, map)?;
            let (rows, columns) = (map.rows.kept(&clear.rows), map.columns.kept(&clear.columns));
            (!rows.is_empty() && !columns.is_empty()).then_some(Operation::ClearRange(ClearRange {
                sheet,
                rows,
                columns,
            }))
        }
        Operation::SetFormat(set) => {
            let (sheet, map) = there(set.sheet, map)?;
            let (rows, columns) = (map.rows.covered(&set.rows), map.columns.covered(&set.columns));
            let format = set.format.clone();
            (!rows.is_empty() && !columns.is_empty()).then_some(Operation::SetFormat(SetFormat {
                sheet,
                rows,
                columns,
                format,
            }))
        }
        Operation::InsertRows(insert) => {
            let (sheet, map) = there(insert.sheet, map)?;
            let before = map.rows.gap(insert.before);
            Some(Operation::InsertRows(InsertBefore { sheet, before, count: insert.count }))
        }
        Operation::InsertColumns(insert) => {
            let (sheet, map) = there(insert.sheet, map)?;
            let before = map.columns.gap(insert.before);
            Some(Operation::InsertColumns(InsertBefore { sheet, before, count: insert.count }))
        }
        Operation::DeleteRows(delete) => {
            let (sheet, map) = there(delete.sheet, map)?;
            let spans = map.rows.kept(&delete.spans);
            (!spans.is_empty()).then_some(Operation::DeleteRows(DeleteSpans { sheet, spans }))
        }
        Operation::DeleteColumns(delete) => {
            let (sheet, map) = there(delete.sheet, map)?;
            let spans = map.columns.kept(&delete.spans);
            (!spans.is_empty()).then_some(Operation::DeleteColumns(DeleteSpans { sheet, spans }))
        }
        Operation::AddSheet(add) => Some(Operation::AddSheet(AddSheet {
            sheet: map.free_number(add.sheet),
            name: add.name.clone(),
        })),
        Operation::RenameSheet(rename) => {
            let (sheet, _) = there(rename.sheet, map)?;
            Some(Operation::RenameSheet(RenameSheet { sheet, name: rename.name.clone() }))
        }
        Operation::DeleteSheet(delete) => {
            let (sheet, _) = there(delete.sheet, map)?;
            Some(Operation::DeleteSheet(DeleteSheet { sheet }))
        }
        Operation::ImportSheet(import) => Some(Operation::ImportSheet(ImportSheet {
            sheet: map.free_number(import.sheet),
            replaces: import.replaces.and_then(|sheet| map.sheet(sheet).sheet),
            ..import.clone()
        })),
        Operation::Undo(_) | Operation::Revert(_) | Operation::Rejected(_) => {
            Some(operation.clone())
        }
    }
}

/// Returns the sheet, unless only another author's new sheet has its number.
fn there(sheet: SheetId, map: &SpaceMap) -> Option<(SheetId, SheetMap)> {
    let map = map.sheet(sheet);
    Some((map.sheet?, map))
}

fn set_cells(set: &SetCells, map: &SheetMap) -> Option<Operation> {
    let sheet = map.sheet?;
    let place = |edit: &CellEdit| {
        let (row, column) = (map.rows.get(edit.row)?, map.columns.get(edit.column)?);
        Some(CellEdit { row, column, ..edit.clone() })
    };
    let mut cells: Vec<CellEdit> = set.cells.iter().filter_map(place).collect();
    // Rows that the author inserted may be in another place among rows that others inserted.
    cells.sort_unstable_by_key(|edit| (edit.row, edit.column));
    (!cells.is_empty()).then_some(Operation::SetCells(SetCells { sheet, cells }))
}
