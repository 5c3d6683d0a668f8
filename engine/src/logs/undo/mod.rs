//! Undo: computes the operations that reverse an entry.

mod imports;
mod reasons;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::Entry;
use cellar_sheet::metadata::{DeletedLinesOfSheets, SheetPlaces};
use cellar_sheet::operation::{Operation, Rejection, RejectionReason, Undo};
use cellar_sheet::workbook::{
    DeletedSheets, ImportedSheet, ReversalReport, Workbook, undo_with_imports,
};

use self::imports::{ImportEdits, RunFacts, imports_in, imports_now};
use super::changes::ImportedCells;
use super::committed::ReadUntil;
use super::lost_references::{LostReferences, RestoringOperations};
use super::recovered_sheets::{SheetRecoveries, number_now};
use super::resolve::Resolved;
use super::reversals::{AppliedReversal, is_any_reversed, reversals_in};
use super::sheet_places::TabStates;
use super::workbook::Replay;
use super::{LogError, Logs};

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
        run_facts: Vec<RunFacts>,
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
        for (run, of_run) in self.runs.iter().zip(run_facts).rev() {
            let (before, after) = self.states_of(run);
            let RunFacts { changed, restorable, lines } = of_run;
            let imports = imports_now(self.imports_of(run), &now, &changed);
            let places_of_run = places.take();
            let deleted_sheets =
                DeletedSheets { imports: restorable, places: places_of_run, lines };
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

    /// Returns the imports of a run, with the numbers that deleted sheets have now.
    fn imports_of(&self, run: &UndoneRun) -> Vec<ImportedSheet> {
        let numbers = self.recoveries.numbers_now(&self.latest.workbook);
        let renumbered = |import: &ImportedSheet| ImportedSheet {
            sheet: number_now(&numbers, import.sheet),
            replaces: import.replaces.map(|sheet| number_now(&numbers, sheet)),
            ..*import
        };
        run.imports.iter().map(renumbered).collect()
    }

    /// Returns the states before and after the entries of a run, with the numbers that deleted sheets
    /// have now.
    fn states_of<'a>(&'a self, run: &'a UndoneRun) -> (Cow<'a, Workbook>, Cow<'a, Workbook>) {
        let now = &self.latest.workbook;
        let after = run.after.as_ref().unwrap_or(now);
        let numbers = self.recoveries.numbers_now(now);
        (run.before.with_recovered_numbers(&numbers), after.with_recovered_numbers(&numbers))
    }

    fn exists_now(&self, import: &ImportedSheet) -> bool {
        self.latest.workbook.sheet(import.sheet).is_some()
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
                import_edits.add(runs, recoveries, entry);
            }
        })
        .await?;
        recoveries.complete(&mut latest.workbook);
        let head = states.latest.cursor.newest.ok_or(LogError::NotFound)?.head;
        let mut run_facts = Vec::with_capacity(states.runs.len());
        for run in &states.runs {
            run_facts.push(RunFacts {
                changed: self.changed_imports(log_id, states, run, head).await?,
                restorable: self.imports_deleted_by(log_id, states, run).await?,
                lines: self.lines_deleted_by(log_id, states, run, head).await?,
            });
        }
        let places = self.places_of_runs(log_id, states, head).await?;
        Ok(states.resolve(head, run_facts, places))
    }

    /// Returns where the rows and columns that a run deleted belong now.
    async fn lines_deleted_by(
        &self,
        log_id: LogId,
        states: &UndoStates,
        run: &UndoneRun,
        head: Position,
    ) -> Result<DeletedLinesOfSheets, LogError> {
        // The state before the deletion shows the places if nothing was restored since. The entries of a
        // merge are undone together, newest first.
        let is_single = states.entries.len() == 1;
        if !is_single || states.reversals.is_empty() {
            return Ok(DeletedLinesOfSheets::new());
        }
        self.deleted_lines(log_id, run.first, head).await
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
}
