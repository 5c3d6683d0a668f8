//! Undo within one sheet.

use std::collections::BTreeSet;

use super::UndoBuilder;
use crate::axis_map::{Axis, AxisMap, Run};
use crate::cell::{Cell, GENERAL};
use crate::metadata::{FormatLayer, RangeFormat};
use crate::operation::{
    CellEdit, DeleteSpans, InsertBefore, Operation, SetCells, SetFormat, SheetId, Spans,
};
use crate::workbook::axis_order::IndexLookup;
use crate::workbook::sheet::CellId;
use crate::workbook::{Sheet, SheetDiff, Workbook};
use cellar_base::limits::MAX_CELLS_PER_OPERATION;

/// Three states of a sheet: before the entry that is undone, after that entry, and before the first
/// operation of the undo.
struct SheetStates<'a> {
    before: &'a Sheet,
    after: &'a Sheet,
    now: Sheet,
}

impl SheetStates<'_> {
    /// Returns whether a cell was changed after the entry that is undone.
    fn cell_was_changed_since(&self, id: &CellId) -> bool {
        self.now.cells.get(id) != self.after.cells.get(id)
    }

    fn formats_were_changed_since(&self) -> bool {
        let (row_map, column_map) = self.after.map_to(&self.now);
        self.after.formats.mapped(&row_map, &column_map) != self.now.formats
    }

    fn lines_changed_since(&self, axis: Axis) -> BTreeSet<u64> {
        let changed_cells = self.now.cells.keys().filter(|id| self.cell_was_changed_since(id));
        changed_cells.map(|id| line_of(*id, axis)).collect()
    }

    /// Returns the rows or columns of `inserted` in which no cell was changed after the entry that
    /// is undone, with their indices in `current_sheet`.
    fn still_blank(&self, axis: Axis, inserted: &Spans, current_sheet: &Sheet) -> Spans {
        let current_lookup = current_sheet.order(axis).index_lookup();
        let changed_ids = self.lines_changed_since(axis);
        let order_after_entry = self.after.order(axis);
        let mut blank_spans = Vec::new();
        for span in inserted.iter() {
            for run in order_after_entry.runs_in(span.first, span.end()) {
                let mut first_blank_id = run.first_id;
                for changed_id in changed_ids.range(run.first_id..run.id_end()) {
                    blank_spans.extend(current_lookup.spans(first_blank_id, *changed_id));
                    first_blank_id = changed_id.saturating_add(1);
                }
                blank_spans.extend(current_lookup.spans(first_blank_id, run.id_end()));
            }
        }
        blank_spans.sort_by_key(|span| span.first);
        Spans::from_sorted(blank_spans)
    }

    fn cells_changed_by_entry(&self) -> BTreeSet<CellId> {
        let cell_ids = self.before.cells.keys().chain(self.after.cells.keys()).copied();
        cell_ids.filter(|id| self.before.cells.get(id) != self.after.cells.get(id)).collect()
    }
}

impl UndoBuilder {
    /// Undoes the changes of an entry to a sheet that was neither added nor deleted.
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
        if !states.formats_were_changed_since() {
            let restored_formats = before.formats.mapped(&row_map, &column_map);
            self.restore_formats(id, &restored_formats);
        }
        self.restore_cells(id, &states, &row_map, &column_map);
    }

    /// Deletes the rows or columns that the entry inserted if they are still blank.
    fn delete_inserted(
        &mut self,
        id: SheetId,
        axis: Axis,
        inserted: &Spans,
        states: &SheetStates<'_>,
    ) {
        let Some(sheet) = self.workbook.sheet(id) else { return };
        let spans = states.still_blank(axis, inserted, sheet);
        if spans.is_empty() {
            return;
        }
        let delete = DeleteSpans { sheet: id, spans };
        self.push(match axis {
            Axis::Rows => Operation::DeleteRows(delete),
            Axis::Columns => Operation::DeleteColumns(delete),
        });
    }

    /// Inserts deleted rows or columns again, each before the first of its successors that still
    /// exists. Returns the axis map from the sheet before the entry to the sheet after the
    /// insertion.
    fn reinsert_deleted(
        &mut self,
        id: SheetId,
        axis: Axis,
        deleted: &Spans,
        before: &Sheet,
    ) -> Option<AxisMap> {
        let current_order = self.workbook.sheet(id)?.order(axis);
        let mut map = before.order(axis).map_to(current_order, axis);
        // Inserting the last span first keeps the insertion points of the other spans valid.
        for span in deleted.iter().rev() {
            let all_were_deleted = map.runs().is_empty();
            let before_index = if all_were_deleted { 0 } else { map.insertion_point(span.end()) };
            let insert = InsertBefore { sheet: id, before: before_index, count: span.count };
            self.push(match axis {
                Axis::Rows => Operation::InsertRows(insert),
                Axis::Columns => Operation::InsertColumns(insert),
            });
            let insertion_map = AxisMap::insert(axis, before_index, span.count);
            let reinserted_run = Run { src: span.first, dst: before_index, len: span.count };
            map = map.then(&insertion_map).with_run(reinserted_run);
        }
        Some(map)
    }

    fn restore_formats(&mut self, id: SheetId, restored_formats: &FormatLayer) {
        let Some(sheet) = self.workbook.sheet(id) else { return };
        let differing_ranges = restored_formats.difference(&sheet.formats);
        // Setting a range format removes the number formats of individual cells, so these are
        // restored afterwards.
        let cell_formats = edits_of_cell_formats(sheet, &differing_ranges);
        for range in &differing_ranges {
            self.set_range_format(id, RangeFormat { format: GENERAL.to_owned(), ..range.clone() });
        }
        for range in &differing_ranges {
            for restored_range in restored_formats.intersection(&range.rows, &range.columns) {
                self.set_range_format(id, restored_range);
            }
        }
        self.set_cells(id, cell_formats);
    }

    fn set_range_format(&mut self, id: SheetId, range: RangeFormat) {
        let RangeFormat { rows, columns, format } = range;
        self.push(Operation::SetFormat(SetFormat { sheet: id, rows, columns, format }));
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
        let row_indices = IndicesAfterUndo::new(states.before, row_map, sheet, Axis::Rows);
        let column_indices = IndicesAfterUndo::new(states.before, column_map, sheet, Axis::Columns);
        let blank = Cell::default();
        let mut edits = Vec::new();
        for cell_id in states.cells_changed_by_entry() {
            if states.cell_was_changed_since(&cell_id) {
                continue;
            }
            let (row_id, column_id) = cell_id;
            let row = row_indices.current_index(row_id);
            let column = column_indices.current_index(column_id);
            if let (Some(row), Some(column)) = (row, column) {
                let cell_before = states.before.cells.get(&cell_id).unwrap_or(&blank);
                let cell_after = states.after.cells.get(&cell_id).unwrap_or(&blank);
                let range_format = sheet.formats.format_at(row, column);
                edits.push(restoring_edit(row, column, cell_before, cell_after, range_format));
            }
        }
        self.set_cells(id, edits);
    }

    pub(super) fn copy_contents(&mut self, id: SheetId, deleted: &Sheet) {
        for range in deleted.formats.records() {
            self.set_range_format(id, range.clone());
        }
        let cell_edits = edits_of_stored_cells(deleted, |(row, column), cell| {
            let Cell { value, formula, format } = cell.clone();
            CellEdit { row, column, value: Some(value), formula, format }
        });
        self.set_cells(id, cell_edits);
    }

    fn set_cells(&mut self, sheet: SheetId, mut edits: Vec<CellEdit>) {
        edits.sort_by_key(|edit| (edit.row, edit.column));
        for chunk in edits.chunks(MAX_CELLS_PER_OPERATION) {
            self.push(Operation::SetCells(SetCells { sheet, cells: chunk.to_vec() }));
        }
    }
}

fn edits_of_stored_cells(
    sheet: &Sheet,
    make_edit: impl Fn((u32, u32), &Cell) -> CellEdit,
) -> Vec<CellEdit> {
    let lookup = sheet.cell_lookup();
    let mut edits = Vec::new();
    for (cell_id, cell) in &sheet.cells {
        if let Some(coordinates) = lookup.coordinates(*cell_id) {
            edits.push(make_edit(coordinates, cell));
        }
    }
    edits
}

fn edits_of_cell_formats(sheet: &Sheet, ranges: &[RangeFormat]) -> Vec<CellEdit> {
    let mut edits = edits_of_stored_cells(sheet, |(row, column), cell| {
        let format = cell.format.clone();
        CellEdit { row, column, value: None, formula: None, format }
    });
    edits.retain(|edit| {
        let is_in_ranges = ranges.iter().any(|range| range.contains((edit.row, edit.column)));
        edit.format.is_some() && is_in_ranges
    });
    edits
}

/// Finds the index of a row or column after deleted rows and columns were inserted again.
struct IndicesAfterUndo<'a> {
    lookup_before_entry: IndexLookup,
    map_from_before_entry: &'a AxisMap,
    current_lookup: IndexLookup,
}

impl<'a> IndicesAfterUndo<'a> {
    fn new(before: &Sheet, map: &'a AxisMap, current: &Sheet, axis: Axis) -> Self {
        Self {
            lookup_before_entry: before.order(axis).index_lookup(),
            map_from_before_entry: map,
            current_lookup: current.order(axis).index_lookup(),
        }
    }

    /// Returns the current index of a row or column. The id of a row that existed before the entry
    /// may have changed, because deleted rows get new ids when they are inserted again. Its index
    /// is therefore determined with the axis map.
    fn current_index(&self, line_id: u64) -> Option<u32> {
        match self.lookup_before_entry.index(line_id) {
            Some(index_before) => self.map_from_before_entry.get(index_before),
            None => self.current_lookup.index(line_id),
        }
    }
}

fn line_of((row, column): CellId, axis: Axis) -> u64 {
    match axis {
        Axis::Rows => row,
        Axis::Columns => column,
    }
}

/// Returns the edit that changes a cell from `after` back to `before`. A number format cannot be
/// removed from a cell, so if the cell had none, the edit sets the number format of the range.
fn restoring_edit(
    row: u32,
    column: u32,
    before: &Cell,
    after: &Cell,
    range_format: Option<&str>,
) -> CellEdit {
    let mut edit = CellEdit { row, column, value: None, formula: None, format: None };
    let content_was_changed = before.value != after.value || before.formula != after.formula;
    if content_was_changed {
        edit.value = Some(before.value.clone());
        edit.formula.clone_from(&before.formula);
    }
    let format_was_changed = before.format != after.format;
    if format_was_changed {
        let restored_format = before.format.as_deref().or(range_format).unwrap_or(GENERAL);
        edit.format = Some(restored_format.to_owned());
    }
    edit
}
