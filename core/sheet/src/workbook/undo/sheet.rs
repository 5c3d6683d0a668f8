//! Undo within one sheet.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::UndoBuilder;
use super::cell_changes::{CellChange, changed_cells};
use crate::axis_map::{Axis, AxisMap, Run};
use crate::cell::GENERAL;
use crate::metadata::{DeletedLines, FormatLayer, RangeFormat};
use crate::operation::{
    CellEdit, DeleteSpans, InsertBefore, Operation, SetCells, SetFormat, SheetId, Span, Spans,
};
use crate::workbook::axis_order::IndexLookup;
use crate::workbook::display_eq::formats_display_same;
use crate::workbook::replaced_lines::with_replaced_lines;
use crate::workbook::sheet::{CellId, Sheet, StoredCell};
use crate::workbook::stored_formula::FormulaReader;
use crate::workbook::{SheetDiff, SheetReader};
use cellar_base::limits::MAX_CELLS_PER_OPERATION;
use cellar_formula::changes::{MovedLines, SheetLines};

/// Three states of a sheet: before the entry that is undone, after that entry, and before the first
/// operation of the undo.
pub(super) struct SheetStates<'a> {
    before: SheetReader<'a>,
    after: SheetReader<'a>,
    pub(super) now: SheetReader<'a>,
    /// The sheet of `now`, in which rows and columns that replaced as many of `after` have their ids. An
    /// undo of another entry may have restored them.
    now_in_place: Cow<'a, Sheet>,
    pub(super) changed_by_entry: BTreeMap<CellId, CellChange>,
    changed_since: BTreeMap<CellId, CellChange>,
}

/// A sheet whose inserted rows and columns were deleted, and whose deleted ones were inserted again.
/// Its cells and formats are not restored yet.
pub(super) struct SheetUndo<'a> {
    id: SheetId,
    states: SheetStates<'a>,
    /// Lead from the sheet before the entry to the sheet now. Rows and columns that were replaced by as
    /// many later count as kept.
    row_places: AxisMap,
    column_places: AxisMap,
}

/// Two axis maps from a sheet before the entry to the sheet after deleted rows or columns were
/// inserted again.
struct ReinsertedLines {
    map: AxisMap,
    /// Rows or columns that were replaced by as many later count as kept.
    places: AxisMap,
}

impl<'a> SheetStates<'a> {
    /// `moved_by_entry` leads from `before` to `after`, and each map of `moved_since` from `after` to
    /// `now`. A formula has not changed since if it only followed one of them.
    pub(super) fn new(
        before: SheetReader<'a>,
        after: SheetReader<'a>,
        now: SheetReader<'a>,
        moved_by_entry: &MovedLines,
        moved_since: [&MovedLines; 2],
    ) -> Self {
        let changed_by_entry = changed_cells(before, after, &[moved_by_entry]);
        let now_in_place = now.sheet.with_replaced_ids(after.sheet);
        let in_place = SheetReader { sheet: &now_in_place, ..now };
        let mut changed_since = changed_cells(after, in_place, &moved_since);
        changed_since
            .retain(|id, change| change.content || !displays_same_format(after, in_place, *id));
        Self { before, after, now, now_in_place, changed_by_entry, changed_since }
    }

    pub(super) fn before(&self) -> SheetReader<'a> {
        self.before
    }

    /// Returns whether a cell was changed after the entry that is undone.
    fn cell_was_changed_since(&self, id: &CellId) -> bool {
        self.changed_since.contains_key(id)
    }

    fn formats_were_changed_since(&self) -> bool {
        let (row_map, column_map) = self.after.sheet.map_to(&self.now_in_place);
        !formats_display_same(
            &self.after.formats().mapped(&row_map, &column_map),
            self.now.formats(),
        )
    }

    fn lines_changed_since(&self, axis: Axis) -> BTreeSet<u64> {
        let now_cells = &self.now_in_place.cells;
        let changed_cells = self.changed_since.keys().filter(|id| now_cells.contains_key(id));
        changed_cells.map(|id| line_of(*id, axis)).collect()
    }

    /// Returns the rows or columns of `inserted` in which no cell was changed after the entry that
    /// is undone, with their indices in `current_sheet`.
    fn still_blank(&self, axis: Axis, inserted: &Spans, current_sheet: &Sheet) -> Spans {
        let current_lookup = current_sheet.order(axis).index_lookup();
        let changed_ids = self.lines_changed_since(axis);
        let order_after_entry = self.after.sheet.order(axis);
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

    /// Returns the number of the inserted rows or columns that still exist.
    fn still_existing(&self, axis: Axis, inserted: &Spans, current_sheet: &Sheet) -> u64 {
        let current_lookup = current_sheet.order(axis).index_lookup();
        let order_after_entry = self.after.sheet.order(axis);
        let inserted_runs =
            inserted.iter().flat_map(|span| order_after_entry.runs_in(span.first, span.end()));
        inserted_runs
            .flat_map(|run| current_lookup.spans(run.first_id, run.id_end()))
            .map(|span| u64::from(span.count))
            .sum()
    }

    /// Returns the number of range formats in which the states before and after the entry differ.
    fn formats_changed_by_entry(&self) -> u64 {
        let (row_map, column_map) = self.before.sheet.map_to(self.after.sheet);
        let formats_before = self.before.formats().mapped(&row_map, &column_map);
        let differing = formats_before.difference(self.after.formats()).len();
        u64::try_from(differing).unwrap_or(u64::MAX)
    }
}

impl<'a> UndoBuilder<'a> {
    /// Undoes the insertions and deletions of rows and columns in a sheet that was neither added nor
    /// deleted. Returns `None` if the sheet does not exist now.
    pub(super) fn undo_lines(&mut self, diff: &SheetDiff) -> Option<SheetUndo<'a>> {
        let id = diff.sheet;
        let (before, after) = (self.before.sheet(id)?, self.after.sheet(id)?);
        let Some(now) = self.now.sheet(id) else {
            let changed = changed_cells(before, after, &[&self.moved_by_entry]);
            self.report.left.cells += count_of(changed.len());
            return None;
        };
        let by_entry = &self.moved_by_entry;
        let since = [&self.moved_since_entry, &self.moved_in_place_since_entry];
        let states = SheetStates::new(before, after, now, by_entry, since);
        let operation_count = self.operations.len();
        self.delete_inserted(id, Axis::Rows, &diff.rows.inserted, &states);
        self.delete_inserted(id, Axis::Columns, &diff.columns.inserted, &states);
        let rows = self.reinsert_deleted(id, Axis::Rows, &diff.rows.deleted, &states)?;
        let columns = self.reinsert_deleted(id, Axis::Columns, &diff.columns.deleted, &states)?;
        let lines = SheetLines::of_axis_maps(rows.map, columns.map);
        if self.operations.len() > operation_count {
            self.moved_by_undo.insert(id, lines.clone());
        }
        self.changed_lines.insert(id, lines);
        Some(SheetUndo { id, states, row_places: rows.places, column_places: columns.places })
    }

    /// Restores the cells and formats of a sheet after its rows and columns.
    pub(super) fn restore_contents(&mut self, sheet_undo: &SheetUndo<'_>) {
        let SheetUndo { id, states, row_places, column_places } = sheet_undo;
        if states.formats_were_changed_since() {
            self.report.left.formats += states.formats_changed_by_entry();
        } else {
            self.report.restored.formats += states.formats_changed_by_entry();
            let restored_formats = states.before.formats().mapped(row_places, column_places);
            self.restore_formats(*id, &restored_formats);
        }
        self.restore_cells(*id, states, row_places, column_places);
    }

    /// Returns the edit that changes a cell back to its state before the entry. A number format cannot
    /// be removed from a cell, so if the cell had none, the edit sets the number format of the range.
    /// `formulas` reads the formulas of the state before the entry.
    pub(super) fn restoring_edit(
        &self,
        states: &SheetStates<'_>,
        cell_id: &CellId,
        (row, column): (u32, u32),
        formulas: &mut FormulaReader<'_>,
    ) -> CellEdit {
        let mut edit = CellEdit { row, column, value: None, formula: None, format: None };
        let Some(change) = states.changed_by_entry.get(cell_id) else { return edit };
        let blank = StoredCell::default();
        let before = states.before.sheet.cells.get(cell_id).unwrap_or(&blank);
        if change.content {
            let own_sheet = states.before.id;
            let moved = Some(self.replaced_until_now());
            let restored = |formula| self.restored_formula(own_sheet, formula, formulas, moved);
            edit.value = Some(before.value.clone());
            edit.formula = before.formula.as_ref().map(restored);
        }
        if change.format {
            let sheet = self.workbook.sheet(states.now.id);
            let range_format = sheet.and_then(|sheet| sheet.formats().format_at(row, column));
            let restored_format = before.format.as_deref().or(range_format).unwrap_or(GENERAL);
            edit.format = Some(restored_format.to_owned());
        }
        edit
    }

    /// Deletes the rows or columns that the entry inserted if they are still blank.
    fn delete_inserted(
        &mut self,
        id: SheetId,
        axis: Axis,
        inserted: &Spans,
        states: &SheetStates<'_>,
    ) {
        let Some(SheetReader { sheet, .. }) = self.workbook.sheet(id) else { return };
        let sheet = sheet.with_replaced_ids(states.after.sheet);
        let existing_count = states.still_existing(axis, inserted, &sheet);
        let spans = states.still_blank(axis, inserted, &sheet);
        self.report.restored.add_lines(axis, spans.count());
        self.report.left.add_lines(axis, existing_count.saturating_sub(spans.count()));
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
    /// exists. A successor that an undo of another entry has restored exists, although it has a new
    /// id.
    fn reinsert_deleted(
        &mut self,
        id: SheetId,
        axis: Axis,
        deleted: &Spans,
        states: &SheetStates<'_>,
    ) -> Option<ReinsertedLines> {
        self.report.restored.add_lines(axis, deleted.count());
        let current_order = self.workbook.sheet(id)?.sheet.order(axis);
        let (before_order, after_order) =
            (states.before.sheet.order(axis), states.after.sheet.order(axis));
        let mut map = before_order.map_to(current_order, axis);
        // Rows that this undo has deleted would hide which rows replaced as many.
        let now_order = states.now.sheet.order(axis);
        let moved_since = with_replaced_lines(after_order.map_to(now_order, axis));
        let mut places = before_order
            .map_to(after_order, axis)
            .then(&moved_since)
            .then(&now_order.map_to(current_order, axis));
        let now_map = now_order.map_to(current_order, axis);
        // Inserting the last span first keeps the insertion points of the other spans valid.
        for (span, before_now) in self.with_places((id, axis), deleted).into_iter().rev() {
            let before_index = match before_now {
                Some(index) => now_map.insertion_point(index),
                None if places.runs().is_empty() => 0,
                None => places.insertion_point(span.end()),
            };
            let insert = InsertBefore { sheet: id, before: before_index, count: span.count };
            self.push(match axis {
                Axis::Rows => Operation::InsertRows(insert),
                Axis::Columns => Operation::InsertColumns(insert),
            });
            let insertion_map = AxisMap::insert(axis, before_index, span.count);
            let reinserted_run = Run { src: span.first, dst: before_index, len: span.count };
            map = map.then(&insertion_map).with_run(reinserted_run);
            places = places.then(&insertion_map).with_run(reinserted_run);
        }
        Some(ReinsertedLines { map, places })
    }

    /// Splits the spans of deleted rows or columns if their parts belong at different places among those
    /// that exist now. Adds the index of the row before which each part belongs, if it is known.
    fn with_places(&self, key: (SheetId, Axis), deleted: &Spans) -> Vec<(Span, Option<u32>)> {
        let places = self.deleted_lines.get(&key).map(Vec::as_slice).unwrap_or_default();
        let placed_count: u64 = places.iter().map(|lines| u64::from(lines.count)).sum();
        if placed_count != deleted.count() {
            return deleted.iter().map(|span| (span, None)).collect();
        }
        let mut parts = Vec::new();
        let mut remaining = places.iter().copied();
        let mut next = remaining.next();
        for span in deleted.iter() {
            let mut first = span.first;
            while let Some(lines) = next
                && first < span.end()
            {
                let count = lines.count.min(span.end() - first);
                parts.push((Span { first, count }, Some(lines.before)));
                first += count;
                next = match lines.count - count {
                    0 => remaining.next(),
                    rest => Some(DeletedLines { count: rest, ..lines }),
                };
            }
        }
        parts
    }

    fn restore_formats(&mut self, id: SheetId, restored_formats: &FormatLayer) {
        let Some(sheet) = self.workbook.sheet(id) else { return };
        let differing_ranges = restored_formats.difference(sheet.formats());
        self.restore_formats_in(id, restored_formats, &differing_ranges);
    }

    pub(super) fn restore_formats_in(
        &mut self,
        id: SheetId,
        restored_formats: &FormatLayer,
        differing_ranges: &[RangeFormat],
    ) {
        let Some(sheet) = self.workbook.sheet(id) else { return };
        // Setting a range format removes the number formats of individual cells, so these are
        // restored afterwards.
        let cell_formats = edits_of_cell_formats(sheet.sheet, differing_ranges);
        for range in differing_ranges {
            self.set_range_format(id, RangeFormat { format: GENERAL.to_owned(), ..range.clone() });
        }
        for range in differing_ranges {
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
        let Some(SheetReader { sheet, .. }) = self.workbook.sheet(id) else { return };
        let before = states.before.sheet;
        let row_indices = IndicesAfterUndo::new(before, row_map, sheet, Axis::Rows);
        let column_indices = IndicesAfterUndo::new(before, column_map, sheet, Axis::Columns);
        let mut formulas = states.before.formulas();
        let mut edits = Vec::new();
        let (mut left_count, mut deleted_count) = (0, 0);
        for cell_id in states.changed_by_entry.keys() {
            let (row_id, column_id) = *cell_id;
            let row = row_indices.current_index(row_id);
            let column = column_indices.current_index(column_id);
            let was_in_inserted_line =
                !row_indices.existed_before(row_id) || !column_indices.existed_before(column_id);
            match (row, column) {
                _ if states.cell_was_changed_since(cell_id) => left_count += 1,
                (Some(row), Some(column)) => {
                    let place = (row, column);
                    edits.push(self.restoring_edit(states, cell_id, place, &mut formulas));
                }
                _ if was_in_inserted_line => deleted_count += 1,
                _ => left_count += 1,
            }
        }
        self.report.left.cells += left_count;
        self.report.restored.cells += count_of(edits.len()) + deleted_count;
        self.set_cells(id, edits);
    }

    pub(super) fn copy_contents(&mut self, id: SheetId, deleted: SheetReader<'_>) {
        for range in deleted.formats().records() {
            self.set_range_format(id, range.clone());
        }
        let mut formulas = deleted.formulas();
        let cell_edits = edits_of_stored_cells(deleted.sheet, |(row, column), cell| {
            let StoredCell { value, formula, format } = cell;
            let moved = Some(self.replaced_until_now());
            let restored =
                |formula| self.restored_formula(deleted.id, formula, &mut formulas, moved);
            let formula = formula.as_ref().map(restored);
            CellEdit { row, column, value: Some(value.clone()), formula, format: format.clone() }
        });
        self.set_cells(id, cell_edits);
    }

    pub(super) fn set_cells(&mut self, sheet: SheetId, mut edits: Vec<CellEdit>) {
        edits.sort_by_key(|edit| (edit.row, edit.column));
        for chunk in edits.chunks(MAX_CELLS_PER_OPERATION) {
            self.push(Operation::SetCells(SetCells { sheet, cells: chunk.to_vec() }));
        }
    }
}

/// An undo of a number format stores the format that the cell displayed before, which may be that of
/// its range.
fn displays_same_format(after: SheetReader<'_>, now: SheetReader<'_>, id: CellId) -> bool {
    let format = |sheet: SheetReader<'_>| {
        let blank = StoredCell::default();
        let cell = sheet.sheet.cells.get(&id).unwrap_or(&blank);
        let (row, column) = sheet.sheet.cell_lookup().coordinates(id)?;
        Some(sheet.sheet.displayed_format(row, column, cell)?.to_owned())
    };
    format(after) == format(now)
}

fn edits_of_stored_cells(
    sheet: &Sheet,
    mut make_edit: impl FnMut((u32, u32), &StoredCell) -> CellEdit,
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
pub(super) struct IndicesAfterUndo<'a> {
    lookup_before_entry: IndexLookup,
    map_from_before_entry: &'a AxisMap,
    current_lookup: IndexLookup,
}

impl<'a> IndicesAfterUndo<'a> {
    pub(super) fn new(before: &Sheet, map: &'a AxisMap, current: &Sheet, axis: Axis) -> Self {
        Self {
            lookup_before_entry: before.order(axis).index_lookup(),
            map_from_before_entry: map,
            current_lookup: current.order(axis).index_lookup(),
        }
    }

    fn existed_before(&self, line_id: u64) -> bool {
        self.lookup_before_entry.index(line_id).is_some()
    }

    /// Returns the current index of a row or column. The id of a row that existed before the entry
    /// may have changed, because deleted rows get new ids when they are inserted again. Its index
    /// is therefore determined with the axis map.
    pub(super) fn current_index(&self, line_id: u64) -> Option<u32> {
        match self.lookup_before_entry.index(line_id) {
            Some(index_before) => self.map_from_before_entry.get(index_before),
            None => self.current_lookup.index(line_id),
        }
    }
}

fn count_of(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

fn line_of((row, column): CellId, axis: Axis) -> u64 {
    match axis {
        Axis::Rows => row,
        Axis::Columns => column,
    }
}
