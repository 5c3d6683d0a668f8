//! Differences between two states of a spreadsheet.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::sheet::CellId;
use super::{Sheet, Workbook};
use crate::a1::CellName;
use crate::axis_map::Axis;
use crate::cell::Cell;
use crate::operation::{SheetId, Span, Spans};

/// A cell and its coordinates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CellAt {
    /// Row, from 0.
    pub row: u32,
    /// Column, from 0.
    pub column: u32,
    /// Content of the cell.
    #[serde(flatten)]
    pub cell: Cell,
}

impl CellAt {
    /// Returns the reference of the cell, such as `B3`.
    #[must_use]
    pub fn name(&self) -> CellName {
        CellName { row: self.row, column: self.column }
    }

    /// Returns the text that the cell displays.
    #[must_use]
    pub fn text(&self) -> String {
        self.cell.text()
    }
}

/// Differences between two states of a spreadsheet.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WorkbookDiff {
    /// Sheets that differ, ordered by number.
    pub sheets: Vec<SheetDiff>,
}

/// Differences of one sheet between two states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SheetDiff {
    /// Number of the sheet.
    pub sheet: SheetId,
    /// Name of the sheet in the later state. If the sheet was deleted, its name in the earlier
    /// state.
    pub name: String,
    /// Change to the sheet as a whole.
    pub change: SheetChange,
    /// Inserted and deleted rows.
    pub rows: AxisDiff,
    /// Inserted and deleted columns.
    pub columns: AxisDiff,
    /// Whether range formats differ other than by insertions and deletions of rows and columns.
    pub formats_changed: bool,
    /// Cells that were changed, with their coordinates in the later state.
    pub cells: Vec<CellDiff>,
    /// Cells that were deleted with their row, column or sheet, with their coordinates in the
    /// earlier state.
    pub deleted_cells: Vec<CellAt>,
}

/// How a sheet as a whole has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SheetChange {
    Added,
    Deleted,
    Renamed,
    /// The sheet has the same name in both states.
    Kept,
}

/// Inserted and deleted rows or columns.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AxisDiff {
    /// Inserted rows or columns, with their indices in the later state.
    #[serde(default, skip_serializing_if = "Spans::is_empty")]
    pub inserted: Spans,
    /// Deleted rows or columns, with their indices in the earlier state.
    #[serde(default, skip_serializing_if = "Spans::is_empty")]
    pub deleted: Spans,
}

/// A cell that differs between two states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CellDiff {
    /// Row in the later state, 0-based.
    pub row: u32,
    /// Column in the later state, 0-based.
    pub column: u32,
    /// Contents in the earlier state.
    pub before: Cell,
    /// Contents in the later state.
    pub after: Cell,
}

impl Workbook {
    /// Returns the differences between this state and another state of the same spreadsheet.
    #[must_use]
    pub fn diff(&self, to: &Self) -> WorkbookDiff {
        let ids: BTreeSet<SheetId> = self.sheets.keys().chain(to.sheets.keys()).copied().collect();
        let sheet_diffs = ids.into_iter().map(|id| self.diff_sheet(id, to));
        let changed_sheets = sheet_diffs.filter(SheetDiff::has_differences);
        WorkbookDiff { sheets: changed_sheets.collect() }
    }

    fn diff_sheet(&self, id: SheetId, to: &Self) -> SheetDiff {
        let old_name = self.tabs.name(id);
        let new_name = to.tabs.name(id);
        let mut diff = match (self.sheets.get(&id), to.sheets.get(&id)) {
            (Some(old), Some(new)) => diff_contents(old, new),
            (Some(old), None) => diff_of_deleted_sheet(old),
            (None, Some(new)) => diff_of_added_sheet(new),
            (None, None) => diff_of_added_sheet(&Sheet::default()),
        };
        if diff.change == SheetChange::Kept && old_name != new_name {
            diff.change = SheetChange::Renamed;
        }
        let name = new_name.or(old_name).unwrap_or_default().to_owned();
        SheetDiff { sheet: id, name, ..diff }
    }
}

impl AxisDiff {
    fn is_empty(&self) -> bool {
        self.inserted.is_empty() && self.deleted.is_empty()
    }
}

impl SheetDiff {
    fn has_differences(&self) -> bool {
        self.change != SheetChange::Kept
            || !self.rows.is_empty()
            || !self.columns.is_empty()
            || self.formats_changed
            || !self.cells.is_empty()
            || !self.deleted_cells.is_empty()
    }
}

/// The caller must set the number, the name and the kind of change.
fn diff_contents(old: &Sheet, new: &Sheet) -> SheetDiff {
    let (row_map, column_map) = old.map_to(new);
    SheetDiff {
        sheet: SheetId::FIRST,
        name: String::new(),
        change: SheetChange::Kept,
        rows: diff_axis(Axis::Rows, old, new),
        columns: diff_axis(Axis::Columns, old, new),
        formats_changed: old.formats.mapped(&row_map, &column_map) != new.formats,
        cells: diff_cells(old, new),
        deleted_cells: deleted_cells(old, new),
    }
}

fn diff_of_added_sheet(added: &Sheet) -> SheetDiff {
    SheetDiff { change: SheetChange::Added, ..diff_contents(&Sheet::default(), added) }
}

fn diff_of_deleted_sheet(deleted: &Sheet) -> SheetDiff {
    SheetDiff {
        change: SheetChange::Deleted,
        deleted_cells: cells_with_ids(deleted, |_| true),
        ..diff_contents(deleted, deleted)
    }
}

/// Returns the cells that differ from the older state, ordered by row and column.
fn diff_cells(old: &Sheet, new: &Sheet) -> Vec<CellDiff> {
    let old_lookup = old.cell_lookup();
    let new_lookup = new.cell_lookup();
    let cell_ids: BTreeSet<CellId> = old.cells.keys().chain(new.cells.keys()).copied().collect();
    let mut cell_diffs = Vec::new();
    for cell_id in cell_ids {
        let Some((row, column)) = new_lookup.coordinates(cell_id) else { continue };
        let after = new.cell(row, column);
        let before = match old_lookup.coordinates(cell_id) {
            Some((old_row, old_column)) => old.cell(old_row, old_column),
            None => Cell::default(),
        };
        if before != after {
            cell_diffs.push(CellDiff { row, column, before, after });
        }
    }
    cell_diffs.sort_by_key(|diff| (diff.row, diff.column));
    cell_diffs
}

/// Returns the cells of the older state that were deleted with their row or column. Blank cells are
/// omitted.
fn deleted_cells(old: &Sheet, new: &Sheet) -> Vec<CellAt> {
    let new_lookup = new.cell_lookup();
    cells_with_ids(old, |cell_id| new_lookup.coordinates(cell_id).is_none())
}

/// Returns the inserted and deleted rows or columns within the used range.
///
/// Changes at the end of the axis are ignored. Each insertion also removes rows there, and each
/// deletion also adds rows there.
fn diff_axis(axis: Axis, old: &Sheet, new: &Sheet) -> AxisDiff {
    let old_lookup = old.order(axis).index_lookup();
    let new_lookup = new.order(axis).index_lookup();
    let inserted = new_lookup.missing_in(&old_lookup);
    let deleted = old_lookup.missing_in(&new_lookup);
    AxisDiff {
        inserted: truncate_last_span(&inserted, axis, new.used_end(axis)),
        deleted: truncate_last_span(&deleted, axis, old.used_end(axis)),
    }
}

/// Truncates a span at `used_end` if it extends to the end of the axis.
fn truncate_last_span(spans: &Spans, axis: Axis, used_end: u32) -> Spans {
    let truncate = |span: Span| {
        if span.end() < axis.limit() {
            span
        } else {
            Span { count: used_end.saturating_sub(span.first), ..span }
        }
    };
    Spans::from_sorted(spans.iter().map(truncate).collect())
}

/// Returns the cells whose ids satisfy `is_included`, ordered by row and column. Blank cells are
/// omitted.
fn cells_with_ids(sheet: &Sheet, is_included: impl Fn(CellId) -> bool) -> Vec<CellAt> {
    let lookup = sheet.cell_lookup();
    let mut cells = Vec::new();
    for cell_id in sheet.cells.keys().copied().filter(|id| is_included(*id)) {
        let Some((row, column)) = lookup.coordinates(cell_id) else { continue };
        let cell = sheet.cell(row, column);
        if !cell.is_blank() {
            cells.push(CellAt { row, column, cell });
        }
    }
    cells.sort_by_key(|cell_at| (cell_at.row, cell_at.column));
    cells
}
