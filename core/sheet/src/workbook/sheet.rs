//! The state of a sheet: its cells, which are stored by row id and column id, and its range
//! formats.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::axis_order::{AxisOrder, IdRun, IndexLookup};
use crate::a1::Rectangle;
use crate::axis_map::{Axis, AxisMap};
use crate::cell::{Cell, GENERAL, Value};
use crate::metadata::{Extent, FormatLayer, SheetMetadata};
use crate::operation::{CellEdit, SetFormat};
use crate::spans::Spans;

/// Id of a cell: its row id and column id.
pub(super) type CellId = (u64, u64);

/// State of one sheet.
#[derive(Debug, Clone, PartialEq)]
pub struct Sheet {
    pub(super) rows: AxisOrder,
    pub(super) columns: AxisOrder,
    /// The cells that are not blank. The number format of a cell, even `General`, overrides the
    /// range formats. A cell without a number format is displayed in the range format.
    pub(super) cells: BTreeMap<CellId, Cell>,
    pub(super) formats: FormatLayer,
    pub(super) extent: Extent,
    cell_bytes: usize,
}

pub(super) struct CellLookup {
    rows: IndexLookup,
    columns: IndexLookup,
}

impl CellLookup {
    /// Returns the row and column of a cell, or `None` if its row or column was deleted.
    pub(super) fn coordinates(&self, (row_id, column_id): CellId) -> Option<(u32, u32)> {
        Some((self.rows.index(row_id)?, self.columns.index(column_id)?))
    }
}

impl Default for Sheet {
    fn default() -> Self {
        Self {
            rows: AxisOrder::new(Axis::Rows),
            columns: AxisOrder::new(Axis::Columns),
            cells: BTreeMap::new(),
            formats: FormatLayer::default(),
            extent: Extent::default(),
            cell_bytes: 0,
        }
    }
}

impl Sheet {
    pub(super) fn metadata(&self) -> SheetMetadata {
        SheetMetadata { extent: self.extent, formats: self.formats.clone() }
    }

    pub(super) fn from_metadata(metadata: &SheetMetadata) -> Self {
        let SheetMetadata { extent, formats } = metadata.clone();
        Self { extent, formats, ..Self::default() }
    }

    /// The used range `extent` already includes the cells that are added later.
    pub(super) fn imported(extent: Extent) -> Self {
        Self { extent, ..Self::default() }
    }

    /// Returns the used range, which changes when rows and columns are inserted or deleted.
    #[must_use]
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// Returns the range formats.
    #[must_use]
    pub fn formats(&self) -> &FormatLayer {
        &self.formats
    }

    /// Returns the approximate size of the sheet in memory, in bytes.
    pub(super) fn bytes(&self) -> usize {
        const SHEET_BYTES: usize = 512;
        const RUN_BYTES: usize = 16;
        let run_count = self.rows.run_count().saturating_add(self.columns.run_count());
        let overhead_bytes = run_count.saturating_mul(RUN_BYTES).saturating_add(SHEET_BYTES);
        self.cell_bytes.saturating_add(self.formats.bytes()).saturating_add(overhead_bytes)
    }

    /// Returns the cells in a rectangle that are not blank, ordered by row and column.
    pub fn cells_in(&self, rectangle: Rectangle) -> impl Iterator<Item = ((u32, u32), Cell)> + '_ {
        let column_lookup = self.columns.index_lookup();
        let columns = rectangle.first.column..=rectangle.last.column;
        let row_runs = self.rows.runs_in(rectangle.first.row, rectangle.last.row.saturating_add(1));
        row_runs.flat_map(move |row_run| self.cells_in_rows(row_run, &columns, &column_lookup))
    }

    /// Returns the cells in the given rows and columns that are not blank, ordered by row and
    /// column.
    fn cells_in_rows(
        &self,
        row_run: IdRun,
        columns: &RangeInclusive<u32>,
        column_lookup: &IndexLookup,
    ) -> Vec<((u32, u32), Cell)> {
        let mut displayed_cells = Vec::new();
        for ((row_id, column_id), stored_cell) in self.stored_cells(row_run) {
            let Some(column) = column_lookup.index(*column_id) else { continue };
            if !columns.contains(&column) {
                continue;
            }
            let coordinates = (row_run.index_of(*row_id), column);
            let displayed_cell = self.with_displayed_format(coordinates, stored_cell);
            if !displayed_cell.is_blank() {
                displayed_cells.push((coordinates, displayed_cell));
            }
        }
        displayed_cells.sort_by_key(|(coordinates, _)| *coordinates);
        displayed_cells
    }

    /// Returns a cell with the number format in which it is displayed. The cell may be blank.
    #[must_use]
    pub fn cell(&self, row: u32, column: u32) -> Cell {
        let stored_cell = self.id(row, column).and_then(|id| self.cells.get(&id));
        self.with_displayed_format((row, column), stored_cell.unwrap_or(&Cell::default()))
    }

    pub(super) fn id(&self, row: u32, column: u32) -> Option<CellId> {
        Some((self.rows.id(row)?, self.columns.id(column)?))
    }

    pub(super) fn order(&self, axis: Axis) -> &AxisOrder {
        match axis {
            Axis::Rows => &self.rows,
            Axis::Columns => &self.columns,
        }
    }

    pub(super) fn map_to(&self, to: &Self) -> (AxisMap, AxisMap) {
        let map = |axis| self.order(axis).map_to(to.order(axis), axis);
        (map(Axis::Rows), map(Axis::Columns))
    }

    /// Returns the number of leading rows or columns that may contain cells or range formats.
    pub(super) fn used_end(&self, axis: Axis) -> u32 {
        self.extent.length(axis).max(self.formats.used_end(axis))
    }

    pub(super) fn cell_lookup(&self) -> CellLookup {
        CellLookup { rows: self.rows.index_lookup(), columns: self.columns.index_lookup() }
    }

    /// Returns the cell with the number format in which it is displayed: its own or that of the
    /// range. `General` becomes `None`.
    fn with_displayed_format(&self, (row, column): (u32, u32), cell: &Cell) -> Cell {
        let format = match &cell.format {
            Some(own_format) => Some(own_format.as_str()),
            None => self.formats.format_at(row, column),
        };
        let displayed_format = format.filter(|format| *format != GENERAL).map(str::to_owned);
        Cell { format: displayed_format, ..cell.clone() }
    }

    fn stored_cells(&self, rows: IdRun) -> impl Iterator<Item = (&CellId, &Cell)> {
        self.cells.range((rows.first_id, 0)..(rows.id_end(), 0))
    }

    pub(super) fn set_cell(&mut self, edit: &CellEdit) {
        let Some(id) = self.id(edit.row, edit.column) else { return };
        self.extent.cover(edit.row, edit.column);
        // `General` must be stored if it overrides a range format. It is stored whenever the sheet
        // has range formats, because checking the ranges for each cell would be too slow.
        let has_range_formats = !self.formats.is_empty();
        self.change_cell(id, |cell| {
            if let Some(value) = &edit.value {
                cell.value = value.clone();
                cell.formula.clone_from(&edit.formula);
            }
            if let Some(format) = &edit.format {
                let is_needed = has_range_formats || format != GENERAL;
                cell.format = if is_needed { Some(format.clone()) } else { None };
            }
        });
    }

    /// Must be called before operations are applied to the sheet.
    pub(super) fn fill(&mut self, (row, column): (u32, u32), cell: Cell) {
        if let Some(id) = self.id(row, column) {
            self.change_cell(id, |stored| *stored = cell);
        }
    }

    pub(super) fn clear(&mut self, rows: &Spans, columns: &Spans) {
        for id in self.ids_in(rows, columns) {
            self.change_cell(id, |cell| {
                cell.value = Value::Empty;
                cell.formula = None;
            });
        }
    }

    /// Adds a range format, which replaces the number formats of individual cells in the range.
    /// No-op if the sheet already has the maximum number of range formats.
    pub(super) fn set_format(&mut self, set_format: &SetFormat) {
        if self.formats.try_set(set_format).is_err() {
            return;
        }
        for id in self.ids_in(&set_format.rows, &set_format.columns) {
            self.change_cell(id, |cell| cell.format = None);
        }
    }

    fn ids_in(&self, rows: &Spans, columns: &Spans) -> Vec<CellId> {
        let column_lookup = self.columns.index_lookup();
        let is_in_columns =
            |id: u64| column_lookup.index(id).is_some_and(|column| columns.contains(column));
        let mut cell_ids = Vec::new();
        for row_run in rows.iter().flat_map(|span| self.rows.runs_in(span.first, span.end())) {
            for ((row_id, column_id), _) in self.stored_cells(row_run) {
                if is_in_columns(*column_id) {
                    cell_ids.push((*row_id, *column_id));
                }
            }
        }
        cell_ids
    }

    fn change_cell(&mut self, id: CellId, change: impl FnOnce(&mut Cell)) {
        let mut cell = self.remove_cell(&id).unwrap_or_default();
        change(&mut cell);
        if !cell.is_blank() {
            self.cell_bytes = self.cell_bytes.saturating_add(weight_bytes(&cell));
            self.cells.insert(id, cell);
        }
    }

    fn remove_cell(&mut self, id: &CellId) -> Option<Cell> {
        let cell = self.cells.remove(id)?;
        self.cell_bytes = self.cell_bytes.saturating_sub(weight_bytes(&cell));
        Some(cell)
    }

    pub(super) fn insert(&mut self, axis: Axis, before: u32, count: u32) {
        let runs_past_end = self.order_mut(axis).insert(before, count);
        self.remove_cells_of(axis, &runs_past_end);
        self.formats.map_ranges(axis, &AxisMap::insert(axis, before, count));
        self.extent.insert(axis, before, count);
    }

    pub(super) fn delete(&mut self, axis: Axis, spans: &Spans) {
        let deleted_runs = self.order_mut(axis).delete(spans);
        self.remove_cells_of(axis, &deleted_runs);
        self.formats.map_ranges(axis, &AxisMap::delete(axis, spans));
        self.extent.delete(axis, spans);
    }

    fn order_mut(&mut self, axis: Axis) -> &mut AxisOrder {
        match axis {
            Axis::Rows => &mut self.rows,
            Axis::Columns => &mut self.columns,
        }
    }

    fn remove_cells_of(&mut self, axis: Axis, deleted_runs: &[IdRun]) {
        let removed_ids: Vec<CellId> = match axis {
            Axis::Rows => {
                let removed_cells = deleted_runs.iter().flat_map(|run| self.stored_cells(*run));
                removed_cells.map(|(id, _)| *id).collect()
            }
            Axis::Columns => {
                let deleted_columns = IndexLookup::of(deleted_runs.iter().copied());
                let is_removed = |(_, column_id): &CellId| deleted_columns.contains(*column_id);
                self.cells.keys().copied().filter(is_removed).collect()
            }
        };
        for id in removed_ids {
            self.remove_cell(&id);
        }
    }
}

pub(super) fn weight_bytes(cell: &Cell) -> usize {
    const FRAME_BYTES: usize = 128;
    let text_bytes = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let value_bytes = match &cell.value {
        Value::Text(text) => text.len(),
        _ => 0,
    };
    FRAME_BYTES + value_bytes + text_bytes(&cell.formula) + text_bytes(&cell.format)
}
