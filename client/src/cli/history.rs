//! `cellar history`

use cellar_api::{wire::EntryKind, wire::EntryView};
use cellar_base::count::count;
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_PAGE_ENTRIES;
use cellar_base::position::Position;
use cellar_sheet::operation::Operation;

use super::args;
use super::context::Context;
use super::edit::{before, sheet_names};
use super::error::CliError;
use super::output::Output;
use super::time::utc;
use crate::Client;
use crate::describe::{SheetNames, describe_operations, needs_sheet_names};
use crate::table::escape;

/// Characters between two columns.
pub(super) const GAP: &str = "   ";

pub(super) async fn run(
    context: &Context,
    output: &Output,
    args: args::History,
) -> Result<(), CliError> {
    let spreadsheet = context.spreadsheet()?;
    let client = context.client()?;
    let history = fetch(&client, spreadsheet, args.until, args.limit).await?;
    output.result(&serde_json::json!({
        "entries": history.entries,
        "complete": history.next.is_none(),
        "next": history.next,
    }))?;
    if !output.json {
        let names = names_before(&client, spreadsheet, &history.entries).await;
        for line in lines(&history.entries, names) {
            output.say(line)?;
        }
    }
    context.note_unsent(&client, spreadsheet, output);
    if let Some(next) = history.next {
        output.note(format!("There is older history: cellar history --until {next}"));
    }
    Ok(())
}

/// The newest entries that say something to a person, newest first.
struct Newest {
    limit: usize,
    entries: Vec<EntryView>,
    /// Where older ones begin, if there are any.
    next: Option<Position>,
}

async fn fetch(
    client: &Client,
    spreadsheet: LogId,
    mut from: Option<Position>,
    limit: u32,
) -> Result<Newest, CliError> {
    let limit_entries = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut newest = Newest { limit: limit_entries, entries: Vec::new(), next: None };
    loop {
        // One more tells whether there are older ones.
        let wanted = limit.saturating_add(1).min(MAX_PAGE_ENTRIES);
        let page = client.history(spreadsheet, from, Some(wanted)).await?;
        // A page that does not go on would be asked for again for ever.
        let next = page.next.filter(|next| from.is_none_or(|from| *next < from));
        if newest.is_full_after(page.entries) {
            return Ok(newest);
        }
        match next {
            Some(next) => from = Some(next),
            None => return Ok(newest),
        }
    }
}

impl Newest {
    /// Takes older entries; says whether there are more than wanted.
    fn is_full_after(&mut self, entries: Vec<EntryView>) -> bool {
        for entry in entries.into_iter().filter(says_something) {
            if self.entries.len() >= self.limit {
                self.next = Some(entry.position);
                return true;
            }
            self.entries.push(entry);
        }
        false
    }
}

/// Whether an entry says something to a person.
pub(super) fn says_something(entry: &EntryView) -> bool {
    entry.kind == EntryKind::Edits || entry.position == Position::FIRST
}

/// The names that the sheets had before the oldest of the entries, if any of them needs one.
async fn names_before(client: &Client, spreadsheet: LogId, entries: &[EntryView]) -> SheetNames {
    let operations = entries
        .iter()
        .flat_map(|entry| &entry.mutations)
        .flat_map(|mutation| std::iter::once(&mutation.op).chain(mutation.effective()));
    let needed = operations.into_iter().any(needs_sheet_names);
    match entries.last().map(|oldest| oldest.position).filter(|_| needed) {
        Some(Position::FIRST) => SheetNames::of_new_spreadsheet(),
        Some(oldest) => sheet_names(client, spreadsheet, before(oldest).unwrap_or(oldest)).await,
        None => SheetNames::default(),
    }
}

/// A line for each entry, newest first; the names are those before the oldest.
fn lines(entries: &[EntryView], mut names: SheetNames) -> Vec<String> {
    let author = |entry: &EntryView| escape(entry.author.as_deref().unwrap_or("-"));
    let longest = |widths: &mut dyn Iterator<Item = usize>| widths.max().unwrap_or(0);
    let position_width = longest(&mut entries.iter().map(|e| e.position.to_string().len()));
    let author_width =
        longest(&mut entries.iter().map(|e| console::measure_text_width(&author(e))));
    let line = |entry: &EntryView| {
        let position = format!("{:>position_width$}", entry.position.to_string());
        let author = author(entry);
        let author =
            console::pad_str(&author, author_width, console::Alignment::Left, None).into_owned();
        [position, utc(entry.created_s), author, what(entry, &mut names)].join(GAP)
    };
    let mut lines: Vec<String> = entries.iter().rev().map(line).collect();
    lines.reverse();
    lines
}

/// What an entry did; `names` are those before it, and become those behind it.
pub(super) fn what(entry: &EntryView, names: &mut SheetNames) -> String {
    if let Some(external) = &entry.external_body {
        let edits = count(external.count, "large edit", "large edits");
        return format!("{edits}, {} in an object", count(external.bytes, "byte", "bytes"));
    }
    if entry.kind != EntryKind::Edits {
        return "created".to_owned();
    }
    let effective: Vec<&Operation> =
        entry.mutations.iter().flat_map(|mutation| mutation.effective()).collect();
    effective.iter().for_each(|operation| names.record_added(operation));
    let named = names.clone();
    effective.iter().for_each(|operation| names.record_renamed(operation));
    let authored =
        describe_operations(entry.mutations.iter().map(|mutation| &mutation.op), &named);
    if entry.mutations.iter().all(|mutation| mutation.committed.is_none()) {
        return authored;
    }
    format!("{authored} (as: {})", describe_operations(effective.into_iter(), &named))
}

#[cfg(test)]
mod tests {
    use cellar_api::{wire::ExternalBody, wire::MutationView};
    use cellar_sheet::cell::Value;
    use cellar_sheet::operation::{CellEdit, SetCells, SheetId};

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
            created_s: 1_700_000_000,
            author: Some(author.into()),
            client_key: None,
            mutations: if kind == EntryKind::Edits { vec![mutation] } else { Vec::new() },
            external_body: None,
        }
    }

    #[test]
    fn a_line_says_where_when_who_and_what() {
        let entries =
            [entry(10, EntryKind::Edits, "alice\u{1b}"), entry(0, EntryKind::Snapshot, "bob")];
        let shown = lines(&entries, SheetNames::default());
        let expected = [
            "0.10   2023-11-14 22:13:20Z   alice\\u{1b}   B2 = \"new\"",
            " 0.0   2023-11-14 22:13:20Z   bob           created",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_was_committed_is_said_if_it_differs_and_large_entries_are_named() {
        let mut moved = entry(1, EntryKind::Edits, "a");
        moved.mutations[0].committed = Some(vec![]);
        assert_eq!(what(&moved, &mut SheetNames::default()), "B2 = \"new\" (as: nothing)");
        let edit = CellEdit { row: 4, column: 1, value: None, formula: None, format: None };
        let edit = CellEdit { value: Some(Value::Number(1.0)), ..edit };
        let set = SetCells { sheet: SheetId::FIRST, cells: vec![edit] };
        moved.mutations[0].committed = Some(vec![Operation::SetCells(set)]);
        assert_eq!(what(&moved, &mut SheetNames::default()), "B2 = \"new\" (as: B5 = 1)");
        let external = ExternalBody {
            first_id: 1,
            count: 1,
            base: Position::FIRST,
            bytes: 150_123,
            sha256: String::new(),
            url: None,
            axis_maps: Vec::new(),
        };
        let large = EntryView { mutations: vec![], external_body: Some(external), ..moved };
        assert_eq!(
            what(&large, &mut SheetNames::default()),
            "1 large edit, 150,123 bytes in an object"
        );
    }

    #[test]
    fn the_newest_are_kept_and_what_changes_nothing_is_not_shown() {
        let mut newest = Newest { limit: 2, entries: Vec::new(), next: None };
        let of = |num, kind| entry(num, kind, "a");
        assert!(!newest.is_full_after(vec![of(5, EntryKind::Edits), of(4, EntryKind::Snapshot)]));
        assert!(!newest.is_full_after(vec![of(3, EntryKind::EndSegment), of(2, EntryKind::Edits)]));
        assert!(newest.is_full_after(vec![of(1, EntryKind::Edits), of(0, EntryKind::Snapshot)]));
        let nums: Vec<u32> = newest.entries.iter().map(|entry| entry.position.num()).collect();
        assert_eq!(nums, [5, 2]);
        assert_eq!(newest.next, Position::new(0, 1).ok());
    }
}
