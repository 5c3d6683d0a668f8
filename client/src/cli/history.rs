//! `cellar history`

use std::collections::VecDeque;

use cellar_core::api::{EntryKind, EntryView};
use cellar_core::identity::LogId;
use cellar_core::position::Position;

use super::args;
use super::context::Context;
use super::error::CliError;
use super::output::Output;
use super::time::utc;
use crate::table::escape;
use crate::{Client, describe};

/// Characters between two columns.
const GAP: &str = "   ";

pub(super) async fn run(
    context: &Context,
    output: &Output,
    args: args::History,
) -> Result<(), CliError> {
    let spreadsheet = context.spreadsheet()?;
    let client = context.client()?;
    let seen = context.seen(&client, spreadsheet);
    let mut newest = Newest::new(usize::try_from(args.limit).unwrap_or(usize::MAX));
    let rest = fetch(&client, spreadsheet, seen, &mut newest).await?;
    let entries: Vec<&EntryView> = newest.entries.iter().rev().collect();
    output.result(&serde_json::json!({ "entries": entries, "complete": rest == Rest::Nothing }))?;
    for line in lines(&entries) {
        output.say(line)?;
    }
    context.note_unsent(&client, spreadsheet, output);
    if rest == Rest::Older {
        output.note("There is older history: give a larger --limit.");
    }
    if rest == Rest::InSnapshot {
        output.note("Older history is in a snapshot and cannot be shown yet.");
    }
    Ok(())
}

/// What is left of the history that is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    Nothing,
    Older,
    InSnapshot,
}

/// Reads the log to its end and keeps the newest entries.
async fn fetch(
    client: &Client,
    spreadsheet: LogId,
    seen: Option<Position>,
    newest: &mut Newest,
) -> Result<Rest, CliError> {
    let loaded = client.load(spreadsheet, seen).await?;
    newest.add(loaded.entries);
    let mut next = loaded.next;
    while let Some(after) = next {
        let page = client.update(spreadsheet, after).await?;
        newest.add(page.entries);
        // A page that does not go on would be asked for again for ever.
        next = page.next.filter(|next| *next > after);
    }
    Ok(match (newest.left_out, loaded.root) {
        (true, _) => Rest::Older,
        (false, Some(_)) => Rest::InSnapshot,
        (false, None) => Rest::Nothing,
    })
}

/// The newest entries that say something to a person, oldest first.
struct Newest {
    limit: usize,
    entries: VecDeque<EntryView>,
    left_out: bool,
}

impl Newest {
    fn new(limit: usize) -> Self {
        Self { limit, entries: VecDeque::new(), left_out: false }
    }

    fn add(&mut self, entries: Vec<EntryView>) {
        let says_something =
            |entry: &EntryView| entry.kind == EntryKind::Edits || entry.position == Position::FIRST;
        for entry in entries.into_iter().filter(says_something) {
            self.entries.push_back(entry);
            if self.entries.len() > self.limit {
                self.entries.pop_front();
                self.left_out = true;
            }
        }
    }
}

fn lines(entries: &[&EntryView]) -> Vec<String> {
    let author = |entry: &EntryView| escape(entry.author.as_deref().unwrap_or("-"));
    let longest = |widths: &mut dyn Iterator<Item = usize>| widths.max().unwrap_or(0);
    let position_width = longest(&mut entries.iter().map(|e| e.position.to_string().len()));
    let author_width =
        longest(&mut entries.iter().map(|e| console::measure_text_width(&author(e))));
    let line = |entry: &&EntryView| {
        let position = format!("{:>position_width$}", entry.position.to_string());
        let author = author(entry);
        let author =
            console::pad_str(&author, author_width, console::Alignment::Left, None).into_owned();
        [position, utc(entry.created), author, what(entry)].join(GAP)
    };
    entries.iter().map(line).collect()
}

fn what(entry: &EntryView) -> String {
    match entry.kind {
        EntryKind::Edits => {
            describe::operations(entry.mutations.iter().map(|mutation| &mutation.op))
        }
        EntryKind::Snapshot | EntryKind::EndSegment => "created".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use cellar_core::api::MutationView;
    use cellar_core::cell::Value;
    use cellar_core::operation::{CellEdit, Operation, SetCells, SheetId};

    use super::*;

    fn entry(num: u32, kind: EntryKind, author: &str) -> EntryView {
        let value = Some(Value::Text("new".into()));
        let edit = CellEdit { row: 1, column: 1, value, formula: None, format: None };
        let op = Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] });
        let base = Position::FIRST;
        let mutation = MutationView { id: 1, base, op, committed: None };
        EntryView {
            position: Position::new(0, num).unwrap(),
            kind,
            created: 1_700_000_000,
            author: Some(author.into()),
            mutations: if kind == EntryKind::Edits { vec![mutation] } else { Vec::new() },
        }
    }

    #[test]
    fn a_line_says_where_when_who_and_what() {
        let entries =
            [entry(10, EntryKind::Edits, "alice\u{1b}"), entry(0, EntryKind::Snapshot, "bob")];
        let shown = lines(&entries.iter().collect::<Vec<_>>());
        let expected = [
            "0.10   2023-11-14 22:13:20Z   alice\\u{1b}   B2 = \"new\"",
            " 0.0   2023-11-14 22:13:20Z   bob           created",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn the_newest_are_kept_and_what_changes_nothing_is_not_shown() {
        let mut newest = Newest::new(2);
        newest.add(vec![entry(0, EntryKind::Snapshot, "a"), entry(1, EntryKind::Edits, "a")]);
        assert!(!newest.left_out);
        newest.add(vec![entry(2, EntryKind::Snapshot, "a"), entry(3, EntryKind::EndSegment, "a")]);
        assert!(!newest.left_out);
        newest.add(vec![entry(4, EntryKind::Edits, "a")]);
        assert!(newest.left_out);
        let nums: Vec<u32> = newest.entries.iter().map(|entry| entry.position.num()).collect();
        assert_eq!(nums, [1, 4]);
    }
}
