//! `cellar get`

use std::sync::Arc;

use cellar_api::{wire::CellsReply, wire::ProblemKind};
use cellar_sheet::a1::{CellName, Range, Rectangle};
use cellar_sheet::workbook::Extent;
use serde::Serialize;

use super::args;
use super::context::Context;
use super::edit::one_sheet;
use super::error::CliError;
use super::output::{Output, count};
use crate::reader::{ChunkCache, Reader, ReaderError};
use crate::table::{Window, render};
use crate::{CellsQuery, Client};

/// Rows of the first screen.
const SCREEN_ROWS: u32 = 40;
/// Columns of the first screen.
const SCREEN_COLUMNS: u32 = 20;
/// Cells of a table for people, blank ones included; JSON has no such bound.
const MAX_TABLE_CELLS: u64 = 200_000;

pub(super) async fn run(
    context: &Context,
    output: &Output,
    args: args::Get,
) -> Result<(), CliError> {
    let spreadsheet = context.spreadsheet()?;
    let client = context.client()?;
    let rectangle = args.range.as_ref().map_or_else(first_screen, |range| range.rectangle);
    let range = match &args.range {
        Some(range) => range_text(range),
        None => rectangle.to_string(),
    };
    let sheet = one_sheet(args.sheet, args.range.as_ref())?;
    let is_first = sheet.is_none();
    let seen = context.seen(&client, spreadsheet);
    let reply = if args.remote || args.at.is_some() || !context.keeps_state() {
        let query = CellsQuery { sheet, range: Some(range), at: args.at, min_position, cursor: None };
        all_pages(&client, spreadsheet, query).await?
    } else {
        check_area(args.range.as_ref())?;
        let cache = Some(Arc::new(ChunkCache::new(&context.directory)));
        let mut reader = Reader::open(client.clone(), spreadsheet, seen, cache).await?;
        reader.cells(sheet.as_deref(), rectangle).await?
    };
    if args.at.is_none() {
        let first_sheet = is_first.then_some(reply.sheet);
        context.saw(&client, spreadsheet, (reply.position, reply.incarnation), first_sheet);
    }
    context.note_unsent(&client, spreadsheet, output);
    if output.json {
        output.result(&Shown::new(&reply))?;
        return Ok(());
    }
    show(&reply, rectangle, args.range.is_some(), output)
}

fn first_screen() -> Rectangle {
    Rectangle {
        first: CellName { row: 0, column: 0 },
        last: CellName { row: SCREEN_ROWS - 1, column: SCREEN_COLUMNS - 1 },
    }
}

/// The range as the server is asked: whole columns and rows stay open, `A:C`, so that they are
/// not taken for a huge explicit range.
pub(super) fn range_text(range: &Range) -> String {
    let Rectangle { first, last } = range.rectangle;
    let everything = Rectangle::EVERYTHING;
    let letters = cellar_sheet::a1::column_name;
    if range.open && first.row == 0 && last.row == everything.last.row {
        return format!("{}:{}", letters(first.column), letters(last.column));
    }
    if range.open {
        return format!("{}:{}", u64::from(first.row) + 1, u64::from(last.row) + 1);
    }
    range.rectangle.to_string()
}

/// As the server does.
fn check_area(range: Option<&Range>) -> Result<(), ReaderError> {
    range
        .map_or(Ok(()), Range::check_area)
        .map_err(|error| ReaderError::from_problem(ProblemKind::RangeTooLarge, error.to_string()))
}

async fn all_pages(
    client: &Client,
    spreadsheet: cellar_base::identity::LogId,
    mut query: CellsQuery,
) -> Result<CellsReply, CliError> {
    let mut reply = client.cells(spreadsheet, &query).await?;
    while let Some(next) = reply.next.take() {
        if query.cursor.as_ref() == Some(&next) {
            break;
        }
        query.at = Some(reply.position);
        query.cursor = Some(next);
        let page = client.cells(spreadsheet, &query).await?;
        reply.cells.extend(page.cells);
        reply.next = page.next;
    }
    Ok(reply)
}

fn show(
    reply: &CellsReply,
    rectangle: Rectangle,
    explicit: bool,
    output: &Output,
) -> Result<(), CliError> {
    let window = window(rectangle, reply.extent);
    if window.rows == 0 || window.columns == 0 {
        output.say(if explicit { "These cells are empty." } else { "The sheet is empty." })?;
        return Ok(());
    }
    let cells = u64::from(window.rows).saturating_mul(u64::from(window.columns));
    if cells > MAX_TABLE_CELLS {
        return Err(CliError::usage(
            format!("a table of {} would be too large", count(cells, "cell", "cells")),
            "ask for a smaller --range, use --json, or `cellar export FILE`",
        ));
    }
    let rendered = render(&reply.cells, window, output.width());
    output.say(&rendered.text)?;
    let shown = Window { columns: rendered.columns, ..window };
    if let Some(more) = more(shown, window, reply.extent, explicit) {
        output.note(more);
    }
    Ok(())
}

/// The part of a rectangle that was ever written to.
fn window(rectangle: Rectangle, extent: Extent) -> Window {
    let count = |first: u32, last: u32, extent: u32| {
        last.saturating_add(1).min(extent).saturating_sub(first)
    };
    Window {
        first: rectangle.first,
        rows: count(rectangle.first.row, rectangle.last.row, extent.rows),
        columns: count(rectangle.first.column, rectangle.last.column, extent.columns),
    }
}

/// How much more there is than what is shown.
fn more(shown: Window, wanted: Window, extent: Extent, explicit: bool) -> Option<String> {
    let everything_wanted = explicit && shown == wanted;
    let everything_there = shown.rows >= extent.rows && shown.columns >= extent.columns;
    if everything_wanted || everything_there {
        return None;
    }
    let last =
        CellName { row: extent.rows.saturating_sub(1), column: extent.columns.saturating_sub(1) };
    Some(format!(
        "Shown: {} and {}; the sheet has {} and {}, up to {last}. More: cellar get --range …",
        count(shown.rows, "row", "rows"),
        count(shown.columns, "column", "columns"),
        count(extent.rows, "row", "rows"),
        count(extent.columns, "column", "columns"),
    ))
}

/// The cells for a program: values, and the text that a person would see.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    reply: &'a CellsReply,
    texts: Vec<String>,
}

impl<'a> Shown<'a> {
    fn new(reply: &'a CellsReply) -> Self {
        Self { reply, texts: reply.cells.iter().map(|placed| placed.cell.text()).collect() }
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
    fn an_explicit_range_ends_at_its_limit_and_an_open_one_does_not() {
        let rows = MAX_RANGE_CELLS / 16;
        assert!(check_area(Some(&range(&format!("A1:P{rows}")))).is_ok());
        let error = check_area(Some(&range(&format!("A1:P{}", rows + 1)))).unwrap_err();
        assert!(error.to_string().contains("cells; at most 16777216"), "{error}");
        assert!(check_area(Some(&range("A:ZZ"))).is_ok() && check_area(None).is_ok());
    }

    #[test]
    fn a_window_ends_where_the_sheet_does() {
        let extent = Extent { rows: 100, columns: 3 };
        let screen = window(first_screen(), extent);
        assert_eq!((screen.rows, screen.columns), (SCREEN_ROWS, 3));
        let columns = window(range("B:Z").rectangle, extent);
        assert_eq!((columns.rows, columns.columns), (100, 2));
        let outside = window(range("E1:F2").rectangle, extent);
        assert_eq!(outside.columns, 0);
    }

    #[test]
    fn the_note_says_how_much_more_there_is() {
        let extent = Extent { rows: 3_377, columns: 7 };
        let screen = window(first_screen(), extent);
        let note = more(screen, screen, extent, false).unwrap();
        assert!(note.contains("3,377 rows and 7 columns, up to G3377"), "{note}");
        let explicit = window(range("A1:B2").rectangle, extent);
        assert_eq!(more(explicit, explicit, extent, true), None);
        let cut = Window { columns: 1, ..explicit };
        assert!(more(cut, explicit, extent, true).is_some());
        let small = Extent { rows: 2, columns: 2 };
        let all = window(first_screen(), small);
        assert_eq!(more(all, all, small, false), None);
    }
}
