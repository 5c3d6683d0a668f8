//! Insertions and deletions of rows and columns.

use std::collections::BTreeMap;

use cellar_grid::axis_map::AxisMap;
use cellar_grid::{Axis, SheetId};

use crate::line_map::LineMap;
use crate::reference::{Area, Reference, ReferenceSheet};

/// How the rows and columns of all sheets move between two states of a spreadsheet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MovedLines {
    sheets: BTreeMap<SheetId, SheetLines>,
}

/// How the rows and columns of one sheet move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetLines {
    /// Map of the rows.
    pub rows: LineMap,
    /// Map of the columns.
    pub columns: LineMap,
}

impl Default for SheetLines {
    fn default() -> Self {
        Self { rows: LineMap::identity(Axis::Rows), columns: LineMap::identity(Axis::Columns) }
    }
}

impl SheetLines {
    /// Creates the maps of a sheet of which only the remaining rows and columns are known, as if all
    /// deletions had come before all insertions.
    #[must_use]
    pub fn of_axis_maps(rows: AxisMap, columns: AxisMap) -> Self {
        Self {
            rows: LineMap::of_one_change(rows, Axis::Rows),
            columns: LineMap::of_one_change(columns, Axis::Columns),
        }
    }

    /// Returns the map of one axis.
    #[must_use]
    pub fn axis(&self, axis: Axis) -> &LineMap {
        match axis {
            Axis::Rows => &self.rows,
            Axis::Columns => &self.columns,
        }
    }

    /// Returns whether the rows and columns of the sheet do not move.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.rows.is_identity() && self.columns.is_identity()
    }

    /// Returns the maps that first apply `self` and then `next`.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        Self { rows: self.rows.then(&next.rows), columns: self.columns.then(&next.columns) }
    }
}

impl MovedLines {
    /// Creates the map of one change of one sheet.
    #[must_use]
    pub fn one(sheet: SheetId, axis: Axis, map: LineMap) -> Self {
        let lines = match axis {
            Axis::Rows => SheetLines { rows: map, ..SheetLines::default() },
            Axis::Columns => SheetLines { columns: map, ..SheetLines::default() },
        };
        Self { sheets: BTreeMap::from([(sheet, lines)]) }
    }

    /// Sets the maps of a sheet.
    pub fn insert(&mut self, sheet: SheetId, lines: SheetLines) {
        self.sheets.insert(sheet, lines);
    }

    /// Returns whether no rows or columns move.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.sheets.values().all(SheetLines::is_identity)
    }

    /// Returns the maps of a sheet, or `None` if its rows and columns do not move.
    #[must_use]
    pub fn sheet(&self, sheet: SheetId) -> Option<&SheetLines> {
        self.sheets.get(&sheet)
    }

    /// Returns the map that first applies `self` and then `next`.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        let mut sheets = self.sheets.clone();
        for (sheet, next_lines) in &next.sheets {
            let lines = sheets.entry(*sheet).or_default();
            *lines = lines.then(next_lines);
        }
        Self { sheets }
    }
}

impl FromIterator<(SheetId, SheetLines)> for MovedLines {
    fn from_iter<T: IntoIterator<Item = (SheetId, SheetLines)>>(sheets: T) -> Self {
        Self { sheets: sheets.into_iter().collect() }
    }
}

impl Reference {
    /// Returns the reference after rows and columns have moved. `own_sheet` is the sheet of the
    /// formula.
    #[must_use]
    pub fn moved(&self, own_sheet: SheetId, moves: &MovedLines) -> Self {
        let lines = self.sheet_number(own_sheet).and_then(|sheet| moves.sheet(sheet));
        let Some(lines) = lines else { return self.clone() };
        let area = self.area.map_ends(|axis, ends| lines.axis(axis).ends(ends));
        Self { sheet: self.sheet.clone(), area }
    }

    /// Returns the reference after a sheet was deleted. `own_sheet` is the sheet of the formula.
    #[must_use]
    pub fn after_sheet_deletion(&self, own_sheet: SheetId, deleted_sheet: SheetId) -> Self {
        if self.sheet_number(own_sheet) != Some(deleted_sheet) {
            return self.clone();
        }
        Self { sheet: ReferenceSheet::Own, area: Area::Deleted }
    }
}
