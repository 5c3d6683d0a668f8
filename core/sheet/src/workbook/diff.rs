//! Differences between two states of a spreadsheet.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::sheet::CellId;
use super::{Sheet, Workbook};
use crate::a1::CellName;
use crate::axis_map::Axis;
use crate::cell::Cell;
use crate::operation::{SheetId, Span, Spans};

/// A cell with its coordinates.
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
    /// Returns the cell's reference, such as `B3`.
    #[must_use]
    pub fn name(&self) -> CellName {
        CellName { row: self.row, column: self.column }
    }

    /// Returns the displayed text ([`Cell::text`]).
    #[must_use]
    pub fn text(&self) -> String {
        self.cell.text()
    }
}

/// Differences between two states of a spreadsheet.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WorkbookDiff {
    /// Sheets with differences, ordered by number.
    pub sheets: Vec<SheetDiff>,
}

/// Differences of one sheet between two states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SheetDiff {
    /// Number of the sheet.
    pub sheet: SheetId,
    /// Name of the sheet in the later state, or in the earlier state if the sheet was deleted.
    pub name: String,
    /// Change to the sheet as a whole.
    pub change: SheetChange,
    /// Inserted and deleted rows.
    pub rows: AxisDiff,
    /// Inserted and deleted columns.
    pub columns: AxisDiff,
    /// Set if range formats differ. A range that was only moved by inserts or deletes does not
    /// count.
    pub formats_changed: bool,
    /// Changed cells, in coordinates of the later state.
    pub cells: Vec<CellDiff>,
    /// Cells that were deleted together with their row, column or sheet, in coordinates of the
    /// earlier state.
    pub deleted_cells: Vec<CellAt>,
}

/// Change to a sheet as a whole between two states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SheetChange {
    /// The sheet exists only in the later state.
    Added,
    /// The sheet exists only in the earlier state.
    Deleted,
    /// The sheet was renamed.
    Renamed,
    /// The sheet exists in both states with the same name.
    Kept,
}

/// Inserted and deleted rows or columns.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AxisDiff {
    /// Inserted spans, in coordinates of the later state.
    #[serde(default, skip_serializing_if = "Spans::is_empty")]
    pub inserted: Spans,
    /// Deleted spans, in coordinates of the earlier state.
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
    /// Returns the differences between this state and another state of the same log.
    #[must_use]
    pub fn diff(&self, to: &Self) -> WorkbookDiff {
        let ids: BTreeSet<SheetId> = self.sheets.keys().chain(to.sheets.keys()).copied().collect();
        let diffs = ids.into_iter().map(|id| self.diff_sheet(id, to));
        let changed = diffs.filter(|diff| diff.change != SheetChange::Kept || !diff.is_empty());
        WorkbookDiff { sheets: changed.collect() }
    }

    fn diff_sheet(&self, id: SheetId, to: &Self) -> SheetDiff {
        let (old_name, new_name) = (self.tabs.name(id), to.tabs.name(id));
        let blank = Sheet::default();
        let (change, content) = match (self.sheets.get(&id), to.sheets.get(&id)) {
            (Some(old), Some(new)) => {
                let is_renamed = old_name != new_name;
                let change = if is_renamed { SheetChange::Renamed } else { SheetChange::Kept };
                (change, diff_contents(old, new))
            }
            (Some(old), None) => {
                // If a sheet was deleted, all its cells count as deleted.
                let deleted_cells = cells_with_ids(old, |_| true);
                (SheetChange::Deleted, SheetDiff { deleted_cells, ..diff_contents(old, old) })
            }
            (None, new) => (SheetChange::Added, diff_contents(&blank, new.unwrap_or(&blank))),
        };
        let name = new_name.or(old_name).unwrap_or_default().to_owned();
        SheetDiff { sheet: id, name, change, ..content }
    }
}

impl AxisDiff {
    fn is_empty(&self) -> bool {
        self.inserted.is_empty() && self.deleted.is_empty()
    }
}

impl SheetDiff {
    fn is_empty(&self) -> bool {
        self.rows.is_empty()
            && self.columns.is_empty()
            && !self.formats_changed
            && self.cells.is_empty()
            && self.deleted_cells.is_empty()
    }
}

/// Compares two states of a sheet. The number, name and sheet change in the result are
/// placeholders.
fn diff_contents(old: &Sheet, new: &Sheet) -> SheetDiff {
    let (new_rows, new_columns) = new.places();
    let is_deleted = |(row, column): CellId| {
        new_rows.index(row).is_none() || new_columns.index(column).is_none()
    };
    let (row_map, column_map) = old.map_to(new);
    SheetDiff {
        sheet: SheetId::FIRST,
        name: String::new(),
        change: SheetChange::Kept,
        rows: diff_axis(Axis::Rows, old, new),
        columns: diff_axis(Axis::Columns, old, new),
        formats_changed: old.formats.mapped(&row_map, &column_map) != new.formats,
        cells: diff_cells(old, new),
        deleted_cells: cells_with_ids(old, is_deleted),
    }
}

/// Returns the cells that differ from the old state, ordered by row and column.
fn diff_cells(old: &Sheet, new: &Sheet) -> Vec<CellDiff> {
    let (old_rows, old_columns) = old.places();
    let (new_rows, new_columns) = new.places();
    let ids: BTreeSet<CellId> = old.cells.keys().chain(new.cells.keys()).copied().collect();
    let mut differing = Vec::new();
    for (row_id, column_id) in ids {
        let (Some(row), Some(column)) = (new_rows.index(row_id), new_columns.index(column_id))
        else {
            continue;
        };
        let after = new.cell(row, column);
        let before = match (old_rows.index(row_id), old_columns.index(column_id)) {
            (Some(old_row), Some(old_column)) => old.cell(old_row, old_column),
            _ => Cell::default(),
        };
        if before != after {
            differing.push(CellDiff { row, column, before, after });
        }
    }
    differing.sort_by_key(|cell| (cell.row, cell.column));
    differing
}

/// Returns the inserted and deleted rows (or columns) within the used range. Ignores rows that an
/// insertion moves past the end of the axis, and rows that a deletion adds there.
fn diff_axis(axis: Axis, old: &Sheet, new: &Sheet) -> AxisDiff {
    let (old_places, new_places) = (old.order(axis).places(), new.order(axis).places());
    AxisDiff {
        inserted: cut_last_span(&new_places.missing_in(&old_places), axis, new.reach(axis)),
        deleted: cut_last_span(&old_places.missing_in(&new_places), axis, old.reach(axis)),
    }
}

/// Truncates a span that extends to the end of the axis to `reach`.
fn cut_last_span(spans: &Spans, axis: Axis, reach: u32) -> Spans {
    let cut = spans.iter().map(|span| {
        if span.end() < axis.limit() {
            span
        } else {
            Span { count: reach.saturating_sub(span.first), ..span }
        }
    });
    Spans::from_sorted(cut.collect())
}

/// Returns the non-blank cells whose ids satisfy `is_wanted`, ordered by row and column.
fn cells_with_ids(sheet: &Sheet, is_wanted: impl Fn(CellId) -> bool) -> Vec<CellAt> {
    let (rows, columns) = sheet.places();
    let wanted_ids = sheet.cells.keys().filter(|id| is_wanted(**id));
    let cells = wanted_ids.filter_map(|(row_id, column_id)| {
        let (row, column) = (rows.index(*row_id)?, columns.index(*column_id)?);
        Some(CellAt { row, column, cell: sheet.cell(row, column) })
    });
    let mut cells: Vec<_> = cells.filter(|cell_at| !cell_at.cell.is_blank()).collect();
    cells.sort_by_key(|cell_at| (cell_at.row, cell_at.column));
    cells
}
