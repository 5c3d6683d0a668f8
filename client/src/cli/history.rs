use std::collections::BTreeSet;

use cellar_api::wire::{EntryKind, EntryView, MergedView, MutationView};
use cellar_base::count::count;
use cellar_base::limits::MAX_PAGE_ENTRIES;
use cellar_base::position::Position;
use cellar_sheet::operation::Operation;
use console::Alignment;

use super::args;
use super::at::{find_optional, find_start, print_json_with_times};
use super::cell_history::show_cell_history;
use super::context::Context;
use super::edit::read_sheet_names_before;
use super::error::CliError;
use super::output::{Output, format_rows};
use crate::Spreadsheet;
use crate::describe::{SheetNames, describe_operations, join_first, needs_sheet_names};
use crate::text::escape;
use cellar_api::time::format_utc;

/// Maximum number of authors to remember for a message.
const MAX_AUTHORS: usize = 100;

pub(super) async fn show_history(
    context: &Context,
    output: &Output,
    args: args::History,
) -> Result<(), CliError> {
    let spreadsheet = context.spreadsheet()?;
    let until = find_optional(args.until.as_ref(), &spreadsheet, output).await?;
    let since = find_start(args.since.as_ref(), &spreadsheet, output).await?;
    let filter = HistoryFilter {
        since: since.as_ref().map(|since| since.position),
        author: args.by.clone(),
        limit: args.limit,
    };
    let until_position = until.as_ref().map(|until| until.position);
    let times = [until.as_ref(), since.as_ref()];
    if args.target.is_some() || args.sheet.is_some() {
        return show_cell_history(&spreadsheet, output, &args, until_position, filter, times).await;
    }
    let history = fetch_newest_entries(&spreadsheet, until_position, filter).await?;
    let shown_entries: Vec<&EntryView> =
        history.entries.iter().filter(|entry| history.filter.is_by_author(entry)).collect();
    let result = serde_json::json!({
        "entries": shown_entries,
        "complete": history.next.is_none(),
        "next": history.next,
    });
    print_json_with_times(output, &result, times)?;
    if !output.json {
        let names = sheet_names_before(&spreadsheet, &history.entries).await;
        let is_shown = |entry: &EntryView| history.filter.is_by_author(entry);
        output.print_lines(format_entries(&history.entries, names, is_shown))?;
        if shown_entries.is_empty() {
            output.print_note(describe_no_entries(&history.filter, &history.other_authors));
        }
    }
    context.print_unsent_note(&spreadsheet, output);
    if let Some(next) = history.next {
        let by = history.filter.author.as_deref().map(|author| format!(" --by {}", escape(author)));
        let by = by.unwrap_or_default();
        output.print_note(format!("Older entries: cellar history --until {next}{by}"));
    }
    Ok(())
}

fn describe_no_entries(filter: &HistoryFilter, other_authors: &BTreeSet<String>) -> String {
    let since = filter.since.map(|since| format!(" after {since}")).unwrap_or_default();
    let Some(author) = &filter.author else { return format!("No edits{since}.") };
    let authors = other_authors.iter().map(|author| escape(author));
    let others = match other_authors.len() {
        0 => String::new(),
        count => format!(" The authors are: {}.", join_first(authors, count)),
    };
    format!("No edits by {}{since}.{others}", escape(author))
}

/// Which entries or changes are shown.
pub(super) struct HistoryFilter {
    /// Only those after this position.
    pub(super) since: Option<Position>,
    pub(super) author: Option<String>,
    /// Maximum number of lines.
    pub(super) limit: u32,
}

impl HistoryFilter {
    fn is_by_author(&self, entry: &EntryView) -> bool {
        let Some(author) = &self.author else { return true };
        let entry_author = entry.author.as_ref().map(|author| author.to_lowercase());
        entry_author == Some(author.to_lowercase())
    }
}

struct NewestEntries {
    filter: HistoryFilter,
    /// Entries, newest first. Includes entries by other authors that change the names of sheets.
    entries: Vec<EntryView>,
    shown_count: usize,
    /// Authors of edits that are not shown.
    other_authors: BTreeSet<String>,
    /// Position of the newest displayed entry that is older than `entries`, or `None` if there is
    /// none.
    next: Option<Position>,
    /// Whether all older entries are excluded.
    has_ended: bool,
}

async fn fetch_newest_entries(
    spreadsheet: &Spreadsheet,
    until: Option<Position>,
    filter: HistoryFilter,
) -> Result<NewestEntries, CliError> {
    // Request one entry more than `limit` to find out whether older entries exist. If entries are
    // filtered by author, it is unknown how many must be read.
    let page_size = match &filter.author {
        Some(_) => MAX_PAGE_ENTRIES,
        None => filter.limit.saturating_add(1).min(MAX_PAGE_ENTRIES),
    };
    let mut newest = NewestEntries::new(filter);
    let mut pages = spreadsheet.history_pages(until, Some(page_size));
    while newest.next.is_none()
        && !newest.has_ended
        && let Some(page) = pages.try_next().await?
    {
        newest.add_page(page.entries);
    }
    Ok(newest)
}

impl NewestEntries {
    fn new(filter: HistoryFilter) -> Self {
        Self {
            filter,
            entries: Vec::new(),
            shown_count: 0,
            other_authors: BTreeSet::new(),
            next: None,
            has_ended: false,
        }
    }

    /// If an entry does not fit, stores its position in `next` and ignores the rest of the page.
    fn add_page(&mut self, page_entries: Vec<EntryView>) {
        let max_entries = usize::try_from(self.filter.limit).unwrap_or(usize::MAX);
        for entry in page_entries {
            if self.filter.since.is_some_and(|since| entry.position <= since) {
                self.has_ended = true;
                return;
            }
            if !self.filter.is_by_author(&entry) {
                if entry.kind == EntryKind::Edits && self.other_authors.len() < MAX_AUTHORS {
                    self.other_authors.extend(entry.author.clone());
                }
                if changes_sheet_names(&entry) {
                    self.entries.push(entry);
                }
                continue;
            }
            if !is_displayed(&entry) {
                continue;
            }
            if self.shown_count >= max_entries {
                self.next = Some(entry.position);
                return;
            }
            self.shown_count += 1;
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

fn changes_sheet_names(entry: &EntryView) -> bool {
    let mut operations = entry.mutations.iter().flat_map(MutationView::committed_operations);
    operations.any(|operation| {
        matches!(
            operation,
            Operation::AddSheet(_) | Operation::RenameSheet(_) | Operation::ImportSheet(_)
        )
    })
}

fn entry_needs_sheet_names(entry: &EntryView) -> bool {
    entry.mutations.iter().any(|mutation| {
        needs_sheet_names(&mutation.op)
            || mutation.committed_operations().iter().any(needs_sheet_names)
    })
}

/// `names` must be the sheet names before the oldest entry.
fn format_entries(
    entries_newest_first: &[EntryView],
    mut names: SheetNames,
    is_shown: impl Fn(&EntryView) -> bool,
) -> Vec<String> {
    let mut entry_columns = |entry: &EntryView| {
        // Describe the entry even if it is not shown, because this updates the sheet names.
        let description =
            describe_entry(entry, &mut names) + &describe_merge(entry.merged.as_ref());
        let position = entry.position.to_string();
        let columns = [position, format_utc(entry.created_s), author_name(entry), description];
        is_shown(entry).then_some(columns)
    };
    // Start with the oldest entry, because each entry may change the sheet names for later entries.
    let mut rows: Vec<_> =
        entries_newest_first.iter().rev().filter_map(&mut entry_columns).collect();
    rows.reverse();
    format_rows([Alignment::Right, Alignment::Left, Alignment::Left, Alignment::Left], &rows)
}

/// Returns `-` if the author is unknown.
pub(super) fn author_name(entry: &EntryView) -> String {
    escape(entry.author.as_deref().unwrap_or("-"))
}

/// Says where merged edits were made. The result is empty for other entries.
pub(super) fn describe_merge(merged: Option<&MergedView>) -> String {
    let Some(merged) = merged else { return String::new() };
    let by = escape(merged.by.as_deref().unwrap_or("-"));
    let (fork, position, time) = (merged.fork, merged.position, format_utc(merged.created_s));
    format!(" (made {time} at {position} of fork {fork}, merged by {by})")
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
    if let Some(refusal) = describe_refusal(entry, names) {
        return refusal;
    }
    let authored = entry.mutations.iter().map(|mutation| &mutation.op);
    let committed: Vec<&Operation> =
        entry.mutations.iter().flat_map(|mutation| mutation.committed_operations()).collect();
    // Describe added sheets by their new names, and renamed sheets by their old names.
    for operation in &committed {
        names.record_added(operation);
    }
    for mutation in &entry.mutations {
        names.record_recovered(&mutation.op, mutation.committed_operations());
    }
    let authored_description = describe_operations(authored, names);
    let committed_description = describe_operations(committed.iter().copied(), names);
    for operation in &committed {
        names.record_renamed_or_deleted(operation);
    }
    if entry.mutations.iter().all(is_committed_as_authored) {
        return authored_description;
    }
    format!("{authored_description} (as: {committed_description})")
}

/// Formulas and names may have followed an import that replaced their sheet.
fn is_committed_as_authored(mutation: &MutationView) -> bool {
    match (&mutation.op, mutation.committed.as_deref()) {
        (_, None) => true,
        (Operation::ImportSheet(_), Some([first, ..])) => *first == mutation.op,
        _ => false,
    }
}

/// Returns `None` if an edit of the entry was not refused.
fn describe_refusal(entry: &EntryView, names: &SheetNames) -> Option<String> {
    let refusal_of = |mutation: &MutationView| match mutation.committed.as_deref() {
        Some([Operation::Rejected(rejection)]) => Some(escape(&rejection.detail)),
        _ => None,
    };
    let refusals: Vec<String> = entry.mutations.iter().map(refusal_of).collect::<Option<_>>()?;
    let requested = match entry.mutations.as_slice() {
        [MutationView { op: Operation::Undo(undo), .. }] => format!("undo of {}", undo.position),
        [MutationView { op: Operation::Revert(revert), .. }] => {
            format!("revert to {}", revert.position)
        }
        mutations => describe_operations(mutations.iter().map(|mutation| &mutation.op), names),
    };
    Some(format!("refused: {requested} ({})", refusals.first()?))
}

#[cfg(test)]
mod tests {
    use cellar_api::wire::ExternalBody;
    use cellar_sheet::cell::Value;
    use cellar_sheet::metadata::Extent;
    use cellar_sheet::operation::{
        AddSheet, CellEdit, ImportSheet, Rejection, RejectionReason, Revert, SetCells, SheetId,
        TileIndex, Undo,
    };
    use std::collections::BTreeMap;

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
            merged: None,
        }
    }

    #[test]
    fn a_line_contains_position_time_author_and_description() {
        let entries =
            [entry(10, EntryKind::Edits, "alice\u{1b}"), entry(0, EntryKind::Snapshot, "bob")];
        let shown = format_entries(&entries, SheetNames::default(), |_| true);
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
            named_sheets: Vec::new(),
        };
        let large = EntryView { mutations: vec![], external_body: Some(external), ..moved };
        assert_eq!(
            describe_entry(&large, &mut SheetNames::default()),
            "1 large edit, 150,123 bytes stored separately"
        );
    }

    #[test]
    fn a_refused_edit_is_not_called_done() {
        let mut refused = entry(1, EntryKind::Edits, "a");
        let rejection = Rejection::new(RejectionReason::TooLarge, "too large\u{1b}".to_owned());
        refused.mutations[0].committed = Some(vec![Operation::Rejected(rejection)]);
        let described = |entry: &EntryView| describe_entry(entry, &mut SheetNames::default());
        assert_eq!(described(&refused), "refused: B2 = \"new\" (too large\\u{1b})");
        refused.mutations[0].op = Operation::Undo(Undo { position: Position::FIRST });
        assert_eq!(described(&refused), "refused: undo of 0.0 (too large\\u{1b})");
    }

    #[test]
    fn a_recovered_sheet_is_called_by_its_name() {
        let position = Position::new(0, 1).unwrap();
        let mut reverted = entry(4, EntryKind::Edits, "a");
        let revert = Revert { sheet: Some(SheetId(2)), ..Revert::whole(position) };
        reverted.mutations[0].op = Operation::Revert(revert);
        let add = AddSheet { sheet: SheetId(3), name: "Costs".into(), before: None };
        reverted.mutations[0].committed = Some(vec![Operation::AddSheet(add)]);
        assert_eq!(
            describe_entry(&reverted, &mut SheetNames::default()),
            "reverted sheet `Costs` to 0.1 (as: added sheet `Costs`)"
        );
    }

    #[test]
    fn formulas_that_follow_an_import_are_not_described() {
        let mut imported = entry(4, EntryKind::Edits, "a");
        let import = Operation::ImportSheet(ImportSheet {
            sheet: SheetId(3),
            name: "Costs".into(),
            replaces: None,
            extent: Extent { rows: 1, columns: 1 },
            cells: 1,
            formulas: None,
            sheets: BTreeMap::new(),
            tile_index: TileIndex::new(Vec::new()).unwrap(),
        });
        let followed = imported.mutations[0].op.clone();
        imported.mutations[0].op = import.clone();
        imported.mutations[0].committed = Some(vec![import, followed]);
        assert_eq!(
            describe_entry(&imported, &mut SheetNames::default()),
            "imported sheet `Costs`, 1 cell"
        );
    }

    #[test]
    fn keeps_the_newest_displayed_entries() {
        let filter = HistoryFilter { since: None, author: None, limit: 2 };
        let mut newest = NewestEntries::new(filter);
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

    #[test]
    fn keeps_entries_of_an_author_after_a_position() {
        let of = |num, author| entry(num, EntryKind::Edits, author);
        let page = || vec![of(5, "a"), of(4, "b"), of(3, "a"), of(2, "a"), of(1, "a")];
        let kept = |since, author: Option<&str>| {
            let since = Position::new(0, since).ok();
            let author = author.map(str::to_owned);
            let mut newest = NewestEntries::new(HistoryFilter { since, author, limit: 9 });
            newest.add_page(page());
            let kept = newest.entries.iter().map(|entry| entry.position.entry_number());
            (kept.collect::<Vec<_>>(), newest.has_ended)
        };
        assert_eq!(kept(2, Some("a")), (vec![5, 3], true));
        assert_eq!(kept(3, None), (vec![5, 4], true));
        assert_eq!(kept(0, Some("b")), (vec![4], false));
        assert_eq!(kept(0, Some("B")), (vec![4], false), "case does not matter");
    }

    #[test]
    fn the_authors_are_named_if_an_author_is_unknown() {
        let no_entries = |count: usize| {
            let author = Some("Bob".to_owned());
            let mut newest = NewestEntries::new(HistoryFilter { since: None, author, limit: 9 });
            let by = |number: usize| entry(1, EntryKind::Edits, &format!("author {number:03}"));
            newest.add_page((0..count).map(by).collect());
            assert_eq!(newest.other_authors.len(), count.min(MAX_AUTHORS));
            describe_no_entries(&newest.filter, &newest.other_authors)
        };
        assert_eq!(no_entries(0), "No edits by Bob.");
        assert_eq!(no_entries(2), "No edits by Bob. The authors are: author 000, author 001.");
        assert_eq!(no_entries(MAX_AUTHORS), no_entries(MAX_AUTHORS + 1));
    }
}
