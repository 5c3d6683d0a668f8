//! Workbooks: the state of all sheets after the operations of a log were applied in order.
//!
//! This is the reference for snapshots, which must produce the same state. Applying an operation
//! never fails. An operation that does not fit the state has no effect.

mod apply;
pub mod axis_order;
mod branches;
mod diff;
mod display_eq;
mod moves;
mod names;
mod recovered_sheets;
mod replaced_lines;
mod report;
mod sheet;
mod sheet_reader;
mod skeleton;
mod state_cell;
mod stored_formula;
mod tab_order;
#[cfg(test)]
mod tests;
mod undo;

pub use diff::{AxisDiff, CellAt, CellDiff, SheetChange, SheetDiff, WorkbookDiff};
pub use names::NameDiff;
pub use recovered_sheets::{DeletedSheetState, RecoveredNumbers};
pub use report::TooManyComparisons;
pub use sheet_reader::SheetReader;
pub use skeleton::ComparedSheets;
pub use state_cell::{StateCell, StateFormula};
pub use tab_order::OrderDiff;
pub use undo::{
    DeletedSheets, ImportedSheet, PartFault, RestorableImport, RestorableImports, Reversal,
    ReversalCounts, ReversalReport, references_to_import, revert, revert_range, revert_sheet,
    sheet_in_place, undo, undo_with_imports,
};

use std::collections::BTreeMap;

use crate::cell::Value;
use crate::metadata::{DefinedNames, Tabs, WorkbookMetadata};
use cellar_base::limits::MAX_REPLAY_BYTES;
use cellar_formula::changes::{MovedLines, SheetLines};
use cellar_grid::SheetId;
use moves::Moves;
use sheet::Sheet;

/// The state of a spreadsheet at a position of its log.
#[derive(Debug, Clone, PartialEq)]
pub struct Workbook {
    sheets: BTreeMap<SheetId, Sheet>,
    tabs: Tabs,
    names: DefinedNames,
    moves: Moves,
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
            names: DefinedNames::default(),
            moves: Moves::default(),
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
        WorkbookMetadata {
            tabs: self.tabs.clone(),
            sheets: sheets.collect(),
            names: self.names.clone(),
        }
    }

    /// Creates a workbook without cells. [`Workbook::fill`] adds the cells.
    #[must_use]
    pub fn from_metadata(metadata: &WorkbookMetadata) -> Self {
        let sheets = metadata.sheets.iter().map(|(id, sheet)| (*id, Sheet::from_metadata(sheet)));
        let sheets: BTreeMap<SheetId, Sheet> = sheets.collect();
        let bytes = sheets.values().map(Sheet::bytes).fold(0, usize::saturating_add);
        Self {
            sheets,
            tabs: metadata.tabs.clone(),
            names: metadata.names.clone(),
            moves: Moves::default(),
            bytes,
            max_bytes: MAX_REPLAY_BYTES,
        }
    }

    /// Returns a sheet, or `None` if it does not exist.
    #[must_use]
    pub fn sheet(&self, id: SheetId) -> Option<SheetReader<'_>> {
        let sheet = self.sheets.get(&id)?;
        Some(SheetReader { id, sheet, tabs: &self.tabs, moves: &self.moves })
    }

    /// Returns the sheets in tab order.
    pub fn sheets(&self) -> impl Iterator<Item = (SheetId, SheetReader<'_>)> {
        self.tabs.order().iter().filter_map(|id| Some((*id, self.sheet(*id)?)))
    }

    /// Returns the order and names of the sheets.
    #[must_use]
    pub fn tabs(&self) -> &Tabs {
        &self.tabs
    }

    /// Returns the names that formulas use.
    #[must_use]
    pub fn names(&self) -> &DefinedNames {
        &self.names
    }

    /// Returns the value of a cell, or [`Value::Empty`] if the cell is blank or the sheet does not
    /// exist.
    #[must_use]
    pub fn value(&self, sheet: SheetId, row: u32, column: u32) -> Value {
        self.sheet(sheet).map(|sheet| sheet.value(row, column)).unwrap_or_default()
    }

    /// Returns how rows and columns have moved from this state to `later`. If `later` has not
    /// developed from this state, rows and columns are matched by id.
    fn moved_lines_to(&self, later: &Self) -> MovedLines {
        self.moves.map_to(&later.moves).unwrap_or_else(|| self.moved_ids_to(later))
    }

    fn moved_ids_to(&self, later: &Self) -> MovedLines {
        let lines = |id: &SheetId| Some((*id, self.sheet_lines_to(later, *id)?));
        self.sheets.keys().filter_map(lines).collect()
    }

    /// Returns how rows and columns, matched by id, have moved in a sheet that exists in both states.
    fn sheet_lines_to(&self, later: &Self, sheet: SheetId) -> Option<SheetLines> {
        Some(self.sheets.get(&sheet)?.lines_to(later.sheets.get(&sheet)?))
    }
}
