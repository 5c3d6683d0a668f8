//! Model of one sheet.

use std::collections::{BTreeMap, BTreeSet};

use super::Tag;
use crate::a1::{CellName, Rectangle};
use crate::axis_map::Axis;
use crate::cell::{Cell, GENERAL};
use crate::operation::{CellEdit, SetFormat, Spans};
use crate::workbook::Sheet;

/// Number of rows, and of columns, in the model. Tests use fewer.
pub const LINES: usize = 96;
/// Number of leading rows and columns that are compared.
const VISIBLE: u32 = 22;

pub type LineId = (Tag, u32);

/// A row or a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub id: LineId,
    /// Whether any cell in this line (row or column) or a later one was ever written.
    is_used: bool,
}

/// A range format that stores the ids of its lines (rows and columns).
#[derive(Debug, Clone, PartialEq)]
struct FormattedRange {
    rows: BTreeSet<LineId>,
    columns: BTreeSet<LineId>,
    /// Whether the format applies to all rows, including rows inserted later.
    all_rows: bool,
    /// Whether the format applies to all columns, including columns inserted later.
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
    pub cells: BTreeMap<(LineId, LineId), Cell>,
    ranges: Vec<FormattedRange>,
    /// Number for the id of the next line (row or column) that a deletion adds at the end of an
    /// axis.
    next_filler: u32,
}

impl PlainSheet {
    pub fn new(tag: Tag, number: crate::operation::SheetId, name: String) -> Self {
        let line = |number| Line { id: (0, number), is_used: false };
        let lines: Vec<Line> = (0..LINES as u32).map(line).collect();
        let next_filler = LINES as u32;
        let (rows, columns) = (lines.clone(), lines);
        Self {
            tag,
            number,
            name,
            rows,
            columns,
            cells: BTreeMap::new(),
            ranges: vec![],
            next_filler,
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

    pub fn rows_of(&self, spans: &Spans) -> Vec<LineId> {
        ids_in(&self.rows, spans)
    }

    pub fn columns_of(&self, spans: &Spans) -> Vec<LineId> {
        ids_in(&self.columns, spans)
    }

    pub fn set(&mut self, (row, column): (LineId, LineId), edit: &CellEdit) {
        for (lines, id) in [(&mut self.rows, row), (&mut self.columns, column)] {
            let place = lines.iter().position(|line| line.id == id).unwrap();
            for line in &mut lines[..=place] {
                line.is_used = true;
            }
        }
        let cell = self.cells.entry((row, column)).or_default();
        if let Some(value) = &edit.value {
            cell.value = value.clone();
            cell.formula.clone_from(&edit.formula);
        }
        if edit.format.is_some() {
            cell.format.clone_from(&edit.format);
        }
    }

    pub fn clear(&mut self, rows: &[LineId], columns: &[LineId]) {
        for ((row, column), cell) in &mut self.cells {
            if rows.contains(row) && columns.contains(column) {
                *cell = Cell { format: cell.format.take(), ..Cell::default() };
            }
        }
    }

    pub fn format(&mut self, rows: Vec<LineId>, columns: Vec<LineId>, set: &SetFormat) {
        for ((row, column), cell) in &mut self.cells {
            if rows.contains(row) && columns.contains(column) {
                cell.format = None;
            }
        }
        self.ranges.push(FormattedRange {
            rows: rows.into_iter().collect(),
            columns: columns.into_iter().collect(),
            all_rows: set.rows.is_all(Axis::Rows),
            all_columns: set.columns.is_all(Axis::Columns),
            format: set.format.clone(),
        });
    }

    pub fn insert(&mut self, axis: Axis, before: u32, count: u32, tag: Tag) {
        let at = (before as usize).min(LINES);
        let is_used = self.lines(axis).get(at).is_some_and(|line| line.is_used);
        for offset in 0..count {
            self.insert_line(axis, at + offset as usize, &Line { id: (tag, offset), is_used });
        }
    }

    fn insert_line(&mut self, axis: Axis, at: usize, line: &Line) {
        let lines = self.lines_mut(axis);
        let previous = at.checked_sub(1).and_then(|previous| lines.get(previous)).cloned();
        let next = lines.get(at).cloned();
        lines.insert(at, line.clone());
        let last = lines.pop().unwrap();
        for range in &mut self.ranges {
            let (ids, is_whole_axis) = match axis {
                Axis::Rows => (&mut range.rows, range.all_rows),
                Axis::Columns => (&mut range.columns, range.all_columns),
            };
            let contains = |line: &Option<Line>| line.as_ref().is_some_and(|l| ids.contains(&l.id));
            let is_inside = contains(&previous) && contains(&next);
            if is_whole_axis || is_inside {
                ids.insert(line.id);
            }
        }
        self.remove_line(axis, last.id);
    }

    pub fn delete(&mut self, axis: Axis, deleted: &[LineId]) {
        for id in deleted {
            let lines = self.lines_mut(axis);
            let Some(place) = lines.iter().position(|line| line.id == *id) else { continue };
            lines.remove(place);
            let filler = Line { id: (0, self.next_filler), is_used: false };
            self.next_filler += 1;
            self.lines_mut(axis).push(filler.clone());
            for range in &mut self.ranges {
                match axis {
                    Axis::Rows if range.all_rows => drop(range.rows.insert(filler.id)),
                    Axis::Columns if range.all_columns => drop(range.columns.insert(filler.id)),
                    _ => {}
                }
            }
            self.remove_line(axis, *id);
        }
    }

    /// Removes a line (row or column) with its cells from the sheet and from all range formats.
    fn remove_line(&mut self, axis: Axis, id: LineId) {
        match axis {
            Axis::Rows => self.cells.retain(|(row, _), _| *row != id),
            Axis::Columns => self.cells.retain(|(_, column), _| *column != id),
        }
        for range in &mut self.ranges {
            match axis {
                Axis::Rows => range.rows.remove(&id),
                Axis::Columns => range.columns.remove(&id),
            };
        }
    }

    pub fn place(&self, axis: Axis, id: LineId) -> Option<u32> {
        self.lines(axis).iter().position(|line| line.id == id).map(|at| at as u32)
    }

    /// Returns the cell with its displayed format.
    pub fn displayed(&self, row: LineId, column: LineId) -> Cell {
        let cell = self.cells.get(&(row, column)).cloned().unwrap_or_default();
        let contains =
            |range: &&FormattedRange| range.rows.contains(&row) && range.columns.contains(&column);
        let range_format =
            || self.ranges.iter().rev().find(contains).map(|range| range.format.clone());
        let format = cell.format.clone().or_else(range_format).filter(|format| format != GENERAL);
        Cell { format, ..cell }
    }

    /// Describes the first difference between the model and a sheet, or returns `None` if they are
    /// equal.
    pub fn difference_from(&self, actual: &Sheet) -> Option<String> {
        let used = |lines: &[Line]| lines.iter().filter(|line| line.is_used).count() as u32;
        let expected_extent = (used(&self.rows), used(&self.columns));
        let actual_extent = (actual.extent().rows, actual.extent().columns);
        if expected_extent != actual_extent {
            return Some(format!("expected extent {expected_extent:?}, got {actual_extent:?}"));
        }
        let mut expected_cells = Vec::new();
        for row in 0..VISIBLE {
            for column in 0..VISIBLE {
                let ids = (self.rows[row as usize].id, self.columns[column as usize].id);
                let cell = self.displayed(ids.0, ids.1);
                let format = actual.formats().at(row, column).filter(|format| *format != GENERAL);
                let is_populated = self.cells.get(&ids).is_some_and(|cell| !cell.is_blank());
                // Cells with content are compared below.
                if !is_populated && format != cell.format.as_deref() {
                    return Some(format!(
                        "row {row}, column {column}: expected {cell:?}, got format {format:?}"
                    ));
                }
                if is_populated && !cell.is_blank() {
                    expected_cells.push(((row, column), cell));
                }
            }
        }
        let last = CellName { row: VISIBLE - 1, column: VISIBLE - 1 };
        let rectangle = Rectangle { first: CellName { row: 0, column: 0 }, last };
        let actual_cells: Vec<_> = actual.cells_in(rectangle).collect();
        (expected_cells != actual_cells)
            .then(|| format!("expected cells {expected_cells:?}, got {actual_cells:?}"))
    }
}

fn ids_in(lines: &[Line], spans: &Spans) -> Vec<LineId> {
    let is_in_spans = |index: &usize| spans.contains(*index as u32);
    (0..LINES).filter(is_in_spans).map(|index| lines[index].id).collect()
}

/// Describes the first visible difference between two sheets, or returns `None` if there is none.
pub(super) fn display_difference(left: &Sheet, right: &Sheet) -> Option<String> {
    let mut places = (0..VISIBLE).flat_map(|row| (0..VISIBLE).map(move |column| (row, column)));
    places.find_map(|(row, column)| {
        let (left, right) = (left.cell(row, column), right.cell(row, column));
        (left != right).then(|| format!("{row}, {column}: {left:?} and {right:?}"))
    })
}
