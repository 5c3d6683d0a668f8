//! Undo: the operations that take back what one entry did, as far as nobody has changed it since.
//!
//! Resolved from three states, by the ids of rows and columns: before the entry, after it, and now.
//! What others changed since stays as they left it: cells with other contents, inserted rows that
//! somebody filled, sheets that somebody renamed again.

use std::collections::BTreeSet;

use super::axis_order::AxisOrder;
use super::sheet::CellId;
use super::{AxisDiff, Sheet, SheetChange, SheetDiff, Workbook};
use crate::axis_map::Axis;
use crate::cell::{Cell, GENERAL};
use crate::limits::MAX_CELLS_PER_OPERATION;
use crate::operation::{
    AddSheet, CellEdit, DeleteSheet, DeleteSpans, InsertBefore, Operation, RenameSheet, SetCells,
    SetFormat, SheetId, Spans,
};

/// Why there is nothing to take back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UndoFault {
    /// The entry changed nothing, or all of it was changed again since.
    #[error("nothing of what the entry did is still there to be taken back")]
    Nothing,
}

/// The operations that take back, in the coordinates of `now`, what led from `before` to `after`.
///
/// # Errors
/// [`UndoFault::Nothing`] if nothing of it is left.
pub fn undo(
    before: &Workbook,
    after: &Workbook,
    now: &Workbook,
) -> Result<Vec<Operation>, UndoFault> {
    let mut work = Work { workbook: now.clone(), operations: Vec::new() };
    for diff in before.diff(after).sheets {
        match diff.change {
            SheetChange::Added => work.remove_sheet(diff.sheet, after),
            SheetChange::Deleted => work.restore_sheet(diff.sheet, before),
            SheetChange::Renamed => {
                work.rename_back(diff.sheet, before, after);
                work.restore(&diff, before, after);
            }
            SheetChange::Kept => work.restore(&diff, before, after),
        }
    }
    if work.operations.is_empty() { Err(UndoFault::Nothing) } else { Ok(work.operations) }
}

/// Operations so far, and the state that they lead to.
struct Work {
    workbook: Workbook,
    operations: Vec<Operation>,
}

impl Work {
    fn push(&mut self, operation: Operation) {
        self.workbook.apply_operation(&operation);
        self.operations.push(operation);
    }

    /// A sheet that was added goes, unless somebody has changed it since.
    fn remove_sheet(&mut self, sheet: SheetId, after: &Workbook) {
        let same = match (self.workbook.sheet(sheet), after.sheet(sheet)) {
            (Some(now), Some(then)) => now.cells == then.cells && now.name == then.name,
            _ => false,
        };
        if same {
            self.push(Operation::DeleteSheet(DeleteSheet { sheet }));
        }
    }

    /// A sheet that was deleted comes back under a new number.
    fn restore_sheet(&mut self, sheet: SheetId, before: &Workbook) {
        let Some(lost) = before.sheet(sheet) else { return };
        let id = self.workbook.next_sheet();
        self.push(Operation::AddSheet(AddSheet { sheet: id, name: lost.name.clone() }));
        self.copy_formats(id, lost, &Spans::all(Axis::Rows), &Spans::all(Axis::Columns));
        let (rows, columns) = lost.places();
        let held = lost.cells.iter().filter_map(|((row, column), cell)| {
            Some(((rows.index(*row)?, columns.index(*column)?), cell))
        });
        let edits = held.map(|((row, column), cell)| edit(row, column, cell)).collect();
        self.set_cells(id, edits);
    }

    fn rename_back(&mut self, sheet: SheetId, before: &Workbook, after: &Workbook) {
        let name = |workbook: &Workbook| workbook.sheet(sheet).map(|sheet| sheet.name.clone());
        let (Some(old), Some(new)) = (name(before), name(after)) else { return };
        if name(&self.workbook) == Some(new) {
            self.push(Operation::RenameSheet(RenameSheet { sheet, name: old }));
        }
    }

    /// Takes back what happened inside a sheet that is in all three states.
    fn restore(&mut self, diff: &SheetDiff, before: &Workbook, after: &Workbook) {
        let id = diff.sheet;
        let (Some(old), Some(new)) = (before.sheet(id), after.sheet(id)) else { return };
        let Some(now) = self.workbook.sheet(id).cloned() else { return };
        if diff.formats && diff.rows == AxisDiff::default() && diff.columns == AxisDiff::default() {
            self.restore_formats(id, old, new, &now);
        }
        let mut lost_rows = LostIds::default();
        let mut lost_columns = LostIds::default();
        self.reinsert(id, Axis::Rows, &diff.rows.deleted, old, &mut lost_rows);
        self.reinsert(id, Axis::Columns, &diff.columns.deleted, old, &mut lost_columns);
        self.restore_cells(id, (old, new, &now), &lost_rows, &lost_columns);
        self.remove_inserted(id, Axis::Rows, &diff.rows.inserted, new);
        self.remove_inserted(id, Axis::Columns, &diff.columns.inserted, new);
    }

    /// Formats of ranges are restored if no others were set since.
    fn restore_formats(&mut self, id: SheetId, old: &Sheet, new: &Sheet, now: &Sheet) {
        if now.formats != new.formats || now.formats == old.formats {
            return;
        }
        let (rows, columns) = (Spans::all(Axis::Rows), Spans::all(Axis::Columns));
        let format = GENERAL.to_owned();
        let clear = SetFormat { sheet: id, rows: rows.clone(), columns: columns.clone(), format };
        self.push(Operation::SetFormat(clear));
        self.copy_formats(id, old, &rows, &columns);
        // The cells' own formats were hidden by that: they are set again.
        let (row_places, column_places) = now.places();
        let ids: BTreeSet<&CellId> = now.cells.keys().chain(old.cells.keys()).collect();
        let own = |sheet: &Sheet, id: &CellId| sheet.cells.get(id).and_then(|c| c.format.clone());
        let own = ids.into_iter().filter_map(|cell_id| {
            let row = row_places.index(cell_id.0)?;
            let column = column_places.index(cell_id.1)?;
            let format = Some(own(now, cell_id).or_else(|| own(old, cell_id))?);
            Some(CellEdit { row, column, value: None, formula: None, format })
        });
        let edits = own.collect();
        self.set_cells(id, edits);
    }

    fn copy_formats(&mut self, id: SheetId, from: &Sheet, rows: &Spans, columns: &Spans) {
        for record in from.formats.intersection(rows, columns) {
            let (rows, columns, format) = (record.rows, record.columns, record.format);
            self.push(Operation::SetFormat(SetFormat { sheet: id, rows, columns, format }));
        }
    }

    /// Inserts again what was deleted: before the first of what stood behind it that is still
    /// there.
    fn reinsert(
        &mut self,
        id: SheetId,
        axis: Axis,
        deleted: &Spans,
        old: &Sheet,
        lost: &mut LostIds,
    ) {
        for span in deleted.iter() {
            let Some(now) = self.workbook.sheet(id) else { return };
            let places = order(now, axis).places();
            let mut behind = order(old, axis).parts(span.end(), axis.limit());
            let before = behind.find_map(|run| places.first_of(run));
            let before = before.unwrap_or_else(|| axis.limit().saturating_sub(span.count));
            let insert = InsertBefore { sheet: id, before, count: span.count };
            self.push(match axis {
                Axis::Rows => Operation::InsertRows(insert),
                Axis::Columns => Operation::InsertColumns(insert),
            });
            let Some(now) = self.workbook.sheet(id) else { return };
            let Some(new_id) = order(now, axis).id(before) else { return };
            let mut offset = 0_u64;
            for run in order(old, axis).parts(span.first, span.end()) {
                lost.runs.push((run.id, run.id_end(), new_id.saturating_add(offset)));
                offset = offset.saturating_add(u64::from(run.len));
            }
        }
    }

    /// Sets the cells back that the entry changed and nobody since, and those of lost rows and
    /// columns.
    fn restore_cells(
        &mut self,
        id: SheetId,
        (old, new, now): (&Sheet, &Sheet, &Sheet),
        lost_rows: &LostIds,
        lost_columns: &LostIds,
    ) {
        let Some(work) = self.workbook.sheet(id) else { return };
        let (rows, columns) = work.places();
        let changed = |cell_id: &CellId| old.cells.get(cell_id) != new.cells.get(cell_id);
        let untouched = |cell_id: &CellId| now.cells.get(cell_id) == new.cells.get(cell_id);
        let ids: BTreeSet<CellId> =
            old.cells.keys().chain(new.cells.keys()).copied().filter(changed).collect();
        let edits = ids.into_iter().filter(untouched).filter_map(|cell_id| {
            let row = rows.index(lost_rows.current(cell_id.0))?;
            let column = columns.index(lost_columns.current(cell_id.1))?;
            let blank = Cell::default();
            let was = old.cells.get(&cell_id).unwrap_or(&blank);
            let became = new.cells.get(&cell_id).unwrap_or(&blank);
            edit_back(row, column, was, became)
        });
        let edits = edits.collect();
        self.set_cells(id, edits);
    }

    /// Deletes what the entry inserted, but for what somebody filled since.
    fn remove_inserted(&mut self, id: SheetId, axis: Axis, inserted: &Spans, new: &Sheet) {
        let Some(now) = self.workbook.sheet(id) else { return };
        let places = order(now, axis).places();
        let filled = now.cells.keys().map(|(row, column)| match axis {
            Axis::Rows => *row,
            Axis::Columns => *column,
        });
        let filled: BTreeSet<u64> = filled.collect();
        let runs = inserted.iter().flat_map(|span| order(new, axis).parts(span.first, span.end()));
        let ids = runs.flat_map(|run| run.id..run.id_end()).filter(|line| !filled.contains(line));
        let mut indices: Vec<u32> = ids.filter_map(|line| places.index(line)).collect();
        indices.sort_unstable();
        let spans = Spans::of(indices);
        if spans.is_empty() {
            return;
        }
        let delete = DeleteSpans { sheet: id, spans };
        self.push(match axis {
            Axis::Rows => Operation::DeleteRows(delete),
            Axis::Columns => Operation::DeleteColumns(delete),
        });
    }

    fn set_cells(&mut self, sheet: SheetId, mut edits: Vec<CellEdit>) {
        edits.sort_by_key(|edit| (edit.row, edit.column));
        for cells in edits.chunks(MAX_CELLS_PER_OPERATION) {
            self.push(Operation::SetCells(SetCells { sheet, cells: cells.to_vec() }));
        }
    }
}

/// Which new ids stand for lost ones: runs of first lost, behind the last lost, first new.
#[derive(Default)]
struct LostIds {
    runs: Vec<(u64, u64, u64)>,
}

impl LostIds {
    fn current(&self, id: u64) -> u64 {
        let run = self.runs.iter().find(|(first, end, _)| (*first..*end).contains(&id));
        run.map_or(id, |(first, _, new)| new.saturating_add(id.saturating_sub(*first)))
    }
}

fn order(sheet: &Sheet, axis: Axis) -> &AxisOrder {
    match axis {
        Axis::Rows => &sheet.rows,
        Axis::Columns => &sheet.columns,
    }
}

/// The edit that makes a blank cell what a lost one was.
fn edit(row: u32, column: u32, cell: &Cell) -> CellEdit {
    let (formula, format) = (cell.formula.clone(), cell.format.clone());
    CellEdit { row, column, value: Some(cell.value.clone()), formula, format }
}

/// The edit that makes a cell what it was before it became something else, layer by layer.
fn edit_back(row: u32, column: u32, was: &Cell, became: &Cell) -> Option<CellEdit> {
    let content = (&was.value, &was.formula) != (&became.value, &became.formula);
    let format = was.format.as_deref().unwrap_or(GENERAL);
    let edit = CellEdit {
        row,
        column,
        value: content.then(|| was.value.clone()),
        formula: was.formula.clone().filter(|_| content),
        format: (was.format != became.format).then(|| format.to_owned()),
    };
    (edit.value.is_some() || edit.format.is_some()).then_some(edit)
}
