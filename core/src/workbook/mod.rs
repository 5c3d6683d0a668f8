//! The workbook: what a log's entries, applied in order, make of its sheets.
//!
//! The reference semantics (design `2-log.md` §5, `4-sync.md` §3): whatever is faster must give the
//! same. Total: every stored operation applies or is a defined no-op.

mod apply;
mod axis_order;
mod diff;
mod format_layer;
mod names;
mod sheet;
#[cfg(test)]
mod tests;
mod undo;

pub use diff::{AxisDiff, CellDiff, SheetChange, SheetDiff, WorkbookDiff};
pub use format_layer::{FormatLayer, RangeFormat};
pub use sheet::Sheet;
pub use undo::{UndoFault, undo};

use std::collections::{BTreeMap, BTreeSet};

use self::names::Names;

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
    names: Names,
    /// About how many bytes its sheets take in memory.
    bytes: usize,
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

/// More than one read may hold. The state is a function of the log: it is refused everywhere, at the
/// same operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the spreadsheet holds more than {MAX_REPLAY_BYTES} bytes of cells: too many to replay")]
pub struct WorkbookTooLarge;

impl Default for Workbook {
    fn default() -> Self {
        let first = Sheet::new(FIRST_SHEET_NAME.to_owned());
        let (bytes, mut names) = (first.bytes(), Names::default());
        names.insert(first.name(), SheetId::FIRST);
        Self {
            sheets: BTreeMap::from([(SheetId::FIRST, first)]),
            order: vec![SheetId::FIRST],
            used: BTreeSet::from([SheetId::FIRST]),
            names,
            bytes,
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
        self.names.get(name)
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
