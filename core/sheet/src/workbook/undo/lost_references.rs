//! Restores references that other formulas have lost because the entry deleted rows, columns or
//! sheets.

use cellar_formula::changes::MovedLines;

use super::UndoBuilder;
use super::cell_changes::{FollowedReferences, cells_that_lost_references};
use crate::operation::{CellEdit, SheetId};
use crate::workbook::SheetReader;
use crate::workbook::sheet::{CellId, CellLookup};
use crate::workbook::stored_formula::{
    FormulaReader, StoredFormula, lost_same_references, moved_template,
};

/// Formulas of one sheet that lost references.
struct LostReferences<'a> {
    before: SheetReader<'a>,
    after: SheetReader<'a>,
    cells: Vec<CellId>,
}

/// Maps in which deleted rows and columns that were replaced by as many at the same place count as
/// kept. An undo of another entry may have restored them, with new ids.
struct MovedInPlace {
    since_entry: MovedLines,
    /// Leads from the state before the entry to the state after the undo.
    by_undo: MovedLines,
}

/// How a formula has changed since the entry.
#[derive(PartialEq)]
enum FormulaChange {
    /// It has the references that it had, if replaced rows and columns count as kept. If it lost other
    /// references later, they were restored.
    MovedInPlace,
    /// Its references followed moved rows and columns, and those to replaced ones are lost.
    OnlyMoved,
    Changed,
}

impl<'a> UndoBuilder<'a> {
    /// Restores the references that formulas have lost, unless the formula was changed later. Must be
    /// called last, when all rows, columns and sheets are restored.
    pub(super) fn restore_lost_references(&mut self) {
        self.restore_lost_references_of(|_, _, _| true);
    }

    /// Like [`UndoBuilder::restore_lost_references`], for the formulas that referred to one sheet.
    pub(super) fn restore_references_to(&mut self, sheet: SheetId) {
        self.restore_lost_references_of(|own_sheet, formula, formulas| {
            own_sheet == sheet || formulas.refers_to(formula, sheet)
        });
    }

    /// `is_restored` selects formulas by their sheet and their content before the entry.
    fn restore_lost_references_of(
        &mut self,
        is_restored: impl Fn(SheetId, &StoredFormula, &mut FormulaReader<'_>) -> bool,
    ) {
        let operation_count = self.operations.len();
        let sheets = self.before.sheets.keys();
        let lost: Vec<LostReferences<'a>> =
            sheets.filter_map(|sheet| self.lost_references(*sheet, &is_restored)).collect();
        if lost.is_empty() {
            return;
        }
        let moved = MovedInPlace {
            since_entry: self.after.moved_in_place_to(self.now),
            by_undo: self.before.moved_in_place(|id| self.lines_of_undo(self.before, id)),
        };
        for lost_on_sheet in &lost {
            self.restore_references(lost_on_sheet, &moved);
        }
        self.formula_operations = self.operations.len().saturating_sub(operation_count);
    }

    fn lost_references(
        &self,
        sheet: SheetId,
        is_restored: impl Fn(SheetId, &StoredFormula, &mut FormulaReader<'_>) -> bool,
    ) -> Option<LostReferences<'a>> {
        let (before, after) = (self.before.sheet(sheet)?, self.after.sheet(sheet)?);
        let followed = FollowedReferences::Lost;
        let mut cells = cells_that_lost_references(before, after, &self.moved_by_entry, followed);
        let mut formulas = before.formulas();
        cells.retain(|id| {
            let Some(formula) = before.formula(*id) else { return false };
            // The formula has followed an import that is kept.
            let has_followed = self.kept.iter().any(|kept| formulas.refers_to(formula, *kept));
            !has_followed && is_restored(sheet, formula, &mut formulas)
        });
        if cells.is_empty() { None } else { Some(LostReferences { before, after, cells }) }
    }

    fn restore_references(&mut self, lost: &LostReferences<'_>, moved: &MovedInPlace) {
        let id = lost.before.id;
        let (Some(now), Some(current)) = (self.now.sheet(id), self.workbook.sheet(id)) else {
            self.report.left.formulas += count_of(lost.cells.len());
            return;
        };
        let (mut formulas, mut current_formulas) = (lost.before.formulas(), current.formulas());
        let mut since = ChangesSince::new(&self.moved_since_entry, moved, lost.after, now);
        let lookup = lost.before.sheet.cell_lookup();
        let mut edits = Vec::new();
        let mut left_count = 0;
        for cell_id in &lost.cells {
            let Some(cell) = lost.before.sheet.cells.get(cell_id) else { continue };
            let Some(formula) = &cell.formula else { continue };
            let place = lookup.coordinates(*cell_id);
            let Some(place) = place.and_then(|place| moved_cell(&moved.by_undo, id, place)) else {
                left_count += 1;
                continue;
            };
            let change = since.change_of(*cell_id);
            let in_place = (change == FormulaChange::MovedInPlace).then_some(&moved.by_undo);
            let restored = self.restored_formula(id, formula, &mut formulas, in_place);
            if current.cell_with(place, &mut current_formulas).formula.as_ref() == Some(&restored) {
                continue;
            }
            if change == FormulaChange::Changed {
                left_count += 1;
                continue;
            }
            let ((row, column), value) = (place, Some(cell.value.clone()));
            edits.push(CellEdit { row, column, value, formula: Some(restored), format: None });
        }
        self.report.left.formulas += left_count;
        self.report.restored.formulas += count_of(edits.len());
        self.set_cells(id, edits);
    }
}

/// Compares the formulas of a sheet after the entry with those now.
struct ChangesSince<'a> {
    moved: &'a MovedLines,
    moved_in_place: &'a MovedLines,
    after: SheetReader<'a>,
    after_lookup: CellLookup,
    now: SheetReader<'a>,
    after_formulas: FormulaReader<'a>,
    now_formulas: FormulaReader<'a>,
}

impl<'a> ChangesSince<'a> {
    fn new(
        moved: &'a MovedLines,
        moved_in_place: &'a MovedInPlace,
        after: SheetReader<'a>,
        now: SheetReader<'a>,
    ) -> Self {
        let moved_in_place = &moved_in_place.since_entry;
        let (after_formulas, now_formulas) = (after.formulas(), now.formulas());
        let after_lookup = after.sheet.cell_lookup();
        Self { moved, moved_in_place, after, after_lookup, now, after_formulas, now_formulas }
    }

    /// `cell_id` is the id of a cell after the entry.
    fn change_of(&mut self, cell_id: CellId) -> FormulaChange {
        let sheet = self.after.id;
        let place = self.after_lookup.coordinates(cell_id);
        let place = place.and_then(|place| moved_cell(self.moved_in_place, sheet, place));
        let now = place.and_then(|(row, column)| self.now.sheet.stored_cell(row, column));
        let (Some(after), Some(now)) = (self.after.sheet.cells.get(&cell_id), now) else {
            return FormulaChange::Changed;
        };
        let (Some(after_formula), Some(now_formula)) = (&after.formula, &now.formula) else {
            return FormulaChange::Changed;
        };
        let tabs = self.now.tabs;
        let (Some(after_template), Some(now_template)) =
            (self.after_formulas.template(after_formula), self.now_formulas.template(now_formula))
        else {
            return FormulaChange::Changed;
        };
        let is_moved_by = |moved| {
            let moved_template = moved_template(&after_template, sheet, moved);
            moved_template == now_template
                || lost_same_references(&moved_template, &now_template, tabs)
        };
        if is_moved_by(self.moved_in_place) {
            FormulaChange::MovedInPlace
        } else if is_moved_by(self.moved) {
            FormulaChange::OnlyMoved
        } else {
            FormulaChange::Changed
        }
    }
}

fn moved_cell(moved: &MovedLines, sheet: SheetId, (row, column): (u32, u32)) -> Option<(u32, u32)> {
    let lines = moved.sheet(sheet)?;
    Some((lines.rows.line(row)?, lines.columns.line(column)?))
}

fn count_of(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
