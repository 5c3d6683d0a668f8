use std::sync::Arc;

use cellar_api::wire::{CellsReply, Head, ProblemKind};
use cellar_base::position::Position;
use cellar_sheet::a1::{CellName, Range, Rectangle, column_name};
use cellar_sheet::metadata::Extent;
use serde::Serialize;

use super::args;
use super::at::{find_optional, print_json_with_times};
use super::context::Context;
use super::edit::choose_sheet_name;
use super::error::CliError;
use super::filter::print_rows;
use super::formula_notes::print_notes_of_cells;
use super::output::{Output, count, grouped};
use crate::cli::table::{Window, render_table};
use crate::describe::row_number;
use crate::reader::{ChunkCache, Reader, ReaderError};
use crate::{CellsQuery, Spreadsheet};

/// Number of rows to print if the user specified no range.
const SCREEN_ROWS: u32 = 40;
/// Number of columns to print if the user specified no range.
const SCREEN_COLUMNS: u32 = 20;
const FIRST_SCREEN: Rectangle = Rectangle {
    first: CellName { row: 0, column: 0 },
    last: CellName { row: SCREEN_ROWS - 1, column: SCREEN_COLUMNS - 1 },
};
/// Includes blank cells. JSON output is not limited.
const MAX_TABLE_CELLS: u64 = 200_000;

pub(super) async fn print_cells(
    context: &Context,
    output: &Output,
    mut args: args::Get,
) -> Result<(), CliError> {
    if !args.conditions.is_empty() || args.count || !args.sums.is_empty() {
        return print_rows(context, output, &args).await;
    }
    let spreadsheet = context.spreadsheet()?;
    let sheet_name = choose_sheet_name(args.sheet.clone(), args.range())?;
    let at = find_optional(args.at.as_ref(), &spreadsheet, output).await?;
    let position = at.as_ref().map(|at| at.position);
    if args.last.is_some() || args.range().is_some_and(is_open_below) {
        let sheet = sheet_name.as_deref();
        let used = read_extent(context, &spreadsheet, position, sheet).await?;
        args.positional_range = Some(used_range(args.range(), args.last, used));
        args.range = None;
    }
    let reply = read_cells(context, &spreadsheet, &args, position, sheet_name.as_deref()).await?;
    if position.is_none() {
        let read_at = Head { head: reply.position, incarnation: reply.incarnation };
        let first_sheet = if sheet_name.is_none() { Some(reply.sheet) } else { None };
        context.record_seen(&spreadsheet, read_at, first_sheet);
    }
    context.print_unsent_note(&spreadsheet, output);
    if output.json {
        return print_json_with_times(output, &ReplyWithTexts::new(&reply), [at.as_ref()]);
    }
    print_table(&reply, &args, output)
}

/// The server reads the cells if `--remote` was passed, if the folder `.cellar/` does not exist, or if
/// an earlier position cannot be read from chunks. Otherwise, the client reads the snapshot and the
/// later log entries.
async fn read_cells(
    context: &Context,
    spreadsheet: &Spreadsheet,
    args: &args::Get,
    at: Option<Position>,
    sheet_name: Option<&str>,
) -> Result<CellsReply, CliError> {
    let range = args.range();
    let min_position = context.seen_position(spreadsheet);
    if !args.remote && context.has_state_folder() {
        check_area(range)?;
        let cache = Some(Arc::new(ChunkCache::new(&context.directory)));
        let rectangle = requested_rectangle(range);
        let Some(at) = at else {
            let mut reader = Reader::open(spreadsheet.clone(), min_position, cache).await?;
            return Ok(reader.cells(sheet_name, rectangle).await?);
        };
        if let Some(mut reader) = Reader::open_at(spreadsheet.clone(), at, cache).await?
            && let Some(reply) = reader
                .cells(sheet_name, rectangle)
                .await
                .map(Some)
                .or_else(ReaderError::none_if_unreadable)?
        {
            return Ok(reply);
        }
    }
    let query = CellsQuery {
        sheet: sheet_name.map(str::to_owned),
        range: Some(range.map_or_else(|| FIRST_SCREEN.to_string(), range_text)),
        at,
        min_position,
        cursor: None,
    };
    Ok(spreadsheet.read_cells(query).await?)
}

/// Whether the range has no last row, such as `A3370:G`.
fn is_open_below(range: &Range) -> bool {
    !range.is_open && range.rectangle.last.row == Rectangle::EVERYTHING.last.row
}

async fn read_extent(
    context: &Context,
    spreadsheet: &Spreadsheet,
    at: Option<Position>,
    sheet_name: Option<&str>,
) -> Result<Extent, CliError> {
    let query = CellsQuery {
        sheet: sheet_name.map(str::to_owned),
        range: Some("A1".to_owned()),
        at,
        min_position: context.seen_position(spreadsheet),
        cursor: None,
    };
    Ok(spreadsheet.read_cells(query).await?.extent)
}

/// Returns the used rows of the range or, with `last_rows`, only the last of them. If the range has no
/// used row, returns its first row.
fn used_range(range: Option<&Range>, last_rows: Option<u32>, extent: Extent) -> Range {
    let rectangle = range.map_or(Rectangle::EVERYTHING, |range| range.rectangle);
    let Rectangle { mut first, mut last } = rectangle;
    let used_end = last.row.saturating_add(1).min(extent.rows);
    if let Some(last_rows) = last_rows {
        first.row = first.row.max(used_end.saturating_sub(last_rows));
    }
    last.row = used_end.saturating_sub(1).max(first.row);
    if last.column == Rectangle::EVERYTHING.last.column {
        last.column = extent.columns.saturating_sub(1).max(first.column);
    }
    Range { sheet: None, rectangle: Rectangle { first, last }, is_open: false }
}

fn requested_rectangle(range: Option<&Range>) -> Rectangle {
    range.map_or(FIRST_SCREEN, |range| range.rectangle)
}

/// Whole columns or rows are formatted as `A:C` or `3:5`, because the server allows such ranges to
/// have any number of cells.
pub(super) fn range_text(range: &Range) -> String {
    let Rectangle { first, last } = range.rectangle;
    if !range.is_open {
        return range.rectangle.to_string();
    }
    let is_whole_columns = first.row == 0 && last.row == Rectangle::EVERYTHING.last.row;
    if is_whole_columns {
        return format!("{}:{}", column_name(first.column), column_name(last.column));
    }
    format!("{}:{}", row_number(first.row), row_number(last.row))
}

fn check_area(range: Option<&Range>) -> Result<(), ReaderError> {
    let Some(range) = range else { return Ok(()) };
    range.check_area().map_err(|error| {
        let kind = ProblemKind::RangeTooLarge;
        ReaderError::from_problem(kind, error.to_string())
    })
}

fn print_table(reply: &CellsReply, args: &args::Get, output: &Output) -> Result<(), CliError> {
    let range = args.range();
    let is_explicit = range.is_some();
    let window = clip_to_extent(requested_rectangle(range), reply.extent);
    if window.rows == 0 || window.columns == 0 {
        output.print_line(if is_explicit {
            "The cells are empty."
        } else {
            "The sheet is empty."
        })?;
        return Ok(());
    }
    check_table_size(window)?;
    let cells = args.shown(&reply.cells);
    let table = render_table(&cells, window, output.terminal_width());
    output.print_line(&table.text)?;
    print_notes_of_cells(output, &cells);
    let shown_window = Window { columns: table.columns, ..window };
    if let Some(note) = truncation_note(shown_window, window, reply.extent, is_explicit) {
        output.print_note(note);
    }
    Ok(())
}

fn check_table_size(window: Window) -> Result<(), CliError> {
    check_table_cells(u64::from(window.rows) * u64::from(window.columns))
}

/// `cell_count` includes blank cells.
pub(super) fn check_table_cells(cell_count: u64) -> Result<(), CliError> {
    if cell_count <= MAX_TABLE_CELLS {
        return Ok(());
    }
    Err(CliError::usage(
        format!(
            "the range has {}; at most {} can be printed as a table",
            count(cell_count, "cell", "cells"),
            grouped(MAX_TABLE_CELLS)
        ),
        "pass a smaller --range, use --json, or export the cells with `cellar export FILE`",
    ))
}

pub(super) fn clip_to_extent(rectangle: Rectangle, extent: Extent) -> Window {
    let Rectangle { first, last } = rectangle;
    Window {
        first,
        rows: clipped_length(first.row, last.row, extent.rows),
        columns: clipped_length(first.column, last.column, extent.columns),
    }
}

fn clipped_length(first: u32, last: u32, extent: u32) -> u32 {
    let end = last.saturating_add(1).min(extent);
    end.saturating_sub(first)
}

/// Returns `None` if the table shows the whole sheet, or all cells that the user requested.
fn truncation_note(
    shown: Window,
    requested: Window,
    extent: Extent,
    is_explicit: bool,
) -> Option<String> {
    let is_request_complete = is_explicit && shown == requested;
    let is_sheet_complete = shown.rows >= extent.rows && shown.columns >= extent.columns;
    if is_request_complete || is_sheet_complete {
        return None;
    }
    let last_cell =
        CellName { row: extent.rows.saturating_sub(1), column: extent.columns.saturating_sub(1) };
    Some(format!(
        "Showing {} and {}. The sheet has {} and {}, up to {last_cell}. Print other cells with a range, such as `cellar get A41:G80`.",
        count(shown.rows, "row", "rows"),
        count(shown.columns, "column", "columns"),
        count(extent.rows, "row", "rows"),
        count(extent.columns, "column", "columns"),
    ))
}

#[derive(Serialize)]
struct ReplyWithTexts<'a> {
    #[serde(flatten)]
    reply: &'a CellsReply,
    texts: Vec<String>,
}

impl<'a> ReplyWithTexts<'a> {
    fn new(reply: &'a CellsReply) -> Self {
        Self { reply, texts: reply.cells.iter().map(|cell| cell.cell.text()).collect() }
    }
}

#[cfg(test)]
mod tests {
    use cellar_base::limits::MAX_RANGE_CELLS;

    use super::*;

    fn range(text: &str) -> Range {
        text.parse().unwrap()
    }

    #[test]
    fn open_ranges_stay_open() {
        for text in ["A1:G20", "A:C", "3:5", "B2"] {
            assert_eq!(range_text(&range(text)), text);
        }
        assert_eq!(range_text(&range("'My sheet'!a:$c")), "A:C");
    }

    #[test]
    fn open_ends_and_last_rows_are_those_of_the_used_range() {
        let extent = Extent { rows: 3_377, columns: 7 };
        let used = |text: Option<&str>, last_rows| {
            used_range(text.map(range).as_ref(), last_rows, extent).rectangle.to_string()
        };
        let open = "A3370:G1073741824";
        assert!(is_open_below(&range(open)) && !is_open_below(&range("A:G")));
        assert_eq!(used(Some(open), None), "A3370:G3377");
        assert_eq!(used(None, Some(10)), "A3368:G3377");
        assert_eq!(used(Some("B:C"), Some(1)), "B3377:C3377");
        assert_eq!(used(Some("B2:C9"), Some(2)), "B8:C9");
        assert_eq!(used(None, Some(9_999)), "A1:G3377");
        assert_eq!(used(Some("A4000:G1073741824"), None), "A4000:G4000");
    }

    #[test]
    fn only_explicit_ranges_have_a_limit() {
        let rows = MAX_RANGE_CELLS / 16;
        assert!(check_area(Some(&range(&format!("A1:P{rows}")))).is_ok());
        let error = check_area(Some(&range(&format!("A1:P{}", rows + 1)))).unwrap_err();
        assert!(error.to_string().contains("cells; at most 16777216"), "{error}");
        assert!(check_area(Some(&range("A:ZZ"))).is_ok() && check_area(None).is_ok());
    }

    #[test]
    fn clips_to_the_used_range() {
        let extent = Extent { rows: 100, columns: 3 };
        let screen = clip_to_extent(FIRST_SCREEN, extent);
        assert_eq!((screen.rows, screen.columns), (SCREEN_ROWS, 3));
        let columns = clip_to_extent(range("B:Z").rectangle, extent);
        assert_eq!((columns.rows, columns.columns), (100, 2));
        let outside = clip_to_extent(range("E1:F2").rectangle, extent);
        assert_eq!(outside.columns, 0);
    }

    #[test]
    fn the_note_describes_the_omitted_cells() {
        let extent = Extent { rows: 3_377, columns: 7 };
        let screen = clip_to_extent(FIRST_SCREEN, extent);
        let note = truncation_note(screen, screen, extent, false).unwrap();
        assert!(note.contains("3,377 rows and 7 columns, up to G3377"), "{note}");
        let explicit = clip_to_extent(range("A1:B2").rectangle, extent);
        assert_eq!(truncation_note(explicit, explicit, extent, true), None);
        let cut = Window { columns: 1, ..explicit };
        assert!(truncation_note(cut, explicit, extent, true).is_some());
        let small = Extent { rows: 2, columns: 2 };
        let all = clip_to_extent(FIRST_SCREEN, small);
        assert_eq!(truncation_note(all, all, small, false), None);
    }
}
