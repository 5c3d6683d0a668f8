//! The command `cellar get` with `--where`, `--count` or `--sum`.

use std::collections::BTreeSet;

use cellar_api::wire::{CellAt, Head};
use cellar_base::position::Position;
use cellar_sheet::a1::{Rectangle, parse_column};
use cellar_sheet::cell::general_of_15_digits;
use cellar_sheet::condition::{BadCondition, Condition, Conditions};
use serde::Serialize;

use super::args;
use super::at::{FoundPosition, find_optional, print_json_with_times};
use super::context::Context;
use super::edit::choose_sheet_name;
use super::error::CliError;
use super::formula_notes::print_notes_of_cells;
use super::get::{check_table_cells, clip_to_extent, range_text};
use super::headers::{find_header, print_empty_columns};
use super::output::{Output, count};
use super::warnings::{is_zero, mark_if_stale, print_stale_cells};
use crate::cli::table::render_rows;
use crate::{CellsQuery, FilterQuery, FilterTotals, Spreadsheet};

/// Maximum number of cells to print. It limits memory use, because a row may have millions of
/// cells.
const MAX_PRINTED_CELLS: usize = 200_000;

pub(super) async fn print_rows(
    context: &Context,
    output: &Output,
    args: &args::Get,
) -> Result<(), CliError> {
    let spreadsheet = context.spreadsheet()?;
    let at = find_optional(args.at.as_ref(), &spreadsheet, output).await?;
    let mut query = FilterQuery {
        conditions: String::new(),
        sum: None,
        sheet: choose_sheet_name(args.sheet.clone(), args.range())?,
        range: args.range().map(range_text),
        at: at.as_ref().map(|at| at.position),
        min_position: context.seen_position(&spreadsheet),
    };
    query.conditions = match join_conditions(&args.conditions) {
        Ok(conditions) => conditions,
        Err(error) => return Err(refuse_conditions(&spreadsheet, &query, error).await),
    };
    if args.count || !args.sums.is_empty() {
        let totals = read_totals(&spreadsheet, query.clone(), args).await?;
        print_totals(output, args, &totals, at.as_ref())?;
        if totals.rows == 0 {
            print_notes_on_no_rows(output, &args.conditions);
        }
        print_stale_cells(output, totals.all_stale_cells(&args.conditions));
        let columns = totals.columns_in_doubt(&query.conditions);
        let at = Some(totals.position);
        print_empty_columns(output, &spreadsheet, &query, at, columns).await;
        return Ok(());
    }
    let rows = read_rows(context, &spreadsheet, query.clone(), args.limit).await?;
    print_json_with_times(output, &rows, [at.as_ref()])?;
    if rows.numbers.is_empty() {
        let absence = "No row fulfils the conditions.".to_owned();
        output.print_line(mark_if_stale(absence, rows.stale_cells))?;
        print_notes_on_no_rows(output, &args.conditions);
        let columns = columns_of(&query.conditions);
        print_empty_columns(output, &spreadsheet, &query, rows.position, columns).await;
    } else if !output.json {
        let columns: BTreeSet<u32> = rows.cells.iter().map(|cell| cell.column).collect();
        let table_cells = columns.len().saturating_mul(rows.numbers.len());
        check_table_cells(u64::try_from(table_cells).unwrap_or(u64::MAX))?;
        let cells = args.shown(&rows.cells);
        let table = render_rows(&cells, &rows.numbers, output.terminal_width());
        output.print_line(table.text)?;
        print_notes_of_cells(output, &cells);
    }
    print_stale_cells(output, rows.stale_cells);
    context.print_unsent_note(&spreadsheet, output);
    if !rows.complete {
        output.print_note(format!(
            "More rows fulfil the conditions; these are the first {}. Pass a larger --limit, a smaller \
             --range or --count.",
            rows.numbers.len()
        ));
    }
    Ok(())
}

fn join_conditions(written: &[args::WrittenConditions]) -> Result<String, BadCondition> {
    if written.is_empty() {
        return Ok(String::new());
    }
    let written: Vec<&str> = written.iter().map(|conditions| conditions.0.as_str()).collect();
    let joined = written.join(" && ");
    joined.parse::<Conditions>().map(|_| joined)
}

/// If a condition begins with a header, says in which column it is.
async fn refuse_conditions(
    spreadsheet: &Spreadsheet,
    query: &FilterQuery,
    error: BadCondition,
) -> CliError {
    let column = match &error {
        BadCondition::NoSuchColumn { word, .. } => {
            find_header(spreadsheet, query, word).await.map(|column| (word, column))
        }
        _ => None,
    };
    let advice = match column {
        Some((word, column)) => {
            format!("the header `{word}` is in column {column}: begin the condition with {column}")
        }
        None => "`cellar get --help` describes the conditions; several are joined with && or given as several --where"
            .to_owned(),
    };
    CliError::usage(format!("--where cannot be used: {error}"), advice)
}

fn columns_of(conditions: &str) -> BTreeSet<u32> {
    let conditions = conditions.parse::<Conditions>();
    let columns = conditions.iter().flat_map(Conditions::list).map(Condition::column);
    columns.collect()
}

/// Without conditions, all rows of the used range count.
#[derive(Debug)]
struct Totals {
    position: Position,
    rows: u64,
    /// Number of stale cells that were compared with a condition.
    stale_cells: u64,
    /// One for each `--sum`.
    sums: Vec<ColumnSum>,
}

impl Totals {
    /// Returns the columns that may have a name which the user took for a header: those of sums without
    /// numbers and, if no row fulfils the conditions, those of conditions.
    fn columns_in_doubt(&self, conditions: &str) -> BTreeSet<u32> {
        let mut columns = if self.rows == 0 { columns_of(conditions) } else { BTreeSet::new() };
        let empty_sums = self.sums.iter().filter(|sum| sum.numbers == 0);
        columns.extend(empty_sums.filter_map(|sum| parse_column(&sum.column)));
        columns
    }
}

#[derive(Debug, Serialize)]
struct ColumnSum {
    column: String,
    numbers: u64,
    sum: Option<f64>,
    /// Number of stale cells in the column.
    #[serde(skip_serializing_if = "is_zero")]
    stale_cells: u64,
}

impl Totals {
    /// Returns the number of stale cells on which the rows and sums depend, each counted once.
    fn all_stale_cells(&self, written: &[args::WrittenConditions]) -> u64 {
        let conditions: Vec<Conditions> =
            written.iter().filter_map(|conditions| conditions.0.parse().ok()).collect();
        let is_compared = |sum: &ColumnSum| {
            let mut compared = conditions.iter().flat_map(Conditions::list);
            compared.any(|condition| parse_column(&sum.column) == Some(condition.column()))
        };
        let only_added = self.sums.iter().filter(|sum| !is_compared(sum));
        self.stale_cells + only_added.map(|sum| sum.stale_cells).sum::<u64>()
    }
}

/// Reads all numbers at the same position.
async fn read_totals(
    spreadsheet: &Spreadsheet,
    query: FilterQuery,
    args: &args::Get,
) -> Result<Totals, CliError> {
    let mut rows = None;
    let mut query = query;
    if args.conditions.is_empty() {
        let (position, used_rows) = count_used_rows(spreadsheet, &query, args).await?;
        (rows, query.at) = (Some(used_rows), Some(position));
    }
    let columns: Vec<Option<String>> = match args.sums.as_slice() {
        [] if rows.is_some() => Vec::new(),
        [] => vec![None],
        sums => sums.iter().map(|column| Some(column.0.clone())).collect(),
    };
    let (mut sums, mut stale_cells) = (Vec::new(), 0);
    for column in columns {
        let conditions = match &column {
            // Blank cells have no number.
            Some(column) if args.conditions.is_empty() => format!("{column}!="),
            _ => query.conditions.clone(),
        };
        let of_column = FilterQuery { conditions, sum: column.clone(), ..query.clone() };
        let totals = spreadsheet.filter_totals(of_column).await?;
        let FilterTotals { numbers, sum, .. } = totals;
        query.at = Some(totals.position);
        rows = rows.or(Some(totals.rows));
        // Without conditions, a stale cell that has no value at all is not among the summed ones.
        let of_sum = if args.conditions.is_empty() {
            totals.stale_cells
        } else {
            stale_cells = totals.stale_cells;
            totals.stale_summed
        };
        sums.extend(column.map(|column| ColumnSum { column, numbers, sum, stale_cells: of_sum }));
    }
    let position = query.at.unwrap_or(Position::FIRST);
    Ok(Totals { position, rows: rows.unwrap_or_default(), stale_cells, sums })
}

/// Returns the number of rows in the used range and, if there is one, in the range of the query, and the
/// position at which it was read.
async fn count_used_rows(
    spreadsheet: &Spreadsheet,
    query: &FilterQuery,
    args: &args::Get,
) -> Result<(Position, u64), CliError> {
    let reply = spreadsheet
        .read_cells(CellsQuery {
            sheet: query.sheet.clone(),
            range: Some("A1".to_owned()),
            at: query.at,
            min_position: query.min_position,
            cursor: None,
        })
        .await?;
    let rectangle = args.range().map_or(Rectangle::EVERYTHING, |range| range.rectangle);
    Ok((reply.position, u64::from(clip_to_extent(rectangle, reply.extent).rows)))
}

fn print_totals(
    output: &Output,
    args: &args::Get,
    totals: &Totals,
    at: Option<&FoundPosition>,
) -> Result<(), CliError> {
    let Totals { position, rows, stale_cells, sums } = totals;
    let mut result = serde_json::json!({ "position": position, "rows": rows });
    if let Some(object) = result.as_object_mut() {
        if !is_zero(stale_cells) {
            object.insert("stale_cells".to_owned(), serde_json::json!(stale_cells));
        }
        match sums.as_slice() {
            [] => {}
            [sum] => {
                object.insert("sum".to_owned(), serde_json::json!(sum));
            }
            sums => {
                object.insert("sums".to_owned(), serde_json::json!(sums));
            }
        }
    }
    print_json_with_times(output, &result, [at])?;
    if args.count {
        output.print_line(mark_if_stale(count(*rows, "row", "rows"), *stale_cells))?;
    }
    for ColumnSum { column, numbers, sum, stale_cells: of_sum } in sums {
        let line = sum_line(column, *numbers, *sum);
        output.print_line(mark_if_stale(line, stale_cells + of_sum))?;
    }
    Ok(())
}

/// Explains why no row may fulfil the conditions.
fn print_notes_on_no_rows(output: &Output, written: &[args::WrittenConditions]) {
    if conditions_have_cased_regex(written) {
        output.print_note(
            "Case matters in regular expressions. Ignore it with (?i), as in D=~(?i)^san.",
        );
    }
    if conditions_may_list_values(written) {
        output.print_note(
            "A comma or | in a value is part of it. Match one of several texts with a regular expression, such as \
             D=~^(TX|AK)$.",
        );
    }
}

/// Returns whether a condition may be meant to list values, such as `D=TX,AK`.
fn conditions_may_list_values(written: &[args::WrittenConditions]) -> bool {
    let mut conditions = written.iter().flat_map(|conditions| conditions.0.split("&&"));
    conditions.any(|condition| !condition.contains("=~") && condition.contains([',', '|']))
}

/// Returns whether a condition has a regular expression that distinguishes upper and lower case.
fn conditions_have_cased_regex(written: &[args::WrittenConditions]) -> bool {
    written.iter().any(|conditions| {
        let mut patterns = conditions.0.split("=~").skip(1);
        patterns.any(|pattern| !pattern.contains("(?i)"))
    })
}

fn sum_line(column: &str, numbers: u64, sum: Option<f64>) -> String {
    let numbers = count(numbers, "number", "numbers");
    match sum {
        Some(sum) => format!("sum of {column}: {} ({numbers})", general_of_15_digits(sum)),
        None => format!("sum of {column}: larger than the largest number ({numbers})"),
    }
}

/// The first rows that fulfil the conditions.
#[derive(Debug, Default, Serialize)]
struct Rows {
    position: Option<Position>,
    name: String,
    cells: Vec<CellAt>,
    texts: Vec<String>,
    complete: bool,
    /// Number of stale cells that were compared with a condition on the pages that were read.
    #[serde(skip_serializing_if = "is_zero")]
    stale_cells: u64,
    /// Row indices, from 0.
    #[serde(rename = "rows")]
    numbers: Vec<u32>,
}

/// Reads at most `limit` rows. Requests no more pages once the limit is reached.
async fn read_rows(
    context: &Context,
    spreadsheet: &Spreadsheet,
    query: FilterQuery,
    limit: u32,
) -> Result<Rows, CliError> {
    let max_rows = usize::try_from(limit).unwrap_or(usize::MAX);
    let is_newest = query.at.is_none();
    let is_first_sheet = query.sheet.is_none();
    let mut pages = spreadsheet.filter_pages(query);
    let mut rows = Rows { complete: true, ..Rows::default() };
    while let Some(page) = pages.try_next().await? {
        if is_newest {
            let read_at = Head { head: page.position, incarnation: page.incarnation };
            context.record_seen(spreadsheet, read_at, is_first_sheet.then_some(page.sheet));
        }
        (rows.position, rows.name) = (Some(page.position), page.name);
        rows.stale_cells += page.stale_cells;
        for cell in page.cells {
            if !rows.push(cell, max_rows) {
                rows.complete = false;
                return Ok(rows);
            }
        }
    }
    Ok(rows)
}

impl Rows {
    /// Adds a cell. Returns `false` if it does not fit. If only a part of its row fits, the row is
    /// removed, unless it is the only one.
    fn push(&mut self, cell: CellAt, max_rows: usize) -> bool {
        let is_new_row = self.numbers.last() != Some(&cell.row);
        if is_new_row && self.numbers.len() >= max_rows {
            return false;
        }
        if self.cells.len() >= MAX_PRINTED_CELLS {
            if !is_new_row && self.numbers.len() > 1 {
                self.remove_last_row();
            }
            return false;
        }
        if is_new_row {
            self.numbers.push(cell.row);
        }
        self.texts.push(cell.text());
        self.cells.push(cell);
        true
    }

    fn remove_last_row(&mut self) {
        let last_row = self.numbers.pop();
        self.cells.retain(|cell| Some(cell.row) != last_row);
        self.texts.truncate(self.cells.len());
    }
}

#[cfg(test)]
mod tests {
    use cellar_sheet::cell::Cell;

    use super::*;

    fn push_all(rows: impl IntoIterator<Item = (u32, u32)>, max_rows: usize) -> (Rows, bool) {
        let mut pushed = Rows::default();
        for (row, column) in rows {
            let cell = CellAt::new(row, column, Cell::default());
            if !pushed.push(cell, max_rows) {
                return (pushed, false);
            }
        }
        (pushed, true)
    }

    #[test]
    fn whole_rows_are_kept_up_to_the_limits() {
        let (rows, fits) = push_all([(1, 0), (1, 1), (7, 0)], 2);
        assert_eq!((rows.numbers, rows.cells.len(), fits), (vec![1, 7], 3, true));
        let (rows, fits) = push_all([(1, 0), (1, 1), (7, 0)], 1);
        assert_eq!((rows.numbers, rows.cells.len(), fits), (vec![1], 2, false));
        let most = u32::try_from(MAX_PRINTED_CELLS).unwrap();
        let (rows, fits) = push_all((0..most).map(|column| (1, column)), 9);
        assert_eq!((rows.cells.len(), fits), (MAX_PRINTED_CELLS, true));
        let (rows, fits) = push_all((0..=most).map(|column| (1, column)), 9);
        assert_eq!((rows.cells.len(), fits), (MAX_PRINTED_CELLS, false));
        let (rows, fits) = push_all((0..=most).map(|cell| (cell / (most - 5), cell)), 9);
        assert_eq!((rows.numbers, rows.cells.len(), fits), (vec![0], MAX_PRINTED_CELLS - 5, false));
        assert_eq!(rows.texts.len(), rows.cells.len());
    }

    #[test]
    fn several_options_are_joined() {
        let join = |written: &[&str]| {
            let parse = |text: &&str| text.parse::<args::WrittenConditions>().unwrap();
            let written: Vec<_> = written.iter().map(parse).collect();
            join_conditions(&written)
        };
        assert_eq!(join(&["D=TX", "F>3"]), Ok("D=TX && F>3".to_owned()));
        assert_eq!(join(&["D=", "A!="]), Ok("D= && A!=".to_owned()));
        assert_eq!(join(&["D="]), Err(BadCondition::OnlyBlank));
        assert_eq!(join(&["A=1"; 17]), Err(BadCondition::TooMany));
        assert!("D".parse::<args::WrittenConditions>().is_err());
    }

    #[test]
    fn the_sum_is_printed_with_its_numbers() {
        assert_eq!(sum_line("F", 2, Some(1_250.5)), "sum of F: 1250.5 (2 numbers)");
        let sum = sum_line("F", 2, Some(10_210.938_475_590_001));
        assert_eq!(sum, "sum of F: 10210.93847559 (2 numbers)");
        assert_eq!(sum_line("F", 1, None), "sum of F: larger than the largest number (1 number)");
    }
}
