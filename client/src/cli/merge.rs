//! The command `cellar merge`.

use std::collections::BTreeMap;

use cellar_api::time::format_utc;
use cellar_api::wire::{EntryView, MergeCounts, MergeReply, MergedEditView, SheetView};
use cellar_base::count::count;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::merge::MergeOutcome;
use console::Alignment;
use serde::Serialize;

use super::args;
use super::context::Context;
use super::error::CliError;
use super::history::describe_entry;
use super::output::{Output, format_rows};
use super::{EXIT_DIFFERENCES, EXIT_SUCCESS};
use crate::describe::SheetNames;
use crate::text::escape;
use crate::{ClientError, Spreadsheet};

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
    output.print_lines(list_edits(&fork, &source, &preview).await?)?;
    let reply =
        if args.dry_run { preview } else { source.merge(fork.id(), Some(preview.through)).await? };
    let (dry_run, spreadsheet) = (args.dry_run, source.id());
    output.print_json(&MergeResult { fork: fork.id(), spreadsheet, dry_run, reply: &reply })?;
    print_summary(output, (&source, &source_name), &reply, dry_run);
    let MergeCounts { dropped, rejected, in_conflict, .. } = reply.counts;
    let needs_attention = dropped > 0 || rejected > 0 || in_conflict > 0;
    Ok(if needs_attention { EXIT_DIFFERENCES } else { EXIT_SUCCESS })
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
            "All edits up to {} were merged before. If that merge was undone, undo the undo; \
             `cellar history` of the source lists its position.",
            reply.through
        ));
        return;
    }
    let edits = count(total, "edit", "edits");
    let verb = if dry_run { "Would merge" } else { "Merged" };
    output.print_note(format!(
        "{verb} {edits} into `{}`: {unchanged} unchanged, {moved} moved, {dropped} dropped, {rejected} \
         rejected; {in_conflict} in conflict.",
        escape(source_name)
    ));
    if dry_run {
        output.print_note("Dry run: nothing was changed.");
    } else if let Some(position) = reply.merged_as {
        output.print_note(format!("Undo it with: cellar undo {position} -s {}", source.id()));
    }
}

/// Lists the edits that were moved, dropped or rejected, or are in conflict.
async fn list_edits(
    fork: &Spreadsheet,
    source: &Spreadsheet,
    reply: &MergeReply,
) -> Result<Vec<String>, ClientError> {
    if reply.edits.is_empty() {
        return Ok(Vec::new());
    }
    let entries = read_entries(fork, reply).await?;
    let sheets = source.sheets().await?.sheets;
    let rows: Vec<_> = reply
        .edits
        .iter()
        .map(|edit| edit_columns(edit, entries.get(&edit.position), &sheets))
        .collect();
    let left = Alignment::Left;
    Ok(format_rows([Alignment::Right, left, left, left, left], &rows))
}

/// Returns the entries of the listed edits, keyed by position in the fork.
async fn read_entries(
    fork: &Spreadsheet,
    reply: &MergeReply,
) -> Result<BTreeMap<Position, EntryView>, ClientError> {
    let oldest = reply.edits.iter().map(|edit| edit.position).min().unwrap_or(reply.through);
    let mut entries = BTreeMap::new();
    let mut entries_newest_first = fork.long_history(Some(reply.through));
    while let Some(entry) = entries_newest_first.try_next().await? {
        if entry.position < oldest {
            break;
        }
        if reply.edits.iter().any(|edit| edit.position == entry.position) {
            entries.insert(entry.position, entry);
        }
    }
    Ok(entries)
}

fn edit_columns(
    edit: &MergedEditView,
    entry: Option<&EntryView>,
    sheets: &[SheetView],
) -> [String; 5] {
    let author = escape(edit.author.as_deref().unwrap_or("-"));
    let description =
        entry.map_or_else(String::new, |entry| describe_entry(entry, &mut SheetNames::default()));
    let detail = describe_detail(edit, sheets);
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

fn describe_detail(edit: &MergedEditView, sheets: &[SheetView]) -> String {
    if let Some(rejection) = &edit.rejection {
        return escape(&rejection.detail);
    }
    if edit.conflict_count == 0 {
        return String::new();
    }
    let names: Vec<String> = edit
        .conflicts
        .iter()
        .map(|cell| match sheets.iter().find(|view| view.sheet == cell.sheet) {
            Some(view) => format!("{}!{}", escape(&view.name), cell.name()),
            None => cell.name().to_string(),
        })
        .collect();
    let listed = u64::try_from(names.len()).unwrap_or(u64::MAX);
    let more = match edit.conflict_count.saturating_sub(listed) {
        0 => String::new(),
        more => format!(" and {}", count(more, "more cell", "more cells")),
    };
    format!("the source changed {}{more}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use cellar_api::wire::CellInConflict;
    use cellar_sheet::metadata::Extent;
    use cellar_sheet::operation::{Rejection, RejectionReason, SheetId};

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
            rejection: None,
            merged_as: None,
        }
    }

    #[test]
    fn an_edit_is_shown_with_its_author_time_and_conflicts() {
        let extent = Extent { rows: 1, columns: 1 };
        let sheets = [SheetView { sheet: SheetId(3), name: "Costs".to_owned(), extent }];
        let shown = |edit| edit_columns(&edit, None, &sheets);
        let time = "2023-11-14T22:13:20Z";
        let conflict = shown(edit(MergeOutcome::Unchanged, 3));
        let detail = "the source changed Costs!B2 and 2 more cells";
        assert_eq!(conflict, ["1.2", "conflict", time, "alice\\u{1b}", detail]);
        let other = edit_columns(&edit(MergeOutcome::Moved, 1), None, &[]);
        assert_eq!(other[4], "the source changed B2");
        let rejection = Some(Rejection::new(RejectionReason::NoSuchSheet, "no sheet\u{1b}"));
        let rejected = MergedEditView { rejection, ..edit(MergeOutcome::Rejected, 0) };
        assert_eq!(shown(rejected)[1..], ["rejected", time, "alice\\u{1b}", "no sheet\\u{1b}"]);
        assert_eq!(shown(edit(MergeOutcome::Dropped, 0))[1], "dropped");
        assert_eq!(shown(edit(MergeOutcome::Moved, 0))[1], "moved");
    }
}
