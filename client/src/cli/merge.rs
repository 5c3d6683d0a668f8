//! The command `cellar merge`.

use std::collections::BTreeMap;

use cellar_api::time::format_utc;
use cellar_api::wire::{
    CellInConflict, EntryKind, EntryView, MergeCounts, MergeReply, MergedEditView, SheetView,
};
use cellar_base::count::count;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::merge::MergeOutcome;
use cellar_sheet::a1::CellName;
use cellar_sheet::cell::{Cell, Value};
use cellar_sheet::operation::SheetId;
use console::Alignment;
use serde::Serialize;

use super::args;
use super::context::Context;
use super::error::CliError;
use super::history::{author_name, describe_entry};
use super::output::{Output, format_rows};
use super::{EXIT_DIFFERENCES, EXIT_SUCCESS};
use crate::describe::SheetNames;
use crate::text::{escape, escape_shortened};
use crate::{CellsQuery, ClientError, Spreadsheet};

/// Maximum number of cells in conflict whose values are read and shown.
const MAX_SHOWN_CONFLICTS: usize = 20;
/// Maximum length, in characters, of the value of a cell in conflict.
const MAX_TEXT_CHARACTERS: usize = 40;

/// The JSON output of `cellar merge`.
#[derive(Serialize)]
struct MergeResult<'a> {
    fork: LogId,
    spreadsheet: LogId,
    dry_run: bool,
    #[serde(flatten)]
    reply: &'a MergeReply,
}

pub(super) async fn merge_fork(
    context: &Context,
    output: &Output,
    args: args::Merge,
) -> Result<u8, CliError> {
    let client = context.client()?;
    let fork = client.spreadsheet(context.find(&args.fork).await?.id);
    let Some(source) = fork.details().await?.source else {
        return Err(CliError::usage(
            format!("spreadsheet {} is not a fork", fork.id()),
            "name a fork; `cellar list --forks` lists them",
        ));
    };
    let source = client.spreadsheet(source);
    let source_name = source.details().await?.name;
    context.print_unsent_note(&fork, output);
    let preview = source.preview_merge(fork.id(), args.through).await?;
    if !output.json {
        output.print_lines(list_edits(&fork, &source, &preview, args.dry_run).await?)?;
    }
    let reply =
        if args.dry_run { preview } else { source.merge(fork.id(), Some(preview.through)).await? };
    let (dry_run, spreadsheet) = (args.dry_run, source.id());
    output.print_json(&MergeResult { fork: fork.id(), spreadsheet, dry_run, reply: &reply })?;
    print_summary(output, (&source, &source_name), &reply, dry_run);
    let MergeCounts { dropped, rejected, in_conflict, .. } = reply.counts;
    let needs_attention = dropped > 0 || rejected > 0 || in_conflict > 0 || lost_cells(&reply) > 0;
    Ok(if needs_attention { EXIT_DIFFERENCES } else { EXIT_SUCCESS })
}

fn lost_cells(reply: &MergeReply) -> u64 {
    reply.edits.iter().map(|edit| edit.lost_cells).sum()
}

fn print_summary(
    output: &Output,
    (source, source_name): (&Spreadsheet, &str),
    reply: &MergeReply,
    dry_run: bool,
) {
    let MergeCounts { unchanged, moved, dropped, rejected, in_conflict } = reply.counts;
    let total = reply.counts.total();
    if total == 0 {
        output.print_note(format!(
            "Nothing to merge: the source already has all edits up to {}. If you undid that merge, undo the undo \
             to bring the edits back: `cellar history -s {}` lists its position.",
            reply.through,
            source.id()
        ));
        return;
    }
    let edits = count(total, "edit", "edits");
    let verb = if dry_run { "Would merge" } else { "Merged" };
    output.print_note(format!(
        "{verb} {edits} into `{}`: {unchanged} as they were made, {moved} moved, {dropped} dropped, {rejected} \
         rejected.",
        escape(source_name)
    ));
    if in_conflict > 0 {
        let wins = if dry_run { "would win" } else { "wins" };
        output.print_note(format!(
            "Of these, {in_conflict} in conflict: both sides changed the same cells, and the fork {wins}."
        ));
    }
    let lost_cells = lost_cells(reply);
    if lost_cells > 0 {
        let cells = count(lost_cells, "cell was", "cells were");
        output.print_note(format!(
            "{cells} left out, because the source has deleted their rows, columns or sheets."
        ));
    }
    if dry_run {
        output.print_note("Dry run: nothing was changed.");
    } else if let Some(position) = reply.merged_as {
        output.print_note(format!("Undo it with: cellar undo {position} -s {}", source.id()));
    }
}

/// Lists the edits that were moved, dropped or rejected, or are in conflict. With `lists_all`, also
/// lists the other edits.
async fn list_edits(
    fork: &Spreadsheet,
    source: &Spreadsheet,
    reply: &MergeReply,
    lists_all: bool,
) -> Result<Vec<String>, ClientError> {
    if reply.counts.total() == 0 || (reply.edits.is_empty() && !lists_all) {
        return Ok(Vec::new());
    }
    let entries = read_entries(fork, reply, lists_all).await?;
    let source_cells = SourceCells::read(source, reply).await?;
    let mut rows: BTreeMap<Position, [String; 5]> = BTreeMap::new();
    for edit in &reply.edits {
        let columns = edit_columns(edit, entries.get(&edit.position), &source_cells);
        rows.insert(edit.position, columns);
    }
    // Some of the entries may have been merged before, and the reply does not say which.
    let are_all_to_merge = u64::try_from(entries.len()) == Ok(reply.counts.total());
    if lists_all && are_all_to_merge {
        for (position, entry) in &entries {
            rows.entry(*position).or_insert_with(|| unchanged_columns(entry));
        }
    }
    let left = Alignment::Left;
    let rows: Vec<_> = rows.into_values().collect();
    Ok(format_rows([Alignment::Right, left, left, left, left], &rows))
}

fn unchanged_columns(entry: &EntryView) -> [String; 5] {
    [
        entry.position.to_string(),
        "unchanged".to_owned(),
        format_utc(entry.created_s),
        author_name(entry),
        describe_entry(entry, &mut SheetNames::default()),
    ]
}

/// The sheets of the source, and what its cells in conflict display before the merge.
#[derive(Default)]
struct SourceCells {
    sheets: Vec<SheetView>,
    /// Contains only the first cells.
    texts: BTreeMap<(SheetId, CellName), String>,
}

impl SourceCells {
    async fn read(source: &Spreadsheet, reply: &MergeReply) -> Result<Self, ClientError> {
        let sheets = source.sheets_at(reply.head).await?.sheets;
        let mut texts = BTreeMap::new();
        let conflicts = reply.edits.iter().flat_map(|edit| &edit.conflicts);
        for cell in conflicts.take(MAX_SHOWN_CONFLICTS) {
            let Some(view) = sheets.iter().find(|view| view.sheet == cell.sheet) else { continue };
            let query = CellsQuery {
                sheet: Some(view.name.clone()),
                range: Some(cell.name().to_string()),
                at: Some(reply.head),
                min_position: None,
                cursor: None,
            };
            let cells = source.read_cells(query).await?.cells;
            let text = cells.first().map_or_else(|| "empty".to_owned(), |cell| quoted(&cell.cell));
            texts.insert((cell.sheet, cell.name()), text);
        }
        Ok(Self { sheets, texts })
    }

    fn describe(&self, cell: &CellInConflict) -> String {
        let name = match self.sheets.iter().find(|view| view.sheet == cell.sheet) {
            Some(view) => format!("{}!{}", escape(&view.name), cell.name()),
            None => cell.name().to_string(),
        };
        match self.texts.get(&(cell.sheet, cell.name())) {
            Some(text) => format!("{name} to {text}"),
            None => name,
        }
    }
}

fn quoted(cell: &Cell) -> String {
    let text = escape_shortened(&cell.text(), MAX_TEXT_CHARACTERS);
    match &cell.value {
        Value::Text(_) => format!("\"{text}\""),
        _ => text,
    }
}

/// Returns the entries of the listed edits, keyed by position in the fork. With `reads_all`, returns
/// all entries with edits.
async fn read_entries(
    fork: &Spreadsheet,
    reply: &MergeReply,
    reads_all: bool,
) -> Result<BTreeMap<Position, EntryView>, ClientError> {
    let listed = reply.edits.iter().map(|edit| edit.position);
    let oldest = if reads_all { reply.from } else { listed.min().unwrap_or(reply.through) };
    let mut entries = BTreeMap::new();
    let mut entries_newest_first = fork.long_history(Some(reply.through));
    while let Some(entry) = entries_newest_first.try_next().await? {
        if entry.position < oldest {
            break;
        }
        let is_unlisted_edit =
            reads_all && entry.kind == EntryKind::Edits && entry.position > reply.from;
        if is_unlisted_edit || reply.edits.iter().any(|edit| edit.position == entry.position) {
            entries.insert(entry.position, entry);
        }
    }
    Ok(entries)
}

fn edit_columns(
    edit: &MergedEditView,
    entry: Option<&EntryView>,
    source_cells: &SourceCells,
) -> [String; 5] {
    let author = escape(edit.author.as_deref().unwrap_or("-"));
    let description =
        entry.map_or_else(String::new, |entry| describe_entry(entry, &mut SheetNames::default()));
    let detail = describe_detail(edit, source_cells);
    let description = [description, detail].into_iter().filter(|part| !part.is_empty());
    [
        edit.position.to_string(),
        outcome_name(edit).to_owned(),
        format_utc(edit.created_s),
        author,
        description.collect::<Vec<_>>().join(": "),
    ]
}

fn outcome_name(edit: &MergedEditView) -> &'static str {
    match (edit.outcome, edit.conflict_count > 0) {
        (MergeOutcome::Dropped, _) => "dropped",
        (MergeOutcome::Rejected, _) => "rejected",
        (_, true) => "conflict",
        (MergeOutcome::Moved, false) => "moved",
        (MergeOutcome::Unchanged, false) => "unchanged",
    }
}

fn describe_detail(edit: &MergedEditView, source_cells: &SourceCells) -> String {
    if let Some(rejection) = &edit.rejection {
        return escape(&rejection.detail);
    }
    let lost = lost_detail(edit);
    let in_conflict = conflict_detail(edit, source_cells);
    [in_conflict, lost].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn lost_detail(edit: &MergedEditView) -> Option<String> {
    if edit.lost_cells == 0 {
        return None;
    }
    let cells = count(edit.lost_cells, "cell is", "cells are");
    let lines = match edit.lost_cells {
        1 => "its row, column or sheet is",
        _ => "their rows, columns or sheets are",
    };
    Some(format!("{cells} left out: {lines} deleted in the source"))
}

fn conflict_detail(edit: &MergedEditView, source_cells: &SourceCells) -> Option<String> {
    if edit.conflict_count == 0 {
        return None;
    }
    let names: Vec<String> =
        edit.conflicts.iter().map(|cell| source_cells.describe(cell)).collect();
    let listed = u64::try_from(names.len()).unwrap_or(u64::MAX);
    let more = match edit.conflict_count.saturating_sub(listed) {
        0 => String::new(),
        more => format!(" and {}", count(more, "more cell", "more cells")),
    };
    Some(format!("the source changed {}{more}; the fork wins", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use cellar_sheet::metadata::Extent;
    use cellar_sheet::operation::{Rejection, RejectionReason};

    use super::*;

    fn edit(outcome: MergeOutcome, conflict_count: u64) -> MergedEditView {
        let cell = CellInConflict { sheet: SheetId(3), row: 1, column: 1 };
        MergedEditView {
            position: Position::new(1, 2).unwrap(),
            author: Some("alice\u{1b}".to_owned()),
            created_s: 1_700_000_000,
            outcome,
            conflict_count,
            conflicts: if conflict_count > 0 { vec![cell] } else { Vec::new() },
            lost_cells: 0,
            rejection: None,
            merged_as: None,
        }
    }

    #[test]
    fn an_edit_is_shown_with_its_author_time_and_conflicts() {
        let extent = Extent { rows: 1, columns: 1 };
        let sheets = [SheetView { sheet: SheetId(3), name: "Costs".to_owned(), extent }];
        let texts = BTreeMap::new();
        let mut source_cells = SourceCells { sheets: sheets.to_vec(), texts };
        let time = "2023-11-14T22:13:20Z";
        let conflict = edit_columns(&edit(MergeOutcome::Unchanged, 3), None, &source_cells);
        let detail = "the source changed Costs!B2 and 2 more cells; the fork wins";
        assert_eq!(conflict, ["1.2", "conflict", time, "alice\\u{1b}", detail]);
        let other = edit_columns(&edit(MergeOutcome::Moved, 1), None, &SourceCells::default());
        assert_eq!(other[4], "the source changed B2; the fork wins");
        let b2 = CellName { row: 1, column: 1 };
        source_cells.texts.insert((SheetId(3), b2), "25".to_owned());
        let shown = |edit| edit_columns(&edit, None, &source_cells);
        let valued = shown(edit(MergeOutcome::Unchanged, 1));
        assert_eq!(valued[4], "the source changed Costs!B2 to 25; the fork wins");
        let rejection = Some(Rejection::new(RejectionReason::NoSuchSheet, "no sheet\u{1b}"));
        let rejected = MergedEditView { rejection, ..edit(MergeOutcome::Rejected, 0) };
        assert_eq!(shown(rejected)[1..], ["rejected", time, "alice\\u{1b}", "no sheet\\u{1b}"]);
        assert_eq!(shown(edit(MergeOutcome::Dropped, 0))[1], "dropped");
        assert_eq!(shown(edit(MergeOutcome::Moved, 0))[1], "moved");
        let lost = shown(MergedEditView { lost_cells: 1, ..edit(MergeOutcome::Moved, 0) });
        assert_eq!(
            lost[4],
            "1 cell is left out: its row, column or sheet is deleted in the source"
        );
    }
}
