//! Compares what two states of a spreadsheet display, ignoring the ids of rows, columns and sheets.

use std::collections::{BTreeMap, BTreeSet};

use super::sheet::Sheet;
use super::stored_formula::StoredFormula;
use super::undo::{FollowedReferences, cells_that_lost_references};
use super::{ReversalCounts, SheetReader, Workbook};
use crate::a1::Rectangle;
use crate::axis_map::{Axis, AxisMap};
use crate::cell::GENERAL;
use crate::metadata::FormatLayer;
use cellar_formula::changes::MovedLines;
use cellar_grid::SheetId;
use cellar_grid::Spans;

/// Maximum number of cells at which the range formats of two sheets are compared. If there are
/// more, the range formats are considered different.
const MAX_COMPARED_CELLS: usize = 10_000;

impl Workbook {
    /// Returns whether this state and a later state display the same sheets in the same order. Cells
    /// that did not change may be missing from both states.
    ///
    /// The result may be `false` for states that display the same if two sheets have exchanged
    /// their names, or if there are too many range formats to compare.
    #[must_use]
    pub fn displays_same(&self, later: &Self) -> bool {
        let old_sheets = self.sheet_ids_by_name();
        let new_sheets = later.sheet_ids_by_name();
        let has_same_names = self.names_in_order().eq(later.names_in_order());
        let mut sheet_pairs = old_sheets.values().zip(new_sheets.values());
        has_same_names
            && self.names_display_same(later)
            && sheet_pairs.all(|(old_id, new_id)| self.sheet_displays_same(*old_id, later, *new_id))
            && !self.loses_references_until(later)
    }

    /// Returns whether formulas that were not changed have lost references until a later state.
    fn loses_references_until(&self, later: &Self) -> bool {
        let moved = self.moved_lines_to(later);
        self.sheets.keys().any(|id| match (self.sheet(*id), later.sheet(*id)) {
            (Some(old), Some(new)) => loses_references(old, new, &moved),
            _ => false,
        })
    }

    /// Like [`Workbook::sheet_displays_same`] for a sheet that exists in both states, but returns
    /// `false` if a formula of the sheet has lost a reference within the sheet.
    pub(super) fn sheet_displays_same_and_keeps_references(
        &self,
        later: &Self,
        sheet: SheetId,
    ) -> bool {
        let (Some(old), Some(new)) = (self.sheet(sheet), later.sheet(sheet)) else { return false };
        let mut moved_within_sheet = MovedLines::default();
        if let Some(lines) = self.moved_lines_to(later).sheet(sheet) {
            moved_within_sheet.insert(sheet, lines.clone());
        }
        let new = SheetReader { tabs: old.tabs, ..new };
        self.sheet_displays_same(sheet, later, sheet)
            && !loses_references(old, new, &moved_within_sheet)
    }

    /// Returns what differs in a sheet between this state and a later state, or `None` if the sheet
    /// exists in both states and displays the same. Cells that did not change may be missing from
    /// both states.
    #[must_use]
    pub fn changes_in_sheet(&self, later: &Self, sheet: SheetId) -> Option<ReversalCounts> {
        if self.sheet_displays_same(sheet, later, sheet) {
            return None;
        }
        let diffs = self.diff_by_number(&later.with_replaced_ids(self)).sheets;
        let diff = diffs.into_iter().find(|diff| diff.sheet == sheet);
        let Some(diff) = diff else { return Some(ReversalCounts::default()) };
        let cell_count = diff.cells.len().saturating_add(diff.deleted_cells.len());
        Some(ReversalCounts {
            cells: u64::try_from(cell_count).unwrap_or(u64::MAX),
            rows: diff.rows.inserted.count().saturating_add(diff.rows.deleted.count()),
            columns: diff.columns.inserted.count().saturating_add(diff.columns.deleted.count()),
            formats: u64::from(diff.formats_changed),
            ..ReversalCounts::default()
        })
    }

    fn names_in_order(&self) -> impl Iterator<Item = Option<&str>> {
        self.tabs.order().iter().map(|id| self.tabs.name(*id))
    }

    fn sheet_ids_by_name(&self) -> BTreeMap<String, SheetId> {
        let name = |id| self.tabs.name(id).unwrap_or_default().to_owned();
        self.sheets.keys().map(|id| (name(*id), *id)).collect()
    }

    pub(super) fn sheet_displays_same(
        &self,
        old_id: SheetId,
        later: &Self,
        new_id: SheetId,
    ) -> bool {
        let (Some(old), Some(new)) = (self.sheet(old_id), later.sheet(new_id)) else {
            return false;
        };
        if old_id == new_id {
            return old.sheet.keeps_indices_in(new.sheet)
                && displays_same(old, new, &self.moved_lines_to(later));
        }
        // Unchanged cells may not be loaded. Sheets with different numbers can be compared only if
        // all their cells are loaded, which is the case if the old sheet was deleted and the new
        // sheet was added between the two states.
        let names_exchanged = later.sheet(old_id).is_some() || self.sheet(new_id).is_some();
        !names_exchanged && displays_same(old, new, &MovedLines::default())
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
}

fn loses_references(old: SheetReader<'_>, new: SheetReader<'_>, moved: &MovedLines) -> bool {
    !cells_that_lost_references(old, new, moved, FollowedReferences::Kept).is_empty()
}

/// Returns whether two states of a sheet display the same. A formula may differ in references that
/// only follow `moved`, the moves from the older to the newer state.
fn displays_same(old: SheetReader<'_>, new: SheetReader<'_>, moved: &MovedLines) -> bool {
    let (mut old_formulas, mut new_formulas) = (old.formulas(), new.formulas());
    let cell_names = |sheet: SheetReader<'_>| {
        let cells = sheet.cells_in(Rectangle::EVERYTHING);
        cells.map(|(coordinates, _)| coordinates).collect::<BTreeSet<(u32, u32)>>()
    };
    let mut all_cells = cell_names(old);
    all_cells.extend(cell_names(new));
    let is_same = |&coordinates: &(u32, u32)| {
        let old_cell = old.cell_with(coordinates, &mut old_formulas);
        let new_cell = new.cell_with(coordinates, &mut new_formulas);
        old_cell.has_value_of(&new_cell)
            && old_cell.format == new_cell.format
            && (old_cell.formula == new_cell.formula
                || old_formulas.only_moved(
                    formula_at(old, coordinates),
                    moved,
                    formula_at(new, coordinates),
                    &mut new_formulas,
                ))
    };
    all_cells.iter().all(is_same) && formats_display_same(old.formats(), new.formats())
}

fn formula_at<'a>(sheet: SheetReader<'a>, (row, column): (u32, u32)) -> Option<&'a StoredFormula> {
    sheet.formula(sheet.sheet.id(row, column)?)
}

pub(super) fn formats_display_same(left: &FormatLayer, right: &FormatLayer) -> bool {
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
