//! Transforms a single operation.

use std::cmp::Ordering;

use super::formula::FormulaTransform;
use super::insert_order::transform_insert;
use super::set_name::transform_name;
use super::space_map::{SheetMap, SpaceMap};
use cellar_sheet::axis_map::AxisMap;
use cellar_sheet::operation::{
    AddSheet, CellEdit, ClearRange, DeleteSheet, DeleteSpans, ImportSheet, Operation, RenameSheet,
    SetCells, SetFormat, SheetId,
};

/// Transforms an operation to the later coordinates of `map`. Returns `None` if the operation is
/// unchanged, and an empty list if it no longer has an effect.
#[must_use]
pub fn transform(operation: &Operation, map: &SpaceMap) -> Option<Vec<Operation>> {
    if map.is_identity() {
        return None;
    }
    let transformed = transform_operation(operation, map);
    if transformed.as_ref() == Some(operation) {
        return None;
    }
    Some(transformed.into_iter().collect())
}

/// Returns `None` if the operation no longer has an effect.
fn transform_operation(operation: &Operation, map: &SpaceMap) -> Option<Operation> {
    Some(match operation {
        Operation::SetCells(set) => Operation::SetCells(transform_cells(set, map)?),
        Operation::ClearRange(clear) => Operation::ClearRange(transform_clear(clear, map)?),
        Operation::SetFormat(set) => Operation::SetFormat(transform_format(set, map)?),
        Operation::InsertRows(insert) => {
            let (sheet, sheet_map) = target_sheet(insert.sheet, map)?;
            Operation::InsertRows(transform_insert(insert, sheet, &sheet_map.rows))
        }
        Operation::InsertColumns(insert) => {
            let (sheet, sheet_map) = target_sheet(insert.sheet, map)?;
            Operation::InsertColumns(transform_insert(insert, sheet, &sheet_map.columns))
        }
        Operation::DeleteRows(delete) => {
            let (sheet, sheet_map) = target_sheet(delete.sheet, map)?;
            Operation::DeleteRows(transform_delete(delete, sheet, &sheet_map.rows)?)
        }
        Operation::DeleteColumns(delete) => {
            let (sheet, sheet_map) = target_sheet(delete.sheet, map)?;
            Operation::DeleteColumns(transform_delete(delete, sheet, &sheet_map.columns)?)
        }
        Operation::AddSheet(add) => Operation::AddSheet(AddSheet {
            sheet: map.free_sheet_number(add.sheet),
            name: add.name.clone(),
            before: add.before.and_then(|next_sheet| map.sheet_map(next_sheet).target),
        }),
        Operation::RenameSheet(rename) => {
            let (sheet, _) = target_sheet(rename.sheet, map)?;
            Operation::RenameSheet(RenameSheet { sheet, name: rename.name.clone() })
        }
        Operation::DeleteSheet(delete) => {
            let (sheet, _) = target_sheet(delete.sheet, map)?;
            Operation::DeleteSheet(DeleteSheet { sheet })
        }
        Operation::ImportSheet(import) => Operation::ImportSheet(transform_import(import, map)),
        Operation::SetName(set) => Operation::SetName(transform_name(set, map)),
        Operation::Undo(_) | Operation::Revert(_) | Operation::Rejected(_) => operation.clone(),
    })
}

fn transform_delete(
    delete: &DeleteSpans,
    target_sheet: SheetId,
    map: &AxisMap,
) -> Option<DeleteSpans> {
    let spans = map.kept_spans(&delete.spans);
    if spans.is_empty() { None } else { Some(DeleteSpans { sheet: target_sheet, spans }) }
}

/// The numbers of sheets that later operations import stay as they are. [`Committer`] maps them.
///
/// [`Committer`]: crate::append::commit::Committer
fn transform_import(import: &ImportSheet, map: &SpaceMap) -> ImportSheet {
    let new_sheet = map.free_sheet_number(import.sheet);
    let number_of = |sheet: SheetId| match sheet.cmp(&import.sheet) {
        Ordering::Less => map.sheet_map(sheet).target,
        Ordering::Equal => Some(new_sheet),
        Ordering::Greater => Some(sheet),
    };
    ImportSheet {
        sheet: new_sheet,
        replaces: import.replaces.and_then(|replaced| map.sheet_map(replaced).target),
        ..import.clone().with_sheet_numbers(number_of)
    }
}

fn transform_cells(set: &SetCells, map: &SpaceMap) -> Option<SetCells> {
    let (sheet, sheet_map) = target_sheet(set.sheet, map)?;
    let mut formulas = FormulaTransform::new(map, set.sheet);
    let transform_cell = |edit: &CellEdit| {
        let row = sheet_map.rows.get(edit.row)?;
        let column = sheet_map.columns.get(edit.column)?;
        let formula = edit.formula.as_deref().map(|text| formulas.transform(text));
        Some(CellEdit { row, column, formula, ..edit.clone() })
    };
    let mut cells: Vec<CellEdit> = set.cells.iter().filter_map(transform_cell).collect();
    if cells.is_empty() {
        return None;
    }
    // Rows inserted by the author may have a different order relative to rows inserted by other
    // clients.
    cells.sort_unstable_by_key(|edit| (edit.row, edit.column));
    Some(SetCells { sheet, cells })
}

fn transform_clear(clear: &ClearRange, map: &SpaceMap) -> Option<ClearRange> {
    let (sheet, sheet_map) = target_sheet(clear.sheet, map)?;
    let rows = sheet_map.rows.kept_spans(&clear.rows);
    let columns = sheet_map.columns.kept_spans(&clear.columns);
    if rows.is_empty() || columns.is_empty() {
        return None;
    }
    Some(ClearRange { sheet, rows, columns })
}

fn transform_format(set: &SetFormat, map: &SpaceMap) -> Option<SetFormat> {
    let (sheet, sheet_map) = target_sheet(set.sheet, map)?;
    let rows = sheet_map.rows.covering_spans(&set.rows);
    let columns = sheet_map.columns.covering_spans(&set.columns);
    if rows.is_empty() || columns.is_empty() {
        return None;
    }
    Some(SetFormat { sheet, rows, columns, format: set.format.clone() })
}

/// Returns `None` if the sheet does not exist in the later state.
fn target_sheet(sheet: SheetId, map: &SpaceMap) -> Option<(SheetId, SheetMap)> {
    let sheet_map = map.sheet_map(sheet);
    Some((sheet_map.target?, sheet_map))
}
