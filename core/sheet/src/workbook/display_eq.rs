//! Compares what two states of a spreadsheet display, ignoring the ids of rows, columns and sheets.

use std::collections::{BTreeMap, BTreeSet};

use super::{Sheet, Workbook};
use crate::a1::Rectangle;
use crate::axis_map::{Axis, AxisMap};
use crate::cell::GENERAL;
use crate::metadata::FormatLayer;
use crate::sheet_id::SheetId;
use crate::spans::Spans;

/// Maximum number of cells at which the range formats of two sheets are compared. If there are
/// more, the range formats are considered different.
const MAX_COMPARED_CELLS: usize = 10_000;

impl Workbook {
    /// Returns whether this state and a later state display the same sheets, in any order. Cells
    /// that did not change may be missing from both states.
    ///
    /// The result may be `false` for states that display the same if two sheets have exchanged
    /// their names, or if there are too many range formats to compare.
    #[must_use]
    pub fn displays_same(&self, later: &Self) -> bool {
        let old_sheets = self.sheet_ids_by_name();
        let new_sheets = later.sheet_ids_by_name();
        let has_same_names = old_sheets.keys().eq(new_sheets.keys());
        let mut sheet_pairs = old_sheets.values().zip(new_sheets.values());
        has_same_names
            && sheet_pairs.all(|(old_id, new_id)| self.sheet_displays_same(*old_id, later, *new_id))
    }

    fn sheet_ids_by_name(&self) -> BTreeMap<String, SheetId> {
        let name = |id| self.tabs.name(id).unwrap_or_default().to_owned();
        self.sheets.keys().map(|id| (name(*id), *id)).collect()
    }

    fn sheet_displays_same(&self, old_id: SheetId, later: &Self, new_id: SheetId) -> bool {
        let (Some(old), Some(new)) = (self.sheet(old_id), later.sheet(new_id)) else {
            return false;
        };
        if old_id == new_id {
            return old.keeps_indices_in(new) && old.displays_same(new);
        }
        // Unchanged cells may not be loaded. Sheets with different numbers can be compared only if
        // all their cells are loaded, which is the case if the old sheet was deleted and the new
        // sheet was added between the two states.
        let names_exchanged = later.sheet(old_id).is_some() || self.sheet(new_id).is_some();
        !names_exchanged && old.displays_same(new)
    }
}

impl Sheet {
    fn keeps_indices_in(&self, later: &Self) -> bool {
        let (rows, columns) = self.map_to(later);
        let keeps_indices = |axis: Axis, map: &AxisMap| {
            let used_end = self.used_end(axis).max(later.used_end(axis));
            map.runs().iter().filter(|run| run.src < used_end).all(|run| run.src == run.dst)
        };
        keeps_indices(Axis::Rows, &rows) && keeps_indices(Axis::Columns, &columns)
    }

    fn displays_same(&self, other: &Self) -> bool {
        let includes_cells_of = |sheet: &Self, other: &Self| {
            let mut cells = other.cells_in(Rectangle::EVERYTHING);
            cells.all(|((row, column), cell)| sheet.cell(row, column) == cell)
        };
        includes_cells_of(self, other)
            && includes_cells_of(other, self)
            && formats_display_same(&self.formats, &other.formats)
    }
}

fn formats_display_same(left: &FormatLayer, right: &FormatLayer) -> bool {
    if left == right {
        return true;
    }
    let records = || left.records().iter().chain(right.records());
    let rows = boundaries(records().map(|record| &record.rows));
    let columns = boundaries(records().map(|record| &record.columns));
    if rows.len().saturating_mul(columns.len()) > MAX_COMPARED_CELLS {
        return false;
    }
    let is_same_at =
        |row, column| displayed_format(left, row, column) == displayed_format(right, row, column);
    rows.iter().all(|row| columns.iter().all(|column| is_same_at(*row, *column)))
}

/// Returns the indices at which the displayed number format may change: 0, and the start and end of
/// each range format.
fn boundaries<'a>(spans: impl Iterator<Item = &'a Spans>) -> BTreeSet<u32> {
    spans
        .flat_map(|spans| spans.iter().flat_map(|span| [span.first, span.end()]))
        .chain([0])
        .collect()
}

fn displayed_format(layer: &FormatLayer, row: u32, column: u32) -> Option<&str> {
    layer.format_at(row, column).filter(|format| *format != GENERAL)
}
