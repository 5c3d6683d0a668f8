//! `cellar undo`

use std::collections::BTreeSet;

use cellar_core::api::EntryView;
use cellar_core::identity::LogId;
use cellar_core::operation::{Operation, Undo};
use cellar_core::position::Position;

use super::args;
use super::context::Context;
use super::edit::Edit;
use super::error::CliError;
use super::output::Output;
use crate::{Client, describe};

pub(super) async fn run(
    context: &Context,
    output: &Output,
    args: args::Undo,
) -> Result<(), CliError> {
    let edit = Edit::new(context)?;
    let position = match args.position {
        Some(position) => position,
        None => {
            let author = context.author().ok_or_else(|| {
                CliError::usage(
                    "the token does not say whose edits to take back",
                    "name the position: `cellar history` lists them",
                )
            })?;
            let newest = newest(&context.client()?, edit.spreadsheet, author).await?;
            newest.ok_or(CliError::NothingToUndo)?
        }
    };
    let applied = edit.make(output, Operation::Undo(Undo { position })).await?;
    let what = applied.committed.as_deref().map_or_else(String::new, |committed| {
        format!(": {}", describe::operations(committed.iter()))
    });
    output.say(format!("took back {position}{what}   at {}", applied.position))?;
    Ok(())
}

/// The newest entry of an author that was not taken back.
async fn newest(
    client: &Client,
    spreadsheet: LogId,
    author: String,
) -> Result<Option<Position>, CliError> {
    let mut search = Search { author, undone: BTreeSet::new() };
    let mut from = None;
    loop {
        let page = client.history(spreadsheet, from, None).await?;
        if let Some(found) = page.entries.iter().find_map(|entry| search.take(entry)) {
            return Ok(Some(found));
        }
        // A page that does not go on would be asked for again for ever.
        match page.next.filter(|next| from.is_none_or(|from| *next < from)) {
            Some(next) => from = Some(next),
            None => return Ok(None),
        }
    }
}

/// Goes back through the entries, newest first.
struct Search {
    author: String,
    /// What was taken back by an undo that was not taken back itself.
    undone: BTreeSet<Position>,
}

impl Search {
    /// The position of an entry, if it is the one.
    fn take(&mut self, entry: &EntryView) -> Option<Position> {
        let position = entry.position;
        let undos = entry.mutations.iter().filter_map(|mutation| match &mutation.op {
            Operation::Undo(undo) => Some(undo.position),
            _ => None,
        });
        let targets: Vec<Position> = undos.collect();
        let in_force = !self.undone.contains(&position);
        if !targets.is_empty() {
            self.undone.extend(targets.into_iter().filter(|_| in_force));
            return None;
        }
        let did = |operation: &Operation| !matches!(operation, Operation::Rejected(_));
        let did_something = entry.external.is_some()
            || entry.mutations.iter().any(|mutation| mutation.effective().iter().any(did));
        let own = entry.author.as_deref() == Some(self.author.as_str());
        (in_force && own && did_something).then_some(position)
    }
}

#[cfg(test)]
mod tests {
    use cellar_core::api::{EntryKind, MutationView};
    use cellar_core::operation::{InsertBefore, Rejection, RejectionReason, SheetId};

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
            created: 0,
            author: Some(author.into()),
            mutations: vec![MutationView { id: 1, base: at(0), op, committed }],
            external: None,
        }
    }

    fn edit(num: u32, author: &str) -> EntryView {
        let insert = InsertBefore { sheet: SheetId::FIRST, before: 0, count: 1 };
        entry(num, author, Operation::InsertRows(insert), None)
    }

    fn undo(num: u32, target: u32) -> EntryView {
        entry(num, "bob", Operation::Undo(Undo { position: at(target) }), Some(vec![]))
    }

    /// What is found in entries that are given oldest first.
    fn found(entries: &[EntryView]) -> Option<u32> {
        let mut search = Search { author: "alice".into(), undone: BTreeSet::new() };
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
}
