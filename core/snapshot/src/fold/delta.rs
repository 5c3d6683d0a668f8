//! Changes that log entries make to one sheet, computed without reading older cells.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::level::Region;
use cellar_sheet::axis_map::{Axis, AxisMap};
use cellar_sheet::cell::Value;
use cellar_sheet::metadata::Extent;
use cellar_sheet::metadata::SheetMetadata;
use cellar_sheet::operation::{CellEdit, Spans};
use cellar_sheet::workbook::axis_order::{AxisOrder, IdRun, IndexLookup};

/// Cell id: row id and column id. An id below the axis limit is an index in the next older level.
pub(super) type CellId = (u64, u64);

/// Changes to one cell. An unset field leaves the older value or format visible.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct DeltaCell {
    /// New value and formula; `Empty` hides the older ones.
    pub(super) value: Option<(Value, Option<String>)>,
    /// New cell format; `General` hides an older format.
    pub(super) format: Option<String>,
}

impl DeltaCell {
    fn is_nothing(&self) -> bool {
        self.value.is_none() && self.format.is_none()
    }

    fn memory_bytes(&self) -> usize {
        const OVERHEAD_BYTES: usize = 160;
        if self.is_nothing() {
            return 0;
        }
        let text_bytes = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let value_bytes = match &self.value {
            Some((Value::Text(text), formula)) => text.len().saturating_add(text_bytes(formula)),
            Some((_, formula)) => text_bytes(formula),
            None => 0,
        };
        OVERHEAD_BYTES.saturating_add(value_bytes).saturating_add(text_bytes(&self.format))
    }
}

/// Accumulated changes to one sheet.
#[derive(Debug, Clone)]
pub(super) struct Delta {
    pub(super) rows: AxisOrder,
    pub(super) columns: AxisOrder,
    pub(super) cells: BTreeMap<CellId, DeltaCell>,
    /// Regions in which older values are hidden.
    pub(super) value_clears: Vec<Region>,
    /// Regions in which older cell formats are hidden.
    pub(super) format_clears: Vec<Region>,
    cell_bytes: usize,
}

impl Default for Delta {
    fn default() -> Self {
        Self {
            rows: AxisOrder::new(Axis::Rows),
            columns: AxisOrder::new(Axis::Columns),
            cells: BTreeMap::new(),
            value_clears: Vec::new(),
            format_clears: Vec::new(),
            cell_bytes: 0,
        }
    }
}

impl Delta {
    /// Returns the approximate memory use in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        const RUN_BYTES: usize = 16;
        let runs = self.rows.run_count().saturating_add(self.columns.run_count());
        self.cell_bytes.saturating_add(runs.saturating_mul(RUN_BYTES))
    }

    /// Returns the number of axis runs or cleared spans, whichever is larger. Every insert or
    /// delete must scan or update all of them.
    pub(super) fn count_changes(&self) -> usize {
        let regions = self.value_clears.iter().chain(&self.format_clears);
        let spans = regions.map(Region::spans).fold(0, usize::saturating_add);
        spans.max(self.rows.run_count()).max(self.columns.run_count())
    }

    pub(super) fn set_cell(&mut self, extent: &mut Extent, edit: &CellEdit) {
        let id = (self.rows.id(edit.row), self.columns.id(edit.column));
        let (Some(row), Some(column)) = id else { return };
        extent.cover(edit.row, edit.column);
        self.change_cell((row, column), |cell| {
            if let Some(value) = &edit.value {
                cell.value = Some((value.clone(), edit.formula.clone()));
            }
            if let Some(format) = &edit.format {
                cell.format = Some(format.clone());
            }
        });
    }

    pub(super) fn clear(&mut self, rows: &Spans, columns: &Spans) {
        for id in self.cells_in(rows, columns) {
            self.change_cell(id, |cell| cell.value = None);
        }
        add_region(&mut self.value_clears, rows, columns);
    }

    pub(super) fn clear_formats(&mut self, rows: &Spans, columns: &Spans) {
        for id in self.cells_in(rows, columns) {
            self.change_cell(id, |cell| cell.format = None);
        }
        add_region(&mut self.format_clears, rows, columns);
    }

    pub(super) fn insert(&mut self, sheet: &mut SheetMetadata, axis: Axis, at: u32, count: u32) {
        let pushed_out = self.order_mut(axis).insert(at, count);
        self.remove_cells(axis, &pushed_out);
        self.move_regions(sheet, axis, &AxisMap::insert(axis, at, count));
        sheet.extent.insert(axis, at, count);
    }

    pub(super) fn delete(&mut self, sheet: &mut SheetMetadata, axis: Axis, spans: &Spans) {
        let deleted = self.order_mut(axis).delete(spans);
        self.remove_cells(axis, &deleted);
        self.move_regions(sheet, axis, &AxisMap::delete(axis, spans));
        sheet.extent.delete(axis, spans);
    }

    /// Adjusts range formats and cleared regions after an insert or delete.
    fn move_regions(&mut self, sheet: &mut SheetMetadata, axis: Axis, map: &AxisMap) {
        sheet.formats.map_ranges(axis, map);
        for regions in [&mut self.value_clears, &mut self.format_clears] {
            regions.iter_mut().for_each(|region| region.map(axis, map));
            regions.retain(|region| !region.is_empty());
        }
    }

    fn order_mut(&mut self, axis: Axis) -> &mut AxisOrder {
        match axis {
            Axis::Rows => &mut self.rows,
            Axis::Columns => &mut self.columns,
        }
    }

    fn cells_in(&self, rows: &Spans, columns: &Spans) -> Vec<CellId> {
        if self.cells.is_empty() {
            return Vec::new();
        }
        let column_lookup = self.columns.index_lookup();
        let has_column =
            |column: u64| column_lookup.index(column).is_some_and(|at| columns.contains(at));
        let row_runs = rows.iter().flat_map(|span| self.rows.runs_in(span.first, span.end()));
        let cells = row_runs.flat_map(|run| self.cells_in_rows(run));
        cells.filter(|(_, column)| has_column(*column)).collect()
    }

    fn cells_in_rows(&self, rows: IdRun) -> impl Iterator<Item = CellId> {
        self.cells.range((rows.first_id, 0)..(rows.id_end(), 0)).map(|(id, _)| *id)
    }

    fn change_cell(&mut self, id: CellId, change: impl FnOnce(&mut DeltaCell)) {
        let (before, after) = match self.cells.entry(id) {
            Entry::Vacant(entry) => {
                let mut cell = DeltaCell::default();
                change(&mut cell);
                let after = cell.memory_bytes();
                if !cell.is_nothing() {
                    entry.insert(cell);
                }
                (0, after)
            }
            Entry::Occupied(mut entry) => {
                let before = entry.get().memory_bytes();
                change(entry.get_mut());
                let after = entry.get().memory_bytes();
                if entry.get().is_nothing() {
                    entry.remove();
                }
                (before, after)
            }
        };
        self.cell_bytes = self.cell_bytes.saturating_sub(before).saturating_add(after);
    }

    /// Removes all cells in deleted rows or columns.
    fn remove_cells(&mut self, axis: Axis, deleted: &[IdRun]) {
        let cells: Vec<CellId> = match axis {
            Axis::Rows => deleted.iter().flat_map(|run| self.cells_in_rows(*run)).collect(),
            Axis::Columns => {
                let columns = IndexLookup::of(deleted.iter().copied());
                self.cells.keys().copied().filter(|(_, column)| columns.contains(*column)).collect()
            }
        };
        for id in cells {
            self.change_cell(id, |cell| *cell = DeltaCell::default());
        }
    }
}

/// Adds a region and removes the regions that it covers.
fn add_region(regions: &mut Vec<Region>, rows: &Spans, columns: &Spans) {
    regions.retain(|region| !(rows.cover(&region.rows) && columns.cover(&region.columns)));
    regions.push(Region { rows: rows.clone(), columns: columns.clone() });
}
