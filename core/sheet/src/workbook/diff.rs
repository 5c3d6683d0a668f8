//! The differences between two states of a spreadsheet.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::axis_order::Places;
use super::{Sheet, Workbook};
use crate::axis_map::Axis;
use crate::cell::Cell;
use crate::operation::{SheetId, Span, Spans};

/// A cell with its row and column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CellAt {
    /// Row, from 0.
    pub row: u32,
    /// Column, from 0.
    pub column: u32,
    /// Content.
    #[serde(flatten)]
    pub cell: Cell,
}

/// The sheets that differ.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WorkbookDiff {
    /// Sheets, by number.
    pub sheets: Vec<SheetDiff>,
}

/// The differences in one sheet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SheetDiff {
    /// Sheet id.
    pub sheet: SheetId,
    /// Name in the later state, or in the earlier one if the sheet was deleted.
    pub name: String,
    /// Change of the sheet itself.
    pub change: SheetChange,
    /// Inserted and deleted rows.
    pub rows: AxisDiff,
    /// Inserted and deleted columns.
    pub columns: AxisDiff,
    /// Set if range formats differ, apart from moved ranges.
    pub formats_changed: bool,
    /// Cells that differ, in coordinates of the later state.
    pub cells: Vec<CellDiff>,
    /// Cells deleted with their row, column or sheet, in coordinates of the earlier state.
    pub deleted_cells: Vec<CellAt>,
}

/// Change of a sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SheetChange {
    /// Exists only in the later state.
    Added,
    /// Exists only in the earlier state.
    Deleted,
    /// Was renamed.
    Renamed,
    /// Exists in both states under the same name.
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

/// A cell that differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CellDiff {
    /// Row in the later state.
    pub row: u32,
    /// Column in the later state.
    pub column: u32,
    /// Content in the earlier state.
    pub before: Cell,
    /// Content in the later state.
    pub after: Cell,
}

impl Workbook {
    /// Returns the differences between this state and a later (or earlier) one of the same log.
    #[must_use]
    pub fn diff(&self, to: &Self) -> WorkbookDiff {
        let ids: BTreeSet<SheetId> = self.sheets.keys().chain(to.sheets.keys()).copied().collect();
        let sheets = ids.into_iter().filter_map(|id| {
            let blank = Sheet::default();
            let names = (self.tabs.name(id), to.tabs.name(id));
            let (from, to) = (self.sheets.get(&id), to.sheets.get(&id));
            let change = match (from, to) {
                (None, _) => SheetChange::Added,
                (_, None) => SheetChange::Deleted,
                (Some(_), Some(_)) if names.0 != names.1 => SheetChange::Renamed,
                _ => SheetChange::Kept,
            };
            let name = names.1.or(names.0).unwrap_or_default().to_owned();
            let diff = match (from, to) {
                // The cells of a deleted sheet are deleted with it.
                (Some(from), None) => {
                    let deleted = placed(from, |_| true);
                    SheetDiff { deleted_cells: deleted, ..between(from, from) }
                }
                (from, to) => between(from.unwrap_or(&blank), to.unwrap_or(&blank)),
            };
            let diff = SheetDiff { sheet: id, name, change, ..diff };
            (diff.change != SheetChange::Kept || !diff.is_empty()).then_some(diff)
        });
        WorkbookDiff { sheets: sheets.collect() }
    }
}

impl SheetDiff {
    fn is_empty(&self) -> bool {
        let axis = |diff: &AxisDiff| diff.inserted.is_empty() && diff.deleted.is_empty();
        axis(&self.rows)
            && axis(&self.columns)
            && !self.formats_changed
            && self.cells.is_empty()
            && self.deleted_cells.is_empty()
    }
}

fn between(from: &Sheet, to: &Sheet) -> SheetDiff {
    let (from_rows, from_columns) = from.places();
    let (to_rows, to_columns) = to.places();
    let (rows_moved, columns_moved) = from.map_to(to);
    let ids: BTreeSet<_> = from.cells.keys().chain(to.cells.keys()).copied().collect();
    let cells = ids.into_iter().filter_map(|(row, column)| {
        let (row_now, column_now) = (to_rows.index(row)?, to_columns.index(column)?);
        let after = to.cell(row_now, column_now);
        let before = match (from_rows.index(row), from_columns.index(column)) {
            (Some(row), Some(column)) => from.cell(row, column),
            _ => Cell::default(),
        };
        (before != after).then_some(CellDiff { row: row_now, column: column_now, before, after })
    });
    let mut cells: Vec<CellDiff> = cells.collect();
    cells.sort_by_key(|cell| (cell.row, cell.column));
    let gone = |(row, column): (u64, u64)| {
        to_rows.index(row).is_none() || to_columns.index(column).is_none()
    };
    SheetDiff {
        sheet: SheetId::FIRST,
        name: String::new(),
        change: SheetChange::Kept,
        rows: axis_diff(Axis::Rows, (from, &from_rows), (to, &to_rows)),
        columns: axis_diff(Axis::Columns, (from, &from_columns), (to, &to_columns)),
        formats_changed: from.formats.mapped(&rows_moved, &columns_moved) != to.formats,
        cells,
        deleted_cells: placed(from, gone),
    }
}

/// Compares rows or columns up to the end of the used range: rows that an insert moves past the end
/// of the largest sheet, or that a delete adds there, are not a difference.
fn axis_diff(axis: Axis, from: (&Sheet, &Places), to: (&Sheet, &Places)) -> AxisDiff {
    let within = |spans: Spans, sheet: &Sheet| {
        let reach = sheet.reach(axis);
        let cut = spans.iter().map(|span| match span.end() < axis.limit() {
            true => span,
            false => Span { count: reach.saturating_sub(span.first), ..span },
        });
        Spans::from_sorted(cut.collect())
    };
    AxisDiff {
        inserted: within(to.1.missing_in(from.1), to.0),
        deleted: within(from.1.missing_in(to.1), from.0),
    }
}

/// Returns the cells whose ids match, with their places.
fn placed(sheet: &Sheet, wanted: impl Fn((u64, u64)) -> bool) -> Vec<CellAt> {
    let (rows, columns) = sheet.places();
    let held = sheet.cells.keys().filter(|id| wanted(**id));
    let placed = held.filter_map(|(row, column)| {
        let (row, column) = (rows.index(*row)?, columns.index(*column)?);
        Some(CellAt { row, column, cell: sheet.cell(row, column) })
    });
    let mut placed: Vec<_> = placed.filter(|placed| !placed.cell.is_blank()).collect();
    placed.sort_by_key(|placed| (placed.row, placed.column));
    placed
}
