//! Undo within one sheet.

use std::collections::BTreeSet;

use super::UndoBuilder;
use crate::axis_map::{Axis, AxisMap, Run};
use crate::cell::{Cell, GENERAL};
use crate::metadata::RangeFormat;
use crate::operation::{
    CellEdit, DeleteSpans, InsertBefore, Operation, SetCells, SetFormat, SheetId, Spans,
};
use crate::workbook::axis_order::Places;
use crate::workbook::sheet::CellId;
use crate::workbook::{Sheet, SheetDiff, Workbook};
use cellar_base::limits::MAX_CELLS_PER_OPERATION;

/// Three states of a sheet: before the entry, after the entry, and now (before any undo operation).
struct SheetStates<'a> {
    before: &'a Sheet,
    after: &'a Sheet,
    now: Sheet,
}

impl SheetStates<'_> {
    /// Returns whether a cell was changed after the entry.
    fn was_changed_since(&self, id: &CellId) -> bool {
        self.now.cells.get(id) != self.after.cells.get(id)
    }
}

impl UndoBuilder {
    /// Undoes the changes to a sheet that exists in all three states.
    pub(super) fn undo_in_sheet(&mut self, diff: &SheetDiff, before: &Workbook, after: &Workbook) {
        let id = diff.sheet;
        let (Some(before), Some(after)) = (before.sheet(id), after.sheet(id)) else { return };
        let Some(now) = self.workbook.sheet(id).cloned() else { return };
        let states = SheetStates { before, after, now };
        self.delete_inserted(id, Axis::Rows, &diff.rows.inserted, &states);
        self.delete_inserted(id, Axis::Columns, &diff.columns.inserted, &states);
        let row_map = self.reinsert_deleted(id, Axis::Rows, &diff.rows.deleted, before);
        let column_map = self.reinsert_deleted(id, Axis::Columns, &diff.columns.deleted, before);
        let (Some(row_map), Some(column_map)) = (row_map, column_map) else { return };
        self.restore_formats(id, &states, &row_map, &column_map);
        self.restore_cells(id, &states, &row_map, &column_map);
    }

    /// Deletes the rows or columns that the entry inserted, if they are still blank.
    fn delete_inserted(
        &mut self,
        id: SheetId,
        axis: Axis,
        inserted: &Spans,
        states: &SheetStates<'_>,
    ) {
        let Some(sheet) = self.workbook.sheet(id) else { return };
        let changed_cells = states.now.cells.keys().filter(|cell| states.was_changed_since(cell));
        let lines_in_use: BTreeSet<u64> = changed_cells.map(|cell| line_of(*cell, axis)).collect();
        let places = sheet.order(axis).places();
        let order_after = states.after.order(axis);
        let mut spans = Vec::new();
        for run in inserted.iter().flat_map(|span| order_after.parts(span.first, span.end())) {
            // Collects the existing rows or columns between those that are in use.
            let mut first = run.id;
            for line in lines_in_use.range(run.id..run.id_end()) {
                spans.extend(places.spans(first, *line));
                first = line.saturating_add(1);
            }
            spans.extend(places.spans(first, run.id_end()));
        }
        spans.sort_by_key(|span| span.first);
        let spans = Spans::from_sorted(spans);
        if spans.is_empty() {
            return;
        }
        let delete = DeleteSpans { sheet: id, spans };
        self.push(match axis {
            Axis::Rows => Operation::DeleteRows(delete),
            Axis::Columns => Operation::DeleteColumns(delete),
        });
    }

    /// Reinserts deleted rows or columns, each before the first remaining row or column that
    /// followed it. Returns the axis map from the sheet before the entry to the sheet after these
    /// insertions.
    fn reinsert_deleted(
        &mut self,
        id: SheetId,
        axis: Axis,
        deleted: &Spans,
        before: &Sheet,
    ) -> Option<AxisMap> {
        let mut map = before.order(axis).map_to(self.workbook.sheet(id)?.order(axis), axis);
        // Rows are inserted from last to first, so that an insertion does not shift the remaining
        // insertion points.
        for span in deleted.iter().rev() {
            let place = if map.runs().is_empty() { 0 } else { map.insertion_point(span.end()) };
            let insert = InsertBefore { sheet: id, before: place, count: span.count };
            self.push(match axis {
                Axis::Rows => Operation::InsertRows(insert),
                Axis::Columns => Operation::InsertColumns(insert),
            });
            let run = Run { src: span.first, dst: place, len: span.count };
            map = map.then(&AxisMap::insert(axis, place, span.count)).with_run(run);
        }
        Some(map)
    }

    /// Restores the range formats, unless a range format was set after the entry.
    fn restore_formats(
        &mut self,
        id: SheetId,
        states: &SheetStates<'_>,
        row_map: &AxisMap,
        column_map: &AxisMap,
    ) {
        let (rows_since, columns_since) = states.after.map_to(&states.now);
        if states.after.formats.mapped(&rows_since, &columns_since) != states.now.formats {
            return;
        }
        let wanted = states.before.formats.mapped(row_map, column_map);
        let Some(sheet) = self.workbook.sheet(id) else { return };
        let differing = wanted.difference(&sheet.formats);
        // Setting a range format removes the formats of individual cells, so these are set again.
        let cell_formats = sheet_edits(sheet, |(row, column), cell| {
            let is_affected = cell.format.is_some()
                && differing.iter().any(|range| range.contains((row, column)));
            let format = if is_affected { cell.format.clone() } else { None };
            CellEdit { row, column, value: None, formula: None, format }
        });
        let cell_formats = cell_formats.into_iter().filter(|edit| edit.format.is_some()).collect();
        for RangeFormat { rows, columns, .. } in &differing {
            let (rows, columns, format) = (rows.clone(), columns.clone(), GENERAL.to_owned());
            self.push(Operation::SetFormat(SetFormat { sheet: id, rows, columns, format }));
        }
        for RangeFormat { rows, columns, .. } in &differing {
            self.set_formats(id, wanted.intersection(rows, columns));
        }
        self.set_cells(id, cell_formats);
    }

    fn set_formats(&mut self, id: SheetId, records: Vec<RangeFormat>) {
        for RangeFormat { rows, columns, format } in records {
            self.push(Operation::SetFormat(SetFormat { sheet: id, rows, columns, format }));
        }
    }

    /// Restores the cells that the entry changed, including cells in deleted rows and columns.
    /// Cells that were changed later remain unchanged.
    fn restore_cells(
        &mut self,
        id: SheetId,
        states: &SheetStates<'_>,
        row_map: &AxisMap,
        column_map: &AxisMap,
    ) {
        let Some(sheet) = self.workbook.sheet(id) else { return };
        let SheetStates { before, after, .. } = states;
        let (rows_before, columns_before) = before.places();
        let (rows, columns) = sheet.places();
        let blank = Cell::default();
        let ids: BTreeSet<&CellId> = before.cells.keys().chain(after.cells.keys()).collect();
        let mut edits = Vec::new();
        for cell_id in ids {
            let cell_before = before.cells.get(cell_id).unwrap_or(&blank);
            let cell_after = after.cells.get(cell_id).unwrap_or(&blank);
            if cell_before == cell_after || states.was_changed_since(cell_id) {
                continue;
            }
            let row = current_place(cell_id.0, &rows_before, row_map, &rows);
            let column = current_place(cell_id.1, &columns_before, column_map, &columns);
            if let (Some(row), Some(column)) = (row, column) {
                let range_format = sheet.formats.at(row, column);
                edits.push(restoring_edit(row, column, cell_before, cell_after, range_format));
            }
        }
        self.set_cells(id, edits);
    }

    /// Copies the range formats and cells of a deleted sheet to the new sheet `id`.
    pub(super) fn copy_contents(&mut self, id: SheetId, deleted: &Sheet) {
        self.set_formats(id, deleted.formats.records().to_vec());
        let edits = sheet_edits(deleted, |(row, column), cell| {
            let Cell { value, formula, format } = cell.clone();
            CellEdit { row, column, value: Some(value), formula, format }
        });
        self.set_cells(id, edits);
    }

    fn set_cells(&mut self, sheet: SheetId, mut edits: Vec<CellEdit>) {
        edits.sort_by_key(|edit| (edit.row, edit.column));
        for cells in edits.chunks(MAX_CELLS_PER_OPERATION) {
            self.push(Operation::SetCells(SetCells { sheet, cells: cells.to_vec() }));
        }
    }
}

/// Calls `make_edit` with each stored cell of a sheet and its coordinates, and returns the results.
fn sheet_edits(sheet: &Sheet, make_edit: impl Fn((u32, u32), &Cell) -> CellEdit) -> Vec<CellEdit> {
    let (rows, columns) = sheet.places();
    let edits = sheet.cells.iter().filter_map(|((row_id, column_id), cell)| {
        let place = (rows.index(*row_id)?, columns.index(*column_id)?);
        Some(make_edit(place, cell))
    });
    edits.collect()
}

/// Returns the current index of a row or column. If it existed before the entry, `map` determines
/// the index, because a deleted row gets a new id when it is reinserted.
fn current_place(
    line: u64,
    places_before: &Places,
    map: &AxisMap,
    current_places: &Places,
) -> Option<u32> {
    match places_before.index(line) {
        Some(place_before) => map.get(place_before),
        None => current_places.index(line),
    }
}

/// Returns the id of a cell's row or column.
fn line_of((row, column): CellId, axis: Axis) -> u64 {
    match axis {
        Axis::Rows => row,
        Axis::Columns => column,
    }
}

/// Returns the edit that changes a cell from `after` back to `before`. No operation can remove the
/// format of an individual cell, so if the cell had no format of its own, the edit sets the format
/// of its range.
fn restoring_edit(
    row: u32,
    column: u32,
    before: &Cell,
    after: &Cell,
    range_format: Option<&str>,
) -> CellEdit {
    let mut edit = CellEdit { row, column, value: None, formula: None, format: None };
    if (&before.value, &before.formula) != (&after.value, &after.formula) {
        edit.value = Some(before.value.clone());
        edit.formula.clone_from(&before.formula);
    }
    if before.format != after.format {
        let format = before.format.as_deref().or(range_format).unwrap_or(GENERAL);
        edit.format = Some(format.to_owned());
    }
    edit
}
