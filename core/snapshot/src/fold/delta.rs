//! What entries did to one sheet whose older cells are not at hand.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::level::Region;
use cellar_sheet::axis_map::{Axis, AxisMap};
use cellar_sheet::cell::Value;
use cellar_sheet::metadata::Extent;
use cellar_sheet::metadata::SheetMetadata;
use cellar_sheet::operation::{CellEdit, Spans};
use cellar_sheet::workbook::axis_order::{AxisOrder, IdRun, Places};

/// The id of a cell: of its row, then of its column. Ids below the axis's limit are places in the
/// space of the level below.
pub(super) type CellId = (u64, u64);

/// What is set of a cell; what is not set shows the cell below.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct DeltaCell {
    /// The value with its formula; `Empty` hides the one below.
    pub(super) value: Option<(Value, Option<String>)>,
    /// The cell's own format; `General` hides the one below.
    pub(super) format: Option<String>,
}

impl DeltaCell {
    fn is_nothing(&self) -> bool {
        self.value.is_none() && self.format.is_none()
    }

    fn weight_bytes(&self) -> usize {
        const FRAME_BYTES: usize = 160;
        if self.is_nothing() {
            return 0;
        }
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let value = self.value.as_ref().map_or(0, |(value, formula)| match value {
            Value::Text(content) => content.len().saturating_add(text(formula)),
            _ => text(formula),
        });
        FRAME_BYTES.saturating_add(value).saturating_add(text(&self.format))
    }
}

/// What entries did to one sheet.
#[derive(Debug, Clone)]
pub(super) struct Delta {
    pub(super) rows: AxisOrder,
    pub(super) columns: AxisOrder,
    pub(super) cells: BTreeMap<CellId, DeltaCell>,
    /// Where values below are hidden.
    pub(super) value_clears: Vec<Region>,
    /// Where formats of single cells below are hidden.
    pub(super) format_clears: Vec<Region>,
    weight_bytes: usize,
}

impl Default for Delta {
    fn default() -> Self {
        Self {
            rows: AxisOrder::new(Axis::Rows),
            columns: AxisOrder::new(Axis::Columns),
            cells: BTreeMap::new(),
            value_clears: Vec::new(),
            format_clears: Vec::new(),
            weight_bytes: 0,
        }
    }
}

impl Delta {
    /// About how many bytes it takes in memory.
    pub(super) fn weight_bytes(&self) -> usize {
        const RUN_BYTES: usize = 16;
        let runs = self.rows.run_count().saturating_add(self.columns.run_count());
        self.weight_bytes.saturating_add(runs.saturating_mul(RUN_BYTES))
    }

    /// Runs of its maps, about, or spans of its cleared regions, whichever is more: each is moved or
    /// walked with every insert and delete.
    pub(super) fn changes(&self) -> usize {
        let regions = self.value_clears.iter().chain(&self.format_clears);
        let spans = regions.map(Region::spans).fold(0, usize::saturating_add);
        spans.max(self.rows.run_count()).max(self.columns.run_count())
    }

    pub(super) fn set_cell(&mut self, extent: &mut Extent, edit: &CellEdit) {
        let id = (self.rows.id(edit.row), self.columns.id(edit.column));
        let (Some(row), Some(column)) = id else { return };
        extent.cover(edit.row, edit.column);
        self.change((row, column), |cell| {
            if let Some(value) = &edit.value {
                cell.value = Some((value.clone(), edit.formula.clone()));
            }
            if let Some(format) = &edit.format {
                cell.format = Some(format.clone());
            }
        });
    }

    pub(super) fn clear(&mut self, rows: &Spans, columns: &Spans) {
        self.ids_in(rows, columns).into_iter().for_each(|id| self.change(id, |c| c.value = None));
        add_region(&mut self.value_clears, rows, columns);
    }

    pub(super) fn clear_formats(&mut self, rows: &Spans, columns: &Spans) {
        self.ids_in(rows, columns).into_iter().for_each(|id| self.change(id, |c| c.format = None));
        add_region(&mut self.format_clears, rows, columns);
    }

    pub(super) fn insert(&mut self, sheet: &mut SheetMetadata, axis: Axis, at: u32, count: u32) {
        let pushed_out = self.order_mut(axis).insert(at, count);
        self.forget(axis, &pushed_out);
        self.moved(sheet, axis, &AxisMap::insert(axis, at, count));
        sheet.extent.insert(axis, at, count);
    }

    pub(super) fn delete(&mut self, sheet: &mut SheetMetadata, axis: Axis, spans: &Spans) {
        let deleted = self.order_mut(axis).delete(spans);
        self.forget(axis, &deleted);
        self.moved(sheet, axis, &AxisMap::delete(axis, spans));
        sheet.extent.delete(axis, spans);
    }

    fn moved(&mut self, sheet: &mut SheetMetadata, axis: Axis, map: &AxisMap) {
        sheet.formats.map(axis, map);
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

    fn ids_in(&self, rows: &Spans, columns: &Spans) -> Vec<CellId> {
        if self.cells.is_empty() {
            return Vec::new();
        }
        let places = self.columns.places();
        let inside = |column: u64| places.index(column).is_some_and(|at| columns.contains(at));
        let runs = rows.iter().flat_map(|span| self.rows.parts(span.first, span.end()));
        let held = runs.flat_map(|run| self.held(run));
        held.filter(|(_, column)| inside(*column)).collect()
    }

    fn held(&self, rows: IdRun) -> impl Iterator<Item = CellId> {
        self.cells.range((rows.id, 0)..(rows.id_end(), 0)).map(|(id, _)| *id)
    }

    fn change(&mut self, id: CellId, change: impl FnOnce(&mut DeltaCell)) {
        let (before, after) = match self.cells.entry(id) {
            Entry::Vacant(entry) => {
                let mut cell = DeltaCell::default();
                change(&mut cell);
                let after = cell.weight_bytes();
                if !cell.is_nothing() {
                    entry.insert(cell);
                }
                (0, after)
            }
            Entry::Occupied(mut entry) => {
                let before = entry.get().weight_bytes();
                change(entry.get_mut());
                let after = entry.get().weight_bytes();
                if entry.get().is_nothing() {
                    entry.remove();
                }
                (before, after)
            }
        };
        self.weight_bytes = self.weight_bytes.saturating_sub(before).saturating_add(after);
    }

    fn forget(&mut self, axis: Axis, runs: &[IdRun]) {
        let gone: Vec<CellId> = match axis {
            Axis::Rows => runs.iter().flat_map(|run| self.held(*run)).collect(),
            Axis::Columns => {
                let columns = Places::of(runs.iter().copied());
                self.cells.keys().copied().filter(|(_, column)| columns.holds(*column)).collect()
            }
        };
        gone.into_iter().for_each(|id| self.change(id, |cell| *cell = DeltaCell::default()));
    }
}

/// Adds a region, in place of those that it covers.
fn add_region(regions: &mut Vec<Region>, rows: &Spans, columns: &Spans) {
    regions.retain(|region| !(rows.cover(&region.rows) && columns.cover(&region.columns)));
    regions.push(Region { rows: rows.clone(), columns: columns.clone() });
}
