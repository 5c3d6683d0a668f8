//! Workbooks: the state of all sheets after the operations of a log were applied in order.
//!
//! This is the reference for snapshots, which must produce the same state. Applying an operation
//! never fails. An operation that does not fit the state has no effect.

mod apply;
pub mod axis_order;
mod diff;
mod display_eq;
mod sheet;
#[cfg(test)]
mod tests;
mod undo;

pub use diff::{AxisDiff, CellAt, CellDiff, SheetChange, SheetDiff, WorkbookDiff};
pub use sheet::Sheet;
pub use undo::{UndoFault, revert, undo};

use std::collections::BTreeMap;

use crate::cell::Value;
use crate::metadata::{Tabs, WorkbookMetadata};
use crate::sheet_id::SheetId;
use cellar_base::limits::MAX_REPLAY_BYTES;

/// The state of a spreadsheet at a position of its log.
#[derive(Debug, Clone, PartialEq)]
pub struct Workbook {
    sheets: BTreeMap<SheetId, Sheet>,
    tabs: Tabs,
    /// Approximate size of all sheets in memory, in bytes.
    bytes: usize,
    max_bytes: usize,
}

/// A workbook exceeds the memory limit of a read. The size of a workbook depends only on the log,
/// so all readers fail at the same operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the cells of the spreadsheet take more than {MAX_REPLAY_BYTES} bytes, the maximum for a replay of its log"
)]
pub struct WorkbookTooLarge;

impl Default for Workbook {
    fn default() -> Self {
        let first = Sheet::default();
        let bytes = first.bytes();
        Self {
            sheets: BTreeMap::from([(SheetId::FIRST, first)]),
            tabs: Tabs::default(),
            bytes,
            max_bytes: MAX_REPLAY_BYTES,
        }
    }
}

impl Workbook {
    /// Returns the metadata: the state of the workbook without its cells.
    #[must_use]
    pub fn metadata(&self) -> WorkbookMetadata {
        let sheets = self.sheets.iter().map(|(id, sheet)| (*id, sheet.metadata()));
        WorkbookMetadata { tabs: self.tabs.clone(), sheets: sheets.collect() }
    }

    /// Creates a workbook without cells. [`Workbook::fill`] adds the cells.
    #[must_use]
    pub fn from_metadata(metadata: &WorkbookMetadata) -> Self {
        let sheets = metadata.sheets.iter().map(|(id, sheet)| (*id, Sheet::from_metadata(sheet)));
        let sheets: BTreeMap<SheetId, Sheet> = sheets.collect();
        let bytes = sheets.values().map(Sheet::bytes).fold(0, usize::saturating_add);
        Self { sheets, tabs: metadata.tabs.clone(), bytes, max_bytes: MAX_REPLAY_BYTES }
    }

    /// Returns a sheet, or `None` if it does not exist.
    #[must_use]
    pub fn sheet(&self, id: SheetId) -> Option<&Sheet> {
        self.sheets.get(&id)
    }

    /// Returns the sheets in tab order.
    pub fn sheets(&self) -> impl Iterator<Item = (SheetId, &Sheet)> {
        self.tabs.order().iter().filter_map(|id| Some((*id, self.sheets.get(id)?)))
    }

    /// Returns the order and names of the sheets.
    #[must_use]
    pub fn tabs(&self) -> &Tabs {
        &self.tabs
    }

    /// Returns the value of a cell, or [`Value::Empty`] if the cell is blank or the sheet does not
    /// exist.
    #[must_use]
    pub fn value(&self, sheet: SheetId, row: u32, column: u32) -> Value {
        self.sheet(sheet).map(|sheet| sheet.cell(row, column).value).unwrap_or_default()
    }
}
