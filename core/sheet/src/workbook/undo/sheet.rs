//! Undo within one sheet.

use std::collections::BTreeSet;

use super::Work;
use crate::axis_map::{Axis, AxisMap, Run};
use crate::cell::{Cell, GENERAL};
use crate::metadata::RangeFormat;
use crate::operation::{
    CellEdit, DeleteSpans, InsertBefore, Operation, SetCells, SetFormat, SheetId, Spans,
};
use crate::workbook::sheet::CellId;
use crate::workbook::{Sheet, SheetDiff, Workbook};
use cellar_base::limits::MAX_CELLS_PER_OPERATION;

/// A sheet before the entry, after it, and now (before any undo operation).
struct States<'a> {
    old: &'a Sheet,
    new: &'a Sheet,
    now: Sheet,
}

impl States<'_> {
    /// Returns whether a cell was changed since.
    fn touched(&self, id: &CellId) -> bool {
        self.now.cells.get(id) != self.new.cells.get(id)
    }
}

impl Work {
    /// Undoes the changes of a sheet that exists in all three states.
    pub(super) fn revert(&mut self, diff: &SheetDiff, before: &Workbook, after: &Workbook) {
        let id = diff.sheet;
        let (Some(old), Some(new)) = (before.sheet(id), after.sheet(id)) else { return };
        let Some(now) = self.workbook.sheet(id).cloned() else { return };
        let states = States { old, new, now };
        self.remove_inserted(id, Axis::Rows, &diff.rows.inserted, &states);
        self.remove_inserted(id, Axis::Columns, &diff.columns.inserted, &states);
        let rows = self.reinsert(id, Axis::Rows, &diff.rows.deleted, old);
        let columns = self.reinsert(id, Axis::Columns, &diff.columns.deleted, old);
        let (Some(rows), Some(columns)) = (rows, columns) else { return };
        self.restore_formats(id, &states, &rows, &columns);
        self.restore_cells(id, &states, &rows, &columns);
    }

    /// Deletes the rows or columns that the entry inserted, if they are still blank.
    fn remove_inserted(&mut self, id: SheetId, axis: Axis, inserted: &Spans, states: &States<'_>) {
        let Some(sheet) = self.workbook.sheet(id) else { return };
        let touched = states.now.cells.keys().filter(|cell| states.touched(cell));
        let filled: BTreeSet<u64> = touched.map(|cell| line_of(*cell, axis)).collect();
        let places = sheet.order(axis).places();
        let mut spans = Vec::new();
        let runs = inserted.iter();
        for run in runs.flat_map(|s| states.new.order(axis).parts(s.first, s.end())) {
            let mut first = run.id;
            for line in filled.range(run.id..run.id_end()) {
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

    /// Inserts deleted rows or columns again, before the first remaining one that followed them.
    /// Returns the new places of the old sheet.
    fn reinsert(
        &mut self,
        id: SheetId,
        axis: Axis,
        deleted: &Spans,
        old: &Sheet,
    ) -> Option<AxisMap> {
        let mut map = old.order(axis).map_to(self.workbook.sheet(id)?.order(axis), axis);
        // From last to first, so that no insertion moves the place of another.
        for span in deleted.iter().rev() {
            let before = if map.runs().is_empty() { 0 } else { map.gap(span.end()) };
            let insert = InsertBefore { sheet: id, before, count: span.count };
            self.push(match axis {
                Axis::Rows => Operation::InsertRows(insert),
                Axis::Columns => Operation::InsertColumns(insert),
            });
            let run = Run { src: span.first, dst: before, len: span.count };
            map = map.then(&AxisMap::insert(axis, before, span.count)).with_run(run);
        }
        Some(map)
    }

    /// Restores range formats, if none was set since.
    fn restore_formats(
        &mut self,
        id: SheetId,
        states: &States<'_>,
        rows: &AxisMap,
        columns: &AxisMap,
    ) {
        let moved = states.new.map_to(&states.now);
        if states.new.formats.mapped(&moved.0, &moved.1) != states.now.formats {
            return;
        }
        let was = states.old.formats.mapped(rows, columns);
        let Some(sheet) = self.workbook.sheet(id) else { return };
        let differing = was.difference(&sheet.formats);
        // Setting range formats hides those of cells, so these are set again.
        let edits = edits(sheet, |place, cell| {
            let own = cell.format.clone().filter(|_| differing.iter().any(|r| r.holds(place)));
            own.map(|format| (None, Some(format)))
        });
        for RangeFormat { rows, columns, .. } in &differing {
            let (rows, columns, format) = (rows.clone(), columns.clone(), GENERAL.to_owned());
            self.push(Operation::SetFormat(SetFormat { sheet: id, rows, columns, format }));
        }
        for RangeFormat { rows, columns, .. } in &differing {
            self.copy_formats(id, was.intersection(rows, columns));
        }
        self.set_cells(id, edits);
    }

    fn copy_formats(&mut self, id: SheetId, records: Vec<RangeFormat>) {
        for RangeFormat { rows, columns, format } in records {
            self.push(Operation::SetFormat(SetFormat { sheet: id, rows, columns, format }));
        }
    }

    /// Restores cells that the entry changed and that were not changed since, and those of deleted
    /// rows and columns.
    fn restore_cells(
        &mut self,
        id: SheetId,
        states: &States<'_>,
        rows: &AxisMap,
        columns: &AxisMap,
    ) {
        let Some(sheet) = self.workbook.sheet(id) else { return };
        let (States { old, new, .. }, blank) = (states, Cell::default());
        let (old_places, places) = (old.places(), sheet.places());
        let place = |cell: &CellId| {
            let row =
                old_places.0.index(cell.0).map_or(places.0.index(cell.0), |row| rows.get(row));
            let column = old_places.1.index(cell.1);
            let column = column.map_or(places.1.index(cell.1), |column| columns.get(column));
            Some((row?, column?))
        };
        let ids: BTreeSet<&CellId> = old.cells.keys().chain(new.cells.keys()).collect();
        let edits = ids.into_iter().filter(|cell| !states.touched(cell)).filter_map(|cell| {
            let was = old.cells.get(cell).unwrap_or(&blank);
            let became = new.cells.get(cell).unwrap_or(&blank);
            if was == became {
                return None;
            }
            let (row, column) = place(cell)?;
            Some(edit_back(row, column, was, became, sheet.formats.at(row, column)))
        });
        let edits = edits.collect();
        self.set_cells(id, edits);
    }

    /// Fills a new sheet with the contents of a deleted one.
    pub(super) fn fill(&mut self, id: SheetId, lost: &Sheet) {
        self.copy_formats(id, lost.formats.records().to_vec());
        let all = |_, cell: &Cell| {
            Some((Some((cell.value.clone(), cell.formula.clone())), cell.format.clone()))
        };
        self.set_cells(id, edits(lost, all));
    }

    fn set_cells(&mut self, sheet: SheetId, mut edits: Vec<CellEdit>) {
        edits.sort_by_key(|edit| (edit.row, edit.column));
        for cells in edits.chunks(MAX_CELLS_PER_OPERATION) {
            self.push(Operation::SetCells(SetCells { sheet, cells: cells.to_vec() }));
        }
    }
}

/// Parts of an edit: value and formula, and format.
type Layers = (Option<(crate::cell::Value, Option<String>)>, Option<String>);

/// Returns an edit of each cell for which there are layers to set.
fn edits(sheet: &Sheet, layers: impl Fn((u32, u32), &Cell) -> Option<Layers>) -> Vec<CellEdit> {
    let (rows, columns) = sheet.places();
    let edits = sheet.cells.iter().filter_map(|((row, column), cell)| {
        let (row, column) = (rows.index(*row)?, columns.index(*column)?);
        let (content, format) = layers((row, column), cell)?;
        let (value, formula) = content.map_or((None, None), |(value, f)| (Some(value), f));
        Some(CellEdit { row, column, value, formula, format })
    });
    edits.collect()
}

fn line_of((row, column): CellId, axis: Axis) -> u64 {
    match axis {
        Axis::Rows => row,
        Axis::Columns => column,
    }
}

/// Returns the edit that restores a cell, layer by layer. A cell without a format of its own gets
/// its range's format, because no operation removes a cell's format.
fn edit_back(row: u32, column: u32, was: &Cell, became: &Cell, below: Option<&str>) -> CellEdit {
    let content = (&was.value, &was.formula) != (&became.value, &became.formula);
    let format = was.format.as_deref().or(below).unwrap_or(GENERAL);
    CellEdit {
        row,
        column,
        value: content.then(|| was.value.clone()),
        formula: was.formula.clone().filter(|_| content),
        format: (was.format != became.format).then(|| format.to_owned()),
    }
}
