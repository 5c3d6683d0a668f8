//! One sheet of plain lists.

use std::collections::{BTreeMap, BTreeSet};

use super::Tag;
use crate::a1::{CellName, Rectangle};
use crate::cell::{Cell, GENERAL};
use crate::operation::{CellEdit, SetFormat, Spans};
use crate::workbook::Sheet;

/// Lines that a list has: what is behind them is as blank as they are, and far from what tests do.
pub const LINES: usize = 96;
/// Rows and columns that are compared.
const VISIBLE: u32 = 22;

pub type LineId = (Tag, u32);

/// A row or a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub id: LineId,
    /// Something was once written to it or behind it.
    reached: bool,
}

/// The format of a range: the lines that it has, by id.
#[derive(Debug, Clone, PartialEq)]
struct Range {
    rows: BTreeSet<LineId>,
    columns: BTreeSet<LineId>,
    /// It was set for the whole axis: every new line belongs to it.
    all_rows: bool,
    all_columns: bool,
    format: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PlainSheet {
    /// The tag of who added it.
    pub tag: Tag,
    pub number: crate::operation::SheetId,
    pub name: String,
    pub rows: Vec<Line>,
    pub columns: Vec<Line>,
    pub cells: BTreeMap<(LineId, LineId), Cell>,
    ranges: Vec<Range>,
    fillers: u32,
}

impl PlainSheet {
    pub fn new(tag: Tag, number: crate::operation::SheetId, name: String) -> Self {
        let line = |number| Line { id: (0, number), reached: false };
        let lines: Vec<Line> = (0..LINES as u32).map(line).collect();
        let fillers = LINES as u32;
        let (rows, columns) = (lines.clone(), lines);
        Self { tag, number, name, rows, columns, cells: BTreeMap::new(), ranges: vec![], fillers }
    }

    pub fn lines(&self, rows: bool) -> &Vec<Line> {
        if rows { &self.rows } else { &self.columns }
    }

    pub fn rows_of(&self, spans: &Spans) -> Vec<LineId> {
        ids(&self.rows, spans)
    }

    pub fn columns_of(&self, spans: &Spans) -> Vec<LineId> {
        ids(&self.columns, spans)
    }

    pub fn set(&mut self, (row, column): (LineId, LineId), edit: &CellEdit) {
        for (lines, id) in [(&mut self.rows, row), (&mut self.columns, column)] {
            let at = lines.iter().position(|line| line.id == id).unwrap();
            lines[..=at].iter_mut().for_each(|line| line.reached = true);
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
        self.ranges.push(Range {
            rows: rows.into_iter().collect(),
            columns: columns.into_iter().collect(),
            all_rows: set.rows.is_all(crate::axis_map::Axis::Rows),
            all_columns: set.columns.is_all(crate::axis_map::Axis::Columns),
            format: set.format.clone(),
        });
    }

    pub fn insert(&mut self, rows: bool, before: u32, count: u32, tag: Tag) {
        let at = (before as usize).min(LINES);
        let reached = self.lines(rows).get(at).is_some_and(|line| line.reached);
        for offset in 0..count {
            self.insert_line(rows, at + offset as usize, &Line { id: (tag, offset), reached });
        }
    }

    fn insert_line(&mut self, rows: bool, at: usize, line: &Line) {
        let lines = if rows { &mut self.rows } else { &mut self.columns };
        let id = |line: Option<&Line>| line.map(|line| line.id);
        let around = (id(at.checked_sub(1).and_then(|at| lines.get(at))), id(lines.get(at)));
        lines.insert(at, line.clone());
        let last = lines.pop().unwrap();
        for range in &mut self.ranges {
            let (ids, all) = match rows {
                true => (&mut range.rows, range.all_rows),
                false => (&mut range.columns, range.all_columns),
            };
            let inside = |id: Option<LineId>| id.is_some_and(|id| ids.contains(&id));
            if all || (inside(around.0) && inside(around.1)) {
                ids.insert(line.id);
            }
        }
        self.forget(rows, last.id);
    }

    pub fn delete(&mut self, rows: bool, gone: &[LineId]) {
        for id in gone {
            let lines = if rows { &mut self.rows } else { &mut self.columns };
            let Some(at) = lines.iter().position(|line| line.id == *id) else { continue };
            lines.remove(at);
            let filler = Line { id: (0, self.fillers), reached: false };
            self.fillers += 1;
            lines.push(filler.clone());
            for range in &mut self.ranges {
                match rows {
                    true if range.all_rows => drop(range.rows.insert(filler.id)),
                    false if range.all_columns => drop(range.columns.insert(filler.id)),
                    _ => {}
                }
            }
            self.forget(rows, *id);
        }
    }

    fn forget(&mut self, rows: bool, id: LineId) {
        self.cells.retain(|(row, column), _| if rows { *row != id } else { *column != id });
        for range in &mut self.ranges {
            if rows {
                range.rows.remove(&id)
            } else {
                range.columns.remove(&id)
            };
        }
    }

    pub fn place(&self, rows: bool, id: LineId) -> Option<u32> {
        self.lines(rows).iter().position(|line| line.id == id).map(|at| at as u32)
    }

    /// The cell as it is shown.
    pub fn shown(&self, row: LineId, column: LineId) -> Cell {
        let cell = self.cells.get(&(row, column)).cloned().unwrap_or_default();
        let holds = |range: &&Range| range.rows.contains(&row) && range.columns.contains(&column);
        let below = || self.ranges.iter().rev().find(holds).map(|range| range.format.clone());
        let format = cell.format.clone().or_else(below).filter(|format| format != GENERAL);
        Cell { format, ..cell }
    }

    pub fn differs(&self, real: &Sheet) -> Option<String> {
        let reached = |lines: &[Line]| lines.iter().filter(|line| line.reached).count() as u32;
        let extent = (reached(&self.rows), reached(&self.columns));
        let is = (real.extent().rows, real.extent().columns);
        if extent != is {
            return Some(format!("extent {extent:?}, not {is:?}"));
        }
        let mut shown = Vec::new();
        for row in 0..VISIBLE {
            for column in 0..VISIBLE {
                let ids = (self.rows[row as usize].id, self.columns[column as usize].id);
                let cell = self.shown(ids.0, ids.1);
                let format = real.formats().at(row, column).filter(|format| *format != GENERAL);
                let holds = self.cells.get(&ids).is_some_and(|cell| !cell.is_blank());
                // Cells that hold something are compared below, all at once.
                if !holds && format != cell.format.as_deref() {
                    return Some(format!("format of {row}, {column}: {cell:?}, not {format:?}"));
                }
                if holds && !cell.is_blank() {
                    shown.push(((row, column), cell));
                }
            }
        }
        let last = CellName { row: VISIBLE - 1, column: VISIBLE - 1 };
        let rectangle = Rectangle { first: CellName { row: 0, column: 0 }, last };
        let real: Vec<_> = real.cells_in(rectangle).collect();
        (shown != real).then(|| format!("cells {shown:?}, not {real:?}"))
    }
}

fn ids(lines: &[Line], spans: &Spans) -> Vec<LineId> {
    let inside = |index: &usize| spans.contains(*index as u32);
    (0..LINES).filter(inside).map(|index| lines[index].id).collect()
}

/// What looks different in two sheets.
pub(super) fn looks_different(left: &Sheet, right: &Sheet) -> Option<String> {
    let mut places = (0..VISIBLE).flat_map(|row| (0..VISIBLE).map(move |column| (row, column)));
    places.find_map(|(row, column)| {
        let (left, right) = (left.cell(row, column), right.cell(row, column));
        (left != right).then(|| format!("{row}, {column}: {left:?} and {right:?}"))
    })
}
