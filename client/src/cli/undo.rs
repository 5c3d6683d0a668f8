//! `cellar undo`

use std::collections::BTreeSet;

use cellar_api::{wire::EntryKind, wire::EntryView, wire::MutationView, wire::ProblemKind};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, RejectionReason, Undo};

use super::args;
use super::context::Context;
use super::edit::Edit;
use super::error::CliError;
use super::output::Output;
use crate::editor::AppliedEdit;
use crate::table::escape;
use crate::{Client, ClientError};

/// Edits of which nothing is still there that one command goes past. Each try costs the server a
/// look at the whole spreadsheet, and an entry.
const MAX_SKIPPED: usize = 10;

pub(super) const SHEET_IS_BACK: &str = "A sheet that comes back is the last one, and a new one: edits that were \
                             made of the old one do not reach it.";

pub(super) async fn run(
    context: &Context,
    output: &Output,
    args: args::Undo,
) -> Result<(), CliError> {
    let edit = Edit::new(context)?;
    let client = context.client()?;
    let Undone { position, applied, skipped } = match args.position {
        Some(position) => {
            refuse_no_edit(&client, edit.spreadsheet, position).await?;
            let applied = edit.send(output, Operation::Undo(Undo { position })).await?;
            Undone { position, applied, skipped: Vec::new() }
        }
        None => {
            let author = context.author().ok_or_else(|| {
                CliError::usage(
                    "the token does not say whose edits to take back",
                    "name the position: `cellar history` lists them",
                )
            })?;
            newest(&client, &edit, output, author).await?
        }
    };
    edit.tell(output, &applied, serde_json::json!({ "undone": position, "skipped": skipped }))?;
    let what = match &applied.committed {
        Some(committed) => format!(": {}", edit.described(output, &applied, committed).await),
        None => String::new(),
    };
    output.say(format!("took back {position}{what}   at {}", applied.position))?;
    if brings_a_sheet_back(&applied) {
        output.note(SHEET_IS_BACK);
    }
    if !skipped.is_empty() {
        let skipped = listed(&skipped);
        output.note(format!("Skipped, as nothing of it is still there: {skipped}"));
    }
    Ok(())
}

/// Whether a deleted sheet came back.
pub(super) fn brings_a_sheet_back(applied: &AppliedEdit) -> bool {
    let adds = |operation: &Operation| matches!(operation, Operation::AddSheet(_));
    applied.committed.iter().flatten().any(adds)
}

/// What was taken back.
struct Undone {
    position: Position,
    applied: AppliedEdit,
    /// Newer edits of which nothing is still there.
    skipped: Vec<Position>,
}

/// Refuses a position with nothing to take back, before an entry is written about it.
async fn refuse_no_edit(
    client: &Client,
    spreadsheet: LogId,
    position: Position,
) -> Result<(), CliError> {
    let why = match entry_at(client, spreadsheet, position).await? {
        Ok(entry) => no_edit(&entry).map(str::to_owned),
        Err(why) => Some(why),
    };
    why.map_or(Ok(()), |why| Err(CliError::NoEdit { position, why }))
}

/// The entry at a position; why there is none, if there is none.
pub(super) async fn entry_at(
    client: &Client,
    spreadsheet: LogId,
    position: Position,
) -> Result<Result<EntryView, String>, CliError> {
    let page = match client.history(spreadsheet, Some(position), Some(1)).await {
        Err(ClientError::Problem { problem, .. })
            if problem.kind == ProblemKind::UnknownPosition =>
        {
            return Ok(Err(escape(&problem.detail)));
        }
        page => page?,
    };
    let entry = page.entries.into_iter().next().filter(|entry| entry.position == position);
    Ok(entry.ok_or_else(|| "there is no such position".to_owned()))
}

/// Why an entry is nothing to take back, if it is.
fn no_edit(entry: &EntryView) -> Option<&'static str> {
    match entry.kind {
        EntryKind::Snapshot if entry.position == Position::FIRST => {
            return Some("there the spreadsheet was created");
        }
        EntryKind::Snapshot => return Some("there a snapshot was ordered, nothing was changed"),
        EntryKind::EndSegment => {
            return Some("there a segment of the log ended, nothing was changed");
        }
        EntryKind::Edits if entry.external_body.is_some() => return None,
        EntryKind::Edits => {}
    }
    let mut effective = entry.mutations.iter().flat_map(MutationView::effective);
    if effective.clone().next().is_none() {
        return Some("nothing of that edit was left to do, it changed nothing");
    }
    let rejected = effective.all(|operation| matches!(operation, Operation::Rejected(_)));
    rejected.then_some("that edit was rejected, it changed nothing")
}

/// Takes back the newest edit of an author of which anything is still there.
async fn newest(
    client: &Client,
    edit: &Edit,
    output: &Output,
    author: String,
) -> Result<Undone, CliError> {
    let mut search = Search { author, ..Search::default() };
    let (mut from, mut skipped) = (None, Vec::new());
    loop {
        let page = client.history(edit.spreadsheet, from, None).await?;
        for position in page.entries.iter().filter_map(|entry| search.take(entry)) {
            match edit.send(output, Operation::Undo(Undo { position })).await {
                Ok(applied) => return Ok(Undone { position, applied, skipped }),
                Err(error) if error.is_nothing_to_undo() => skipped.push(position),
                Err(error) => return Err(error),
            }
            if skipped.len() > MAX_SKIPPED {
                return Err(CliError::NothingLeftToUndo { tried: listed(&skipped) });
            }
        }
        // A page that does not go on would be asked for again for ever.
        match page.next.filter(|next| from.is_none_or(|from| *next < from)) {
            Some(next) => from = Some(next),
            None if skipped.is_empty() => return Err(CliError::NothingToUndo),
            None => return Err(CliError::NothingLeftToUndo { tried: listed(&skipped) }),
        }
    }
}

fn listed(positions: &[Position]) -> String {
    positions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Goes back through the entries, newest first.
#[derive(Default)]
struct Search {
    author: String,
    /// What was taken back by an undo that was not taken back itself.
    undone: BTreeSet<Position>,
    /// Where the oldest revert so far went back to, which was not taken back itself: all that stands
    /// between there and it, it took back.
    restored: Option<Position>,
    /// What an undo has found nothing of, unless something was taken back since: it could be there
    /// again.
    gone: BTreeSet<Position>,
}

impl Search {
    /// The position of an entry, if it is the one.
    fn take(&mut self, entry: &EntryView) -> Option<Position> {
        let position = entry.position;
        let behind = self.restored.is_some_and(|restored| position > restored);
        let in_force = !behind && !self.undone.contains(&position);
        let nothing_came_back = self.undone.is_empty() && self.restored.is_none();
        if let Some((target, mutation)) = undo_of(entry) {
            match mutation.effective() {
                [Operation::Rejected(rejection)] => {
                    let gone = rejection.reason == RejectionReason::NothingToUndo;
                    self.gone.extend(Some(target).filter(|_| gone && nothing_came_back));
                }
                _ => self.undone.extend(Some(target).filter(|_| in_force)),
            }
            return None;
        }
        if in_force && let Some(restored) = revert_of(entry) {
            self.restored = Some(restored);
        }
        let did = |operation: &Operation| !matches!(operation, Operation::Rejected(_));
        let did_something = entry.external_body.is_some()
            || entry.mutations.iter().any(|mutation| mutation.effective().iter().any(did));
        let own = entry.author.as_deref() == Some(self.author.as_str());
        (in_force && own && did_something && !self.gone.contains(&position)).then_some(position)
    }
}

/// The undo that an entry is, which is sent alone, and what it takes back.
fn undo_of(entry: &EntryView) -> Option<(Position, &MutationView)> {
    entry.mutations.iter().find_map(|mutation| match &mutation.op {
        Operation::Undo(undo) => Some((undo.position, mutation)),
        _ => None,
    })
}

/// The position that an entry went back to, if it is a revert that took effect.
fn revert_of(entry: &EntryView) -> Option<Position> {
    entry.mutations.iter().find_map(|mutation| match (&mutation.op, mutation.effective()) {
        (_, [Operation::Rejected(_)]) => None,
        (Operation::Revert(revert), _) => Some(revert.position),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use cellar_api::{wire::EntryKind, wire::MutationView};
    use cellar_sheet::operation::{InsertBefore, Rejection, Revert, SheetId};

    use super::*;

    fn at(num: u32) -> Position {
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
        }
    }

    fn edit(num: u32, author: &str) -> EntryView {
        let insert = InsertBefore { sheet: SheetId::FIRST, before: 0, count: 1 };
        entry(num, author, Operation::InsertRows(insert), None)
    }

    fn undo(num: u32, target: u32) -> EntryView {
        let did = vec![edit(num, "").mutations[0].op.clone()];
        entry(num, "bob", Operation::Undo(Undo { position: at(target) }), Some(did))
    }

    fn restored(to: u32) -> Operation {
        Operation::Revert(Revert { position: at(to) })
    }

    fn revert(num: u32, author: &str, to: u32) -> EntryView {
        let did = vec![edit(num, "").mutations[0].op.clone()];
        entry(num, author, restored(to), Some(did))
    }

    fn refused(num: u32, target: u32, reason: RejectionReason) -> EntryView {
        let rejected = vec![Operation::Rejected(Rejection::new(reason, "x"))];
        entry(num, "alice", Operation::Undo(Undo { position: at(target) }), Some(rejected))
    }

    /// What is found in entries that are given oldest first.
    fn found(entries: &[EntryView]) -> Option<u32> {
        let mut search = Search { author: "alice".into(), ..Search::default() };
        entries.iter().rev().find_map(|entry| search.take(entry)).map(Position::num)
    }

    #[test]
    fn it_is_the_newest_of_the_author_that_is_still_in_force() {
        let mut log = vec![edit(1, "alice"), edit(2, "alice"), edit(3, "bob")];
        assert_eq!(found(&log), Some(2));
        log.push(undo(4, 2));
        assert_eq!(found(&log), Some(1), "one after the other");
        log.push(undo(5, 4));
        assert_eq!(found(&log), Some(2), "an undo that was taken back is none");
        log.extend([undo(6, 2), undo(7, 1)]);
        assert_eq!(found(&log), None);
    }

    #[test]
    fn what_a_restore_took_back_is_not_taken_back_again() {
        let mut log = vec![edit(1, "alice"), edit(2, "alice"), edit(3, "alice"), undo(4, 1)];
        assert_eq!(found(&log), Some(3));
        log.push(revert(5, "bob", 2));
        assert_eq!(found(&log), Some(2), "3 is gone, and so is the undo of 1");
        log.push(revert(6, "alice", 1));
        assert_eq!(found(&log), Some(6), "a revert of hers is an edit of hers");
        log.push(undo(7, 6));
        assert_eq!(found(&log), Some(2));
        log.push(undo(8, 5));
        assert_eq!(found(&log), Some(3), "as before both");
        let gone = RejectionReason::NothingToRevert;
        let refused = Operation::Rejected(Rejection::new(gone, "x"));
        log.push(entry(9, "bob", restored(0), Some(vec![refused])));
        assert_eq!(found(&log), Some(3), "one that was refused took nothing back");
    }

    #[test]
    fn what_was_found_to_be_gone_is_not_tried_again_until_something_comes_back() {
        let gone = RejectionReason::NothingToUndo;
        let mut log = vec![edit(1, "alice"), edit(2, "alice"), undo(3, 9), refused(4, 2, gone)];
        assert_eq!(found(&log), Some(1));
        log.push(undo(5, 8));
        assert_eq!(found(&log), Some(2), "it could be there again");
        log.truncate(3);
        log.push(refused(4, 2, RejectionReason::TooLarge));
        assert_eq!(found(&log), Some(2), "it is still there");
        let redone = [edit(1, "alice"), undo(2, 1), refused(3, 2, gone)];
        assert_eq!(found(&redone), None, "a refused undo of an undo brings nothing back");
    }

    #[test]
    fn what_did_nothing_is_not_taken_back() {
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
    fn what_is_no_edit_is_told_before_anything_is_sent() {
        let rejected = || Operation::Rejected(Rejection::new(RejectionReason::TooLarge, "x"));
        let of = |num, kind| EntryView { mutations: vec![], kind, ..edit(num, "a") };
        assert_eq!(no_edit(&edit(1, "a")), None);
        assert_eq!(no_edit(&undo(2, 1)), None);
        let moved = |committed| entry(3, "a", edit(3, "").mutations[0].op.clone(), committed);
        for (entry, why) in [
            (of(0, EntryKind::Snapshot), "created"),
            (of(4, EntryKind::Snapshot), "snapshot"),
            (of(5, EntryKind::EndSegment), "segment"),
            (entry(6, "a", rejected(), None), "rejected"),
            (moved(Some(vec![rejected()])), "rejected"),
            (moved(Some(vec![])), "left to do"),
            (refused(7, 1, RejectionReason::NothingToUndo), "rejected"),
        ] {
            assert!(no_edit(&entry).unwrap().contains(why), "{why}");
        }
    }
}
