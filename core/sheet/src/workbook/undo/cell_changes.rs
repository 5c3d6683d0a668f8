//! Cells that differ between two states of a sheet.

use std::collections::{BTreeMap, BTreeSet};

use crate::workbook::SheetReader;
use crate::workbook::sheet::{CellId, StoredCell};
use cellar_formula::changes::MovedLines;

/// The parts of a cell that differ between two states. At least one of them does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CellChange {
    /// Whether the value or the formula differs. A formula may differ in references that only follow
    /// moved rows and columns.
    pub(super) content: bool,
    pub(super) format: bool,
}

/// Returns the cells of a sheet that differ. Each map of `moved` leads from the older to the newer
/// state. A formula that only followed one of them does not differ.
pub(super) fn changed_cells(
    older: SheetReader<'_>,
    newer: SheetReader<'_>,
    moved: &[&MovedLines],
) -> BTreeMap<CellId, CellChange> {
    let (mut older_formulas, mut newer_formulas) = (older.formulas(), newer.formulas());
    let blank = StoredCell::default();
    let older_ids = older.sheet.cells.keys();
    let ids: BTreeSet<CellId> = older_ids.chain(newer.sheet.cells.keys()).copied().collect();
    let mut changes = BTreeMap::new();
    for id in ids {
        let older_cell = older.sheet.cells.get(&id).unwrap_or(&blank);
        let newer_cell = newer.sheet.cells.get(&id).unwrap_or(&blank);
        let only_moved = moved.iter().any(|moved| {
            older_formulas.only_moved_or_followed(
                older_cell.formula.as_ref(),
                moved,
                newer_cell.formula.as_ref(),
                &mut newer_formulas,
            )
        });
        let content = !older_cell.has_value_of(newer_cell) || !only_moved;
        let format = older_cell.format != newer_cell.format;
        if content || format {
            changes.insert(id, CellChange { content, format });
        }
    }
    changes
}

/// Whether references to a sheet that was replaced are lost if they have followed the sheet that has its
/// name now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::workbook) enum FollowedReferences {
    Lost,
    Kept,
}

/// Returns the cells whose formulas were not changed, but have lost references between two states.
/// `moved` leads from the older to the newer state. Only references to rows and columns that it
/// deletes, and to sheets that are not in the tabs of `newer`, count.
pub(in crate::workbook) fn cells_that_lost_references(
    older: SheetReader<'_>,
    newer: SheetReader<'_>,
    moved: &MovedLines,
    followed: FollowedReferences,
) -> Vec<CellId> {
    let (mut older_formulas, mut newer_formulas) = (older.formulas(), newer.formulas());
    let mut cells = Vec::new();
    for (id, cell) in &older.sheet.cells {
        let (Some(formula), Some(newer_formula)) = (&cell.formula, newer.formula(*id)) else {
            continue;
        };
        if !older_formulas.loses_references(formula, moved, newer.tabs) {
            continue;
        }
        let (formula, newer_formula) = (Some(formula), Some(newer_formula));
        let is_lost = match followed {
            FollowedReferences::Kept => {
                older_formulas.only_moved(formula, moved, newer_formula, &mut newer_formulas)
            }
            FollowedReferences::Lost => older_formulas.only_moved_or_followed(
                formula,
                moved,
                newer_formula,
                &mut newer_formulas,
            ),
        };
        if is_lost {
            cells.push(*id);
        }
    }
    cells
}
