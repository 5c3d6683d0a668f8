//! Changes that log entries made to one sheet, computed without reading older cells.

use super::delta_cells::{CellId, DeltaCell, DeltaCells};
use super::line_moves::FoldedFormula;
use crate::level::Region;
use cellar_sheet::axis_map::{Axis, AxisMap};
use cellar_sheet::metadata::Extent;
use cellar_sheet::metadata::SheetMetadata;
use cellar_sheet::operation::{CellEdit, Spans};
use cellar_sheet::workbook::axis_order::{AxisOrder, IdRun, IndexLookup};

#[derive(Debug, Clone)]
pub(super) struct Delta {
    pub(super) rows: AxisOrder,
    pub(super) columns: AxisOrder,
    pub(super) cells: DeltaCells,
    /// Regions in which the changes hide all older values.
    pub(super) value_clears: Vec<Region>,
    /// Regions in which the changes hide all older cell formats.
    pub(super) format_clears: Vec<Region>,
}

impl Default for Delta {
    fn default() -> Self {
        Self {
            rows: AxisOrder::new(Axis::Rows),
            columns: AxisOrder::new(Axis::Columns),
            cells: DeltaCells::default(),
            value_clears: Vec::new(),
            format_clears: Vec::new(),
        }
    }
}

impl Delta {
    pub(super) fn memory_bytes(&self) -> usize {
        const RUN_BYTES: usize = 16;
        let run_count = self.rows.run_count() + self.columns.run_count();
        self.cells.memory_bytes() + run_count * RUN_BYTES
    }

    /// Returns the larger of the number of axis runs and the number of cleared spans. Each
    /// insertion or deletion takes time in proportion to both numbers.
    pub(super) fn count_changes(&self) -> usize {
        let cleared_regions = self.value_clears.iter().chain(&self.format_clears);
        let clear_span_count: usize = cleared_regions.map(Region::span_count).sum();
        clear_span_count.max(self.rows.run_count()).max(self.columns.run_count())
    }

    /// `parse` returns the formula of a text.
    pub(super) fn set_cell(
        &mut self,
        extent: &mut Extent,
        edit: &CellEdit,
        parse: impl Fn(&str) -> FoldedFormula,
    ) {
        let (Some(row_id), Some(column_id)) =
            (self.rows.id(edit.row), self.columns.id(edit.column))
        else {
            return;
        };
        extent.cover(edit.row, edit.column);
        self.cells.change((row_id, column_id), |cell| {
            if let Some(value) = &edit.value {
                cell.value = Some((value.clone(), edit.formula.as_deref().map(parse)));
            }
            if let Some(format) = &edit.format {
                cell.format = Some(format.clone());
            }
        });
    }

    pub(super) fn clear_values(&mut self, rows: &Spans, columns: &Spans) {
        for cell_id in self.cells_in(rows, columns) {
            self.cells.change(cell_id, |cell| cell.value = None);
        }
        add_region(&mut self.value_clears, rows, columns);
    }

    pub(super) fn clear_formats(&mut self, rows: &Spans, columns: &Spans) {
        for cell_id in self.cells_in(rows, columns) {
            self.cells.change(cell_id, |cell| cell.format = None);
        }
        add_region(&mut self.format_clears, rows, columns);
    }

    pub(super) fn insert(
        &mut self,
        sheet: &mut SheetMetadata,
        axis: Axis,
        before: u32,
        count: u32,
    ) {
        let lines_pushed_out = self.order_mut(axis).insert(before, count);
        self.remove_cells(axis, &lines_pushed_out);
        self.move_regions(sheet, axis, &AxisMap::insert(axis, before, count));
        sheet.extent.insert(axis, before, count);
    }

    pub(super) fn delete(&mut self, sheet: &mut SheetMetadata, axis: Axis, spans: &Spans) {
        let deleted_lines = self.order_mut(axis).delete(spans);
        self.remove_cells(axis, &deleted_lines);
        self.move_regions(sheet, axis, &AxisMap::delete(axis, spans));
        sheet.extent.delete(axis, spans);
    }

    fn move_regions(&mut self, sheet: &mut SheetMetadata, axis: Axis, map: &AxisMap) {
        sheet.formats.map_ranges(axis, map);
        for cleared_regions in [&mut self.value_clears, &mut self.format_clears] {
            for region in cleared_regions.iter_mut() {
                region.map(axis, map);
            }
            cleared_regions.retain(|region| !region.is_empty());
        }
    }

    fn order_mut(&mut self, axis: Axis) -> &mut AxisOrder {
        match axis {
            Axis::Rows => &mut self.rows,
            Axis::Columns => &mut self.columns,
        }
    }

    fn cells_in(&mut self, rows: &Spans, columns: &Spans) -> Vec<CellId> {
        if self.cells.is_empty() {
            return Vec::new();
        }
        let column_lookup = self.columns.index_lookup();
        let is_in_columns = |column_id: u64| {
            column_lookup.index(column_id).is_some_and(|column| columns.contains(column))
        };
        let mut cell_ids = Vec::new();
        for row_span in rows.iter() {
            for row_ids in self.rows.runs_in(row_span.first, row_span.end()) {
                let cells_in_rows = self.cells.ids_in_rows(row_ids.first_id..row_ids.id_end());
                cell_ids.extend(cells_in_rows.filter(|(_, column_id)| is_in_columns(*column_id)));
            }
        }
        cell_ids
    }

    fn remove_cells(&mut self, axis: Axis, deleted_lines: &[IdRun]) {
        let cell_ids: Vec<CellId> = match axis {
            Axis::Rows => {
                let mut cell_ids = Vec::new();
                for row_ids in deleted_lines {
                    cell_ids.extend(self.cells.ids_in_rows(row_ids.first_id..row_ids.id_end()));
                }
                cell_ids
            }
            Axis::Columns => {
                let deleted_columns = IndexLookup::of(deleted_lines.iter().copied());
                let is_deleted = |(_, column_id): &CellId| deleted_columns.contains(*column_id);
                self.cells.ids().filter(is_deleted).collect()
            }
        };
        for cell_id in cell_ids {
            self.cells.change(cell_id, |cell| *cell = DeltaCell::default());
        }
    }
}

/// Adds a region, and removes all regions that the new region covers.
fn add_region(regions: &mut Vec<Region>, rows: &Spans, columns: &Spans) {
    let new_region = Region { rows: rows.clone(), columns: columns.clone() };
    regions.retain(|region| !new_region.covers(region));
    regions.push(new_region);
}
