//! Undo: computes the operations that reverse an entry.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::ControlFlow;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::{Entry, Mutation};
use cellar_sheet::metadata::SheetPlaces;
use cellar_sheet::operation::{ImportSheet, Operation, Rejection, RejectionReason, SheetId, Undo};
use cellar_sheet::workbook::{
    DeletedSheets, ImportedSheet, RestorableImports, ReversalCounts, ReversalReport, Workbook,
    undo_with_imports,
};

use super::changes::ImportedCells;
use super::committed::ReadUntil;
use super::lost_references::{LostReferences, RestoringOperations};
use super::recovered_sheets::SheetRecoveries;
use super::resolve::Resolved;
use super::reversals::{AppliedReversal, is_any_reversed, is_reversed, reversals_in};
use super::sheet_places::TabStates;
use super::workbook::Replay;
use super::{LogError, Logs};

/// Changes of imported sheets after the import. A sheet that displays what was imported is
/// not included. The counts are zero if the changes are too many to be read.
type ChangedImports = BTreeMap<SheetId, ReversalCounts>;

pub(super) struct UndoStates {
    target: Position,
    /// The entries to undo: the one at `target` or, if it is of a merge, all entries of the merge.
    entries: BTreeSet<Position>,
    /// From oldest to newest.
    runs: Vec<UndoneRun>,
    /// Undos and reverts after the first entry to undo, from oldest to newest. Rejected ones are not
    /// included.
    reversals: Vec<AppliedReversal>,
    /// The newest edits of sheets that the entries imported.
    import_edits: ImportEdits,
    /// Whether the states contain all formulas that the entries deprived of references.
    lost_references: LostReferences,
    recoveries: SheetRecoveries,
    latest: Replay,
}

/// Entries to undo between which no other edit is. Others may have edited the spreadsheet during a
/// merge, and their edits must stay.
struct UndoneRun {
    first: Position,
    before: Workbook,
    after: Option<Workbook>,
    /// Sheets that the entries imported. The states do not contain their cells.
    imports: Vec<ImportedSheet>,
}

/// The newest edits of imported sheets, from oldest to newest. Undos are not included.
#[derive(Default)]
struct ImportEdits(VecDeque<(SheetId, Position)>);

impl ImportEdits {
    /// Errors name the newest edit that is in effect, which is almost always among so many.
    const MAX_EDITS: usize = 64;

    fn add(&mut self, runs: &[UndoneRun], entry: &Entry) {
        let Some(edits) = entry.edits() else { return };
        for mutation in &edits.mutations {
            if matches!(mutation.authored, Operation::Undo(_)) {
                continue;
            }
            let sheets = mutation.committed_operations().iter().filter_map(Operation::sheet);
            for edited in sheets.map(|sheet| (sheet, entry.position)) {
                let is_import = |import: &ImportedSheet| import.sheet == edited.0;
                let is_imported = runs.iter().any(|run| run.imports.iter().any(is_import));
                if is_imported && self.0.back() != Some(&edited) {
                    self.0.push_back(edited);
                }
            }
        }
        while self.0.len() > Self::MAX_EDITS {
            self.0.pop_front();
        }
    }

    /// Returns the newest edit of a sheet that was not undone or reverted.
    fn newest_in_effect(&self, sheet: SheetId, reversals: &[AppliedReversal]) -> Option<Position> {
        let newest_first = self.0.iter().rev().filter(|(edited, _)| *edited == sheet);
        newest_first.map(|(_, position)| *position).find(|edit| !is_reversed(reversals, *edit))
    }
}

/// The imports that the undo of one run depends on.
#[derive(Default)]
struct RunImports {
    /// Sheets that the run imported and that were changed since.
    changed: ChangedImports,
    /// Imports of the sheets that the run deleted.
    restorable: RestorableImports,
}

impl UndoStates {
    fn new(target: Position, entries: BTreeSet<Position>, latest: Replay) -> Self {
        let (runs, reversals) = (Vec::new(), Vec::new());
        let (import_edits, lost_references) = (ImportEdits::default(), LostReferences::Complete);
        let recoveries = SheetRecoveries::default();
        Self { target, entries, runs, reversals, import_edits, lost_references, recoveries, latest }
    }

    /// The runs are undone from the newest to the oldest, each on the state that the last left.
    fn resolve(
        &self,
        head: Position,
        run_imports: Vec<RunImports>,
        mut places: Option<SheetPlaces>,
    ) -> Resolved {
        let target = self.target;
        if self.runs.is_empty() {
            return nothing_to_undo(head, format!("there is no edit at {target}"));
        }
        if is_any_reversed(&self.reversals, &self.entries) {
            return nothing_to_undo(head, format!("the entry at {target} is already undone"));
        }
        let mut now = self.latest.workbook.clone();
        let mut operations = RestoringOperations::default();
        let mut report = ReversalReport::default();
        let mut block = None;
        for (run, of_run) in self.runs.iter().zip(run_imports).rev() {
            let (before, after) = self.states_of(run);
            let RunImports { changed, restorable } = of_run;
            let imports = imports_now(run, &now, &changed);
            let deleted_sheets = DeletedSheets { imports: restorable, places: places.take() };
            let reversal = undo_with_imports(&before, &after, &now, &imports, &deleted_sheets);
            for operation in &reversal.operations {
                now.apply_operation(operation);
            }
            places = deleted_sheets.places;
            if let Some(places) = &mut places {
                let undo_of_run = Operation::Undo(Undo { position: run.first });
                places.apply(head, &undo_of_run, &reversal.operations);
            }
            report = report.plus(reversal.report);
            operations.add(reversal);
            block = block.or_else(|| self.describe_blocking_import(&imports, &changed));
        }
        if operations.is_empty() {
            return Resolved::rejected(head, self.reason_for_nothing(block, &report));
        }
        let authored = Operation::Undo(Undo { position: target });
        operations.resolve(head, authored, report, self.lost_references)
    }

    /// Returns the states before and after the entries of a run, with the numbers that deleted sheets
    /// have now. Imports are undone as a whole, and only if the imported sheet was not recovered.
    fn states_of<'a>(&'a self, run: &'a UndoneRun) -> (Cow<'a, Workbook>, Cow<'a, Workbook>) {
        let now = &self.latest.workbook;
        let after = run.after.as_ref().unwrap_or(now);
        let mut numbers = self.recoveries.numbers_now(now);
        numbers.retain(|sheet, _| run.imports.iter().all(|import| import.sheet != *sheet));
        if numbers.is_empty() {
            return (Cow::Borrowed(&run.before), Cow::Borrowed(after));
        }
        let [before, after] = [(&run.before, 1), (after, 2)]
            .map(|(workbook, state)| Cow::Owned(workbook.with_recovered_numbers(&numbers, state)));
        (before, after)
    }

    fn exists_now(&self, import: &ImportedSheet) -> bool {
        self.latest.workbook.sheet(import.sheet).is_some()
    }

    fn describe_blocking_import(
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

    fn reason_for_nothing(&self, block: Option<String>, report: &ReversalReport) -> Rejection {
        let target = self.target;
        if let Some(detail) = block {
            return Rejection::new(RejectionReason::ChangedSince, detail);
        }
        let mut imports = self.runs.iter().flat_map(|run| &run.imports);
        let is_import_gone = imports.any(|import| !self.exists_now(import));
        let detail = if report.left.is_zero() {
            format!("the entry at {target} has no effects that can be undone")
        } else if is_import_gone {
            format!(
                "the sheet that the entry at {target} imported was deleted since, so nothing is left to undo"
            )
        } else {
            format!(
                "all that the entry at {target} changed was changed again since: {}",
                report.left
            )
        };
        Rejection::new(RejectionReason::NothingToUndo, detail)
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
        let newest = self.import_edits.newest_in_effect(import.sheet, &self.reversals);
        let newest = newest.map(|edit| format!(", the newest at {edit}")).unwrap_or_default();
        let deletion = match import.replaces {
            Some(_) => {
                "or delete the sheet instead, which does not recover the sheet that it replaced"
            }
            None => "or delete the sheet instead, which alone removes the import",
        };
        format!("First undo the later edits{newest}, then undo {target} again; {deletion}")
    }
}

fn nothing_to_undo(head: Position, detail: String) -> Resolved {
    Resolved::rejected(head, Rejection::new(RejectionReason::NothingToUndo, detail))
}

fn visit_entry(
    entries: &BTreeSet<Position>,
    runs: &mut Vec<UndoneRun>,
    workbook: &Workbook,
    entry: &Entry,
) {
    let open_run = runs.last_mut().filter(|run| run.after.is_none());
    if entries.contains(&entry.position) {
        let imports = imports_in(entry);
        match open_run {
            Some(run) => run.imports.extend(imports),
            None => {
                let (first, before) = (entry.position, workbook.clone());
                runs.push(UndoneRun { first, before, after: None, imports });
            }
        }
    } else if entry.mutation_ids().is_some()
        && let Some(run) = open_run
    {
        run.after = Some(workbook.clone());
    }
}

fn imports_now(
    run: &UndoneRun,
    now: &Workbook,
    changed_imports: &ChangedImports,
) -> Vec<ImportedSheet> {
    let with_state = |import: &ImportedSheet| {
        let is_changed = changed_imports.contains_key(&import.sheet);
        let exists = now.sheet(import.sheet).is_some();
        ImportedSheet { is_intact: exists && !is_changed, ..*import }
    };
    run.imports.iter().map(with_state).collect()
}

/// The entries that an undo reverses.
struct EntriesToUndo {
    /// The position before the first of them, or an earlier one.
    before: Position,
    /// The first position to read.
    start: Position,
    entries: BTreeSet<Position>,
}

impl Logs {
    /// If the entry does not exist, the result contains no states, and the next read starts at
    /// `base`.
    pub(super) async fn read_undo_states(
        &self,
        log_id: LogId,
        target: Position,
        base: Position,
    ) -> Result<UndoStates, LogError> {
        let no_states = || {
            let latest = Replay::resume(Workbook::default(), base);
            UndoStates::new(target, BTreeSet::from([target]), latest)
        };
        let to_undo = match self.entries_to_undo(log_id, target, base).await {
            Ok(Some(to_undo)) => to_undo,
            Ok(None) | Err(LogError::Corrupt { .. }) => return Ok(no_states()),
            Err(error) => return Err(error),
        };
        let EntriesToUndo { before, start, entries } = to_undo;
        let last = entries.last().copied().unwrap_or(target);
        let read_changes = self.read_changes_with(log_id, before, last, ImportedCells::Omit);
        match read_changes.await {
            Ok(mut changes) => {
                let lost_references =
                    self.add_formulas_that_lost_references(log_id, before, &mut changes).await?;
                let states =
                    UndoStates::new(target, entries, Replay::resume(changes.before, start));
                Ok(UndoStates { lost_references, ..states })
            }
            Err(LogError::NoSuchPosition { .. }) => Ok(no_states()),
            Err(error) => Err(error),
        }
    }

    /// Returns `None` if there is no entry before the target.
    async fn entries_to_undo(
        &self,
        log_id: LogId,
        target: Position,
        base: Position,
    ) -> Result<Option<EntriesToUndo>, LogError> {
        let mut merged = None;
        // The log is known to contain only the base.
        let min_position = Some(target).filter(|target| *target <= base);
        self.walk(log_id, target, min_position, |entry| {
            if entry.position == target {
                merged = entry.merged().cloned();
            }
            Ok(ControlFlow::Break(()))
        })
        .await?;
        let Some(merged) = merged else {
            let before = self.position_before(log_id, target).await?;
            let entries = BTreeSet::from([target]);
            return Ok(before.map(|before| EntriesToUndo { before, start: target, entries }));
        };
        let before = merged.after;
        let (mut start, mut entries) = (target, BTreeSet::from([target]));
        self.walk(log_id, before, Some(target), |entry| {
            if entry.position == before {
                start = entry.next_position().unwrap_or(target);
            }
            if entry.merged().is_some_and(|other| other.is_same_merge(&merged)) {
                entries.insert(entry.position);
            }
            Ok(ControlFlow::Continue(()))
        })
        .await?;
        Ok(Some(EntriesToUndo { before, start, entries }))
    }

    /// Reads the entries up to the latest one and computes the operations that undo the target
    /// entry. Later edits by other authors are preserved. `min_position` is a position that the log
    /// is known to contain.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::TooLarge`] if the state exceeds the memory limit, [`LogError::NotFound`]
    /// if the log does not exist, or another [`LogError`] if an entry cannot be read.
    pub(super) async fn resolve_undo(
        &self,
        log_id: LogId,
        states: &mut UndoStates,
        min_position: Position,
    ) -> Result<Resolved, LogError> {
        let UndoStates { entries, runs, reversals, import_edits, recoveries, latest, .. } = states;
        let until = ReadUntil::Newest { min_position: Some(min_position) };
        self.continue_replay(log_id, latest, until, |workbook, entry| {
            recoveries.visit_entry(workbook, entry);
            visit_entry(entries, runs, workbook, entry);
            reversals.extend(reversals_in(entry));
            if !entries.contains(&entry.position) {
                import_edits.add(runs, entry);
            }
        })
        .await?;
        recoveries.complete(&mut latest.workbook);
        let head = states.latest.cursor.newest.ok_or(LogError::NotFound)?.head;
        let mut run_imports = Vec::with_capacity(states.runs.len());
        for run in &states.runs {
            run_imports.push(RunImports {
                changed: self.changed_imports(log_id, states, run, head).await?,
                restorable: self.imports_deleted_by(log_id, states, run).await?,
            });
        }
        let places = self.places_of_runs(log_id, states, head).await?;
        Ok(states.resolve(head, run_imports, places))
    }

    async fn places_of_runs(
        &self,
        log_id: LogId,
        states: &UndoStates,
        head: Position,
    ) -> Result<Option<SheetPlaces>, LogError> {
        let Some((oldest, later)) = states.runs.split_first() else { return Ok(None) };
        let tabs = TabStates {
            before: oldest.before.tabs(),
            between: later.iter().map(|run| run.before.tabs()).collect(),
            now: states.latest.workbook.tabs(),
        };
        self.sheet_places(log_id, oldest.first, head, tabs).await
    }

    /// Returns the imports of the sheets that the entries of a run deleted.
    async fn imports_deleted_by(
        &self,
        log_id: LogId,
        states: &UndoStates,
        run: &UndoneRun,
    ) -> Result<RestorableImports, LogError> {
        let after = run.after.as_ref().unwrap_or(&states.latest.workbook);
        match self.position_before(log_id, run.first).await? {
            Some(position) => self.restorable_imports(log_id, position, &run.before, after).await,
            None => Ok(RestorableImports::new()),
        }
    }

    /// A replay does not contain the cells of imported sheets. The changes of these sheets are
    /// therefore read from the cells that were touched after the import.
    async fn changed_imports(
        &self,
        log_id: LogId,
        states: &UndoStates,
        run: &UndoneRun,
        head: Position,
    ) -> Result<ChangedImports, LogError> {
        let existing = run.imports.iter().filter(|import| states.exists_now(import));
        let sheets: Vec<SheetId> = existing.map(|import| import.sheet).collect();
        // If others edited the spreadsheet during a merge, later edits of the merge count as changes.
        let is_alone = states.runs.len() == 1;
        let last = states.entries.last().copied().filter(|_| is_alone).unwrap_or(run.first);
        if sheets.is_empty() || head <= last {
            return Ok(ChangedImports::new());
        }
        match self.changes_in_sheets(log_id, last, head, &sheets).await {
            Err(LogError::TooLarge(_)) => {
                Ok(sheets.into_iter().map(|sheet| (sheet, ReversalCounts::default())).collect())
            }
            changes => changes,
        }
    }

    async fn changes_in_sheets(
        &self,
        log_id: LogId,
        from: Position,
        to: Position,
        sheets: &[SheetId],
    ) -> Result<ChangedImports, LogError> {
        let changes = self.read_changes_with(log_id, from, to, ImportedCells::Omit).await?;
        let state_after = changes.state_after()?;
        let changed = sheets.iter().filter_map(|sheet| {
            Some((*sheet, changes.before.changes_in_sheet(&state_after, *sheet)?))
        });
        Ok(changed.collect())
    }
}

fn imports_in(entry: &Entry) -> Vec<ImportedSheet> {
    let Some(edits) = entry.edits() else { return Vec::new() };
    let operations = edits.mutations.iter().flat_map(Mutation::committed_operations);
    operations
        .filter_map(|operation| match operation {
            Operation::ImportSheet(import) => Some(imported_sheet(import)),
            _ => None,
        })
        .collect()
}

fn imported_sheet(import: &ImportSheet) -> ImportedSheet {
    let ImportSheet { sheet, replaces, cells, .. } = import;
    ImportedSheet { sheet: *sheet, replaces: *replaces, cells: *cells, is_intact: true }
}
