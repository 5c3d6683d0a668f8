//! Compares cells before and after each entry that touched them.

use std::collections::{BTreeMap, BTreeSet};

use cellar_api::wire::CellHistoryChange;
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_CELL_HISTORY_COMPARISONS;
use cellar_base::position::Position;
use cellar_sheet::axis_map::{Axis, AxisMap};
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::{Operation, SheetId};
use cellar_sheet::tracked_cells::Touch;
use cellar_sheet::workbook::{CellDiff, Workbook};
use cellar_snapshot::touched::TouchedCells;

use super::super::{LogError, Logs};
use super::walk::VisitedEntry;

/// The changes of one visited entry.
pub(super) struct ChangedEntry {
    /// Each change, with the name of the sheet after it.
    pub(super) changes: Vec<(String, CellHistoryChange)>,
}

impl Logs {
    /// Returns the changes of the visited entries. Both lists are sorted from newest to oldest.
    /// Entries older than the oldest change are omitted from the result.
    pub(super) async fn replay(
        &self,
        log_id: LogId,
        visited: &[VisitedEntry],
    ) -> Result<Vec<ChangedEntry>, LogError> {
        let oldest_index = visited.iter().rposition(VisitedEntry::changes_the_cells);
        let touched = oldest_index.and_then(|index| visited.get(..=index)).unwrap_or_default();
        let mut comparisons_left = MAX_CELL_HISTORY_COMPARISONS;
        let mut changed_entries = Vec::new();
        // A recovered sheet and the older one have different numbers.
        for of_sheet in touched.split_inclusive(|entry| entry.recovered.is_some()) {
            changed_entries
                .extend(self.replay_sheet(log_id, of_sheet, &mut comparisons_left).await?);
        }
        Ok(changed_entries)
    }

    async fn replay_sheet(
        &self,
        log_id: LogId,
        touched: &[VisitedEntry],
        comparisons_left: &mut usize,
    ) -> Result<Vec<ChangedEntry>, LogError> {
        let Some(oldest) = touched.last() else { return Ok(Vec::new()) };
        let sheet = oldest.cursor.cells.sheet;
        // The imported or recovered cells are part of the state after the entry.
        let base = if oldest.imports_the_sheet() || oldest.recovered.is_some() {
            Some(oldest.cursor.position)
        } else {
            self.position_before(log_id, oldest.cursor.position).await?
        };
        let mut workbook = self.state_before(log_id, base, sheet, touched).await?;
        let mut changed_entries = Vec::new();
        for entry in touched.iter().rev() {
            let changes = apply_entry(&mut workbook, sheet, entry, comparisons_left)?;
            changed_entries.push(ChangedEntry { changes });
        }
        changed_entries.reverse();
        Ok(changed_entries)
    }

    /// Returns a workbook in the state at `base`. It contains only the cells that the entries
    /// touched.
    async fn state_before(
        &self,
        log_id: LogId,
        base: Option<Position>,
        sheet: SheetId,
        touched: &[VisitedEntry],
    ) -> Result<Workbook, LogError> {
        let base = base.unwrap_or(Position::FIRST);
        let mut view = self.open_view(log_id, Some(base), None).await?;
        let Some(extent) = view.metadata.sheets.get(&sheet).map(|sheet| sheet.extent) else {
            return Ok(Workbook::from_metadata(&view.metadata));
        };
        let touched_cells = touched_at_base(touched, extent);
        let read = view.read_touched_cells(&BTreeMap::from([(sheet, touched_cells)])).await;
        self.roots.invalidate_on_error(log_id, read)
    }
}

/// Returns the touched cells in the coordinates before the oldest entry.
fn touched_at_base(touched: &[VisitedEntry], extent: Extent) -> TouchedCells {
    let mut to_base = (AxisMap::identity(Axis::Rows), AxisMap::identity(Axis::Columns));
    let mut cells = BTreeSet::new();
    let mut regions = Vec::new();
    let entries = touched.iter().rev().filter(|entry| !entry.imports_the_sheet());
    for tracked in entries.flat_map(|entry| &entry.operations) {
        let (rows, columns) = &to_base;
        match &tracked.operation {
            Operation::SetCells(set) => cells.extend(
                set.cells
                    .iter()
                    .filter_map(|edit| Some((rows.get(edit.row)?, columns.get(edit.column)?))),
            ),
            Operation::ClearRange(clear) => {
                regions.push((rows.kept_spans(&clear.rows), columns.kept_spans(&clear.columns)));
            }
            Operation::InsertRows(insert) => {
                to_base.0 = before(&AxisMap::insert(Axis::Rows, insert.before, insert.count), rows);
            }
            Operation::InsertColumns(insert) => {
                let map = AxisMap::insert(Axis::Columns, insert.before, insert.count);
                to_base.1 = before(&map, columns);
            }
            Operation::DeleteRows(delete) => {
                to_base.0 = before(&AxisMap::delete(Axis::Rows, &delete.spans), rows);
            }
            Operation::DeleteColumns(delete) => {
                to_base.1 = before(&AxisMap::delete(Axis::Columns, &delete.spans), columns);
            }
            _ => {}
        }
    }
    TouchedCells::of(cells, regions, extent)
}

/// Returns the map to the base from the state after an operation. `to_base` is the map to the base
/// from the state before the operation.
fn before(operation_map: &AxisMap, to_base: &AxisMap) -> AxisMap {
    operation_map.reversed().then(to_base)
}

/// Applies an entry and returns its changes, each with the name of the sheet after it. The
/// operations of an import are not applied, because the workbook already contains the imported
/// cells.
fn apply_entry(
    workbook: &mut Workbook,
    sheet: SheetId,
    entry: &VisitedEntry,
    comparisons_left: &mut usize,
) -> Result<Vec<(String, CellHistoryChange)>, LogError> {
    let mut changes = Vec::new();
    if entry.recovered.is_some() {
        let name = workbook.tabs().name(sheet).unwrap_or_default().to_owned();
        changes.push((name, CellHistoryChange::SheetAdded));
    }
    let is_applied = entry.imports_the_sheet();
    let kept_formulas = formulas_before(workbook, sheet, entry);
    for tracked in &entry.operations {
        let diffs = if is_applied {
            Vec::new()
        } else {
            let report = workbook.apply_and_report(&tracked.operation, comparisons_left);
            report.map_err(|_| LogError::HistoryTooLarge { at: entry.cursor.position })?
        };
        let Some(touch) = &tracked.touch else { continue };
        let name = workbook.tabs().name(sheet).unwrap_or_default().to_owned();
        match whole_change(touch) {
            Some(change) => changes.push((name, change)),
            None => {
                let keeps_formula = |diff: &CellDiff| {
                    let formula = kept_formulas.get(&(diff.row, diff.column));
                    formula.is_some() && formula == diff.after.formula.as_ref()
                };
                let cells = diffs.into_iter().filter(|diff| !keeps_formula(diff));
                let cells = cells.map(CellHistoryChange::Cell);
                changes.extend(cells.map(|change| (name.clone(), change)));
            }
        }
    }
    Ok(changes)
}

/// Returns the formulas before an entry of the cells that it sets. An import that replaces a sheet sets
/// the formulas that refer to it once more. Empty if rows or columns move, or if the entry has only one
/// operation, whose comparison suffices.
fn formulas_before(
    workbook: &Workbook,
    sheet: SheetId,
    entry: &VisitedEntry,
) -> BTreeMap<(u32, u32), String> {
    let is_kept_in_place = entry.touches().all(|touch| *touch == Touch::Contents);
    let is_needed = is_kept_in_place && entry.operations.len() > 1;
    let Some(before) = workbook.sheet(sheet).filter(|_| is_needed) else { return BTreeMap::new() };
    let edits = entry.operations.iter().filter_map(|tracked| match &tracked.operation {
        Operation::SetCells(set) if set.sheet == sheet => Some(&set.cells),
        _ => None,
    });
    let formula_of = |(row, column)| Some(((row, column), before.cell(row, column).formula?));
    edits.flatten().filter_map(|edit| formula_of((edit.row, edit.column))).collect()
}

/// Returns the change if it affects whole rows, whole columns or the whole sheet. Returns `None` if
/// the contents of individual cells may have changed.
fn whole_change(touch: &Touch) -> Option<CellHistoryChange> {
    Some(match touch {
        Touch::Contents => return None,
        Touch::Inserted { axis: Axis::Rows, spans } => {
            CellHistoryChange::RowsInserted(spans.clone())
        }
        Touch::Inserted { axis: Axis::Columns, spans } => {
            CellHistoryChange::ColumnsInserted(spans.clone())
        }
        Touch::Deleted { axis: Axis::Rows, spans } => CellHistoryChange::RowsDeleted(spans.clone()),
        Touch::Deleted { axis: Axis::Columns, spans } => {
            CellHistoryChange::ColumnsDeleted(spans.clone())
        }
        Touch::SheetAdded => CellHistoryChange::SheetAdded,
        Touch::SheetImported => CellHistoryChange::SheetImported,
    })
}
