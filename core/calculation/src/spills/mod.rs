//! The cells that formulas with results of several cells fill.
//!
//! The result of such a formula, its *anchor*, spills into the cells to the right and below, if they
//! are blank. Other formulas read these cells like any others, and may spill in turn. So the spilled
//! cells are found by repetition: [`SpillSearch`] calculates the anchors without any spilled cells,
//! then with those that the results fill, until they stay the same.
//!
//! - `placement` decides which results fit.
//! - `search` repeats the calculation.

mod placement;
mod search;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use cellar_base::limits::MAX_SPILLED_CELLS;
use cellar_functions::Array;
use cellar_grid::SheetId;
use cellar_grid::a1::{CellName, Rectangle, SheetArea};
use cellar_sheet::cell::{ErrorCode, Value};
use cellar_snapshot::merge::Window;

use crate::workbook::{CalculatedWorkbook, CellKey};

pub use search::SpillSearch;

/// The anchors of a spreadsheet and the cells that their results fill.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Spills {
    pub(crate) anchors: BTreeMap<CellKey, Anchor>,
}

/// The results of anchors, which together are bounded.
///
/// If they are too large, the values of the last anchors are dropped. These anchors fill no cells,
/// because the results before them would already fill the maximum number of cells.
#[derive(Debug, Clone, Default)]
pub(crate) struct SpilledResults {
    results: BTreeMap<CellKey, SpilledResult>,
    kept_weight: u64,
}

impl SpilledResults {
    pub(crate) fn insert(&mut self, key: CellKey, result: SpilledResult) {
        self.kept_weight += result.weight;
        if let Some(previous) = self.results.insert(key, result)
            && previous.has_values()
        {
            self.kept_weight -= previous.weight;
        }
        let mut kept = self.results.values_mut().rev().filter(|result| result.has_values());
        while self.kept_weight > MAX_SPILLED_CELLS
            && let Some(last) = kept.next()
        {
            self.kept_weight -= last.weight;
            last.drop_values();
        }
    }

    pub(crate) fn get(&self, key: CellKey) -> Option<&SpilledResult> {
        self.results.get(&key)
    }

    /// Returns the cells that the results would fill, as far as their values are kept.
    pub(crate) fn areas(&self) -> impl Iterator<Item = SheetArea> {
        let kept = self.results.iter().filter(|(_, result)| result.has_values());
        kept.filter_map(|(key, result)| result.area(*key))
    }
}

/// A formula that may return several cells.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Anchor {
    /// The result is a single cell, or not known yet.
    #[default]
    Single,
    /// The result fills cells.
    Spilled(SpilledResult),
    /// The result does not fill cells.
    Blocked(Obstacle),
    /// The formula is stale, so the cells that it fills are not known.
    Unknown,
}

/// A result of several cells.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SpilledResult {
    /// The values. They are missing if the result is too large to be kept.
    pub(crate) array: Arc<Array>,
    /// Number format for displaying the numbers, or `None` for that of each cell.
    pub(crate) format: Option<Arc<str>>,
    /// Number of cells, more if their texts are long.
    pub(crate) weight: u64,
}

/// Why a result of several cells does not fill them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// A cell is not blank.
    Content(CellKey),
    /// The result of the formula in another cell fills a cell.
    Spill(CellKey),
    /// The cells would extend beyond the sheet.
    End,
    /// The results of all formulas would fill too many cells.
    Size,
    /// The formula depends on the cells that it fills.
    Cycle,
}

impl SpilledResult {
    pub(crate) fn new(array: Array, format: Option<Arc<str>>) -> Self {
        /// Number of bytes of texts that count as one cell.
        const CELL_TEXT_BYTES: u64 = 64;
        let text_bytes = |value: &Value| match value {
            Value::Text(text) => to_u64(text.len()),
            _ => 0,
        };
        let text_bytes: u64 = array.values.iter().map(text_bytes).sum();
        let cells = to_u64(array.rows).saturating_mul(to_u64(array.columns));
        let weight = cells.saturating_add(text_bytes / CELL_TEXT_BYTES);
        Self { array: Arc::new(array), format, weight }
    }

    /// Removes the values. The size stays.
    fn drop_values(&mut self) {
        let Array { rows, columns, .. } = *self.array;
        self.array = Arc::new(Array { rows, columns, values: Vec::new() });
    }

    fn has_values(&self) -> bool {
        !self.array.values.is_empty()
    }

    fn rows(&self) -> u32 {
        u32::try_from(self.array.rows).unwrap_or(u32::MAX)
    }

    fn columns(&self) -> u32 {
        u32::try_from(self.array.columns).unwrap_or(u32::MAX)
    }

    /// Returns the cells that the result fills, or `None` if they extend beyond the largest index.
    fn area(&self, anchor: CellKey) -> Option<SheetArea> {
        let CellKey { sheet, cell: first } = anchor;
        let row = first.row.checked_add(self.rows() - 1)?;
        let column = first.column.checked_add(self.columns() - 1)?;
        Some(SheetArea { sheet, cells: Rectangle { first, last: CellName { row, column } } })
    }

    fn value(&self, row: u32, column: u32) -> Option<&Value> {
        let index = (row as usize).checked_mul(self.array.columns)?;
        self.array.values.get(index.checked_add(column as usize)?)
    }
}

impl Obstacle {
    pub(crate) fn error(self) -> ErrorCode {
        if self == Self::Cycle { ErrorCode::Ref } else { ErrorCode::Spill }
    }

    /// Returns a message that explains the error value of the anchor in `own`.
    pub(crate) fn note(self, workbook: &CalculatedWorkbook, own: CellKey) -> String {
        match self {
            Self::Content(key) => {
                let cell = workbook.cell_text(own, key);
                format!("the result needs {cell}, which is not empty")
            }
            Self::Spill(key) => {
                let cell = workbook.cell_text(own, key);
                format!("the result needs a cell that the result of {cell} fills")
            }
            Self::End => "the result extends beyond the last row or column of the sheet".to_owned(),
            Self::Size => format!(
                "the results of formulas would fill more than {MAX_SPILLED_CELLS} cells of this \
                 spreadsheet"
            ),
            Self::Cycle => "the formula depends on cells that its result fills".to_owned(),
        }
    }
}

fn rectangle_of(window: &Window) -> Option<Rectangle> {
    let first = CellName { row: window.rows.start, column: window.columns.start };
    let row = window.rows.end.checked_sub(1)?;
    let column = window.columns.end.checked_sub(1)?;
    Some(Rectangle { first, last: CellName { row, column } })
}

fn to_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// A cell that shows a part of the result of a formula in another cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SpilledCell<'a> {
    pub(crate) cell: CellName,
    pub(crate) anchor: CellName,
    pub(crate) value: &'a Value,
    pub(crate) format: Option<&'a Arc<str>>,
}

impl Spills {
    /// Returns what is known about the formula in a cell, or `None` if it is not an anchor.
    pub(crate) fn anchor(&self, key: CellKey) -> Option<&Anchor> {
        self.anchors.get(&key)
    }

    fn results(&self) -> impl Iterator<Item = (CellKey, &SpilledResult)> {
        self.anchors.iter().filter_map(|(key, anchor)| match anchor {
            Anchor::Spilled(result) => Some((*key, result)),
            _ => None,
        })
    }

    /// Returns the cells that the result of an anchor fills.
    pub(crate) fn area(&self, anchor: CellKey) -> Option<Rectangle> {
        match self.anchor(anchor)? {
            Anchor::Spilled(result) => Some(result.area(anchor)?.cells),
            _ => None,
        }
    }

    /// Returns the cells whose values may not be those that a calculation without spilled cells gives:
    /// those that results fill, anchors whose results do not fit, and all cells that the results of
    /// stale anchors may fill.
    pub(crate) fn changed_cells(&self) -> impl Iterator<Item = SheetArea> {
        let changed = self.anchors.iter().filter(|(_, anchor)| **anchor != Anchor::Single);
        changed.map(|(key, anchor)| {
            let first = key.cell;
            let cells = match anchor {
                Anchor::Unknown => Rectangle { first, ..Rectangle::EVERYTHING },
                _ => self.area(*key).unwrap_or(Rectangle { first, last: first }),
            };
            SheetArea { sheet: key.sheet, cells }
        })
    }

    /// Returns the cells that each result fills, with the cells of the anchors.
    pub(crate) fn areas(&self) -> impl Iterator<Item = SheetArea> {
        self.results().filter_map(|(key, result)| result.area(key))
    }

    /// Returns the filled cells in some rows of a column, in ascending order. Anchors are left out.
    pub(crate) fn cells_in(
        &self,
        sheet: SheetId,
        column: u32,
        rows: Range<u32>,
    ) -> Vec<SpilledCell<'_>> {
        let mut cells = Vec::new();
        for (anchor, result) in self.results().filter(|(anchor, _)| anchor.sheet == sheet) {
            let first = anchor.cell;
            let Some(offset) = column.checked_sub(first.column) else { continue };
            if offset >= result.columns() {
                continue;
            }
            let start = rows.start.max(first.row);
            let end = rows.end.min(first.row.saturating_add(result.rows()));
            cells.extend((start..end).filter_map(|row| {
                let cell = CellName { row, column };
                let value = result.value(row - first.row, offset)?;
                let format = result.format.as_ref();
                (cell != first).then_some(SpilledCell { cell, anchor: first, value, format })
            }));
        }
        cells.sort_unstable_by_key(|cell| cell.cell.row);
        cells
    }

    /// Returns the filled cells of a window. Anchors are left out.
    pub(crate) fn cells_of_window(
        &self,
        sheet: SheetId,
        window: &Window,
    ) -> impl Iterator<Item = SpilledCell<'_>> {
        let Range { start, end } = window.columns;
        let columns = self.bounds(sheet).map_or(0..0, |Rectangle { first, last }| {
            start.max(first.column)..end.min(last.column + 1)
        });
        columns.flat_map(move |column| self.cells_in(sheet, column, window.rows.clone()))
    }

    /// Returns the number of filled cells of a window, without anchors.
    pub(crate) fn cell_count(&self, sheet: SheetId, window: &Window) -> u64 {
        let Some(window) = rectangle_of(window) else { return 0 };
        let of_result = |(anchor, result): (CellKey, &SpilledResult)| {
            let area = result.area(anchor).filter(|area| area.sheet == sheet)?;
            let filled = area.cells.intersection(&window)?;
            let has_anchor = filled.contains(anchor.cell.row, anchor.cell.column);
            Some(filled.area() - u64::from(has_anchor))
        };
        self.results().filter_map(of_result).sum()
    }

    /// Returns the smallest rectangle with all filled cells of a sheet, or `None` if there are none.
    pub(crate) fn bounds(&self, sheet: SheetId) -> Option<Rectangle> {
        let areas = self.areas().filter(|area| area.sheet == sheet);
        areas.map(|area| area.cells).reduce(|one, other| one.union(&other))
    }

    /// Returns a stale anchor whose result may fill a cell or one above it.
    pub(crate) fn unknown_anchor_of(&self, key: CellKey) -> Option<CellKey> {
        let may_fill = |anchor: &CellKey| {
            anchor.sheet == key.sheet
                && anchor.cell.row <= key.cell.row
                && anchor.cell.column <= key.cell.column
        };
        let mut unknown = self.anchors.iter().filter(|(_, anchor)| **anchor == Anchor::Unknown);
        unknown.find_map(|(anchor, _)| may_fill(anchor).then_some(*anchor))
    }
}
