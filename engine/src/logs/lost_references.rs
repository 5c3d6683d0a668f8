//! Finds the formulas that lose references because rows, columns or sheets are deleted. An undo or
//! revert of the deletion restores these references. If an import replaces a sheet, they follow it.

use std::collections::{BTreeMap, BTreeSet};

use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_DEPENDENT_TILES, MAX_ENTRY_BODY_BYTES, MAX_UNDO_FORMULAS};
use cellar_base::position::Position;
use cellar_log::append::{Resolution, fits_into_entry};
use cellar_log::entry::Mutation;
use cellar_sheet::a1::{CellName, SheetArea};
use cellar_sheet::cell::Value;
use cellar_sheet::metadata::{Extent, Tabs};
use cellar_sheet::operation::{ImportSheet, Operation, SheetId};
use cellar_sheet::workbook::{Reversal, ReversalReport, StateCell, Workbook};
use cellar_snapshot::dependents::{DependentBounds, DependentFormulas};
use cellar_snapshot::touched::TouchedCells;

use super::changes::Changes;
use super::resolve::Resolved;
use super::{LogError, Logs, View};

/// Whether all formulas that lost references are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LostReferences {
    Complete,
    /// Formulas are too many or damaged.
    Incomplete,
}

/// The operations of an undo or revert, or those that follow an import, with and without those that
/// restore references of other formulas.
#[derive(Default)]
pub(super) struct RestoringOperations {
    all: Vec<Operation>,
    without_formulas: Vec<Operation>,
}

impl RestoringOperations {
    /// Adds the reversal of older entries.
    pub(super) fn add(&mut self, reversal: Reversal) {
        let Reversal { operations, formula_operations, .. } = reversal;
        let others = operations.len().saturating_sub(formula_operations);
        self.without_formulas.extend(operations.iter().take(others).cloned());
        self.all.extend(operations);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Omits the references of other formulas if the entry would be too large. `authored` is the
    /// undo or revert.
    pub(super) fn resolve(
        self,
        state_position: Position,
        authored: Operation,
        mut report: ReversalReport,
        lost_references: LostReferences,
    ) -> Resolved {
        let Self { all, without_formulas } = self;
        report.formulas_incomplete |= lost_references == LostReferences::Incomplete;
        let mutation = Mutation { base: Position::FIRST, authored, committed: Some(all) };
        let is_too_large = !fits_into_entry(&mutation);
        let mut operations = mutation.committed.unwrap_or_default();
        if is_too_large && !without_formulas.is_empty() {
            operations = without_formulas;
            report.formulas_incomplete |= report.restored.formulas > 0;
            report.restored.formulas = 0;
        }
        Resolved { resolution: Resolution::new(state_position, operations), report }
    }

    /// Same for the operations that follow an import. The import is appended without them if the entry
    /// would be too large.
    pub(super) fn resolve_import(
        mut self,
        state_position: Position,
        import: ImportSheet,
        report: ReversalReport,
        lost_references: LostReferences,
    ) -> Resolved {
        let authored = Operation::ImportSheet(import);
        for operations in [&mut self.all, &mut self.without_formulas] {
            operations.insert(0, authored.clone());
        }
        let mut resolved = self.resolve(state_position, authored, report, lost_references);
        resolved.resolution.operations.remove(0);
        resolved
    }
}

impl Logs {
    /// Adds the formulas at `position` that lost references by the changes to the state before the
    /// changes.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::TooLarge`] if the state exceeds the memory limit, or another [`LogError`]
    /// if the log cannot be read.
    pub(super) async fn add_formulas_that_lost_references(
        &self,
        log_id: LogId,
        position: Position,
        changes: &mut Changes,
    ) -> Result<LostReferences, LogError> {
        if changes.deleted.is_empty() {
            return Ok(LostReferences::Complete);
        }
        let mut view = self.open_view(log_id, Some(position), None).await?;
        view.add_formulas_that_lose_references(log_id, &changes.deleted, &mut changes.before).await
    }
}

impl View {
    /// Adds the formulas outside of `areas` that lose references if these are deleted to a workbook. The
    /// areas are whole rows, columns or sheets.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::TooLarge`] if the workbook exceeds the memory limit, or another [`LogError`]
    /// if the log cannot be read.
    pub(super) async fn add_formulas_that_lose_references(
        &mut self,
        log_id: LogId,
        areas: &[SheetArea],
        workbook: &mut Workbook,
    ) -> Result<LostReferences, LogError> {
        match self.read_formulas_that_lose_references(areas, workbook).await {
            // The other cells of an undo, and an import, matter more than these formulas.
            Err(error @ LogError::Snapshot(_)) => {
                tracing::warn!(%log_id, %error, "formulas that lose references cannot be read");
                Ok(LostReferences::Incomplete)
            }
            added => added,
        }
    }

    async fn read_formulas_that_lose_references(
        &mut self,
        areas: &[SheetArea],
        workbook: &mut Workbook,
    ) -> Result<LostReferences, LogError> {
        let bounds = DependentBounds { formulas: MAX_UNDO_FORMULAS, tiles: MAX_DEPENDENT_TILES };
        let found = self.formulas_losing_references(areas, bounds).await?;
        let mut bytes = 0_usize;
        for (sheet, touched) in cells_to_read(&found) {
            for part in touched.windows() {
                let mut cells = self.read_stored_cells(sheet, &part.window).await?;
                cells.retain(|((row, column), _)| touched.has_single_cell(*row, *column));
                let tabs = workbook.tabs();
                let cells_bytes: usize = cells.iter().map(|cell| cell_bytes(cell, tabs)).sum();
                bytes = bytes.saturating_add(cells_bytes);
                // More would not fit into the entry.
                if bytes > MAX_ENTRY_BODY_BYTES {
                    return Ok(LostReferences::Incomplete);
                }
                workbook.fill(sheet, cells)?;
            }
        }
        Ok(if found.complete { LostReferences::Complete } else { LostReferences::Incomplete })
    }
}

fn cells_to_read(found: &DependentFormulas) -> BTreeMap<SheetId, TouchedCells> {
    let mut cells: BTreeMap<SheetId, BTreeSet<(u32, u32)>> = BTreeMap::new();
    for formula in &found.formulas {
        cells.entry(formula.sheet).or_default().insert((formula.cell.row, formula.cell.column));
    }
    let single = |cells| TouchedCells::of(cells, [], Extent::default());
    cells.into_iter().map(|(sheet, cells)| (sheet, single(cells))).collect()
}

/// Returns the bytes of the text and formula of a cell.
fn cell_bytes(((row, column), cell): &((u32, u32), StateCell), tabs: &Tabs) -> usize {
    let value_bytes = match &cell.value {
        Value::Text(text) => text.len(),
        _ => 0,
    };
    let place = CellName { row: *row, column: *column };
    let formula = cell.formula.as_ref().map(|formula| formula.text_at(place, tabs));
    value_bytes.saturating_add(formula.map_or(0, |formula| formula.len()))
}
