//! Restores defined names.

use std::collections::BTreeSet;

use cellar_formula::changes::{MovedLines, SheetLines};
use cellar_formula::reference::{Reference, ReferenceSheet};

use super::UndoBuilder;
use crate::metadata::DefinedName;
use crate::operation::{Operation, SetName, SheetId};
use crate::workbook::Workbook;
use crate::workbook::names::{is_same, resolved};

impl UndoBuilder<'_> {
    /// Restores the names that the entry changed, and the references that it deleted, unless the name
    /// was changed later. Must be called last, when all rows, columns and sheets are restored.
    pub(super) fn restore_defined_names(
        &mut self,
        before: &Workbook,
        after: &Workbook,
        now: &Workbook,
    ) {
        let names = before.names.iter().chain(after.names.iter());
        let keys: BTreeSet<String> = names.map(|name| name.name().to_lowercase()).collect();
        if keys.is_empty() {
            return;
        }
        let moves_of_entry = before.moves_of_names(|sheet| before.sheet_lines_to(after, sheet));
        let moves_since = after.moves_of_names(|sheet| after.sheet_lines_to(now, sheet));
        let moves_of_undo = before.moves_of_names(|sheet| self.lines_of_undo(before, sheet));
        for key in keys {
            let old = before.names.get(&key);
            let new = after.names.get(&key);
            let current = now.names.get(&key);
            let is_changed_by_entry = match (old, new) {
                (Some(old), Some(new)) => {
                    !is_same(old, &before.tabs, new, &after.tabs, &moves_of_entry)
                }
                _ => true,
            };
            // The name has followed an import that is kept.
            if old.is_some_and(|old| self.refers_to_kept_sheet(old)) {
                continue;
            }
            let is_touched = is_changed_by_entry
                || old != new
                || old.is_some_and(|old| refers_to_moved_lines(old, &moves_of_entry));
            let is_changed_since = match (new, current) {
                (Some(new), Some(current)) => {
                    resolved(&new.moved(&moves_since), &now.tabs) != resolved(current, &now.tabs)
                }
                (new, current) => new.is_some() || current.is_some(),
            };
            if is_touched && is_changed_since {
                self.report.left.defined_names += u64::from(is_changed_by_entry);
            } else if is_touched {
                let target = old.map(|old| self.with_restored_sheets(&old.moved(&moves_of_undo)));
                self.restore_defined_name(&key, target.as_ref());
            }
        }
    }

    fn refers_to_kept_sheet(&self, name: &DefinedName) -> bool {
        let mut references = name.references();
        references.any(|reference| match reference.sheet {
            ReferenceSheet::Numbered(number) => self.keeps(number),
            ReferenceSheet::Own | ReferenceSheet::Unknown(_) => false,
        })
    }

    /// Returns the maps from the sheet before the entry to the sheet after the undo.
    pub(super) fn lines_of_undo(&self, before: &Workbook, sheet: SheetId) -> Option<SheetLines> {
        let lines = self.changed_lines.get(&sheet).cloned();
        lines.or_else(|| before.sheet_lines_to(&self.workbook, sheet))
    }

    fn with_restored_sheets(&self, name: &DefinedName) -> DefinedName {
        name.map_references(|reference| {
            let new_number = match reference.sheet {
                ReferenceSheet::Numbered(number) => self.restored_sheet(number),
                ReferenceSheet::Own | ReferenceSheet::Unknown(_) => None,
            };
            match new_number {
                Some(number) => {
                    Reference { sheet: ReferenceSheet::Numbered(number), area: reference.area }
                }
                None => reference.clone(),
            }
        })
    }

    fn restore_defined_name(&mut self, key: &str, target: Option<&DefinedName>) {
        let tabs = self.workbook.tabs();
        let target = target.map(|target| resolved(target, tabs));
        let current = self.current_name(key);
        if target == current {
            return;
        }
        let operation = match (&target, &current) {
            (Some(target), _) => SetName::restored(target.name(), &target.formula(tabs), tabs),
            (None, Some(current)) => Some(SetName::delete(current.name())),
            (None, None) => None,
        };
        let Some(operation) = operation else {
            self.report.left.defined_names += 1;
            return;
        };
        self.push(Operation::SetName(operation));
        if self.current_name(key) == target {
            self.report.restored.defined_names += 1;
        } else {
            // There are too many names.
            self.operations.pop();
            self.report.left.defined_names += 1;
        }
    }

    fn current_name(&self, key: &str) -> Option<DefinedName> {
        let current = self.workbook.names.get(key)?;
        Some(resolved(current, self.workbook.tabs()))
    }
}

/// Returns whether the name refers to a sheet whose rows or columns moved.
fn refers_to_moved_lines(name: &DefinedName, moves: &MovedLines) -> bool {
    name.references().any(|reference| {
        let lines = reference.sheet_number(SheetId::FIRST).and_then(|sheet| moves.sheet(sheet));
        lines.is_some_and(|lines| !lines.is_identity())
    })
}
