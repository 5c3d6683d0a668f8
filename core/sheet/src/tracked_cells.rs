//! Follows cells backwards through the operations that moved them.

use crate::axis_map::AxisMap;
use crate::operation::{ClearRange, DeleteSpans, InsertBefore, Operation, SetCells, SheetId};
use cellar_grid::Axis;
use cellar_grid::{Span, Spans};

/// Cells of a sheet: all cells in some rows and some columns, as they are numbered at one position of
/// the log. Whole rows or columns include those that were deleted later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackedCells {
    /// Sheet with the cells.
    pub sheet: SheetId,
    /// Rows of the cells.
    pub rows: Spans,
    /// Columns of the cells.
    pub columns: Spans,
}

/// How an operation affected tracked cells.
#[derive(Debug, Clone, PartialEq)]
pub enum Touch {
    /// The operation may have changed the contents of tracked cells.
    Contents,
    /// The operation inserted these tracked rows or columns. Indices are those after the operation.
    Inserted {
        /// Rows or columns.
        axis: Axis,
        /// The inserted rows or columns.
        spans: Spans,
    },
    /// The operation deleted rows or columns of a sheet that is tracked as a whole. Indices are those
    /// before the operation.
    Deleted {
        /// Rows or columns.
        axis: Axis,
        /// The deleted rows or columns.
        spans: Spans,
    },
    /// The operation added the sheet.
    SheetAdded,
    /// The operation imported the sheet with its cells.
    SheetImported,
}

/// An operation that matters for tracked cells.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackedOperation {
    /// The operation. Edits of other cells are left out.
    pub operation: Operation,
    /// `None` if the operation only moved the cells, or changed the names of sheets.
    pub touch: Option<Touch>,
}

impl TrackedCells {
    /// Returns whether no cells are left, because all of them were inserted later.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() || self.columns.is_empty()
    }

    fn is_whole_sheet(&self) -> bool {
        self.rows.is_all(Axis::Rows) && self.columns.is_all(Axis::Columns)
    }

    fn contains(&self, row: u32, column: u32) -> bool {
        self.rows.contains(row) && self.columns.contains(column)
    }

    /// Moves the cells from their place after a committed operation to their place before it. Returns
    /// `None` if the operation does not matter. Number formats do not matter.
    pub fn step_back(&mut self, operation: &Operation) -> Option<TrackedOperation> {
        let is_of_sheet = operation.sheet() == Some(self.sheet);
        match operation {
            Operation::SetCells(set) if is_of_sheet => self.edits_of_cells(set),
            Operation::ClearRange(clear) if is_of_sheet => self.clear_of_cells(clear),
            Operation::InsertRows(insert) if is_of_sheet => {
                Some(self.step_back_insert(operation, Axis::Rows, *insert))
            }
            Operation::InsertColumns(insert) if is_of_sheet => {
                Some(self.step_back_insert(operation, Axis::Columns, *insert))
            }
            Operation::DeleteRows(delete) if is_of_sheet => {
                Some(self.step_back_delete(operation, Axis::Rows, delete))
            }
            Operation::DeleteColumns(delete) if is_of_sheet => {
                Some(self.step_back_delete(operation, Axis::Columns, delete))
            }
            Operation::AddSheet(add) => {
                let touch = (add.sheet == self.sheet).then_some(Touch::SheetAdded);
                Some(TrackedOperation { operation: operation.clone(), touch })
            }
            Operation::ImportSheet(import) => {
                let touch = (import.sheet == self.sheet).then_some(Touch::SheetImported);
                Some(TrackedOperation { operation: operation.clone(), touch })
            }
            Operation::RenameSheet(_) | Operation::DeleteSheet(_) => {
                Some(TrackedOperation { operation: operation.clone(), touch: None })
            }
            _ => None,
        }
    }

    /// Moves the cells from their place before a committed operation to their place after it. Deleted
    /// rows and columns are left out.
    pub fn step_forward(&mut self, operation: &Operation) {
        let Some((sheet, axis, map)) = axis_map_of(operation) else { return };
        if sheet == self.sheet {
            self.move_lines(axis, &map);
        }
    }

    /// All rows or all columns stay all of them.
    fn move_lines(&mut self, axis: Axis, map: &AxisMap) {
        let lines = self.lines_mut(axis);
        if !lines.is_all(axis) {
            *lines = map.kept_spans(lines);
        }
    }

    fn edits_of_cells(&self, set: &SetCells) -> Option<TrackedOperation> {
        let is_tracked = |edit: &&crate::operation::CellEdit| {
            edit.value.is_some() && self.contains(edit.row, edit.column)
        };
        let cells: Vec<_> = set.cells.iter().filter(is_tracked).cloned().collect();
        if cells.is_empty() {
            return None;
        }
        let operation = Operation::SetCells(SetCells { sheet: set.sheet, cells });
        Some(TrackedOperation { operation, touch: Some(Touch::Contents) })
    }

    fn clear_of_cells(&self, clear: &ClearRange) -> Option<TrackedOperation> {
        let rows = self.rows.intersection(&clear.rows);
        let columns = self.columns.intersection(&clear.columns);
        if rows.is_empty() || columns.is_empty() {
            return None;
        }
        let operation = Operation::ClearRange(ClearRange { sheet: clear.sheet, rows, columns });
        Some(TrackedOperation { operation, touch: Some(Touch::Contents) })
    }

    fn step_back_insert(
        &mut self,
        operation: &Operation,
        axis: Axis,
        insert: InsertBefore,
    ) -> TrackedOperation {
        let is_whole_sheet = self.is_whole_sheet();
        let inserted = Span { first: insert.before, count: insert.count };
        let limit = Span { first: 0, count: axis.limit() };
        let inserted = inserted.intersection(limit).into_iter().collect();
        let lines = self.lines_mut(axis);
        let inserted = lines.intersection(&Spans::from_sorted(inserted));
        let tracks_all = lines.is_all(axis);
        self.move_lines(axis, &AxisMap::insert(axis, insert.before, insert.count).reversed());
        // Rows that are inserted into whole columns say nothing about their cells.
        let is_shown = !inserted.is_empty() && (is_whole_sheet || !tracks_all);
        let touch = is_shown.then_some(Touch::Inserted { axis, spans: inserted });
        TrackedOperation { operation: operation.clone(), touch }
    }

    fn step_back_delete(
        &mut self,
        operation: &Operation,
        axis: Axis,
        delete: &DeleteSpans,
    ) -> TrackedOperation {
        let is_whole_sheet = self.is_whole_sheet();
        self.move_lines(axis, &AxisMap::delete(axis, &delete.spans).reversed());
        let spans = delete.spans.clone();
        let touch = is_whole_sheet.then_some(Touch::Deleted { axis, spans });
        TrackedOperation { operation: operation.clone(), touch }
    }

    fn lines_mut(&mut self, axis: Axis) -> &mut Spans {
        match axis {
            Axis::Rows => &mut self.rows,
            Axis::Columns => &mut self.columns,
        }
    }
}

/// Returns how an operation moves the rows or columns of its sheet.
fn axis_map_of(operation: &Operation) -> Option<(SheetId, Axis, AxisMap)> {
    let inserted = |axis, insert: &InsertBefore| {
        (insert.sheet, axis, AxisMap::insert(axis, insert.before, insert.count))
    };
    let deleted =
        |axis, delete: &DeleteSpans| (delete.sheet, axis, AxisMap::delete(axis, &delete.spans));
    Some(match operation {
        Operation::InsertRows(insert) => inserted(Axis::Rows, insert),
        Operation::InsertColumns(insert) => inserted(Axis::Columns, insert),
        Operation::DeleteRows(delete) => deleted(Axis::Rows, delete),
        Operation::DeleteColumns(delete) => deleted(Axis::Columns, delete),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::a1::Rectangle;
    use crate::cell::{Cell, Value};
    use crate::operation::random::{SIDE, any_operation};
    use crate::operation::{AddSheet, CellEdit, DeleteSheet, RenameSheet, SetFormat};
    use crate::workbook::Workbook;

    const SHEET: SheetId = SheetId(2);

    fn cell(row: u32, column: u32) -> TrackedCells {
        TrackedCells { sheet: SHEET, rows: Spans::one(row, 1), columns: Spans::one(column, 1) }
    }

    fn set(sheet: SheetId, cells: &[(u32, u32)]) -> Operation {
        let edit = |(row, column): &(u32, u32)| CellEdit {
            row: *row,
            column: *column,
            value: Some(Value::Bool(true)),
            formula: None,
            format: None,
        };
        Operation::SetCells(SetCells { sheet, cells: cells.iter().map(edit).collect() })
    }

    fn insert(before: u32, count: u32) -> InsertBefore {
        InsertBefore { sheet: SHEET, before, count }
    }

    fn delete(first: u32, count: u32) -> DeleteSpans {
        DeleteSpans { sheet: SHEET, spans: Spans::one(first, count) }
    }

    fn touch(cells: &mut TrackedCells, operation: &Operation) -> Option<Touch> {
        cells.step_back(operation).and_then(|step| step.touch)
    }

    #[test]
    fn follows_a_cell_to_where_it_was() {
        let mut cells = cell(5, 3);
        assert_eq!(touch(&mut cells, &Operation::InsertRows(insert(2, 3))), None);
        assert_eq!(cells, cell(2, 3));
        assert_eq!(touch(&mut cells, &Operation::DeleteRows(delete(0, 4))), None);
        assert_eq!(cells, cell(6, 3));
        assert_eq!(touch(&mut cells, &Operation::DeleteRows(delete(9, 1))), None);
        assert_eq!(touch(&mut cells, &Operation::InsertColumns(insert(3, 1))), {
            let spans = Spans::one(3, 1);
            Some(Touch::Inserted { axis: Axis::Columns, spans })
        });
        assert!(cells.is_empty(), "the column did not exist before");
    }

    #[test]
    fn keeps_only_edits_of_the_cells() {
        let mut cells = cell(5, 3);
        let step = cells.step_back(&set(SHEET, &[(5, 2), (5, 3), (6, 3)])).unwrap();
        let expected =
            TrackedOperation { operation: set(SHEET, &[(5, 3)]), touch: Some(Touch::Contents) };
        assert_eq!(step, expected);
        assert_eq!(cells.step_back(&set(SHEET, &[(5, 2)])), None);
        assert_eq!(cells.step_back(&set(SheetId(1), &[(5, 3)])), None, "another sheet");
        let clear = |row| {
            let (rows, columns) = (Spans::one(row, 9), Spans::all(Axis::Columns));
            Operation::ClearRange(ClearRange { sheet: SHEET, rows, columns })
        };
        let (rows, columns) = (Spans::one(5, 1), Spans::one(3, 1));
        let clear_of_cell =
            ClearRange { sheet: SHEET, rows: rows.clone(), columns: columns.clone() };
        let step = cells.step_back(&clear(0)).unwrap();
        assert_eq!(step.operation, Operation::ClearRange(clear_of_cell));
        assert_eq!(cells.step_back(&clear(6)), None);
        let format = SetFormat { sheet: SHEET, rows, columns, format: "0".into() };
        assert_eq!(cells.step_back(&Operation::SetFormat(format)), None);
        assert_eq!(cells, cell(5, 3));
    }

    #[test]
    fn sheets_matter_for_names_and_for_the_beginning() {
        let mut cells = cell(5, 3);
        let added = |sheet| Operation::AddSheet(AddSheet { sheet, name: "x".into(), before: None });
        assert_eq!(touch(&mut cells, &added(SHEET)), Some(Touch::SheetAdded));
        let name = "y".to_owned();
        for operation in [
            added(SheetId(7)),
            Operation::RenameSheet(RenameSheet { sheet: SHEET, name }),
            Operation::DeleteSheet(DeleteSheet { sheet: SheetId(7) }),
        ] {
            let step = cells.step_back(&operation).unwrap();
            assert_eq!(step, TrackedOperation { operation, touch: None });
        }
    }

    #[test]
    fn a_whole_sheet_stays_whole_and_shows_its_rows() {
        let (rows, columns) = (Spans::all(Axis::Rows), Spans::all(Axis::Columns));
        let all = TrackedCells { sheet: SHEET, rows, columns };
        let mut cells = all.clone();
        let spans = Spans::one(2, 3);
        let inserted = Touch::Inserted { axis: Axis::Rows, spans: spans.clone() };
        assert_eq!(touch(&mut cells, &Operation::InsertRows(insert(2, 3))), Some(inserted));
        let deleted = Touch::Deleted { axis: Axis::Columns, spans };
        assert_eq!(touch(&mut cells, &Operation::DeleteColumns(delete(2, 3))), Some(deleted));
        assert_eq!(cells, all);
        let mut column = TrackedCells { columns: Spans::one(4, 1), ..all };
        assert_eq!(touch(&mut column, &Operation::InsertRows(insert(2, 3))), None);
        assert_eq!(touch(&mut column, &Operation::DeleteRows(delete(2, 3))), None);
        assert_eq!(touch(&mut column, &Operation::InsertColumns(insert(0, 1))), None);
        assert_eq!(column.columns, Spans::one(3, 1));
        assert!(column.rows.is_all(Axis::Rows));
    }

    /// Returns the value and the formula of a tracked cell.
    fn contents(workbook: &Workbook, cells: &TrackedCells) -> Cell {
        let first = |spans: &Spans| spans.iter().next().unwrap().first;
        let sheet = workbook.sheet(cells.sheet).unwrap();
        Cell { format: None, ..sheet.cell(first(&cells.rows), first(&cells.columns)) }
    }

    proptest! {
        #[test]
        fn a_cell_is_at_its_new_place_or_deleted(
            operation in any_operation(),
            row in 0..SIDE,
            column in 0..SIDE,
        ) {
            let start = TrackedCells { sheet: SheetId::FIRST, ..cell(row, column) };
            let mut workbook = Workbook::default();
            workbook.apply_operation(&set(SheetId::FIRST, &[(row, column)]));
            workbook.apply_operation(&operation);
            prop_assume!(workbook.sheet(SheetId::FIRST).is_some());
            let mut moved = start.clone();
            moved.step_forward(&operation);
            if moved.is_empty() {
                let cells = workbook.sheet(SheetId::FIRST).unwrap();
                prop_assert_eq!(cells.cells_in(Rectangle::EVERYTHING).count(), 0);
            } else {
                let mut back = moved.clone();
                let step = back.step_back(&operation);
                prop_assert_eq!(back, start);
                let is_edited = step.is_some_and(|step| step.touch == Some(Touch::Contents));
                let value = contents(&workbook, &moved).value;
                prop_assert!(is_edited || value == Value::Bool(true));
            }
        }

        #[test]
        fn every_change_of_a_cell_is_reported(
            operations in vec(any_operation(), 1..30),
            row in 0..SIDE,
            column in 0..SIDE,
        ) {
            let mut states = vec![Workbook::default()];
            for operation in &operations {
                let mut next = states.last().unwrap().clone();
                next.apply_operation(operation);
                states.push(next);
            }
            let mut cells = TrackedCells { sheet: SheetId::FIRST, ..cell(row, column) };
            // An import may have replaced the sheet.
            prop_assume!(states.last().unwrap().sheet(SheetId::FIRST).is_some());
            for (operation, states) in operations.iter().zip(states.windows(2)).rev() {
                let after = contents(&states[1], &cells);
                let step = cells.step_back(operation);
                if cells.is_empty() {
                    prop_assert_eq!(after, Cell::default());
                    break;
                }
                let before = contents(&states[0], &cells);
                match step {
                    Some(TrackedOperation { operation, touch: Some(Touch::Contents) }) => {
                        let mut replayed = states[0].clone();
                        replayed.apply_operation(&operation);
                        prop_assert_eq!(contents(&replayed, &cells), after);
                    }
                    _ => prop_assert_eq!(before, after),
                }
            }
        }
    }
}
