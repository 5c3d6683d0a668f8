//! How references follow inserted and deleted rows and columns.

use std::collections::BTreeMap;

use cellar_grid::axis_map::AxisMap;
use cellar_grid::{Axis, SheetId};

use crate::line_map::LineMap;
use crate::reference::{Area, Reference, ReferenceSheet};

/// Line maps of all sheets, from an older to a newer state of a spreadsheet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MovedLines {
    sheets: BTreeMap<SheetId, SheetLines>,
}

/// Line maps of the rows and columns of one sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetLines {
    /// Line map of the rows.
    pub rows: LineMap,
    /// Line map of the columns.
    pub columns: LineMap,
}

impl Default for SheetLines {
    fn default() -> Self {
        Self { rows: LineMap::identity(Axis::Rows), columns: LineMap::identity(Axis::Columns) }
    }
}

impl SheetLines {
    /// Creates line maps from axis maps, as if all deletions had preceded all insertions. Axis maps
    /// do not record the order of changes.
    #[must_use]
    pub fn of_axis_maps(rows: AxisMap, columns: AxisMap) -> Self {
        Self {
            rows: LineMap::of_one_change(rows, Axis::Rows),
            columns: LineMap::of_one_change(columns, Axis::Columns),
        }
    }

    /// Returns the line map of an axis.
    #[must_use]
    pub fn axis(&self, axis: Axis) -> &LineMap {
        match axis {
            Axis::Rows => &self.rows,
            Axis::Columns => &self.columns,
        }
    }

    /// Returns whether no rows or columns of the sheet move.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.rows.is_identity() && self.columns.is_identity()
    }

    /// Returns the composition of `self` followed by `next`.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        Self { rows: self.rows.then(&next.rows), columns: self.columns.then(&next.columns) }
    }
}

impl MovedLines {
    /// Creates the map of a change to one axis of one sheet.
    #[must_use]
    pub fn one(sheet: SheetId, axis: Axis, map: LineMap) -> Self {
        let lines = match axis {
            Axis::Rows => SheetLines { rows: map, ..SheetLines::default() },
            Axis::Columns => SheetLines { columns: map, ..SheetLines::default() },
        };
        Self { sheets: BTreeMap::from([(sheet, lines)]) }
    }

    /// Sets the line maps of a sheet.
    pub fn insert(&mut self, sheet: SheetId, lines: SheetLines) {
        self.sheets.insert(sheet, lines);
    }

    /// Returns whether no rows or columns of any sheet move.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.sheets.values().all(SheetLines::is_identity)
    }

    /// Returns the line maps of a sheet, or `None` if its rows and columns do not move.
    #[must_use]
    pub fn sheet(&self, sheet: SheetId) -> Option<&SheetLines> {
        self.sheets.get(&sheet)
    }

    /// Returns the composition of `self` followed by `next`.
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
    /// Returns the reference after rows and columns have moved. `own_sheet` is the sheet that
    /// contains the formula.
    #[must_use]
    pub fn moved(&self, own_sheet: SheetId, moves: &MovedLines) -> Self {
        let lines = self.sheet_number(own_sheet).and_then(|sheet| moves.sheet(sheet));
        let Some(lines) = lines else { return self.clone() };
        let area = self.area.map_ends(|axis, ends| lines.axis(axis).ends(ends));
        Self { sheet: self.sheet.clone(), area }
    }

    /// Returns the reference after a sheet was deleted. `own_sheet` is the sheet that contains the
    /// formula.
    #[must_use]
    pub fn after_sheet_deletion(&self, own_sheet: SheetId, deleted_sheet: SheetId) -> Self {
        if self.sheet_number(own_sheet) != Some(deleted_sheet) {
            return self.clone();
        }
        Self { sheet: ReferenceSheet::Own, area: Area::Deleted }
    }
}
