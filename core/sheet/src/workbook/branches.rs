//! Differences between two states that have developed from one shared state, such as a fork and its
//! source.

use std::collections::BTreeMap;

use super::diff::{
    CellDiff, FormulaComparison, SheetChange, SheetDiff, WorkbookDiff, diff_contents,
    diff_of_added_sheet, diff_of_deleted_sheet,
};
use super::tab_order::diff_order;
use super::{SheetReader, Workbook};
use cellar_formula::changes::{MovedLines, SheetLines};
use cellar_grid::SheetId;

impl Workbook {
    /// Returns a copy to which the operations of another branch can be applied. Rows and columns
    /// that are added to it get other ids than those that are added to this workbook.
    #[must_use]
    pub fn branch(&self) -> Self {
        let sheets = self.sheets.iter().map(|(id, sheet)| (*id, sheet.branch())).collect();
        Self { sheets, ..self.clone() }
    }

    /// Returns the differences from the branch `from` to this branch. Both have developed from
    /// `shared`, one of them from its [`Workbook::branch`].
    ///
    /// Rows and columns of `shared` are compared by identity. If one branch replaced rows by as many at
    /// the same place, they are the same rows. Rows that both branches inserted between
    /// the same two rows are compared one by one if they are equally many. A sheet that only exists in
    /// one branch is compared with the other branch's new sheet of the same name, row by row.
    #[must_use]
    pub fn diff_from_branch(&self, from: &Self, shared: &Self) -> WorkbookDiff {
        let is_common = |id: &SheetId| {
            shared.sheet(*id).is_some() && from.sheet(*id).is_some() && self.sheet(*id).is_some()
        };
        let mut diffs = Vec::new();
        let moves = BranchMoves {
            between: self.moved_from_branch(from, shared),
            between_in_place: shared
                .moved_in_place(|id| self.sheet_lines_from_branch(from, shared, id)),
            to_old: shared.moved_lines_to(from),
            to_new: shared.moved_lines_to(self),
        };
        for id in shared.sheets.keys().copied().filter(is_common) {
            diffs.extend(self.diff_of_shared_sheet(id, from, shared, &moves));
        }
        let mut replaced = BTreeMap::new();
        for id in from.sheets.keys().filter(|id| !is_common(id)) {
            let Some(old) = from.sheet(*id) else { continue };
            let name = from.tabs.name(*id).unwrap_or_default();
            let same_name = self.tabs.named(name).filter(|new_id| !is_common(new_id));
            if let Some(new_id) = same_name
                && self.sheet(new_id).is_some()
            {
                replaced.insert(*id, new_id);
                diffs.push(from.diff_replaced_sheet(*id, new_id, self));
            } else {
                let name = name.to_owned();
                diffs.push(SheetDiff { sheet: *id, name, ..diff_of_deleted_sheet(old) });
            }
        }
        for id in self.sheets.keys().filter(|id| !is_common(id)) {
            if !replaced.values().any(|new_id| new_id == id)
                && let Some(new) = self.sheet(*id)
            {
                let name = self.tabs.name(*id).unwrap_or_default().to_owned();
                diffs.push(SheetDiff { sheet: *id, name, ..diff_of_added_sheet(new) });
            }
        }
        diffs.retain(SheetDiff::has_differences);
        diffs.sort_by_key(|diff| diff.sheet);
        let names = from.diff_names(self, |id| self.sheet_lines_from_branch(from, shared, id));
        let new_number = |old: SheetId| match replaced.get(&old) {
            Some(new) => Some(*new),
            None => Some(old).filter(is_common),
        };
        let order = diff_order(&from.tabs, &self.tabs, new_number);
        WorkbookDiff { sheets: diffs, names, order, formulas_incomplete: false }
    }

    /// Returns how rows and columns of the branch `from` are numbered in this branch. Deletions count
    /// as earlier than insertions, because the branches have no common order.
    fn moved_from_branch(&self, from: &Self, shared: &Self) -> MovedLines {
        let lines = |id: &SheetId| Some((*id, self.sheet_lines_from_branch(from, shared, *id)?));
        shared.sheets.keys().filter_map(lines).collect()
    }

    fn sheet_lines_from_branch(
        &self,
        from: &Self,
        shared: &Self,
        sheet: SheetId,
    ) -> Option<SheetLines> {
        let (old, new) = (from.sheets.get(&sheet)?, self.sheets.get(&sheet)?);
        Some(old.lines_to(&new.with_ids_of(old, shared.sheets.get(&sheet)?)))
    }

    fn diff_of_shared_sheet(
        &self,
        id: SheetId,
        from: &Self,
        shared: &Self,
        moves: &BranchMoves,
    ) -> Option<SheetDiff> {
        let (old, new) = (from.sheet(id)?, self.sheet(id)?);
        let shared = shared.sheet(id)?;
        let new_sheet = new.sheet.with_ids_of(old.sheet, shared.sheet);
        let new_sheet = new_sheet.with_replaced_ids(old.sheet);
        let new = SheetReader { sheet: &new_sheet, ..new };
        let (moved, moved_in_place) = (&moves.between, Some(&moves.between_in_place));
        let is_back_in_time = false;
        let comparison =
            FormulaComparison { moved, is_back_in_time, moved_in_place, by_text: true };
        let mut contents = diff_contents(old, new, comparison);
        remove_formulas_of_shared(&mut contents, shared, old, new, moves);
        let (old_name, new_name) = (from.tabs.name(id), self.tabs.name(id));
        let change = if old_name == new_name { SheetChange::Kept } else { SheetChange::Renamed };
        let name = new_name.unwrap_or_default().to_owned();
        Some(SheetDiff { sheet: id, name, change, ..contents })
    }
}

/// How rows and columns have moved between a shared state and two branches.
struct BranchMoves {
    /// From the older to the newer branch.
    between: MovedLines,
    /// Like `between`, but rows and columns that were replaced by as many count as kept.
    between_in_place: MovedLines,
    to_old: MovedLines,
    to_new: MovedLines,
}

/// Removes the cells whose formula has only followed moves in both branches. A branch that deletes
/// an end of a range changes no formula.
fn remove_formulas_of_shared(
    diff: &mut SheetDiff,
    shared: SheetReader<'_>,
    old: SheetReader<'_>,
    new: SheetReader<'_>,
    moves: &BranchMoves,
) {
    let mut formulas = shared.formulas();
    let (mut old_formulas, mut new_formulas) = (old.formulas(), new.formulas());
    diff.cells.retain(|cell| {
        let CellDiff { row, column, before, after } = cell;
        let has_same_value = before.has_value_of(after) && before.format == after.format;
        let Some(id) = new.sheet.id(*row, *column).filter(|_| has_same_value) else { return true };
        let formula = shared.formula(id);
        let (to_old, to_new) = (&moves.to_old, &moves.to_new);
        formula.is_none()
            || !formulas.only_moved(formula, to_old, old.formula(id), &mut old_formulas)
            || !formulas.only_moved(formula, to_new, new.formula(id), &mut new_formulas)
    });
}
