use std::collections::BTreeSet;

use cellar_api::wire::{EntryKind, EntryView, MutationView, ProblemKind};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, RejectionReason, Undo};

use super::args;
use super::context::Context;
use super::edit::CommandEditor;
use super::error::CliError;
use super::output::Output;
use super::reversal::{ReversalVerb, print_reversal};
use crate::editor::AppliedEdit;
use crate::text::escape;
use crate::{ClientError, Spreadsheet};

/// Maximum number of edits that one command tries to undo. It is small because each attempt is
/// expensive: the server reads the whole spreadsheet.
const MAX_ATTEMPTS: usize = 10;

pub(super) async fn undo_edit(
    context: &Context,
    output: &Output,
    args: args::Undo,
) -> Result<(), CliError> {
    let editor = CommandEditor::open(context)?;
    let undone = match args.position {
        Some(position) => undo_at(&editor, output, position).await?,
        None => undo_newest(&editor, output).await?,
    };
    let UndoneEdit { position, is_merge, applied, skipped } = undone;
    let reversal = applied.reversal;
    let fields =
        serde_json::json!({ "undone": position, "skipped": skipped, "reversal": reversal });
    editor.print_edit_as_json(output, &applied, fields)?;
    let changes = editor.describe_changes(output, &applied).await;
    let undone = if is_merge { format!("the merge at {position}") } else { position.to_string() };
    let summary = format!("undid {undone}{changes}   at {}", applied.position);
    print_reversal(output, &applied, ReversalVerb::Undid, summary)?;
    print_skipped(output, &skipped);
    editor.print_destination(output);
    Ok(())
}

struct UndoneEdit {
    position: Position,
    /// Whether all edits of a merge were undone.
    is_merge: bool,
    applied: AppliedEdit,
    /// Positions of newer edits that were skipped because nothing of them is left to undo.
    skipped: Vec<Position>,
}

/// Returns the entry to undo. The server would say less about an entry that cannot be undone.
async fn read_undoable(
    spreadsheet: &Spreadsheet,
    position: Position,
) -> Result<EntryView, CliError> {
    let why = match read_entry_at(spreadsheet, position).await? {
        EntryLookup::Found(entry) => match reason_not_undoable(&entry) {
            None => return Ok(*entry),
            Some(why) => why.to_owned(),
        },
        EntryLookup::Missing { why } => why,
    };
    Err(CliError::NoEdit { position, why })
}

pub(super) enum EntryLookup {
    Found(Box<EntryView>),
    /// The log has no entry at this position. `why` is the reason.
    Missing {
        why: String,
    },
}

pub(super) async fn read_entry_at(
    spreadsheet: &Spreadsheet,
    position: Position,
) -> Result<EntryLookup, CliError> {
    let max_entries = 1;
    let result = spreadsheet.history_page(Some(position), Some(max_entries)).await;
    if let Err(ClientError::Problem { problem, .. }) = &result
        && problem.kind == ProblemKind::UnknownPosition
    {
        return Ok(EntryLookup::Missing { why: escape(&problem.detail) });
    }
    match result?.entries.into_iter().next() {
        Some(entry) if entry.position == position => Ok(EntryLookup::Found(Box::new(entry))),
        _ => Ok(EntryLookup::Missing { why: "the position does not exist".to_owned() }),
    }
}

fn reason_not_undoable(entry: &EntryView) -> Option<&'static str> {
    match entry.kind {
        EntryKind::Snapshot if entry.position == Position::FIRST => {
            Some("the spreadsheet was created at this position")
        }
        EntryKind::Snapshot => Some("a snapshot was started at this position; nothing was changed"),
        EntryKind::EndSegment => {
            Some("a log segment was closed at this position; nothing was changed")
        }
        EntryKind::Edits if had_effect(entry) => None,
        EntryKind::Edits if has_operations(entry) => {
            Some("the edit was rejected and had no effect")
        }
        EntryKind::Edits => Some("the edit had no effect"),
    }
}

/// Undoes the edit at a position, by any author.
async fn undo_at(
    editor: &CommandEditor,
    output: &Output,
    position: Position,
) -> Result<UndoneEdit, CliError> {
    let entry = read_undoable(&editor.spreadsheet, position).await?;
    let applied = editor.send(output, Operation::Undo(Undo { position })).await?;
    Ok(UndoneEdit { position, is_merge: entry.merged.is_some(), applied, skipped: Vec::new() })
}

/// Undoes the newest edit of the token's author that is still in effect.
async fn undo_newest(editor: &CommandEditor, output: &Output) -> Result<UndoneEdit, CliError> {
    let mut search = UndoSearch { author: author_of(editor)?, ..UndoSearch::default() };
    let mut skipped = Vec::new();
    let mut entries_newest_first = editor.spreadsheet.history(None);
    while let Some(entry) = entries_newest_first.try_next().await? {
        let Some(position) = search.visit_older_entry(&entry) else { continue };
        match editor.send(output, Operation::Undo(Undo { position })).await {
            Ok(applied) => {
                let is_merge = entry.merged.is_some();
                return Ok(UndoneEdit { position, is_merge, applied, skipped });
            }
            Err(error) if error.is_nothing_to_undo() => {
                search.skip_merge(&entry);
                skipped.push(position);
            }
            Err(error) => {
                print_skipped(output, &skipped);
                return Err(error);
            }
        }
        if skipped.len() >= MAX_ATTEMPTS {
            break;
        }
    }
    if skipped.is_empty() {
        return Err(CliError::NothingToUndo);
    }
    Err(CliError::NothingLeftToUndo { tried: list_positions(&skipped) })
}

pub(super) fn author_of(editor: &CommandEditor) -> Result<String, CliError> {
    let author = editor.spreadsheet.client().author();
    author.map(str::to_owned).ok_or_else(|| {
        CliError::usage(
            "the token does not contain an author, so your newest edit is unknown",
            "pass the position of the edit to `cellar undo`; `cellar history` lists the positions",
        )
    })
}

fn print_skipped(output: &Output, skipped: &[Position]) {
    if !skipped.is_empty() {
        let positions = list_positions(skipped);
        output.print_note(format!("Skipped newer edits that can no longer be undone: {positions}"));
    }
}

fn list_positions(positions: &[Position]) -> String {
    let names: Vec<String> = positions.iter().map(ToString::to_string).collect();
    names.join(", ")
}

/// The log entries must be visited from the newest to the oldest.
#[derive(Default)]
struct UndoSearch {
    author: String,
    /// Positions of log entries that were undone by an undo that is still in effect.
    undone: BTreeSet<Position>,
    /// The position to which the spreadsheet was reverted by the oldest visited revert that is
    /// still in effect. The revert undid all log entries between this position and itself.
    reverted_to: Option<Position>,
    /// The position to which a sheet or range was reverted by the oldest visited revert that is
    /// still in effect. Undos between this position and the revert may no longer be in effect.
    partly_reverted_to: Option<Position>,
    /// Positions of log entries that cannot be undone because they no longer had an effect.
    /// Excludes entries that a later undo or revert may have restored.
    without_effect: BTreeSet<Position>,
    /// Merges that are undone or cannot be undone, by fork and position. An undo of one of their
    /// entries applies to all.
    finished_merges: BTreeSet<(LogId, Position)>,
}

impl UndoSearch {
    /// Visits the next older log entry. Returns its position if it is an edit by the author that is
    /// still in effect.
    fn visit_older_entry(&mut self, entry: &EntryView) -> Option<Position> {
        let position = entry.position;
        let is_reverted = self.reverted_to.is_some_and(|target| position > target);
        let is_in_effect = !is_reverted && !self.undone.contains(&position);
        if let Some((target, mutation)) = find_undo(entry) {
            let is_partly_reverted =
                self.partly_reverted_to.is_some_and(|reverted_to| position > reverted_to);
            self.record_undo(target, mutation, is_in_effect, is_partly_reverted);
            return None;
        }
        if is_in_effect && let Some(target) = find_revert_target(entry) {
            self.reverted_to = Some(target);
        }
        if is_in_effect && let Some(target) = find_target_of_partial_revert(entry) {
            let earlier_target = self.partly_reverted_to.unwrap_or(target);
            self.partly_reverted_to = Some(earlier_target.min(target));
        }
        if self.undone.contains(&position) {
            self.skip_merge(entry);
        }
        // The person who merged edits undoes them, not their author.
        let actor = match &entry.merged {
            Some(merged) if self.finished_merges.contains(&(merged.fork, merged.through)) => None,
            Some(merged) => merged.by.as_deref(),
            None => entry.author.as_deref(),
        };
        let is_by_author = actor == Some(self.author.as_str());
        let has_effect =
            is_in_effect && had_effect(entry) && !self.without_effect.contains(&position);
        (is_by_author && has_effect).then_some(position)
    }

    fn skip_merge(&mut self, entry: &EntryView) {
        if let Some(merged) = &entry.merged {
            self.finished_merges.insert((merged.fork, merged.through));
        }
    }

    /// `is_partly_reverted` states whether the effect of the undo was reverted in a sheet or range.
    fn record_undo(
        &mut self,
        target: Position,
        mutation: &MutationView,
        is_in_effect: bool,
        is_partly_reverted: bool,
    ) {
        if let [Operation::Rejected(rejection)] = mutation.committed_operations() {
            let is_nothing_to_undo = rejection.reason == RejectionReason::NothingToUndo;
            let nothing_restored_since = self.undone.is_empty()
                && self.reverted_to.is_none()
                && self.partly_reverted_to.is_none();
            if is_nothing_to_undo && nothing_restored_since {
                self.without_effect.insert(target);
            }
        } else if is_in_effect && !is_partly_reverted {
            self.undone.insert(target);
        }
    }
}

fn has_operations(entry: &EntryView) -> bool {
    entry.mutations.iter().any(|mutation| !mutation.committed_operations().is_empty())
}

/// Entries with an external body are assumed to have had an effect.
pub(super) fn had_effect(entry: &EntryView) -> bool {
    if entry.external_body.is_some() {
        return true;
    }
    let mut operations = entry.mutations.iter().flat_map(MutationView::committed_operations);
    operations.any(|operation| !matches!(operation, Operation::Rejected(_)))
}

pub(super) fn find_undo(entry: &EntryView) -> Option<(Position, &MutationView)> {
    entry.mutations.iter().find_map(|mutation| match &mutation.op {
        Operation::Undo(undo) => Some((undo.position, mutation)),
        _ => None,
    })
}

/// Returns `None` if the revert was rejected or the entry is not a revert of a sheet or range.
fn find_target_of_partial_revert(entry: &EntryView) -> Option<Position> {
    entry.mutations.iter().find_map(|mutation| {
        let is_rejected = matches!(mutation.committed_operations(), [Operation::Rejected(_)]);
        match &mutation.op {
            Operation::Revert(revert) if !is_rejected => revert.sheet.and(Some(revert.position)),
            _ => None,
        }
    })
}

/// Returns `None` if the revert was rejected or the entry is not a revert of all sheets.
fn find_revert_target(entry: &EntryView) -> Option<Position> {
    entry.mutations.iter().find_map(|mutation| {
        let is_rejected = matches!(mutation.committed_operations(), [Operation::Rejected(_)]);
        match &mutation.op {
            // A revert of a sheet or range leaves other edits in effect.
            Operation::Revert(revert) if !is_rejected && revert.sheet.is_none() => {
                Some(revert.position)
            }
            _ => None,
        }
    })
}

#[cfg(test)]
pub(super) mod tests {
    use cellar_api::{wire::EntryKind, wire::MutationView};
    use cellar_sheet::operation::{InsertBefore, Rejection, Revert, SheetId};

    use super::*;

    pub(in crate::cli) fn at(num: u32) -> Position {
        Position::new(0, num).unwrap()
    }

    fn entry(
        num: u32,
        author: &str,
        op: Operation,
        committed: Option<Vec<Operation>>,
    ) -> EntryView {
        EntryView {
            position: at(num),
            kind: EntryKind::Edits,
            created_s: 0,
            author: Some(author.into()),
            client_key: None,
            mutations: vec![MutationView { id: 1, base: at(0), op, committed }],
            external_body: None,
            merged: None,
        }
    }

    pub(in crate::cli) fn edit(num: u32, author: &str) -> EntryView {
        let insert = InsertBefore { sheet: SheetId::FIRST, before: 0, count: 1 };
        entry(num, author, Operation::InsertRows(insert), None)
    }

    fn undo(num: u32, target: u32) -> EntryView {
        undo_by("bob", num, target)
    }

    pub(in crate::cli) fn undo_by(author: &str, num: u32, target: u32) -> EntryView {
        let did = vec![edit(num, "").mutations[0].op.clone()];
        entry(num, author, Operation::Undo(Undo { position: at(target) }), Some(did))
    }

    fn revert_operation(to: u32) -> Operation {
        Operation::Revert(Revert::whole(at(to)))
    }

    fn revert(num: u32, author: &str, to: u32) -> EntryView {
        let did = vec![edit(num, "").mutations[0].op.clone()];
        entry(num, author, revert_operation(to), Some(did))
    }

    fn refused(num: u32, target: u32, reason: RejectionReason) -> EntryView {
        let rejected = vec![Operation::Rejected(Rejection::new(reason, "x"))];
        entry(num, "alice", Operation::Undo(Undo { position: at(target) }), Some(rejected))
    }

    /// Returns the number of the entry found by the search. `entries` are ordered oldest first.
    fn found(entries: &[EntryView]) -> Option<u32> {
        let mut search = UndoSearch { author: "alice".into(), ..UndoSearch::default() };
        entries
            .iter()
            .rev()
            .find_map(|entry| search.visit_older_entry(entry))
            .map(Position::entry_number)
    }

    fn merged(num: u32, author: &str, by: &str) -> EntryView {
        let merged = cellar_api::wire::MergedView {
            fork: LogId::from_uuid(uuid::Uuid::from_bytes([7; 16])),
            position: at(num),
            created_s: 0,
            by: Some(by.to_owned()),
            through: at(99),
        };
        EntryView { merged: Some(merged), ..edit(num, author) }
    }

    #[test]
    fn a_merge_is_undone_once_by_the_person_who_merged() {
        let mut log = vec![edit(1, "alice"), merged(2, "bob", "alice"), merged(3, "bob", "alice")];
        assert_eq!(found(&log), Some(3));
        log.push(undo(4, 3));
        assert_eq!(found(&log), Some(1), "both entries are undone");
        log.push(undo(5, 4));
        assert_eq!(found(&log), Some(3), "redone");
        let log = [edit(1, "alice"), merged(2, "alice", "bob")];
        assert_eq!(found(&log), Some(1), "Bob merged it");
    }

    #[test]
    fn finds_the_newest_edit_of_the_author_in_effect() {
        let mut log = vec![edit(1, "alice"), edit(2, "alice"), edit(3, "bob")];
        assert_eq!(found(&log), Some(2));
        log.push(undo(4, 2));
        assert_eq!(found(&log), Some(1), "the next older edit");
        log.push(undo(5, 4));
        assert_eq!(found(&log), Some(2), "an undone undo has no effect");
        log.extend([undo(6, 2), undo(7, 1)]);
        assert_eq!(found(&log), None);
    }

    #[test]
    fn skips_reverted_edits() {
        let mut log = vec![edit(1, "alice"), edit(2, "alice"), edit(3, "alice"), undo(4, 1)];
        assert_eq!(found(&log), Some(3));
        log.push(revert(5, "bob", 2));
        assert_eq!(found(&log), Some(2), "edit 3 and the undo of edit 1 are reverted");
        log.push(revert(6, "alice", 1));
        assert_eq!(found(&log), Some(6), "a revert can be undone like an edit");
        log.push(undo(7, 6));
        assert_eq!(found(&log), Some(2));
        log.push(undo(8, 5));
        assert_eq!(found(&log), Some(3), "both reverts are undone");
        let gone = RejectionReason::NothingToRevert;
        let refused = Operation::Rejected(Rejection::new(gone, "x"));
        log.push(entry(9, "bob", revert_operation(0), Some(vec![refused])));
        assert_eq!(found(&log), Some(3), "a rejected revert has no effect");
    }

    #[test]
    fn a_revert_of_a_sheet_leaves_other_edits_in_effect() {
        let mut log = vec![edit(1, "alice"), edit(2, "alice"), undo(3, 1)];
        let part = Revert { sheet: Some(SheetId::FIRST), ..Revert::whole(at(1)) };
        let did = vec![edit(1, "").mutations[0].op.clone()];
        log.push(entry(4, "bob", Operation::Revert(part), Some(did)));
        assert_eq!(found(&log), Some(2), "the revert may have left its effect in other sheets");
        log.push(undo(5, 2));
        assert_eq!(found(&log), Some(1), "its undo may be reverted");
        log.push(undo(6, 4));
        assert_eq!(found(&log), None, "its undo is in effect again");
    }

    #[test]
    fn skips_edits_without_effect_until_something_is_restored() {
        let gone = RejectionReason::NothingToUndo;
        let mut log = vec![edit(1, "alice"), edit(2, "alice"), undo(3, 9), refused(4, 2, gone)];
        assert_eq!(found(&log), Some(1));
        log.push(undo(5, 8));
        assert_eq!(found(&log), Some(2), "its effect may be restored");
        log.truncate(3);
        log.push(refused(4, 2, RejectionReason::TooLarge));
        assert_eq!(found(&log), Some(2), "it still has an effect");
        let redone = [edit(1, "alice"), undo(2, 1), refused(3, 2, gone)];
        assert_eq!(found(&redone), None, "a rejected undo of an undo restores nothing");
    }

    #[test]
    fn skips_entries_that_had_no_effect() {
        let rejected = Rejection::new(RejectionReason::TooLarge, "x");
        let log = [
            edit(1, "alice"),
            entry(2, "alice", Operation::Rejected(rejected), None),
            EntryView { mutations: vec![], kind: EntryKind::Snapshot, ..edit(3, "alice") },
            entry(4, "alice", edit(4, "").mutations[0].op.clone(), Some(vec![])),
        ];
        assert_eq!(found(&log), Some(1));
    }

    #[test]
    fn explains_why_an_entry_cannot_be_undone() {
        let rejected = || Operation::Rejected(Rejection::new(RejectionReason::TooLarge, "x"));
        let of = |num, kind| EntryView { mutations: vec![], kind, ..edit(num, "a") };
        assert_eq!(reason_not_undoable(&edit(1, "a")), None);
        assert_eq!(reason_not_undoable(&undo(2, 1)), None);
        let moved = |committed| entry(3, "a", edit(3, "").mutations[0].op.clone(), committed);
        for (entry, why) in [
            (of(0, EntryKind::Snapshot), "created"),
            (of(4, EntryKind::Snapshot), "snapshot"),
            (of(5, EntryKind::EndSegment), "segment"),
            (entry(6, "a", rejected(), None), "rejected"),
            (moved(Some(vec![rejected()])), "rejected"),
            (moved(Some(vec![])), "no effect"),
            (refused(7, 1, RejectionReason::NothingToUndo), "rejected"),
        ] {
            assert!(reason_not_undoable(&entry).unwrap().contains(why), "{why}");
        }
    }
}
