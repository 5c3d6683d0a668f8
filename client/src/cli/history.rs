use cellar_api::wire::{EntryKind, EntryView};
use cellar_base::count::count;
use cellar_base::limits::MAX_PAGE_ENTRIES;
use cellar_base::position::Position;
use cellar_sheet::operation::Operation;
use console::Alignment;

use super::args;
use super::context::Context;
use super::edit::read_sheet_names_before;
use super::error::CliError;
use super::output::{Output, format_rows};
use super::time::format_utc;
use crate::Spreadsheet;
use crate::describe::{SheetNames, describe_operations, needs_sheet_names};
use crate::text::escape;

pub(super) async fn show_history(
    context: &Context,
    output: &Output,
    args: args::History,
) -> Result<(), CliError> {
    let spreadsheet = context.spreadsheet()?;
    let history = fetch_newest_entries(&spreadsheet, args.until, args.limit).await?;
    output.print_json(&serde_json::json!({
        "entries": history.entries,
        "complete": history.next.is_none(),
        "next": history.next,
    }))?;
    if !output.json {
        let names = sheet_names_before(&spreadsheet, &history.entries).await;
        output.print_lines(format_entries(&history.entries, names))?;
    }
    context.print_unsent_note(&spreadsheet, output);
    if let Some(next) = history.next {
        output.print_note(format!("Older entries: cellar history --until {next}"));
    }
    Ok(())
}

struct NewestEntries {
    max_entries: usize,
    /// Entries, newest first.
    entries: Vec<EntryView>,
    /// Position of the newest displayed entry that is older than `entries`, or `None` if there is
    /// none.
    next: Option<Position>,
}

async fn fetch_newest_entries(
    spreadsheet: &Spreadsheet,
    until: Option<Position>,
    limit: u32,
) -> Result<NewestEntries, CliError> {
    let mut newest = NewestEntries { max_entries: limit as usize, entries: Vec::new(), next: None };
    // Request one entry more than `limit` to find out whether older entries exist.
    let page_size = limit.saturating_add(1).min(MAX_PAGE_ENTRIES);
    let mut pages = spreadsheet.history_pages(until, Some(page_size));
    while newest.next.is_none()
        && let Some(page) = pages.try_next().await?
    {
        newest.add_page(page.entries);
    }
    Ok(newest)
}

impl NewestEntries {
    /// If an entry does not fit, stores its position in `next` and ignores the rest of the page.
    fn add_page(&mut self, page_entries: Vec<EntryView>) {
        for entry in page_entries.into_iter().filter(is_displayed) {
            if self.entries.len() >= self.max_entries {
                self.next = Some(entry.position);
                return;
            }
            self.entries.push(entry);
        }
    }
}

/// The history shows entries with edits and the entry that created the spreadsheet.
pub(super) fn is_displayed(entry: &EntryView) -> bool {
    entry.kind == EntryKind::Edits || entry.position == Position::FIRST
}

/// Returns no names if no entry's description mentions a sheet.
async fn sheet_names_before(
    spreadsheet: &Spreadsheet,
    entries_newest_first: &[EntryView],
) -> SheetNames {
    if !entries_newest_first.iter().any(entry_needs_sheet_names) {
        return SheetNames::default();
    }
    match entries_newest_first.last().map(|oldest_entry| oldest_entry.position) {
        None => SheetNames::default(),
        Some(Position::FIRST) => SheetNames::of_new_spreadsheet(),
        Some(oldest_position) => read_sheet_names_before(spreadsheet, oldest_position).await,
    }
}

fn entry_needs_sheet_names(entry: &EntryView) -> bool {
    entry.mutations.iter().any(|mutation| {
        needs_sheet_names(&mutation.op)
            || mutation.committed_operations().iter().any(needs_sheet_names)
    })
}

/// `names` must be the sheet names before the oldest entry.
fn format_entries(entries_newest_first: &[EntryView], mut names: SheetNames) -> Vec<String> {
    let mut entry_columns = |entry: &EntryView| {
        let description = describe_entry(entry, &mut names);
        let position = entry.position.to_string();
        [position, format_utc(entry.created_s), author_name(entry), description]
    };
    // Start with the oldest entry, because each entry may change the sheet names for later entries.
    let mut rows: Vec<_> = entries_newest_first.iter().rev().map(&mut entry_columns).collect();
    rows.reverse();
    format_rows([Alignment::Right, Alignment::Left, Alignment::Left, Alignment::Left], &rows)
}

/// Returns `-` if the author is unknown.
pub(super) fn author_name(entry: &EntryView) -> String {
    escape(entry.author.as_deref().unwrap_or("-"))
}

/// `names` must contain the sheet names before the entry, and contains the names after the entry
/// when the function returns.
pub(super) fn describe_entry(entry: &EntryView, names: &mut SheetNames) -> String {
    if let Some(external) = &entry.external_body {
        let edits = count(external.count, "large edit", "large edits");
        return format!("{edits}, {} stored separately", count(external.bytes, "byte", "bytes"));
    }
    if entry.kind != EntryKind::Edits {
        return "created".to_owned();
    }
    let authored = entry.mutations.iter().map(|mutation| &mutation.op);
    let committed: Vec<&Operation> =
        entry.mutations.iter().flat_map(|mutation| mutation.committed_operations()).collect();
    // Describe added sheets by their new names, and renamed sheets by their old names.
    for operation in &committed {
        names.record_added(operation);
    }
    let authored_description = describe_operations(authored, names);
    let committed_description = describe_operations(committed.iter().copied(), names);
    for operation in &committed {
        names.record_renamed(operation);
    }
    if entry.mutations.iter().all(|mutation| mutation.committed.is_none()) {
        return authored_description;
    }
    format!("{authored_description} (as: {committed_description})")
}

#[cfg(test)]
mod tests {
    use cellar_api::wire::{ExternalBody, MutationView};
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
    fn a_line_contains_position_time_author_and_description() {
        let entries =
            [entry(10, EntryKind::Edits, "alice\u{1b}"), entry(0, EntryKind::Snapshot, "bob")];
        let shown = format_entries(&entries, SheetNames::default());
        let expected = [
            "0.10   2023-11-14T22:13:20Z   alice\\u{1b}   B2 = \"new\"",
            " 0.0   2023-11-14T22:13:20Z   bob           created",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn describes_transformed_and_large_entries() {
        let mut moved = entry(1, EntryKind::Edits, "a");
        moved.mutations[0].committed = Some(vec![]);
        assert_eq!(
            describe_entry(&moved, &mut SheetNames::default()),
            "B2 = \"new\" (as: nothing)"
        );
        let edit = CellEdit { row: 4, column: 1, value: None, formula: None, format: None };
        let edit = CellEdit { value: Some(Value::Number(1.0)), ..edit };
        let set = SetCells { sheet: SheetId::FIRST, cells: vec![edit] };
        moved.mutations[0].committed = Some(vec![Operation::SetCells(set)]);
        assert_eq!(describe_entry(&moved, &mut SheetNames::default()), "B2 = \"new\" (as: B5 = 1)");
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
            describe_entry(&large, &mut SheetNames::default()),
            "1 large edit, 150,123 bytes stored separately"
        );
    }

    #[test]
    fn keeps_the_newest_displayed_entries() {
        let mut newest = NewestEntries { max_entries: 2, entries: Vec::new(), next: None };
        let of = |num, kind| entry(num, kind, "a");
        newest.add_page(vec![of(5, EntryKind::Edits), of(4, EntryKind::Snapshot)]);
        assert_eq!(newest.next, None);
        newest.add_page(vec![of(3, EntryKind::EndSegment), of(2, EntryKind::Edits)]);
        assert_eq!(newest.next, None);
        newest.add_page(vec![of(1, EntryKind::Edits), of(0, EntryKind::Snapshot)]);
        let nums: Vec<u32> =
            newest.entries.iter().map(|entry| entry.position.entry_number()).collect();
        assert_eq!(nums, [5, 2]);
        assert_eq!(newest.next, Position::new(0, 1).ok());
    }
}
