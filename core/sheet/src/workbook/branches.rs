//! Differences between two states that have developed from one shared state, such as a fork and its
//! source.

use std::collections::BTreeSet;

use super::diff::{
    CellDiff, FormulaComparison, NewState, SheetChange, SheetDiff, WorkbookDiff, diff_contents,
    diff_of_added_sheet, diff_of_deleted_sheet,
};
use super::tab_order::diff_order;
use super::{Sheet, SheetReader, Workbook};
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
        let moves = BranchMoves {
            between: self.moved_from_branch(from, shared),
            between_in_place: shared
                .moved_in_place(|id| self.sheet_lines_from_branch(from, shared, id)),
            to_old: shared.moved_lines_to(from),
            to_new: shared.moved_lines_to(self),
        };
        let pairs = self.pair_with_branch(from, shared);
        let mut diffs: Vec<SheetDiff> = pairs
            .iter()
            .filter_map(|pair| match *pair {
                SheetPair::Shared(id) => self.diff_of_shared_sheet(id, from, shared, &moves),
                SheetPair::SameName { old, new } => Some(from.diff_replaced_sheet(old, new, self)),
                SheetPair::Deleted(id) => {
                    let name = from.tabs.name(id).unwrap_or_default().to_owned();
                    Some(SheetDiff { sheet: id, name, ..diff_of_deleted_sheet(from.sheet(id)?) })
                }
                SheetPair::Added(id) => {
                    let name = self.tabs.name(id).unwrap_or_default().to_owned();
                    Some(SheetDiff { sheet: id, name, ..diff_of_added_sheet(self.sheet(id)?) })
                }
            })
            .collect();
        diffs.retain(SheetDiff::has_differences);
        diffs.sort_by_key(SheetDiff::order_key);
        let names = from.diff_names(self, |id| self.sheet_lines_from_branch(from, shared, id));
        let new_number = |number: SheetId| {
            pairs.iter().find_map(|pair| match *pair {
                SheetPair::Shared(id) if id == number => Some(id),
                SheetPair::SameName { old, new } if old == number => Some(new),
                _ => None,
            })
        };
        let order = diff_order(&from.tabs, &self.tabs, new_number);
        WorkbookDiff { sheets: diffs, names, order, formulas_incomplete: false }
    }

    /// Returns how the sheets of the branch `from` and of this branch are compared.
    pub(super) fn pair_with_branch(&self, from: &Self, shared: &Self) -> Vec<SheetPair> {
        let is_shared = |id: &SheetId| {
            shared.sheet(*id).is_some() && from.sheet(*id).is_some() && self.sheet(*id).is_some()
        };
        let mut pairs: Vec<SheetPair> =
            shared.sheets.keys().copied().filter(is_shared).map(SheetPair::Shared).collect();
        let mut named = BTreeSet::new();
        for &old in from.sheets.keys().filter(|id| !is_shared(id)) {
            let same_name = from.tabs.name(old).and_then(|name| self.tabs.named(name));
            pairs.push(match same_name.filter(|new| !is_shared(new)) {
                Some(new) => {
                    named.insert(new);
                    SheetPair::SameName { old, new }
                }
                None => SheetPair::Deleted(old),
            });
        }
        let added = self.sheets.keys().filter(|id| !is_shared(id) && !named.contains(id));
        pairs.extend(added.copied().map(SheetPair::Added));
        pairs
    }

    /// Returns a sheet of this branch. Rows and columns that are also in the branch `from` have the ids
    /// that they have there.
    pub(super) fn sheet_with_ids_of_branch(
        &self,
        id: SheetId,
        from: &Self,
        shared: &Self,
    ) -> Option<Sheet> {
        let (old, new) = (from.sheets.get(&id)?, self.sheets.get(&id)?);
        let new = new.with_ids_of(old, shared.sheets.get(&id)?);
        Some(new.with_replaced_ids(old).into_owned())
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
        let new_sheet = self.sheet_with_ids_of_branch(id, from, shared)?;
        let new = SheetReader { sheet: &new_sheet, ..new };
        let (moved, moved_in_place) = (&moves.between, Some(&moves.between_in_place));
        let new_state = NewState::Branch { shared: &shared.tabs };
        let comparison = FormulaComparison { moved, new_state, moved_in_place, by_text: true };
        let mut contents = diff_contents(old, new, comparison);
        remove_formulas_of_shared(&mut contents, shared.sheet(id)?, old, new, moves);
        let (old_name, new_name) = (from.tabs.name(id), self.tabs.name(id));
        let change = if old_name == new_name { SheetChange::Kept } else { SheetChange::Renamed };
        let name = new_name.unwrap_or_default().to_owned();
        Some(SheetDiff { sheet: id, name, change, ..contents })
    }
}

/// Sheets of two branches that are compared with each other.
#[derive(Debug, Clone, Copy)]
pub(super) enum SheetPair {
    /// A sheet of the shared state that both branches have.
    Shared(SheetId),
    /// A sheet that only the old branch has, and a sheet with its name that only the new branch has.
    SameName { old: SheetId, new: SheetId },
    /// A sheet that only the old branch has.
    Deleted(SheetId),
    /// A sheet that only the new branch has.
    Added(SheetId),
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
            || !formulas.only_moved_or_followed(formula, to_old, old.formula(id), &mut old_formulas)
            || !formulas.only_moved_or_followed(formula, to_new, new.formula(id), &mut new_formulas)
    });
}
