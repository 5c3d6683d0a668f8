//! Model of one sheet.

use std::collections::{BTreeMap, BTreeSet};

use super::formula::PlainFormula;
use super::{PlainWorkbook, Tag};
use crate::a1::{CellName, Rectangle};
use crate::axis_map::Axis;
use crate::cell::{Cell, GENERAL};
use crate::metadata::Extent;
use crate::operation::{CellEdit, ClearRange, InsertBefore, Operation, SetFormat, Spans};
use crate::workbook::SheetReader;

/// Number of rows and of columns in a reference sheet. Tests use fewer.
pub const LINES: usize = 96;
/// Number of leading rows and columns that are compared.
const VISIBLE: u32 = 22;

pub type LineId = (Tag, u32);

/// A row or a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub id: LineId,
    /// Whether a cell was ever written in this row or column or in a later one.
    is_used: bool,
}

#[derive(Debug, Clone, PartialEq)]
struct FormattedRange {
    rows: BTreeSet<LineId>,
    columns: BTreeSet<LineId>,
    /// Whether the format applies to all rows, including rows that are inserted later.
    all_rows: bool,
    all_columns: bool,
    format: String,
}

/// Model of one sheet.
#[derive(Debug, Clone, PartialEq)]
pub struct PlainSheet {
    /// Tag of the mutation that added the sheet.
    pub tag: Tag,
    pub number: crate::operation::SheetId,
    pub name: String,
    pub rows: Vec<Line>,
    pub columns: Vec<Line>,
    /// Cells without their formulas.
    pub cells: BTreeMap<(LineId, LineId), Cell>,
    pub(super) formulas: BTreeMap<(LineId, LineId), PlainFormula>,
    range_formats: Vec<FormattedRange>,
    /// Number in the id of the next row or column that a deletion adds at the end of an axis.
    next_end_line_number: u32,
}

impl PlainSheet {
    pub fn new(tag: Tag, number: crate::operation::SheetId, name: String) -> Self {
        let line_count = LINES as u32;
        let unused_lines: Vec<Line> =
            (0..line_count).map(|number| Line { id: (0, number), is_used: false }).collect();
        Self {
            tag,
            number,
            name,
            rows: unused_lines.clone(),
            columns: unused_lines,
            cells: BTreeMap::new(),
            formulas: BTreeMap::new(),
            range_formats: vec![],
            next_end_line_number: line_count,
        }
    }

    /// Applies an operation that neither sets cells nor deletes rows or columns.
    pub(super) fn apply(&mut self, operation: &Operation, tag: Tag) {
        match operation {
            Operation::ClearRange(clear) => self.clear(clear),
            Operation::SetFormat(set_format) => self.set_format(set_format),
            Operation::InsertRows(insert) => self.insert(Axis::Rows, *insert, tag),
            Operation::InsertColumns(insert) => self.insert(Axis::Columns, *insert, tag),
            Operation::SetCells(_)
            | Operation::DeleteRows(_)
            | Operation::DeleteColumns(_)
            | Operation::AddSheet(_)
            | Operation::RenameSheet(_)
            | Operation::DeleteSheet(_)
            | Operation::ImportSheet(_)
            | Operation::Undo(_)
            | Operation::Revert(_)
            | Operation::Rejected(_)
            | Operation::SetName(_) => {}
        }
    }

    pub fn lines(&self, axis: Axis) -> &Vec<Line> {
        match axis {
            Axis::Rows => &self.rows,
            Axis::Columns => &self.columns,
        }
    }

    fn lines_mut(&mut self, axis: Axis) -> &mut Vec<Line> {
        match axis {
            Axis::Rows => &mut self.rows,
            Axis::Columns => &mut self.columns,
        }
    }

    /// Returns the sheet with other ids of rows and columns.
    pub(super) fn with_ids(
        &self,
        rows: &BTreeMap<LineId, LineId>,
        columns: &BTreeMap<LineId, LineId>,
    ) -> Self {
        let renamed = |ids: &BTreeMap<LineId, LineId>, id: &LineId| *ids.get(id).unwrap_or(id);
        let line = |ids: &BTreeMap<LineId, LineId>, line: &Line| Line {
            id: renamed(ids, &line.id),
            ..line.clone()
        };
        let cell =
            |(row, column): &(LineId, LineId)| (renamed(rows, row), renamed(columns, column));
        let range = |range: &FormattedRange| FormattedRange {
            rows: range.rows.iter().map(|id| renamed(rows, id)).collect(),
            columns: range.columns.iter().map(|id| renamed(columns, id)).collect(),
            ..range.clone()
        };
        Self {
            rows: self.rows.iter().map(|row| line(rows, row)).collect(),
            columns: self.columns.iter().map(|column| line(columns, column)).collect(),
            cells: self.cells.iter().map(|(id, content)| (cell(id), content.clone())).collect(),
            formulas: self.formulas.iter().map(|(id, one)| (cell(id), one.clone())).collect(),
            range_formats: self.range_formats.iter().map(range).collect(),
            name: self.name.clone(),
            ..*self
        }
    }

    /// Returns the ids of the rows or columns in `spans`.
    pub fn line_ids(&self, axis: Axis, spans: &Spans) -> Vec<LineId> {
        let lines_with_indices = (0_u32..).zip(self.lines(axis));
        lines_with_indices
            .filter(|(index, _)| spans.contains(*index))
            .map(|(_, line)| line.id)
            .collect()
    }

    /// Returns the row id and column id of a cell.
    pub fn cell_id(&self, row: u32, column: u32) -> (LineId, LineId) {
        (self.rows[row as usize].id, self.columns[column as usize].id)
    }

    /// `formula` is the formula of the edit.
    pub(super) fn set_cell(&mut self, edit: &CellEdit, formula: Option<PlainFormula>) {
        mark_as_used(&mut self.rows[..=edit.row as usize]);
        mark_as_used(&mut self.columns[..=edit.column as usize]);
        let cell_id = self.cell_id(edit.row, edit.column);
        let cell = self.cells.entry(cell_id).or_default();
        if let Some(value) = &edit.value {
            cell.value = value.clone();
            match formula {
                Some(formula) => self.formulas.insert(cell_id, formula),
                None => self.formulas.remove(&cell_id),
            };
        }
        if edit.format.is_some() {
            cell.format.clone_from(&edit.format);
        }
    }

    fn clear(&mut self, clear: &ClearRange) {
        let row_ids = self.line_ids(Axis::Rows, &clear.rows);
        let column_ids = self.line_ids(Axis::Columns, &clear.columns);
        self.formulas
            .retain(|(row, column), _| !row_ids.contains(row) || !column_ids.contains(column));
        for cell in self.stored_cells_in(&clear.rows, &clear.columns) {
            *cell = Cell { format: cell.format.take(), ..Cell::default() };
        }
    }

    fn set_format(&mut self, set_format: &SetFormat) {
        let SetFormat { rows, columns, format, .. } = set_format;
        for cell in self.stored_cells_in(rows, columns) {
            cell.format = None;
        }
        self.range_formats.push(FormattedRange {
            rows: self.line_ids(Axis::Rows, rows).into_iter().collect(),
            columns: self.line_ids(Axis::Columns, columns).into_iter().collect(),
            all_rows: rows.is_all(Axis::Rows),
            all_columns: columns.is_all(Axis::Columns),
            format: format.clone(),
        });
    }

    fn stored_cells_in(&mut self, rows: &Spans, columns: &Spans) -> Vec<&mut Cell> {
        let row_ids = self.line_ids(Axis::Rows, rows);
        let column_ids = self.line_ids(Axis::Columns, columns);
        let mut cells = Vec::new();
        for ((row, column), cell) in &mut self.cells {
            if row_ids.contains(row) && column_ids.contains(column) {
                cells.push(cell);
            }
        }
        cells
    }

    fn insert(&mut self, axis: Axis, insert: InsertBefore, tag: Tag) {
        let first_index = (insert.before as usize).min(LINES);
        let is_used = self.lines(axis).get(first_index).is_some_and(|line| line.is_used);
        for number in 0..insert.count {
            let line = Line { id: (tag, number), is_used };
            self.insert_line(axis, first_index + number as usize, line);
        }
    }

    /// Inserts a row or column and removes the last one of the axis.
    fn insert_line(&mut self, axis: Axis, index: usize, line: Line) {
        let inserted_id = line.id;
        let lines = self.lines_mut(axis);
        let previous_id = if index == 0 { None } else { lines.get(index - 1).map(|line| line.id) };
        let next_id = lines.get(index).map(|line| line.id);
        lines.insert(index, line);
        let removed_line = lines.pop().unwrap();
        for range in &mut self.range_formats {
            let is_whole_axis = range.is_whole_axis(axis);
            let range_ids = range.line_ids_mut(axis);
            let contains = |id: Option<LineId>| id.is_some_and(|id| range_ids.contains(&id));
            let is_inside_range = contains(previous_id) && contains(next_id);
            if is_whole_axis || is_inside_range {
                range_ids.insert(inserted_id);
            }
        }
        self.remove_contents_of_line(axis, removed_line.id);
    }

    pub(super) fn delete_line(&mut self, axis: Axis, id: LineId) {
        self.lines_mut(axis).retain(|line| line.id != id);
        self.add_line_at_end(axis);
        self.remove_contents_of_line(axis, id);
    }

    fn add_line_at_end(&mut self, axis: Axis) {
        let line = Line { id: (0, self.next_end_line_number), is_used: false };
        self.next_end_line_number += 1;
        for range in &mut self.range_formats {
            if range.is_whole_axis(axis) {
                range.line_ids_mut(axis).insert(line.id);
            }
        }
        self.lines_mut(axis).push(line);
    }

    /// Removes the cells of a removed row or column, and removes its id from all range formats.
    fn remove_contents_of_line(&mut self, axis: Axis, id: LineId) {
        let is_kept = |(row, column): &(LineId, LineId)| match axis {
            Axis::Rows => *row != id,
            Axis::Columns => *column != id,
        };
        self.cells.retain(|cell, _| is_kept(cell));
        self.formulas.retain(|cell, _| is_kept(cell));
        for range in &mut self.range_formats {
            range.line_ids_mut(axis).remove(&id);
        }
    }

    /// Returns the current index of a row or column, or `None` if it was removed.
    pub fn index_of(&self, axis: Axis, id: LineId) -> Option<u32> {
        let index = self.lines(axis).iter().position(|line| line.id == id)?;
        Some(index as u32)
    }

    /// Returns the current row and column of a cell, or `None` if its row or column was removed.
    pub fn coordinates_of(&self, row: LineId, column: LineId) -> Option<(u32, u32)> {
        Some((self.index_of(Axis::Rows, row)?, self.index_of(Axis::Columns, column)?))
    }

    /// Returns the current positions of the rows or columns that still exist, as spans.
    pub fn spans_of(&self, axis: Axis, ids: &[LineId]) -> Spans {
        let indices: BTreeSet<u32> = ids.iter().filter_map(|id| self.index_of(axis, *id)).collect();
        Spans::of(indices)
    }

    /// Returns the cell without its formula, with the number format in which it is displayed.
    pub fn displayed_cell(&self, row: LineId, column: LineId) -> Cell {
        let cell = self.cells.get(&(row, column)).cloned().unwrap_or_default();
        let contains =
            |range: &&FormattedRange| range.rows.contains(&row) && range.columns.contains(&column);
        let range_format =
            || self.range_formats.iter().rev().find(contains).map(|range| range.format.clone());
        let format = cell.format.clone().or_else(range_format).filter(|format| format != GENERAL);
        Cell { format, ..cell }
    }

    /// Describes the first difference from a sheet. Returns `None` if there is none.
    pub(super) fn difference_from(
        &self,
        actual: SheetReader<'_>,
        workbook: &PlainWorkbook,
    ) -> Option<String> {
        let used_count = |lines: &[Line]| lines.iter().filter(|line| line.is_used).count() as u32;
        let expected_extent =
            Extent { rows: used_count(&self.rows), columns: used_count(&self.columns) };
        let actual_extent = actual.extent();
        if expected_extent != actual_extent {
            return Some(format!("expected extent {expected_extent:?}, got {actual_extent:?}"));
        }
        self.range_format_difference_from(actual)
            .or_else(|| self.cell_difference_from(actual, workbook))
    }

    fn range_format_difference_from(&self, actual: SheetReader<'_>) -> Option<String> {
        for (row, column) in visible_coordinates() {
            let (row_id, column_id) = self.cell_id(row, column);
            let expected_format = self.displayed_cell(row_id, column_id).format;
            let actual_format =
                actual.formats().format_at(row, column).filter(|format| *format != GENERAL);
            if !self.is_populated(row, column) && actual_format != expected_format.as_deref() {
                return Some(format!(
                    "row {row}, column {column}: expected format {expected_format:?}, got \
                     {actual_format:?}"
                ));
            }
        }
        None
    }

    fn cell_difference_from(
        &self,
        actual: SheetReader<'_>,
        workbook: &PlainWorkbook,
    ) -> Option<String> {
        let mut expected_cells = Vec::new();
        for (row, column) in visible_coordinates() {
            let cell = workbook.displayed_cell(self, self.cell_id(row, column));
            if self.is_populated(row, column) && !cell.is_blank() {
                expected_cells.push(((row, column), cell));
            }
        }
        let visible_rectangle = Rectangle {
            first: CellName { row: 0, column: 0 },
            last: CellName { row: VISIBLE - 1, column: VISIBLE - 1 },
        };
        let actual_cells: Vec<_> = actual.cells_in(visible_rectangle).collect();
        if expected_cells == actual_cells {
            return None;
        }
        Some(format!("expected cells {expected_cells:?}, got {actual_cells:?}"))
    }

    fn is_populated(&self, row: u32, column: u32) -> bool {
        self.is_stored(self.cell_id(row, column))
    }

    /// Returns whether a cell has a value, a formula or its own number format.
    pub(super) fn is_stored(&self, id: (LineId, LineId)) -> bool {
        let is_blank = self.cells.get(&id).is_none_or(Cell::is_blank);
        !is_blank || self.formulas.contains_key(&id)
    }
}

impl FormattedRange {
    fn is_whole_axis(&self, axis: Axis) -> bool {
        match axis {
            Axis::Rows => self.all_rows,
            Axis::Columns => self.all_columns,
        }
    }

    fn line_ids_mut(&mut self, axis: Axis) -> &mut BTreeSet<LineId> {
        match axis {
            Axis::Rows => &mut self.rows,
            Axis::Columns => &mut self.columns,
        }
    }
}

fn mark_as_used(lines: &mut [Line]) {
    for line in lines {
        line.is_used = true;
    }
}

fn visible_coordinates() -> impl Iterator<Item = (u32, u32)> {
    (0..VISIBLE).flat_map(|row| (0..VISIBLE).map(move |column| (row, column)))
}

pub(super) fn display_difference(left: SheetReader<'_>, right: SheetReader<'_>) -> Option<String> {
    for (row, column) in visible_coordinates() {
        let left_cell = left.cell(row, column);
        let right_cell = right.cell(row, column);
        let has_same_text =
            (&left_cell.formula, &left_cell.format) == (&right_cell.formula, &right_cell.format);
        if !has_same_text || !left_cell.has_value_of(&right_cell) {
            return Some(format!("{row}, {column}: {left_cell:?} and {right_cell:?}"));
        }
    }
    None
}
