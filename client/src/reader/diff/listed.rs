//! Collects the differences of bands, and counts those that are too many to list.

use std::collections::BTreeMap;

use cellar_api::wire::DiffReply;
use cellar_base::position::Position;
use cellar_sheet::operation::SheetId;
use cellar_sheet::workbook::{SheetDiff, WorkbookDiff};

/// The differences between two positions. If too many cells differ, some are only counted.
#[derive(Debug)]
#[non_exhaustive]
pub struct ListedDiff {
    /// The differences, in the form of a reply to `GET …/diff`.
    pub diff: DiffReply,
    /// Cells that are not in `diff`, by [`SheetDiff::order_key`].
    pub(crate) unlisted: BTreeMap<(SheetId, bool), usize>,
    max_cells: usize,
}

impl ListedDiff {
    /// At most `max_cells` cells of each sheet are listed. `whole` contains all other differences.
    pub(super) fn new(
        (from, to): (Position, Position),
        whole: WorkbookDiff,
        max_cells: usize,
    ) -> Self {
        let WorkbookDiff { sheets, names, order, .. } = whole;
        let diff = DiffReply {
            from,
            to,
            sheets,
            names,
            order,
            spans_truncated: false,
            formulas_incomplete: false,
            next: None,
        };
        Self { diff, unlisted: BTreeMap::new(), max_cells }
    }

    /// Returns the number of cells of a sheet that differ, with those that are not listed.
    #[must_use]
    pub fn cell_count(&self, sheet: &SheetDiff) -> usize {
        let unlisted = self.unlisted.get(&sheet.order_key()).copied().unwrap_or_default();
        sheet.cells.len() + sheet.deleted_cells.len() + unlisted
    }

    /// Returns the number of cells of each sheet that differ and are not listed.
    #[must_use]
    pub fn unlisted_cells(&self) -> BTreeMap<SheetId, usize> {
        let mut unlisted = BTreeMap::new();
        for ((sheet, _), cells) in &self.unlisted {
            *unlisted.entry(*sheet).or_default() += cells;
        }
        unlisted
    }

    /// Adds the cells that differ in the next rows of a sheet.
    pub(super) fn add_cells(&mut self, of_rows: WorkbookDiff) {
        for sheet in of_rows.sheets {
            self.add_cells_of_sheet(sheet);
        }
    }

    fn add_cells_of_sheet(&mut self, mut sheet: SheetDiff) {
        let (mut cells, mut deleted_cells) =
            (std::mem::take(&mut sheet.cells), std::mem::take(&mut sheet.deleted_cells));
        let count = cells.len() + deleted_cells.len();
        if count == 0 {
            return;
        }
        let (sheets, key) = (&mut self.diff.sheets, sheet.order_key());
        let place = sheets.partition_point(|other| other.order_key() < key);
        if sheets.get(place).is_none_or(|other| other.order_key() != key) {
            sheets.insert(place, sheet);
        }
        let Some(listed) = sheets.get_mut(place) else { return };
        let room = self.max_cells - (listed.cells.len() + listed.deleted_cells.len());
        cells.truncate(room);
        deleted_cells.truncate(room - cells.len());
        let unlisted = count - cells.len() - deleted_cells.len();
        if unlisted > 0 {
            *self.unlisted.entry(key).or_default() += unlisted;
        }
        listed.cells.extend(cells);
        listed.deleted_cells.extend(deleted_cells);
    }
}

/// A reply lists all cells.
impl From<DiffReply> for ListedDiff {
    fn from(diff: DiffReply) -> Self {
        Self { diff, unlisted: BTreeMap::new(), max_cells: usize::MAX }
    }
}

#[cfg(test)]
mod tests {
    use cellar_sheet::cell::Cell;
    use cellar_sheet::workbook::{AxisDiff, CellAt, CellDiff, SheetChange};

    use super::*;

    fn rows_of(sheet: u32, cells: u32, deleted: u32) -> WorkbookDiff {
        let (before, after) = (Cell::default(), Cell::default());
        let changed =
            |row| CellDiff { row, column: 0, before: before.clone(), after: after.clone() };
        let sheet = SheetDiff {
            sheet: SheetId(sheet),
            name: sheet.to_string(),
            change: SheetChange::Kept,
            rows: AxisDiff::default(),
            columns: AxisDiff::default(),
            formats_changed: false,
            cells: (0..cells).map(changed).collect(),
            deleted_cells: (0..deleted).map(|row| CellAt::new(row, 0, Cell::default())).collect(),
        };
        WorkbookDiff { sheets: vec![sheet], ..WorkbookDiff::default() }
    }

    #[test]
    fn a_deleted_sheet_and_another_one_with_its_number_are_listed_apart() {
        let positions = (Position::FIRST, Position::FIRST);
        let mut deleted = rows_of(1, 0, 3);
        deleted.sheets[0].change = SheetChange::Deleted;
        let mut listed = ListedDiff::new(positions, rows_of(1, 0, 0), 2);
        listed.add_cells(deleted);
        listed.add_cells(rows_of(1, 5, 0));
        let counts = listed.diff.sheets.iter().map(|sheet| listed.cell_count(sheet));
        assert_eq!(counts.collect::<Vec<_>>(), [3, 5]);
        assert_eq!(listed.unlisted_cells(), BTreeMap::from([(SheetId(1), 4)]));
    }

    #[test]
    fn cells_beyond_the_limit_of_a_sheet_are_counted() {
        let positions = (Position::FIRST, Position::FIRST);
        let mut listed = ListedDiff::new(positions, rows_of(2, 0, 0), 3);
        for (sheet, cells, deleted) in [(2, 1, 1), (3, 0, 0), (2, 1, 0), (1, 2, 2), (2, 1, 1)] {
            listed.add_cells(rows_of(sheet, cells, deleted));
        }
        let sheets: Vec<_> = listed
            .diff
            .sheets
            .iter()
            .map(|sheet| (sheet.sheet.0, sheet.cells.len(), sheet.deleted_cells.len()))
            .collect();
        assert_eq!(sheets, [(1, 2, 1), (2, 2, 1)]);
        assert_eq!(listed.unlisted_cells(), BTreeMap::from([(SheetId(1), 1), (SheetId(2), 2)]));
    }
}
