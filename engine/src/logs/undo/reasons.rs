//! Why an undo takes nothing back.

use cellar_sheet::operation::{Rejection, RejectionReason, SheetId};
use cellar_sheet::workbook::{ImportedSheet, ReversalCounts, ReversalReport};

use super::UndoStates;
use super::imports::ChangedImports;

impl UndoStates {
    pub(super) fn describe_blocking_import(
        &self,
        imports: &[ImportedSheet],
        changed_imports: &ChangedImports,
    ) -> Option<String> {
        let blocks_undo = |import: &&ImportedSheet| {
            !import.is_intact && (self.exists_now(import) || import.replaces.is_some())
        };
        let import = imports.iter().find(blocks_undo)?;
        Some(self.describe_block(import, changed_imports.get(&import.sheet)))
    }

    pub(super) fn reason_for_nothing(
        &self,
        block: Option<String>,
        report: &ReversalReport,
    ) -> Rejection {
        let target = self.target;
        if let Some(detail) = block {
            return Rejection::new(RejectionReason::ChangedSince, detail);
        }
        let mut imports = self.runs.iter().flat_map(|run| self.imports_of(run));
        let is_import_gone = imports.any(|import| !self.exists_now(&import));
        let detail = if report.left.is_zero() {
            format!("the entry at {target} has no effects that can be undone")
        } else if is_import_gone {
            format!(
                "the sheet that the entry at {target} imported was deleted since, so nothing is left to undo"
            )
        } else if let Some(deletion) = self.describe_deletion() {
            deletion
        } else {
            format!(
                "all that the entry at {target} changed was changed again since: {}",
                report.left
            )
        };
        Rejection::new(RejectionReason::NothingToUndo, detail)
    }

    /// Returns `None` if a sheet that the entries changed still exists, or was deleted too long ago.
    fn describe_deletion(&self) -> Option<String> {
        let target = self.target;
        let mut deleted = None;
        for run in &self.runs {
            let (before, after) = self.states_of(run);
            for changed in before.diff(&after).sheets {
                if self.latest.workbook.sheet(changed.sheet).is_some() {
                    return None;
                }
                deleted = Some(self.recoveries.deletion_of(changed.sheet)?);
            }
        }
        let (name, position) = deleted?;
        Some(format!(
            "the sheet `{name}`, which the entry at {target} changed, was deleted at {position}; undo \
             {position} first, which recovers the sheet"
        ))
    }

    fn describe_block(&self, import: &ImportedSheet, changes: Option<&ReversalCounts>) -> String {
        let target = self.target;
        let Some(name) = self.latest.workbook.tabs().name(import.sheet) else {
            return format!(
                "the sheet that was imported at {target} was deleted or replaced since, so the \
                 import cannot be undone as a whole; revert to an earlier position instead"
            );
        };
        let changed = match changes {
            Some(counts) if !counts.is_zero() => format!("changed since ({counts})"),
            _ => "changed since".to_owned(),
        };
        format!(
            "sheet `{name}`, which was imported at {target}, was {changed}, so the import cannot be \
             undone as a whole. {}",
            self.describe_way_out(import)
        )
    }

    fn describe_way_out(&self, import: &ImportedSheet) -> String {
        let target = self.target;
        let numbers: Vec<SheetId> = self.recoveries.numbers_of(import.sheet).collect();
        let newest = self.import_edits.newest_in_effect(&numbers, &self.reversals);
        let deletion = match import.replaces {
            Some(_) => {
                "or delete the sheet instead, which does not recover the sheet that it replaced"
            }
            None => "or delete the sheet instead, which alone removes the import",
        };
        match newest {
            Some(newest) => format!(
                "First undo the later edits, the newest at {newest}, then undo {target} again; {deletion}"
            ),
            None => format!("Revert to a position before {target} instead, {deletion}"),
        }
    }
}
