//! The workbook: the state of a log's sheets after its entries are applied in order.
//!
//! This is the reference implementation: every faster one must give the same result. Total: every
//! stored operation applies or is a defined no-op.

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
use crate::metadata::{SheetMetadata, Tabs, WorkbookMetadata};
use crate::sheet_id::SheetId;
use cellar_base::limits::MAX_REPLAY_BYTES;

/// State of a spreadsheet at one position.
#[derive(Debug, Clone, PartialEq)]
pub struct Workbook {
    sheets: BTreeMap<SheetId, Sheet>,
    tabs: Tabs,
    /// Approximate size of the sheets in memory, in bytes.
    bytes: usize,
    max_bytes: usize,
}

/// The state exceeds the memory limit of a read. The state depends only on the log, so every reader
/// refuses it at the same operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the spreadsheet holds more than {MAX_REPLAY_BYTES} bytes of cells: too many to replay")]
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
    /// Returns the metadata: the state without cells.
    #[must_use]
    pub fn metadata(&self) -> WorkbookMetadata {
        let metadata = |sheet: &Sheet| SheetMetadata {
            extent: sheet.extent(),
            formats: sheet.formats().clone(),
        };
        let sheets = self.sheets.iter().map(|(id, sheet)| (*id, metadata(sheet)));
        WorkbookMetadata { tabs: self.tabs.clone(), sheets: sheets.collect() }
    }

    /// Creates a workbook without cells from its metadata: see [`Workbook::fill`].
    #[must_use]
    pub fn from_metadata(metadata: &WorkbookMetadata) -> Self {
        let sheets = metadata.sheets.iter().map(|(id, sheet)| (*id, Sheet::from_metadata(sheet)));
        let sheets: BTreeMap<SheetId, Sheet> = sheets.collect();
        let bytes = sheets.values().map(Sheet::bytes).fold(0, usize::saturating_add);
        Self { sheets, tabs: metadata.tabs.clone(), bytes, max_bytes: MAX_REPLAY_BYTES }
    }

    /// Returns a sheet, if it exists.
    #[must_use]
    pub fn sheet(&self, id: SheetId) -> Option<&Sheet> {
        self.sheets.get(&id)
    }

    /// Returns the sheets in tab order.
    pub fn sheets(&self) -> impl Iterator<Item = (SheetId, &Sheet)> {
        self.tabs.order().iter().filter_map(|id| Some((*id, self.sheets.get(id)?)))
    }

    /// Returns the tabs: sheets, order and names.
    #[must_use]
    pub fn tabs(&self) -> &Tabs {
        &self.tabs
    }

    /// Returns the value of a cell; empty for blank cells and sheets that do not exist.
    #[must_use]
    pub fn value(&self, sheet: SheetId, row: u32, column: u32) -> Value {
        self.sheet(sheet).map(|sheet| sheet.cell(row, column).value).unwrap_or_default()
    }
}
