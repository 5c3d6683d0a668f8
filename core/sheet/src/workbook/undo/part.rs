//! Reverts one sheet, or a range of a sheet.

use super::sheet::{IndicesAfterUndo, SheetStates};
use super::{DeletedSheets, Reversal, UndoBuilder};
use crate::axis_map::Axis;
use crate::metadata::{FormatLayer, RangeFormat};
use crate::operation::{CellEdit, SheetId};
use crate::workbook::display_eq::formats_display_same;
use crate::workbook::{SheetReader, Workbook};
use cellar_formula::changes::MovedLines;
use cellar_grid::Spans;

/// Reason why a sheet or range cannot be reverted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PartFault {
    /// The sheet does not exist in the earlier state.
    #[error("the sheet did not exist at that position; to remove it, delete it")]
    NotThen,
    /// The sheet was deleted, and no sheet has its name.
    #[error("the sheet was deleted since; revert the whole sheet")]
    NotNow,
}

/// Returns the sheet of `now` that is at the place of a sheet of `before`: the same sheet or, if it
/// was deleted or replaced since, the new sheet that has its name.
#[must_use]
pub fn sheet_in_place(before: &Workbook, now: &Workbook, sheet: SheetId) -> Option<SheetId> {
    if now.sheet(sheet).is_some() {
        return Some(sheet);
    }
    let new_sheet = now.tabs().named(before.tabs().name(sheet)?)?;
    if before.sheet(new_sheet).is_none() { Some(new_sheet) } else { None }
}

/// Returns the operations that, applied to `now`, make a sheet display the same as in `before`.
/// There are none if it already does. If the sheet was deleted, it is restored from its import, if
/// `deleted_sheets` contains it, or else its cells are copied. Formulas of other sheets refer to it
/// and to its rows and columns again.
///
/// # Errors
/// Returns [`PartFault::NotThen`] if `before` does not contain the sheet.
pub fn revert_sheet(
    before: &Workbook,
    now: &Workbook,
    sheet: SheetId,
    deleted_sheets: &DeletedSheets,
) -> Result<Reversal, PartFault> {
    if before.sheet(sheet).is_none() {
        return Err(PartFault::NotThen);
    }
    let now = &now.with_kept_lines(before);
    let current_sheet = sheet_in_place(before, now, sheet);
    if current_sheet.is_some_and(|current| is_as_before(before, now, sheet, current)) {
        return Ok(Reversal::default());
    }
    let mut builder = UndoBuilder::new(before, now, now, &[], deleted_sheets);
    let mut names = Vec::new();
    let mut sheet_undo = None;
    if current_sheet == Some(sheet) {
        names.extend(builder.name_to_restore(sheet, before, now, now));
        // Another sheet may have taken the name: then only the content can be as before.
        let diffs = before.diff_by_number(now).sheets;
        if let Some(diff) = diffs.iter().find(|diff| diff.sheet == sheet)
            && !before.sheet_displays_same_and_keeps_references(now, sheet)
        {
            sheet_undo = builder.undo_lines(diff);
        }
    } else {
        names.extend(builder.restore_replaced_sheet(sheet, current_sheet, before));
    }
    builder.restore_names(&names);
    builder.restore_contents_of_sheets();
    if let Some(sheet_undo) = &sheet_undo {
        builder.restore_contents(sheet_undo);
    }
    builder.restore_references_to(sheet);
    Ok(builder.finish())
}

/// Returns the operations that, applied to `now`, give the cells in `rows` and `columns` of a sheet
/// the content and number format that they have in `before`. There are none if they already have
/// them. A sheet that was replaced is compared row by row with its replacement. No rows and columns
/// are inserted or deleted. Cells in rows or columns that `before` does not
/// contain are cleared.
///
/// # Errors
/// Returns a [`PartFault`] if the sheet does not exist in both states.
pub fn revert_range(
    before: &Workbook,
    now: &Workbook,
    sheet: SheetId,
    rows: &Spans,
    columns: &Spans,
) -> Result<Reversal, PartFault> {
    let old = before.sheet(sheet).ok_or(PartFault::NotThen)?;
    let now = &now.with_kept_lines(before);
    let current_sheet = sheet_in_place(before, now, sheet).ok_or(PartFault::NotNow)?;
    let new = now.sheet(current_sheet).ok_or(PartFault::NotNow)?;
    let nothing_known = DeletedSheets::default();
    let mut builder = UndoBuilder::new(before, now, now, &[], &nothing_known);
    let nothing = MovedLines::default();
    if current_sheet == sheet {
        let moved = before.moved_lines_to(now);
        let states = SheetStates::new(old, new, new, &moved, [&nothing; 2]);
        builder.restore_range(current_sheet, &states, rows, columns);
    } else {
        let (old_sheet, new_sheet) = (old.sheet.with_new_ids(), new.sheet.with_new_ids());
        let old = SheetReader { sheet: &old_sheet, ..old };
        let new = SheetReader { sheet: &new_sheet, ..new };
        // References to the replaced sheet become references to its replacement.
        builder.restored.insert(sheet, current_sheet);
        let states = SheetStates::new(old, new, new, &nothing, [&nothing; 2]);
        builder.restore_range(current_sheet, &states, rows, columns);
    }
    Ok(builder.finish())
}

fn is_as_before(before: &Workbook, now: &Workbook, sheet: SheetId, current_sheet: SheetId) -> bool {
    let has_same_name = before.tabs().name(sheet) == now.tabs().name(current_sheet);
    let displays_same = if sheet == current_sheet {
        before.sheet_displays_same_and_keeps_references(now, sheet)
    } else {
        before.sheet_displays_same(sheet, now, current_sheet)
    };
    has_same_name && displays_same
}

impl UndoBuilder<'_> {
    /// Restores a sheet and deletes the sheet that has taken its name. Returns the restored sheet
    /// with its name.
    fn restore_replaced_sheet(
        &mut self,
        sheet: SheetId,
        new_sheet: Option<SheetId>,
        before: &Workbook,
    ) -> Option<(SheetId, String)> {
        let new_cells = new_sheet.and_then(|new| Some(self.workbook.sheet(new)?.cell_count()));
        let exists =
            |builder: &Self| new_sheet.is_some_and(|new| builder.workbook.sheet(new).is_some());
        if let Some(new_sheet) = new_sheet {
            self.delete_sheet(new_sheet);
        }
        let restored = self.restore_sheet(sheet, before);
        if let Some(new_sheet) = new_sheet
            && exists(self)
        {
            self.delete_sheet(new_sheet);
        }
        if let Some(new_cells) = new_cells
            && !exists(self)
        {
            self.report.restored.add_sheet(new_cells);
        }
        restored
    }

    fn restore_range(
        &mut self,
        id: SheetId,
        states: &SheetStates<'_>,
        rows: &Spans,
        columns: &Spans,
    ) {
        let before = states.before();
        let (row_map, column_map) = before.sheet.map_to(states.now.sheet);
        let old_formats = before.formats().mapped(&row_map, &column_map);
        let differing_ranges = differing_formats(&old_formats, states.now.formats(), rows, columns);
        self.report.restored.formats += u64::try_from(differing_ranges.len()).unwrap_or(u64::MAX);
        self.restore_formats_in(id, &old_formats, &differing_ranges);
        let Some(sheet) = self.workbook.sheet(id) else { return };
        let row_indices = IndicesAfterUndo::new(before.sheet, &row_map, sheet.sheet, Axis::Rows);
        let column_indices =
            IndicesAfterUndo::new(before.sheet, &column_map, sheet.sheet, Axis::Columns);
        let mut formulas = before.formulas();
        let mut edits = Vec::new();
        for cell_id in states.changed_by_entry.keys() {
            let (row, column) =
                (row_indices.current_index(cell_id.0), column_indices.current_index(cell_id.1));
            let (Some(row), Some(column)) = (row, column) else { continue };
            if rows.contains(row) && columns.contains(column) {
                let edit = self.restoring_edit(states, cell_id, (row, column), &mut formulas);
                if changes_display(&edit, sheet) {
                    edits.push(edit);
                }
            }
        }
        self.report.restored.cells += u64::try_from(edits.len()).unwrap_or(u64::MAX);
        self.set_cells(id, edits);
    }
}

/// Returns the range formats within `rows` and `columns` in which the two layers differ, or none if
/// both display the same there.
fn differing_formats(
    old: &FormatLayer,
    new: &FormatLayer,
    rows: &Spans,
    columns: &Spans,
) -> Vec<RangeFormat> {
    let old_in_range = FormatLayer::from_records(old.intersection(rows, columns));
    let new_in_range = FormatLayer::from_records(new.intersection(rows, columns));
    if formats_display_same(&old_in_range, &new_in_range) {
        return Vec::new();
    }
    old_in_range.difference(&new_in_range)
}

/// Without this check, a repeated revert could store a number format that is already displayed.
fn changes_display(edit: &CellEdit, sheet: SheetReader<'_>) -> bool {
    let current_cell = sheet.cell(edit.row, edit.column);
    let changes_value =
        edit.value.as_ref().is_some_and(|value| match (&edit.formula, &current_cell.formula) {
            (Some(formula), Some(current_formula)) => formula != current_formula,
            (None, None) => *value != current_cell.value,
            _ => true,
        });
    let shown_format = current_cell.format.as_deref().unwrap_or(crate::cell::GENERAL);
    changes_value || edit.format.as_deref().is_some_and(|format| format != shown_format)
}
