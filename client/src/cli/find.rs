use cellar_api::wire::{FoundCell, Head};
use cellar_sheet::text_pattern::TextPattern;
use serde::Serialize;

use super::args;
use super::at::{find_optional, print_json_with_times};
use super::context::Context;
use super::edit::choose_sheet_name;
use super::error::CliError;
use super::get::range_text;
use super::output::{Output, count};
use crate::text::escape;
use crate::{FindQuery, Spreadsheet};

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
        print_json_with_times(output, &serde_json::json!({ "count": found }), [at.as_ref()])?;
        output.print_line(count(found, "cell", "cells"))?;
        return Ok(());
    }
    let found = print_found(context, &spreadsheet, output, query, args.limit).await?;
    print_json_with_times(output, &found, [at.as_ref()])?;
    context.print_unsent_note(&spreadsheet, output);
    if !found.complete {
        output.print_note("More cells match; pass a larger --limit, or --count.");
    } else if found.printed == 0 {
        output.print_note("No cell matches.");
    }
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
    cells: Vec<CellWithText>,
    complete: bool,
    #[serde(skip)]
    printed: u32,
}

#[derive(Serialize)]
struct CellWithText {
    #[serde(flatten)]
    cell: FoundCell,
    text: String,
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
    let mut found = PrintedCells { cells: Vec::new(), complete: true, printed: 0 };
    while let Some(page) = pages.try_next().await? {
        if is_newest {
            let read_at = Head { head: page.position, incarnation: page.incarnation };
            context.record_seen(spreadsheet, read_at, None);
        }
        for cell in page.cells {
            if found.printed >= limit {
                found.complete = false;
                return Ok(found);
            }
            found.printed += 1;
            output.print_line(format_line(&cell))?;
            if output.json {
                found.cells.push(CellWithText { text: cell.text(), cell });
            }
        }
    }
    Ok(found)
}

fn format_line(cell: &FoundCell) -> String {
    format!("{}!{}   {}", escape(&cell.name), cell.cell_name(), escape(&cell.text()))
}

#[cfg(test)]
mod tests {
    use cellar_sheet::cell::{Cell, Value};
    use cellar_sheet::operation::SheetId;

    use super::*;

    #[test]
    fn a_line_names_the_cell_and_cannot_control_the_terminal() {
        let value = Value::Text("Austin\u{1b}[2J".into());
        let cell = Cell { value, ..Cell::default() };
        let name = "Sheet\u{1b}".to_owned();
        let cell = FoundCell { sheet: SheetId::FIRST, name, row: 6, column: 1, cell };
        assert_eq!(format_line(&cell), "Sheet\\u{1b}!B7   Austin\\u{1b}[2J");
    }
}
