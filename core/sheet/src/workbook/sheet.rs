//! One sheet: its cells, keyed by the ids of row and column, and its range formats.

use std::collections::BTreeMap;

use super::axis_order::{AxisOrder, IdRun, Places};
use crate::a1::Rectangle;
use crate::axis_map::{Axis, AxisMap};
use crate::cell::{Cell, GENERAL, Value};
use crate::metadata::{Extent, FormatLayer, SheetMetadata};
use crate::operation::{CellEdit, SetFormat};
use crate::spans::Spans;

/// Id of a cell: of its row, then of its column.
pub(super) type CellId = (u64, u64);

/// State of one sheet.
#[derive(Debug, Clone, PartialEq)]
pub struct Sheet {
    pub(super) rows: AxisOrder,
    pub(super) columns: AxisOrder,
    /// Non-blank cells. A format here belongs to the cell itself and overrides those of ranges;
    /// `General` hides a range's format; absent shows it.
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
    /// Creates a sheet without cells from its metadata.
    pub(super) fn from_metadata(metadata: &SheetMetadata) -> Self {
        let SheetMetadata { extent, formats } = metadata.clone();
        Self { extent, formats, ..Self::default() }
    }

    /// Creates a sheet whose cells up to this extent are added later.
    pub(super) fn imported(extent: Extent) -> Self {
        Self { extent, ..Self::default() }
    }

    /// How far it was ever written to, as rows and columns were inserted and deleted since.
    #[must_use]
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// Returns the range formats.
    #[must_use]
    pub fn formats(&self) -> &FormatLayer {
        &self.formats
    }

    /// Returns the approximate size in memory, in bytes.
    pub(super) fn bytes(&self) -> usize {
        const SHEET_BYTES: usize = 512;
        const RUN_BYTES: usize = 16;
        let runs = self.rows.run_count().saturating_add(self.columns.run_count());
        let around = runs.saturating_mul(RUN_BYTES).saturating_add(self.formats.bytes());
        self.bytes.saturating_add(around).saturating_add(SHEET_BYTES)
    }

    /// Returns the non-blank cells of a rectangle, ordered by row and column.
    pub fn cells_in(&self, rectangle: Rectangle) -> impl Iterator<Item = ((u32, u32), Cell)> + '_ {
        let columns = self.columns.places();
        let within =
            move |column: &u32| (rectangle.first.column..=rectangle.last.column).contains(column);
        let rows = self.rows.parts(rectangle.first.row, rectangle.last.row.saturating_add(1));
        rows.flat_map(move |run| {
            let mut found: Vec<((u32, u32), Cell)> = self
                .held(run)
                .filter_map(|((row, column), cell)| {
                    let column = columns.index(*column).filter(within)?;
                    let offset = u32::try_from(row.saturating_sub(run.id)).ok()?;
                    let place = (run.index.saturating_add(offset), column);
                    Some((place, self.resolved(place, cell)))
                })
                .filter(|(_, cell)| !cell.is_blank())
                .collect();
            found.sort_by_key(|(place, _)| *place);
            found
        })
    }

    /// Returns the cell at a place, blank or not.
    #[must_use]
    pub fn cell(&self, row: u32, column: u32) -> Cell {
        let held = self.id(row, column).and_then(|id| self.cells.get(&id));
        self.resolved((row, column), held.unwrap_or(&Cell::default()))
    }

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

    /// Returns the axis maps of rows and columns to another state of the sheet.
    pub(super) fn map_to(&self, to: &Self) -> (AxisMap, AxisMap) {
        let map = |axis| self.order(axis).map_to(to.order(axis), axis);
        (map(Axis::Rows), map(Axis::Columns))
    }

    /// Returns the end of cells and range formats: after it, all rows or columns are alike.
    pub(super) fn reach(&self, axis: Axis) -> u32 {
        let written = match axis {
            Axis::Rows => self.extent.rows,
            Axis::Columns => self.extent.columns,
        };
        written.max(self.formats.reach(axis))
    }

    pub(super) fn places(&self) -> (Places, Places) {
        (self.rows.places(), self.columns.places())
    }

    /// Returns the cell as displayed, with the range's format if it has none of its own.
    fn resolved(&self, place: (u32, u32), cell: &Cell) -> Cell {
        let format = match &cell.format {
            Some(own) => Some(own.as_str()),
            None => self.formats.at(place.0, place.1),
        };
        let format = format.filter(|format| *format != GENERAL).map(str::to_owned);
        Cell { format, ..cell.clone() }
    }

    fn held(&self, rows: IdRun) -> impl Iterator<Item = (&CellId, &Cell)> {
        self.cells.range((rows.id, 0)..(rows.id_end(), 0))
    }

    pub(super) fn set_cell(&mut self, edit: &CellEdit) {
        let Some(id) = self.id(edit.row, edit.column) else { return };
        self.extent.cover(edit.row, edit.column);
        // An operation has many cells, so this is only checked once.
        let below = !self.formats.is_empty();
        self.change(id, |cell| {
            if let Some(value) = &edit.value {
                cell.value = value.clone();
                cell.formula.clone_from(&edit.formula);
            }
            if let Some(format) = &edit.format {
                cell.format = (below || format != GENERAL).then(|| format.clone());
            }
        });
    }

    /// Adds a cell that existed before all operations applied here.
    pub(super) fn fill(&mut self, (row, column): (u32, u32), cell: Cell) {
        if let Some(id) = self.id(row, column) {
            self.change(id, |held| *held = cell);
        }
    }

    pub(super) fn clear(&mut self, rows: &Spans, columns: &Spans) {
        for id in self.ids_in(rows, columns) {
            self.change(id, |cell| {
                cell.value = Value::Empty;
                cell.formula = None;
            });
        }
    }

    /// Adds a range format; has no effect if there are too many.
    pub(super) fn set_format(&mut self, set: &SetFormat) {
        if !self.formats.set(set) {
            return;
        }
        for id in self.ids_in(&set.rows, &set.columns) {
            self.change(id, |cell| cell.format = None);
        }
    }

    fn ids_in(&self, rows: &Spans, columns: &Spans) -> Vec<CellId> {
        let places = self.columns.places();
        let inside = |column: u64| places.index(column).is_some_and(|at| columns.contains(at));
        let runs = rows.iter().flat_map(|span| self.rows.parts(span.first, span.end()));
        let held = runs.flat_map(|run| self.held(run));
        held.map(|(id, _)| *id).filter(|(_, column)| inside(*column)).collect()
    }

    fn change(&mut self, id: CellId, change: impl FnOnce(&mut Cell)) {
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
        let pushed_out = order.insert(before, count);
        self.forget(axis, &pushed_out);
        let map = AxisMap::insert(axis, before, count);
        self.formats.map(axis, &map);
        self.extent.insert(axis, before, count);
    }

    pub(super) fn delete(&mut self, axis: Axis, spans: &Spans) {
        let order = self.order_mut(axis);
        let deleted = order.delete(spans);
        self.forget(axis, &deleted);
        self.formats.map(axis, &AxisMap::delete(axis, spans));
        self.extent.delete(axis, spans);
    }

    fn order_mut(&mut self, axis: Axis) -> &mut AxisOrder {
        match axis {
            Axis::Rows => &mut self.rows,
            Axis::Columns => &mut self.columns,
        }
    }

    fn forget(&mut self, axis: Axis, runs: &[IdRun]) {
        let gone: Vec<CellId> = match axis {
            Axis::Rows => runs.iter().flat_map(|run| self.held(*run)).map(|(id, _)| *id).collect(),
            Axis::Columns => {
                let columns = Places::of(runs.iter().copied());
                self.cells.keys().copied().filter(|(_, column)| columns.holds(*column)).collect()
            }
        };
        for id in gone {
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
