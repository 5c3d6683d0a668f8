//! State of one sheet: its range formats, and its cells keyed by row id and column id.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::axis_order::{AxisOrder, IdRun, Places};
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
    /// Non-blank cells. A cell's own format overrides range formats, even if it is `General`; a
    /// cell without one takes the range format.
    pub(super) cells: BTreeMap<CellId, Cell>,
    pub(super) formats: FormatLayer,
    pub(super) extent: Extent,
    bytes: usize,
}

impl Default for Sheet {
    fn default() -> Self {
        Self {
            rows: AxisOrder::new(Axis::Rows),
            columns: AxisOrder::new(Axis::Columns),
            cells: BTreeMap::new(),
            formats: FormatLayer::default(),
            extent: Extent::default(),
            bytes: 0,
        }
    }
}

impl Sheet {
    /// Returns the sheet metadata: its state without cells.
    pub(super) fn metadata(&self) -> SheetMetadata {
        SheetMetadata { extent: self.extent, formats: self.formats.clone() }
    }

    /// Creates a sheet without cells from its metadata.
    pub(super) fn from_metadata(metadata: &SheetMetadata) -> Self {
        let SheetMetadata { extent, formats } = metadata.clone();
        Self { extent, formats, ..Self::default() }
    }

    /// Creates a sheet without cells. Its used range is `extent`; the cells are added later.
    pub(super) fn imported(extent: Extent) -> Self {
        Self { extent, ..Self::default() }
    }

    /// Returns the used range, adjusted to inserts and deletes of rows and columns.
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
        let runs = self.rows.run_count().saturating_add(self.columns.run_count());
        let overhead = runs.saturating_mul(RUN_BYTES).saturating_add(self.formats.bytes());
        self.bytes.saturating_add(overhead).saturating_add(SHEET_BYTES)
    }

    /// Returns the non-blank cells in a rectangle, ordered by row and column.
    pub fn cells_in(&self, rectangle: Rectangle) -> impl Iterator<Item = ((u32, u32), Cell)> + '_ {
        let column_places = self.columns.places();
        let columns = rectangle.first.column..=rectangle.last.column;
        let row_runs = self.rows.parts(rectangle.first.row, rectangle.last.row.saturating_add(1));
        row_runs.flat_map(move |run| self.cells_in_rows(run, &columns, &column_places))
    }

    /// Returns the non-blank cells in a run of rows, limited to the given columns, ordered by row
    /// and column.
    fn cells_in_rows(
        &self,
        run: IdRun,
        columns: &RangeInclusive<u32>,
        column_places: &Places,
    ) -> Vec<((u32, u32), Cell)> {
        let mut found = Vec::new();
        for ((row_id, column_id), cell) in self.stored_cells(run) {
            let Some(column) = column_places.index(*column_id) else { continue };
            if !columns.contains(&column) {
                continue;
            }
            let place = (run.index_of(*row_id), column);
            let cell = self.with_displayed_format(place, cell);
            if !cell.is_blank() {
                found.push((place, cell));
            }
        }
        found.sort_by_key(|(place, _)| *place);
        found
    }

    /// Returns the cell at `row` and `column` with its displayed format. The cell may be blank.
    #[must_use]
    pub fn cell(&self, row: u32, column: u32) -> Cell {
        let stored = self.id(row, column).and_then(|id| self.cells.get(&id));
        self.with_displayed_format((row, column), stored.unwrap_or(&Cell::default()))
    }

    /// Returns the id of the cell at `row` and `column`.
    pub(super) fn id(&self, row: u32, column: u32) -> Option<CellId> {
        Some((self.rows.id(row)?, self.columns.id(column)?))
    }

    /// Returns the order of rows or columns.
    pub(super) fn order(&self, axis: Axis) -> &AxisOrder {
        match axis {
            Axis::Rows => &self.rows,
            Axis::Columns => &self.columns,
        }
    }

    /// Returns the row and column axis maps from this state of the sheet to the state `to`.
    pub(super) fn map_to(&self, to: &Self) -> (AxisMap, AxisMap) {
        let map = |axis| self.order(axis).map_to(to.order(axis), axis);
        (map(Axis::Rows), map(Axis::Columns))
    }

    /// Returns the number of leading rows (or columns) that may contain cells or range formats. All
    /// later rows (or columns) have the same contents.
    pub(super) fn reach(&self, axis: Axis) -> u32 {
        self.extent.along(axis).max(self.formats.reach(axis))
    }

    /// Returns lookup tables from row and column ids to indices.
    pub(super) fn places(&self) -> (Places, Places) {
        (self.rows.places(), self.columns.places())
    }

    /// Returns the cell with its displayed format: its own format, or else the range format.
    /// `General` becomes `None`.
    fn with_displayed_format(&self, place: (u32, u32), cell: &Cell) -> Cell {
        let format = match &cell.format {
            Some(own) => Some(own.as_str()),
            None => self.formats.at(place.0, place.1),
        };
        let format = format.filter(|format| *format != GENERAL).map(str::to_owned);
        Cell { format, ..cell.clone() }
    }

    /// Returns the stored cells of a run of rows.
    fn stored_cells(&self, rows: IdRun) -> impl Iterator<Item = (&CellId, &Cell)> {
        self.cells.range((rows.id, 0)..(rows.id_end(), 0))
    }

    pub(super) fn set_cell(&mut self, edit: &CellEdit) {
        let Some(id) = self.id(edit.row, edit.column) else { return };
        self.extent.cover(edit.row, edit.column);
        // Stores `General` if the sheet has range formats that it may override. Looking up the
        // range format of each cell would be too slow.
        let has_range_formats = !self.formats.is_empty();
        self.change_cell(id, |cell| {
            if let Some(value) = &edit.value {
                cell.value = value.clone();
                cell.formula.clone_from(&edit.formula);
            }
            if let Some(format) = &edit.format {
                cell.format = (has_range_formats || format != GENERAL).then(|| format.clone());
            }
        });
    }

    /// Sets a cell that existed before any of the applied operations.
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

    /// Adds a range format and removes the formats of individual cells in the range. No-op if the
    /// sheet already has the maximum number of range formats.
    pub(super) fn set_format(&mut self, set: &SetFormat) {
        if !self.formats.set(set) {
            return;
        }
        for id in self.ids_in(&set.rows, &set.columns) {
            self.change_cell(id, |cell| cell.format = None);
        }
    }

    /// Returns the ids of the stored cells in a range.
    fn ids_in(&self, rows: &Spans, columns: &Spans) -> Vec<CellId> {
        let column_places = self.columns.places();
        let is_in_columns =
            |id: u64| column_places.index(id).is_some_and(|column| columns.contains(column));
        let row_runs = rows.iter().flat_map(|span| self.rows.parts(span.first, span.end()));
        let ids = row_runs.flat_map(|run| self.stored_cells(run)).map(|(id, _)| *id);
        ids.filter(|(_, column_id)| is_in_columns(*column_id)).collect()
    }

    fn change_cell(&mut self, id: CellId, change: impl FnOnce(&mut Cell)) {
        let before = self.cells.remove(&id);
        self.bytes = self.bytes.saturating_sub(before.as_ref().map_or(0, weight_bytes));
        let mut cell = before.unwrap_or_default();
        change(&mut cell);
        if !cell.is_blank() {
            self.bytes = self.bytes.saturating_add(weight_bytes(&cell));
            self.cells.insert(id, cell);
        }
    }

    pub(super) fn insert(&mut self, axis: Axis, before: u32, count: u32) {
        let order = self.order_mut(axis);
        let moved_past_end = order.insert(before, count);
        self.remove_cells(axis, &moved_past_end);
        let map = AxisMap::insert(axis, before, count);
        self.formats.map(axis, &map);
        self.extent.insert(axis, before, count);
    }

    pub(super) fn delete(&mut self, axis: Axis, spans: &Spans) {
        let order = self.order_mut(axis);
        let deleted = order.delete(spans);
        self.remove_cells(axis, &deleted);
        self.formats.map(axis, &AxisMap::delete(axis, spans));
        self.extent.delete(axis, spans);
    }

    fn order_mut(&mut self, axis: Axis) -> &mut AxisOrder {
        match axis {
            Axis::Rows => &mut self.rows,
            Axis::Columns => &mut self.columns,
        }
    }

    /// Removes the cells of deleted rows or columns.
    fn remove_cells(&mut self, axis: Axis, runs: &[IdRun]) {
        let removed: Vec<CellId> = match axis {
            Axis::Rows => {
                runs.iter().flat_map(|run| self.stored_cells(*run)).map(|(id, _)| *id).collect()
            }
            Axis::Columns => {
                let columns = Places::of(runs.iter().copied());
                self.cells.keys().copied().filter(|(_, column)| columns.contains(*column)).collect()
            }
        };
        for id in removed {
            let cell = self.cells.remove(&id);
            self.bytes = self.bytes.saturating_sub(cell.as_ref().map_or(0, weight_bytes));
        }
    }
}

/// Returns the approximate size of a cell in memory, in bytes.
pub(super) fn weight_bytes(cell: &Cell) -> usize {
    const FRAME_BYTES: usize = 128;
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let value = match &cell.value {
        Value::Text(text) => text.len(),
        _ => 0,
    };
    FRAME_BYTES + value + length(&cell.formula) + length(&cell.format)
}
