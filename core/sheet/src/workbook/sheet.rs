//! The state of a sheet: its cells, which are stored by row id and column id, and its range
//! formats.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::axis_order::{AxisOrder, IdRun, IndexLookup};
use super::replaced_lines::replaced_lines;
use super::stored_formula::{MovesAfter, StoredFormula};
use crate::axis_map::{Axis, AxisMap};
use crate::cell::{GENERAL, Value};
use crate::metadata::{Extent, FormatLayer, SheetMetadata};
use crate::operation::{CellEdit, SetFormat};
use cellar_formula::changes::SheetLines;
use cellar_formula::reference::Reference;
use cellar_grid::{SheetId, Spans};

/// Id of a cell: its row id and column id.
pub(super) type CellId = (u64, u64);

/// Content and number format of a cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct StoredCell {
    pub(super) value: Value,
    pub(super) formula: Option<StoredFormula>,
    pub(super) format: Option<String>,
}

impl StoredCell {
    fn is_blank(&self) -> bool {
        self.value == Value::Empty && self.formula.is_none() && self.format.is_none()
    }

    /// Returns whether the values are equal. The value of a formula does not count, because it depends
    /// on the snapshot from which it was read.
    pub(super) fn has_value_of(&self, other: &Self) -> bool {
        let have_formulas = self.formula.is_some() && other.formula.is_some();
        have_formulas || self.value == other.value
    }

    fn weight_bytes(&self) -> usize {
        const FRAME_BYTES: usize = 128;
        let formula_bytes = self.formula.as_ref().map_or(0, StoredFormula::bytes);
        let format_bytes = self.format.as_ref().map_or(0, String::len);
        let value_bytes = match &self.value {
            Value::Text(text) => text.len(),
            _ => 0,
        };
        FRAME_BYTES + value_bytes + formula_bytes + format_bytes
    }
}

/// State of one sheet.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sheet {
    pub(super) rows: AxisOrder,
    pub(super) columns: AxisOrder,
    /// The cells that are not blank. The number format of a cell, even `General`, overrides the
    /// range formats. A cell without a number format is displayed in the range format.
    pub(super) cells: BTreeMap<CellId, StoredCell>,
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

    /// Returns the approximate size of the sheet in memory, in bytes.
    pub(super) fn bytes(&self) -> usize {
        const SHEET_BYTES: usize = 512;
        const RUN_BYTES: usize = 16;
        let run_count = self.rows.run_count().saturating_add(self.columns.run_count());
        let overhead_bytes = run_count.saturating_mul(RUN_BYTES).saturating_add(SHEET_BYTES);
        self.cell_bytes.saturating_add(self.formats.bytes()).saturating_add(overhead_bytes)
    }

    pub(super) fn cell_count(&self) -> u64 {
        u64::try_from(self.cells.len()).unwrap_or(u64::MAX)
    }

    /// Returns a sheet that displays the same, and whose rows and columns have the ids of a new sheet.
    /// The rows of two different sheets can thus be compared by their index.
    pub(super) fn with_new_ids(&self) -> Self {
        self.with_orders(&AxisOrder::new(Axis::Rows), &AxisOrder::new(Axis::Columns))
    }

    /// Returns a copy whose later rows and columns have other ids than those that are added to this
    /// sheet.
    pub(super) fn branch(&self) -> Self {
        Self { rows: self.rows.branch(), columns: self.columns.branch(), ..self.clone() }
    }

    /// Returns a sheet that displays the same. Rows and columns that both branches inserted at the
    /// same place have the ids of `other`. Both branches come from `shared`.
    pub(super) fn with_ids_of(&self, other: &Self, shared: &Self) -> Self {
        let (rows, row_id) = self.rows.with_ids_of(&other.rows, shared.rows.next_id());
        let (columns, column_id) =
            self.columns.with_ids_of(&other.columns, shared.columns.next_id());
        Self { rows, columns, ..self.with_cell_ids(row_id, column_id) }
    }

    /// Returns a sheet that displays the same. Rows and columns that replaced as many of the earlier
    /// state `earlier` have the ids that they had there.
    pub(super) fn with_replaced_ids(&self, earlier: &Self) -> Cow<'_, Self> {
        let (rows, columns) = earlier.map_to(self);
        let (rows, columns) = (replaced_lines(&rows), replaced_lines(&columns));
        if rows.is_empty() && columns.is_empty() {
            return Cow::Borrowed(self);
        }
        let (rows, row_id) = self.rows.with_replaced_ids(&earlier.rows, &rows);
        let (columns, column_id) = self.columns.with_replaced_ids(&earlier.columns, &columns);
        Cow::Owned(Self { rows, columns, ..self.with_cell_ids(row_id, column_id) })
    }

    /// Returns a sheet that displays the same, and whose rows and columns have other ids.
    pub(super) fn with_orders(&self, rows: &AxisOrder, columns: &AxisOrder) -> Self {
        let mut sheet = Self { cells: BTreeMap::new(), cell_bytes: 0, ..self.clone() };
        (sheet.rows, sheet.columns) = (rows.clone(), columns.clone());
        let lookup = self.cell_lookup();
        for (cell_id, cell) in &self.cells {
            if let Some(coordinates) = lookup.coordinates(*cell_id) {
                sheet.fill(coordinates, cell.clone());
            }
        }
        sheet
    }

    fn with_cell_ids(&self, row_id: impl Fn(u64) -> u64, column_id: impl Fn(u64) -> u64) -> Self {
        let renamed = |((row, column), cell): (&CellId, &StoredCell)| {
            ((row_id(*row), column_id(*column)), cell.clone())
        };
        let cells = self.cells.iter().map(renamed).collect();
        Self { cells, ..self.clone() }
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

    /// Returns how references follow the rows and columns, which are matched by id.
    pub(super) fn lines_to(&self, to: &Self) -> SheetLines {
        let (rows, columns) = self.map_to(to);
        SheetLines::of_axis_maps(rows, columns)
    }

    /// Returns the number of leading rows or columns that may contain cells or range formats.
    pub(super) fn used_end(&self, axis: Axis) -> u32 {
        self.extent.length(axis).max(self.formats.used_end(axis))
    }

    pub(super) fn cell_lookup(&self) -> CellLookup {
        CellLookup { rows: self.rows.index_lookup(), columns: self.columns.index_lookup() }
    }

    /// Returns the number format in which a cell is displayed: its own or that of the range. `General`
    /// becomes `None`.
    pub(super) fn displayed_format<'s>(
        &'s self,
        row: u32,
        column: u32,
        cell: &'s StoredCell,
    ) -> Option<&'s str> {
        let own_format = cell.format.as_deref();
        own_format
            .or_else(|| self.formats.format_at(row, column))
            .filter(|format| *format != GENERAL)
    }

    pub(super) fn stored_cell(&self, row: u32, column: u32) -> Option<&StoredCell> {
        self.cells.get(&self.id(row, column)?)
    }

    pub(super) fn stored_cells(&self, rows: IdRun) -> impl Iterator<Item = (&CellId, &StoredCell)> {
        self.cells.range((rows.first_id, 0)..(rows.id_end(), 0))
    }

    /// `formula` is the formula of the edit.
    pub(super) fn set_cell(&mut self, edit: &CellEdit, formula: Option<StoredFormula>) {
        let Some(id) = self.id(edit.row, edit.column) else { return };
        self.extent.cover(edit.row, edit.column);
        // `General` must be stored if it overrides a range format. It is stored whenever the sheet
        // has range formats, because checking the ranges for each cell would be too slow.
        let has_range_formats = !self.formats.is_empty();
        self.change_cell(id, |cell| {
            if let Some(value) = &edit.value {
                cell.value = value.clone();
                cell.formula = formula;
            }
            if let Some(format) = &edit.format {
                let is_needed = has_range_formats || format != GENERAL;
                cell.format = if is_needed { Some(format.clone()) } else { None };
            }
        });
    }

    /// Must be called before operations are applied to the sheet.
    pub(super) fn fill(&mut self, (row, column): (u32, u32), cell: StoredCell) {
        if let Some(id) = self.id(row, column) {
            self.fill_by_id(id, cell);
        }
    }

    pub(super) fn fill_by_id(&mut self, id: CellId, cell: StoredCell) {
        self.change_cell(id, |stored| *stored = cell);
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

    pub(super) fn drop_cells(&mut self) {
        self.cells.clear();
        self.cell_bytes = 0;
    }

    fn change_cell(&mut self, id: CellId, change: impl FnOnce(&mut StoredCell)) {
        let mut cell = self.remove_cell(&id).unwrap_or_default();
        change(&mut cell);
        if !cell.is_blank() {
            self.cell_bytes = self.cell_bytes.saturating_add(cell.weight_bytes());
            self.cells.insert(id, cell);
        }
    }

    fn remove_cell(&mut self, id: &CellId) -> Option<StoredCell> {
        let cell = self.cells.remove(id)?;
        self.cell_bytes = self.cell_bytes.saturating_sub(cell.weight_bytes());
        Some(cell)
    }

    /// Lets all formulas follow all moves of the workbook.
    pub(super) fn resolve_formulas(&mut self, own_id: SheetId, moves: &mut MovesAfter<'_>) {
        for cell in self.cells.values_mut() {
            let bytes_before = cell.weight_bytes();
            if let Some(formula) = &mut cell.formula {
                formula.resolve(own_id, moves);
            }
            let bytes_without_cell = self.cell_bytes.saturating_sub(bytes_before);
            self.cell_bytes = bytes_without_cell.saturating_add(cell.weight_bytes());
        }
    }

    /// Changes the references of all formulas, which must have followed all moves. The changed
    /// formulas count as those of a workbook without moves.
    pub(super) fn map_references(&mut self, change: impl Fn(&Reference) -> Reference) {
        for formula in self.cells.values_mut().filter_map(|cell| cell.formula.as_mut()) {
            formula.map_references(&change);
        }
        self.cell_bytes = self.cells.values().map(StoredCell::weight_bytes).sum();
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
