//! The workbook: what a log's entries, applied in order, make of its sheets.
//!
//! The reference semantics (design `2-log.md` §5, `4-sync.md` §3): whatever is faster must give the
//! same. Total: every stored operation applies or is a defined no-op.

mod apply;
mod axis_order;
mod diff;
mod format_layer;
mod sheet;
#[cfg(test)]
mod tests;
mod undo;

pub use diff::{AxisDiff, CellDiff, SheetChange, SheetDiff, WorkbookDiff};
pub use format_layer::{FormatLayer, RangeFormat};
pub use sheet::Sheet;
pub use undo::{UndoFault, undo};

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::cell::Value;
use crate::limits::MAX_REPLAY_BYTES;
use crate::operation::{FIRST_SHEET_NAME, SheetId};

/// The state of a spreadsheet at one position.
#[derive(Debug, Clone, PartialEq)]
pub struct Workbook {
    sheets: BTreeMap<SheetId, Sheet>,
    /// The sheets that there are, in the order of their tabs.
    order: Vec<SheetId>,
    /// Every number that a sheet ever had.
    used: BTreeSet<SheetId>,
    max_bytes: usize,
}

/// How far a sheet was ever written to: rows and columns counted from the top left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Extent {
    /// Rows.
    pub rows: u32,
    /// Columns.
    pub columns: u32,
}

/// More cells than one read may hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the spreadsheet holds more than {MAX_REPLAY_BYTES} bytes of cells: too many to replay")]
pub struct TooManyCells;

impl Default for Workbook {
    fn default() -> Self {
        let first = Sheet::new(FIRST_SHEET_NAME.to_owned());
        Self {
            sheets: BTreeMap::from([(SheetId::FIRST, first)]),
            order: vec![SheetId::FIRST],
            used: BTreeSet::from([SheetId::FIRST]),
            max_bytes: MAX_REPLAY_BYTES,
        }
    }
}

impl Workbook {
    /// A sheet, if it exists.
    #[must_use]
    pub fn sheet(&self, id: SheetId) -> Option<&Sheet> {
        self.sheets.get(&id)
    }

    /// The sheets in the order of their tabs.
    pub fn sheets(&self) -> impl Iterator<Item = (SheetId, &Sheet)> {
        self.order.iter().filter_map(|id| Some((*id, self.sheets.get(id)?)))
    }

    /// The sheet with a name, whatever the case of its letters.
    #[must_use]
    pub fn sheet_named(&self, name: &str) -> Option<SheetId> {
        let folded = name.to_lowercase();
        self.sheets().find(|(_, sheet)| sheet.name.to_lowercase() == folded).map(|(id, _)| id)
    }

    /// The number that a new sheet would get: above every one that was ever used.
    #[must_use]
    pub fn next_sheet(&self) -> SheetId {
        SheetId(self.used.last().map_or(0, |last| last.0.saturating_add(1)))
    }

    /// The value of a cell; blank cells and cells of sheets that do not exist are empty.
    #[must_use]
    pub fn value(&self, sheet: SheetId, row: u32, column: u32) -> Value {
        self.sheet(sheet).map(|sheet| sheet.cell(row, column).value).unwrap_or_default()
    }
}
