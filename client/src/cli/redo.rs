//! Takes back your undos, newest first.

use std::collections::BTreeSet;

use cellar_api::wire::EntryView;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Undo};

use super::context::Context;
use super::edit::CommandEditor;
use super::error::CliError;
use super::output::Output;
use super::reversal::{ReversalVerb, print_reversal};
use super::undo::{EntryLookup, author_of, find_undo, had_effect, read_entry_at};

pub(super) async fn redo_edit(context: &Context, output: &Output) -> Result<(), CliError> {
    let editor = CommandEditor::open(context)?;
    let Undone { undo, edit } = find_newest_undo(&editor).await?;
    let applied = editor.send(output, Operation::Undo(Undo { position: undo })).await?;
    let fields = serde_json::json!({ "redone": edit, "undo": undo, "reversal": applied.reversal });
    editor.print_edit_as_json(output, &applied, fields)?;
    let changes = editor.describe_changes(output, &applied).await;
    let summary = format!("redid {edit}{changes}   at {}", applied.position);
    print_reversal(output, &applied, ReversalVerb::Redid, summary)?;
    editor.print_destination(output);
    Ok(())
}

/// An undo that is in effect, and the edit that it undid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Undone {
    undo: Position,
    edit: Position,
}

async fn find_newest_undo(editor: &CommandEditor) -> Result<Undone, CliError> {
    let mut search = RedoSearch::new(author_of(editor)?);
    let mut entries_newest_first = editor.spreadsheet.history(None);
    while let Some(entry) = entries_newest_first.try_next().await? {
        match search.visit_older_entry(&entry) {
            RedoStep::Continue => {}
            RedoStep::Edit(position) => return Err(CliError::NothingToRedo { position }),
            RedoStep::Undo(undone) => {
                let undid = read_entry_at(&editor.spreadsheet, undone.edit).await?;
                let is_redo = match undid {
                    EntryLookup::Found(undid) => find_undo(&undid).is_some(),
                    EntryLookup::Missing { .. } => false,
                };
                if !is_redo {
                    return Ok(undone);
                }
                search.redone.insert(undone.edit);
            }
        }
    }
    Err(CliError::NoUndo)
}

/// The log entries must be visited from the newest to the oldest.
struct RedoSearch {
    author: String,
    /// Positions of undos that a later undo took back.
    redone: BTreeSet<Position>,
}

#[derive(Debug, PartialEq, Eq)]
enum RedoStep {
    Continue,
    /// An undo of the author. If what it undid is an undo as well, it is a redo.
    Undo(Undone),
    /// The author has made this edit after the undos before it, so these are no longer redone.
    Edit(Position),
}

impl RedoSearch {
    fn new(author: String) -> Self {
        Self { author, redone: BTreeSet::new() }
    }

    fn visit_older_entry(&mut self, entry: &EntryView) -> RedoStep {
        let is_by_author = entry.author.as_deref() == Some(self.author.as_str());
        if !is_by_author || !had_effect(entry) || entry.merged.is_some() {
            return RedoStep::Continue;
        }
        let position = entry.position;
        match find_undo(entry) {
            Some(_) if self.redone.contains(&position) => RedoStep::Continue,
            Some((edit, _)) => RedoStep::Undo(Undone { undo: position, edit }),
            None => RedoStep::Edit(position),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::undo::tests::{at, edit, undo_by};
    use super::*;

    /// Returns the undo that `cellar redo` takes back, or the edit that prevents it. `entries` are
    /// ordered oldest first, without gaps.
    fn found(entries: &[EntryView]) -> Option<Result<u32, u32>> {
        let mut search = RedoSearch::new("alice".into());
        for entry in entries.iter().rev() {
            match search.visit_older_entry(entry) {
                RedoStep::Continue => {}
                RedoStep::Edit(position) => return Some(Err(position.entry_number())),
                RedoStep::Undo(undone) => {
                    let undid = entries.iter().find(|entry| entry.position == undone.edit);
                    if undid.and_then(find_undo).is_none() {
                        return Some(Ok(undone.undo.entry_number()));
                    }
                    search.redone.insert(undone.edit);
                }
            }
        }
        None
    }

    #[test]
    fn undos_are_taken_back_in_order_until_an_edit() {
        let alice = |number, target| undo_by("alice", number, target);
        let mut log = vec![edit(1, "alice"), edit(2, "alice")];
        assert_eq!(found(&log), Some(Err(2)), "nothing was undone");
        log.extend([alice(3, 2), alice(4, 1)]);
        assert_eq!(found(&log), Some(Ok(4)));
        log.push(alice(5, 4));
        assert_eq!(found(&log), Some(Ok(3)), "the older undo");
        log.push(alice(6, 3));
        assert_eq!(found(&log), Some(Err(2)), "both are redone");
        log.push(alice(7, 6));
        assert_eq!(found(&log), Some(Ok(3)), "the redo was undone");
        log.push(edit(8, "bob"));
        log.push(undo_by("bob", 9, 8));
        assert_eq!(found(&log), Some(Ok(3)), "edits and undos of others do not matter");
        log.push(edit(10, "alice"));
        assert_eq!(found(&log), Some(Err(10)));
        assert_eq!(found(&log[7..9]), None);
        assert_eq!(at(10), log[9].position);
    }
}
