use cellar_api::wire::{FoundCell, Head};
use cellar_sheet::text_pattern::TextPattern;
use serde::Serialize;

use super::args;
use super::at::{FoundPosition, find_optional, print_json_with_times};
use super::context::Context;
use super::edit::choose_sheet_name;
use super::error::CliError;
use super::get::range_text;
use super::output::{Output, count};
use super::warnings::{is_zero, mark_if_stale, print_stale_cells};
use crate::text::escape;
use crate::{FindQuery, FindTotals, Spreadsheet};

pub(super) async fn find_cells(
    context: &Context,
    output: &Output,
    args: args::Find,
) -> Result<(), CliError> {
    check_pattern(&args)?;
    let spreadsheet = context.spreadsheet()?;
    let at = find_optional(args.at.as_ref(), &spreadsheet, output).await?;
    let query = FindQuery {
        text: args.text,
        regex: args.regex,
        sheet: choose_sheet_name(args.sheet, args.range.as_ref())?,
        range: args.range.as_ref().map(range_text),
        at: at.as_ref().map(|at| at.position),
        min_position: context.seen_position(&spreadsheet),
    };
    if args.count {
        let found = spreadsheet.count_found(query).await?;
        return print_count(output, &found, at.as_ref());
    }
    let found = print_found(context, &spreadsheet, output, query, args.limit).await?;
    print_json_with_times(output, &found, [at.as_ref()])?;
    context.print_unsent_note(&spreadsheet, output);
    if !found.complete {
        output.print_note("More cells match; pass a larger --limit, or --count.");
    } else if found.printed == 0 {
        output.print_note(mark_if_stale("No cell matches.".to_owned(), found.stale_cells));
    }
    print_stale_cells(output, found.stale_cells);
    Ok(())
}

fn print_count(
    output: &Output,
    found: &FindTotals,
    at: Option<&FoundPosition>,
) -> Result<(), CliError> {
    let FindTotals { cells, stale_cells, .. } = *found;
    print_json_with_times(output, &CountedCells { count: cells, stale_cells }, [at])?;
    output.print_line(mark_if_stale(count(cells, "cell", "cells"), stale_cells))?;
    print_stale_cells(output, stale_cells);
    Ok(())
}

fn check_pattern(args: &args::Find) -> Result<(), CliError> {
    let pattern = match args.regex {
        true => TextPattern::regex(&args.text),
        false => TextPattern::containing(&args.text),
    };
    match pattern {
        Ok(_) => Ok(()),
        Err(error) => Err(CliError::usage(
            format!("TEXT cannot be used: {error}"),
            "`cellar find --help` explains what TEXT can be",
        )),
    }
}

/// The result of a search. The cells are only kept for JSON output.
#[derive(Serialize)]
struct PrintedCells {
    cells: Vec<FoundCell>,
    complete: bool,
    /// Number of stale cells on the pages that were read.
    #[serde(skip_serializing_if = "is_zero")]
    stale_cells: u64,
    #[serde(skip)]
    printed: u32,
}

#[derive(Serialize)]
struct CountedCells {
    count: u64,
    #[serde(skip_serializing_if = "is_zero")]
    stale_cells: u64,
}

/// Prints the cells of each page as soon as the page arrives.
async fn print_found(
    context: &Context,
    spreadsheet: &Spreadsheet,
    output: &Output,
    query: FindQuery,
    limit: u32,
) -> Result<PrintedCells, CliError> {
    let is_newest = query.at.is_none();
    let mut pages = spreadsheet.find_pages(query);
    let mut found = PrintedCells { cells: Vec::new(), complete: true, stale_cells: 0, printed: 0 };
    while let Some(page) = pages.try_next().await? {
        if is_newest {
            let read_at = Head { head: page.position, incarnation: page.incarnation };
            context.record_seen(spreadsheet, read_at, None);
        }
        found.stale_cells += page.stale_cells;
        for mut found_cell in page.cells {
            if found.printed >= limit {
                found.complete = false;
                return Ok(found);
            }
            found.printed += 1;
            output.print_line(format_line(&found_cell))?;
            if output.json {
                found_cell.cell.text = Some(found_cell.text());
                found.cells.push(found_cell);
            }
        }
    }
    Ok(found)
}

fn format_line(cell: &FoundCell) -> String {
    let line = format!("{}!{}   {}", escape(&cell.name), cell.cell_name(), escape(&cell.text()));
    mark_if_stale(line, u64::from(cell.cell.stale))
}

#[cfg(test)]
mod tests {
    use cellar_api::wire::CellAt;
    use cellar_sheet::cell::{Cell, Value};
    use cellar_sheet::operation::SheetId;

    use super::*;

    #[test]
    fn a_line_names_the_cell_and_cannot_control_the_terminal() {
        let value = Value::Text("Austin\u{1b}[2J".into());
        let cell = Cell { value, ..Cell::default() };
        let name = "Sheet\u{1b}".to_owned();
        let cell = CellAt::new(6, 1, cell);
        let mut found = FoundCell { sheet: SheetId::FIRST, name, cell };
        assert_eq!(format_line(&found), "Sheet\\u{1b}!B7   Austin\\u{1b}[2J");
        found.cell.stale = true;
        assert_eq!(format_line(&found), "Sheet\\u{1b}!B7   Austin\\u{1b}[2J *");
    }
}
