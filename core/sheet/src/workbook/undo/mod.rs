//! Computes the operations that undo the effects of one entry, except those that were changed
//! later.
//!
//! The operations are computed from three states: before the entry, after the entry, and now. Rows
//! and columns are matched by id. Cells in rows that were replaced by as many at the same place are
//! compared with those in the replaced rows. A cell or sheet was changed later if it displays something
//! else now than after the entry. The following effects of the entry are kept:
//!
//! - Cells that were edited later, also those with formulas that lost references.
//! - Inserted rows and columns that are no longer blank.
//! - Range formats of a sheet, if any of them was set later.
//! - Defined names that were set or deleted later.
//! - Added sheets that were changed later, and names of sheets that were renamed later.
//! - Imported sheets that were changed, deleted or replaced later, and the deletion of the sheets
//!   that they have replaced.
//!
//! If nothing was changed later, an undo restores all cells, displayed formats, sheet names and
//! defined names. A deleted sheet is added again with a new number, at its place (see
//! [`SheetPlaces`]). The formula of a restored cell refers to the cells to which it referred before. So
//! do formulas of other cells that have lost references because the entry deleted rows, columns or
//! sheets, if the three states contain these cells.

mod cell_changes;
mod formulas;
mod import_references;
mod lost_references;
mod names;
mod part;
mod report;
mod restore;
mod sheet;

pub use import_references::references_to_import;
pub use part::{PartFault, revert_range, revert_sheet, sheet_in_place};
pub use report::{Reversal, ReversalCounts, ReversalReport};
pub use restore::{DeletedSheets, RestorableImport, RestorableImports};

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::{SheetChange, SheetDiff, Workbook};
pub(super) use cell_changes::{FollowedReferences, cells_that_lost_references};
use cellar_base::position::Position;
use cellar_formula::changes::{MovedLines, SheetLines};

use crate::metadata::{DeletedLinesOfSheets, SheetPlaces};
use crate::operation::{DeleteSheet, Operation, RenameSheet, SheetId};

/// A sheet that was imported by the entry to be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportedSheet {
    /// Number of the sheet.
    pub sheet: SheetId,
    /// The sheet that it replaced.
    pub replaces: Option<SheetId>,
    /// Number of imported cells.
    pub cells: u64,
    /// Whether the sheet still exists and displays what was imported. Otherwise, the sheet is kept
    /// and the replaced sheet is not restored.
    pub is_intact: bool,
}

/// Returns the operations that, applied to `now`, reverse the change from `before` to `after`.
#[must_use]
pub fn undo(before: &Workbook, after: &Workbook, now: &Workbook) -> Reversal {
    undo_with_imports(before, after, now, &[], &DeletedSheets::default())
}

/// Like [`undo`], for an entry that imported or deleted sheets. The states need not contain the cells
/// of the sheets in `imports`.
#[must_use]
pub fn undo_with_imports(
    before: &Workbook,
    after: &Workbook,
    now: &Workbook,
    imports: &[ImportedSheet],
    deleted_sheets: &DeletedSheets,
) -> Reversal {
    let mut builder = UndoBuilder::new(before, after, now, imports, deleted_sheets);
    let (kept_diffs, diffs): (Vec<SheetDiff>, Vec<SheetDiff>) =
        before.diff_by_number(after).sheets.into_iter().partition(|diff| builder.keeps(diff.sheet));
    for diff in &kept_diffs {
        let cells = builder.sheet_cells(diff, before, after);
        builder.report.left.add_sheet(cells);
    }
    let contents_changed =
        |diff: &&SheetDiff| matches!(diff.change, SheetChange::Renamed | SheetChange::Kept);
    // Formulas are restored when all rows, columns and sheets to which they refer exist again, under
    // the names that they had.
    let mut sheet_undos = Vec::new();
    for diff in diffs.iter().filter(contents_changed) {
        sheet_undos.extend(builder.undo_lines(diff));
    }
    let mut names_to_restore = builder.undo_sheets(&diffs, before, after);
    for diff in diffs.iter().filter(contents_changed) {
        names_to_restore.extend(builder.name_to_restore(diff.sheet, before, after, now));
    }
    builder.restore_names(&names_to_restore);
    builder.restore_contents_of_sheets();
    for sheet_undo in &sheet_undos {
        builder.restore_contents(sheet_undo);
    }
    builder.restore_defined_names(before, after, now);
    builder.restore_lost_references();
    builder.finish()
}

/// Returns the operations that, applied to `now`, result in a state that displays the same as
/// `before`. There are none if both states already display the same.
#[must_use]
pub fn revert(before: &Workbook, now: &Workbook, deleted_sheets: &DeletedSheets) -> Reversal {
    let now = &now.with_kept_lines(before);
    if before.displays_same(now) {
        return Reversal::default();
    }
    undo_with_imports(before, now, now, &[], deleted_sheets)
}

/// Returns the places of the sheets of `before` and of all others that are known.
fn places_of(before: &Workbook, deleted_sheets: &DeletedSheets) -> SheetPlaces {
    let tabs = before.tabs();
    let has_all = |places: &&SheetPlaces| tabs.order().iter().all(|sheet| places.contains(*sheet));
    let known = deleted_sheets.places.as_ref().filter(has_all);
    known.cloned().unwrap_or_else(|| SheetPlaces::at(Position::FIRST, tabs))
}

struct UndoBuilder<'a> {
    before: &'a Workbook,
    after: &'a Workbook,
    now: &'a Workbook,
    moved_by_entry: MovedLines,
    moved_since_entry: MovedLines,
    /// Like `moved_since_entry`, but rows and columns that were replaced by as many count as kept.
    moved_in_place_since_entry: MovedLines,
    /// Leads from the state before the entry to now.
    moved_until_now: MovedLines,
    /// Replaces `moved_until_now` for sheets with rows or columns that the undo inserts or deletes.
    moved_by_undo: MovedLines,
    /// Like the maps above, for sheets in which rows or columns were replaced by as many: these count as
    /// kept. Computed after the undo has inserted and deleted rows and columns.
    replaced_until_now: OnceCell<MovedLines>,
    workbook: Workbook,
    operations: Vec<Operation>,
    /// How many of the operations, at the end, restore lost references.
    formula_operations: usize,
    report: ReversalReport,
    imports: &'a [ImportedSheet],
    imports_of_deleted: &'a RestorableImports,
    deleted_lines: &'a DeletedLinesOfSheets,
    places: SheetPlaces,
    /// Imported sheets that are kept, and the sheets that they have replaced.
    kept: BTreeSet<SheetId>,
    /// Maps the old number of each restored sheet to its new number.
    restored: BTreeMap<SheetId, SheetId>,
    /// Row and column maps of each changed sheet, from its state before the entry to its state after
    /// deleted rows and columns were inserted again.
    changed_lines: BTreeMap<SheetId, SheetLines>,
    /// Old and new numbers of restored sheets whose cells are still missing.
    without_contents: Vec<(SheetId, SheetId)>,
}

impl<'a> UndoBuilder<'a> {
    fn new(
        before: &'a Workbook,
        after: &'a Workbook,
        now: &'a Workbook,
        imports: &'a [ImportedSheet],
        deleted_sheets: &'a DeletedSheets,
    ) -> Self {
        let changed_imports = imports.iter().filter(|import| !import.is_intact);
        let kept = changed_imports
            .flat_map(|import| [Some(import.sheet), import.replaces])
            .flatten()
            .collect();
        Self {
            before,
            after,
            now,
            moved_by_entry: before.moved_lines_to(after),
            moved_since_entry: after.moved_lines_to(now),
            moved_in_place_since_entry: after.moved_in_place_to(now),
            moved_until_now: before.moved_lines_to(now),
            moved_by_undo: MovedLines::default(),
            replaced_until_now: OnceCell::new(),
            workbook: now.clone(),
            operations: Vec::new(),
            formula_operations: 0,
            report: ReversalReport::default(),
            imports,
            imports_of_deleted: &deleted_sheets.imports,
            deleted_lines: &deleted_sheets.lines,
            places: places_of(before, deleted_sheets),
            kept,
            restored: BTreeMap::new(),
            changed_lines: BTreeMap::new(),
            without_contents: Vec::new(),
        }
    }

    fn finish(self) -> Reversal {
        let Self { operations, formula_operations, report, .. } = self;
        Reversal { operations, formula_operations, report }
    }

    fn keeps(&self, sheet: SheetId) -> bool {
        self.kept.contains(&sheet)
    }

    /// Returns the sheet to which the references to a sheet before the entry are restored, if it is
    /// another one: the restored sheet, or the sheet that replaced it under its name.
    fn restored_sheet(&self, sheet: SheetId) -> Option<SheetId> {
        let restored = self.restored.get(&sheet).copied();
        restored.or_else(|| {
            let in_place = sheet_in_place(self.before, &self.workbook, sheet);
            in_place.filter(|in_place| *in_place != sheet)
        })
    }

    fn push(&mut self, operation: Operation) {
        self.workbook.apply_operation(&operation);
        self.operations.push(operation);
    }

    fn import(&self, sheet: SheetId) -> Option<&'a ImportedSheet> {
        self.imports.iter().find(|import| import.sheet == sheet)
    }

    /// Returns the number of cells of a sheet that the entry added or deleted.
    fn sheet_cells(&self, diff: &SheetDiff, before: &Workbook, after: &Workbook) -> u64 {
        if let Some(import) = self.import(diff.sheet) {
            return import.cells;
        }
        after.sheet(diff.sheet).or(before.sheet(diff.sheet)).map_or(0, |sheet| sheet.cell_count())
    }

    /// Deletes added sheets and restores deleted ones. Returns the restored sheets with their names.
    fn undo_sheets(
        &mut self,
        diffs: &[SheetDiff],
        before: &Workbook,
        after: &Workbook,
    ) -> Vec<(SheetId, String)> {
        let added = || diffs.iter().filter(|diff| diff.change == SheetChange::Added);
        let existing: Vec<&SheetDiff> =
            added().filter(|diff| self.workbook.sheet(diff.sheet).is_some()).collect();
        for diff in &existing {
            self.delete_added_sheet(diff.sheet);
        }
        let is_deleted = |sheet: &&SheetId| {
            let mut deleted = diffs.iter().filter(|diff| diff.change == SheetChange::Deleted);
            // An undo or revert may already have recovered the sheet.
            self.now.sheet(**sheet).is_none() && deleted.any(|diff| diff.sheet == **sheet)
        };
        let mut names = Vec::new();
        for sheet in before.tabs().order().iter().filter(is_deleted) {
            names.extend(self.restore_sheet(*sheet, before));
        }
        // An added sheet can be deleted only if there are other sheets. Try again after deleted
        // sheets have been restored.
        for diff in existing {
            self.delete_added_sheet(diff.sheet);
            let is_deleted = self.workbook.sheet(diff.sheet).is_none();
            let cells = self.sheet_cells(diff, before, after);
            let counts = if is_deleted { &mut self.report.restored } else { &mut self.report.left };
            counts.add_sheet(cells);
        }
        names
    }

    /// Returns a sheet and its name before the entry. Returns `None` if the entry did not rename
    /// the sheet, or if the sheet was renamed again later.
    fn name_to_restore(
        &mut self,
        sheet: SheetId,
        before: &Workbook,
        after: &Workbook,
        now: &Workbook,
    ) -> Option<(SheetId, String)> {
        let old_name = before.tabs().name(sheet)?;
        let new_name = after.tabs().name(sheet)?;
        if old_name == new_name {
            return None;
        }
        if now.tabs().name(sheet) != Some(new_name) {
            self.report.left.names += 1;
            return None;
        }
        self.report.restored.names += 1;
        Some((sheet, old_name.to_owned()))
    }

    /// Deletes a sheet that the entry added, unless the sheet was changed later or is the only
    /// sheet.
    fn delete_added_sheet(&mut self, sheet: SheetId) {
        if self.workbook.sheet(sheet).is_none() {
            return;
        }
        let is_unchanged = match self.import(sheet) {
            Some(import) => import.is_intact,
            None => self.after.sheet_displays_same(sheet, self.now, sheet),
        };
        if is_unchanged {
            self.delete_sheet(sheet);
        }
    }

    /// No-op if the sheet is the only one.
    fn delete_sheet(&mut self, sheet: SheetId) {
        if self.workbook.tabs().order().len() > 1 {
            self.push(Operation::DeleteSheet(DeleteSheet { sheet }));
        }
    }

    fn restore_names(&mut self, names: &[(SheetId, String)]) {
        // If two sheets have exchanged their names, neither name is free until both sheets were
        // renamed once. Two passes restore all names.
        const PASSES: u32 = 2;
        for _ in 0..PASSES {
            for (sheet, name) in names {
                self.rename_sheet(*sheet, name);
            }
        }
    }

    fn rename_sheet(&mut self, sheet: SheetId, name: &str) {
        let tabs = self.workbook.tabs();
        let unique_name = tabs.unique_name(name, Some(sheet));
        if tabs.name(sheet).is_some_and(|current_name| current_name != unique_name) {
            let name = name.to_owned();
            self.push(Operation::RenameSheet(RenameSheet { sheet, name }));
        }
    }
}
