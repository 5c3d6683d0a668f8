//! `cellar history` of a cell, range or sheet

use cellar_api::time::format_utc;
use cellar_api::wire::{CellHistoryChange, CellHistoryEntry, Recovery};
use cellar_base::position::Position;
use cellar_sheet::a1::{CellName, Range};
use console::{Alignment, style};

use super::args;
use super::at::{FoundPosition, print_json_with_times};
use super::diff::describe_change;
use super::edit::choose_sheet_name;
use super::error::CliError;
use super::get::range_text;
use super::history::{HistoryFilter, describe_merge};
use super::output::{Output, format_rows};
use crate::describe::{column_list, row_list};
use crate::text::escape;
use crate::{CellHistoryQuery, Spreadsheet};

pub(super) async fn show_cell_history(
    spreadsheet: &Spreadsheet,
    output: &Output,
    args: &args::History,
    until: Option<Position>,
    filter: HistoryFilter,
    times: [Option<&FoundPosition>; 2],
) -> Result<(), CliError> {
    let query = build_query(args, until, &filter)?;
    let history = fetch_changes(spreadsheet, query, filter.limit).await?;
    let NewestChanges { changes, is_complete, is_truncated } = &history;
    let result = serde_json::json!({
        "changes": changes,
        "complete": is_complete,
        "truncated": is_truncated,
    });
    print_json_with_times(output, &result, times)?;
    output.print_lines(format_changes(changes))?;
    if *is_truncated {
        output.print_note("Some changes of large edits are not shown; pass a smaller range.");
    }
    if !*is_complete {
        output.print_note("Older changes exist; pass a larger --limit.");
    } else if changes.is_empty() {
        output.print_note("No change found.");
    }
    Ok(())
}

fn build_query(
    args: &args::History,
    until: Option<Position>,
    filter: &HistoryFilter,
) -> Result<CellHistoryQuery, CliError> {
    let target = args.target.as_deref();
    // A text that is not a range is the name of a sheet.
    let range = target.and_then(|target| target.parse::<Range>().ok());
    let target_sheet = target.filter(|_| range.is_none()).map(str::to_owned);
    let sheet = match (&args.sheet, target_sheet) {
        (Some(option), Some(target)) if option.to_lowercase() != target.to_lowercase() => {
            return Err(CliError::usage(
                format!("--sheet selects sheet `{option}`, but `{target}` is not a range in it"),
                "pass a cell or range such as B2 or A1:C9, or only the name of a sheet",
            ));
        }
        (None, Some(target)) => Some(target),
        (option, _) => option.clone(),
    };
    Ok(CellHistoryQuery {
        sheet: choose_sheet_name(sheet, range.as_ref())?,
        range: range.as_ref().map(range_text),
        until,
        since: filter.since,
        author: filter.author.clone(),
        limit: None,
    })
}

struct NewestChanges {
    /// Newest first.
    changes: Vec<CellHistoryEntry>,
    is_complete: bool,
    /// Whether changes between the others are missing, because an entry has too many.
    is_truncated: bool,
}

async fn fetch_changes(
    spreadsheet: &Spreadsheet,
    query: CellHistoryQuery,
    limit: u32,
) -> Result<NewestChanges, CliError> {
    let max_changes = usize::try_from(limit).unwrap_or(usize::MAX);
    let page_limit = limit.saturating_add(1).min(cellar_base::limits::MAX_PAGE_ENTRIES);
    let query = CellHistoryQuery { limit: Some(page_limit), ..query };
    let mut pages = spreadsheet.cell_history_pages(query);
    let (mut changes, mut is_truncated) = (Vec::new(), false);
    while let Some(page) = pages.try_next().await? {
        changes.extend(page.changes);
        if changes.len() > max_changes {
            changes.truncate(max_changes);
            return Ok(NewestChanges { changes, is_complete: false, is_truncated });
        }
        is_truncated |= page.truncated;
    }
    Ok(NewestChanges { changes, is_complete: true, is_truncated })
}

fn format_changes(changes: &[CellHistoryEntry]) -> Vec<String> {
    let columns = |entry: &CellHistoryEntry| {
        let author = escape(entry.author.as_deref().unwrap_or("-"));
        let position = entry.position.to_string();
        let description = describe(entry) + &describe_merge(entry.merged.as_ref());
        [position, format_utc(entry.created_s), author, description]
    };
    let rows: Vec<_> = changes.iter().map(columns).collect();
    format_rows([Alignment::Right, Alignment::Left, Alignment::Left, Alignment::Left], &rows)
}

fn describe(entry: &CellHistoryEntry) -> String {
    let sheet = escape(&entry.name);
    match &entry.change {
        CellHistoryChange::Cell(diff) => {
            let cell = CellName { row: diff.row, column: diff.column };
            let (before, after) = describe_change(&diff.before, &diff.after);
            format!("{sheet}!{cell}: {} -> {}", style(before).red(), style(after).green())
        }
        CellHistoryChange::RowsInserted(spans) => {
            format!("{sheet}: inserted {}", row_list(spans))
        }
        CellHistoryChange::ColumnsInserted(spans) => {
            format!("{sheet}: inserted {}", column_list(spans))
        }
        CellHistoryChange::RowsDeleted(spans) => {
            format!("{sheet}: deleted {}", row_list(spans))
        }
        CellHistoryChange::ColumnsDeleted(spans) => {
            format!("{sheet}: deleted {}", column_list(spans))
        }
        CellHistoryChange::SheetAdded => match entry.recovered {
            None => format!("{sheet}: added the sheet"),
            Some(Recovery::Undo(undone)) => {
                format!("{sheet}: recovered the sheet (undo of {undone})")
            }
            Some(Recovery::Revert(to)) => format!("{sheet}: recovered the sheet (revert to {to})"),
        },
        CellHistoryChange::SheetImported => format!("{sheet}: imported the sheet"),
    }
}

#[cfg(test)]
mod tests {
    use cellar_sheet::cell::{Cell, Value};
    use cellar_sheet::operation::{SheetId, Spans};
    use cellar_sheet::workbook::CellDiff;

    use super::*;

    fn args(target: Option<&str>, sheet: Option<&str>) -> args::History {
        args::History {
            target: target.map(str::to_owned),
            sheet: sheet.map(str::to_owned),
            limit: 20,
            until: None,
            since: None,
            by: None,
        }
    }

    #[test]
    fn the_argument_is_a_range_or_a_sheet() {
        let filter = HistoryFilter { since: None, author: None, limit: 20 };
        let query = |target, sheet| {
            let query = build_query(&args(target, sheet), None, &filter);
            query.map(|query| (query.sheet, query.range))
        };
        let some = |text: &str| Some(text.to_owned());
        for (target, sheet, expected) in [
            (Some("B2"), None, (None, some("B2"))),
            (Some("Costs!B2:C3"), None, (some("Costs"), some("B2:C3"))),
            (Some("A:C"), Some("Costs"), (some("Costs"), some("A:C"))),
            (Some("Costs"), None, (some("Costs"), None)),
            (Some("Costs"), Some("costs"), (some("costs"), None)),
            (None, Some("B2"), (some("B2"), None)),
        ] {
            assert_eq!(query(target, sheet).unwrap(), expected, "{target:?} {sheet:?}");
        }
        for (target, sheet) in [("Costs", "Prices"), ("Costs!B2", "Prices")] {
            assert!(matches!(query(Some(target), Some(sheet)), Err(CliError::Usage { .. })));
        }
    }

    #[test]
    fn a_line_names_time_author_sheet_and_contents() {
        let entry = |num, change| CellHistoryEntry {
            position: Position::new(0, num).unwrap(),
            created_s: 1_700_000_000,
            author: Some("alice\u{1b}".into()),
            merged: None,
            sheet: SheetId::FIRST,
            name: "Costs\u{1b}".into(),
            change,
            recovered: None,
        };
        let after = Cell { value: Value::Number(2.0), ..Cell::default() };
        let diff = CellDiff { row: 3, column: 1, before: Cell::default(), after };
        let changes = [
            entry(12, CellHistoryChange::Cell(diff)),
            entry(9, CellHistoryChange::RowsInserted(Spans::one(2, 2))),
            entry(8, CellHistoryChange::RowsDeleted(Spans::one(1, 1))),
            CellHistoryEntry {
                recovered: Some(Recovery::Revert(Position::FIRST)),
                ..entry(7, CellHistoryChange::SheetAdded)
            },
            entry(1, CellHistoryChange::SheetImported),
        ];
        let lines: Vec<String> = format_changes(&changes)
            .iter()
            .map(|line| console::strip_ansi_codes(line).into_owned())
            .collect();
        let expected = [
            "0.12   2023-11-14T22:13:20Z   alice\\u{1b}   Costs\\u{1b}!B4: empty -> 2",
            " 0.9   2023-11-14T22:13:20Z   alice\\u{1b}   Costs\\u{1b}: inserted rows 3:4",
            " 0.8   2023-11-14T22:13:20Z   alice\\u{1b}   Costs\\u{1b}: deleted row 2",
            " 0.7   2023-11-14T22:13:20Z   alice\\u{1b}   Costs\\u{1b}: recovered the sheet (revert to 0.0)",
            " 0.1   2023-11-14T22:13:20Z   alice\\u{1b}   Costs\\u{1b}: imported the sheet",
        ];
        assert_eq!(lines, expected);
    }
}
