mod read;

use std::collections::BTreeMap;

use cellar_api::wire::{CellAt, DiffReply};
use cellar_base::identity::LogId;
use cellar_sheet::a1::CellName;
use cellar_sheet::axis_map::Axis;
use cellar_sheet::cell::{Cell, GENERAL, Value};
use cellar_sheet::operation::SheetId;
use cellar_sheet::workbook::{AxisDiff, CellDiff, NameDiff, OrderDiff, SheetChange, SheetDiff};
use console::style;
use serde::Serialize;

use super::args;
use super::args::DiffSide;
use super::at::{At, find_optional, print_json_with_times};
use super::axes::list_spans;
use super::context::Context;
use super::error::CliError;
use super::output::{Output, count};
use super::reference::SpreadsheetReference;
use super::{EXIT_DIFFERENCES, EXIT_SUCCESS};
use crate::reader::ListedDiff;
use crate::text::{escape, escape_shortened};
use read::{ComparedPositions, read_differences};

const MAX_TEXT_CHARACTERS: usize = 60;

pub(super) async fn show_differences(
    context: &Context,
    output: &Output,
    args: args::Diff,
) -> Result<u8, CliError> {
    let whole_sheets = if args.cells { WholeSheets::Listed } else { WholeSheets::Counted };
    let cells = ListedCells { whole_sheets, limit: args.limit };
    match (&args.from, args.to.as_ref()) {
        (DiffSide::At(from), None) => compare_positions(context, output, from, None, cells).await,
        (DiffSide::At(from), Some(DiffSide::At(to))) => {
            compare_positions(context, output, from, Some(to), cells).await
        }
        (
            DiffSide::Spreadsheet { reference: from, .. },
            Some(DiffSide::Spreadsheet { reference: to, .. }),
        ) => compare_spreadsheets(context, output, from, to, cells).await,
        (DiffSide::Spreadsheet { not_a_position, .. }, _)
        | (_, Some(DiffSide::Spreadsheet { not_a_position, .. })) => Err(CliError::usage(
            not_a_position.as_str(),
            "give one or two positions of a spreadsheet, or two spreadsheets",
        )),
    }
}

async fn compare_positions(
    context: &Context,
    output: &Output,
    from: &At,
    to: Option<&At>,
    cells: ListedCells,
) -> Result<u8, CliError> {
    let spreadsheet = context.spreadsheet()?;
    let from = from.find_and_print(&spreadsheet, output).await?;
    let to = find_optional(to, &spreadsheet, output).await?;
    let later_position = match &to {
        Some(to) => to.position,
        None => spreadsheet.head_at_or_after(context.seen_position(&spreadsheet)).await?.head,
    };
    let compared = ComparedPositions {
        from: (&spreadsheet, from.position),
        to: (&spreadsheet, later_position),
    };
    let listed = read_differences(output, compared, cells.limit).await?;
    let diff = &listed.diff;
    let result = ListedJson::of(&listed);
    print_json_with_times(output, &result, [Some(&from), to.as_ref()])?;
    print_diff(output, &listed, cells)?;
    context.print_unsent_note(&spreadsheet, output);
    Ok(exit_code(output, diff, || format!("{} and {}", diff.from, diff.to)))
}

/// A JSON result, with the number of cells of each sheet that are too many to list.
#[derive(Serialize)]
struct ListedJson<'a> {
    #[serde(flatten)]
    diff: &'a DiffReply,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    unlisted_cells: BTreeMap<SheetId, usize>,
}

impl<'a> ListedJson<'a> {
    fn of(listed: &'a ListedDiff) -> Self {
        Self { diff: &listed.diff, unlisted_cells: listed.unlisted_cells() }
    }
}

/// A JSON result, with the compared spreadsheets.
#[derive(Serialize)]
struct ListedJsonOfSpreadsheets<'a> {
    from_spreadsheet: LogId,
    to_spreadsheet: LogId,
    #[serde(flatten)]
    diff: ListedJson<'a>,
}

async fn compare_spreadsheets(
    context: &Context,
    output: &Output,
    from: &SpreadsheetReference,
    to: &SpreadsheetReference,
    cells: ListedCells,
) -> Result<u8, CliError> {
    let client = context.client()?;
    let from = client.spreadsheet(context.find(from).await?.id);
    let to = client.spreadsheet(context.find(to).await?.id);
    let from_position = from.head_at_or_after(context.seen_position(&from)).await?.head;
    let to_position = to.head_at_or_after(context.seen_position(&to)).await?.head;
    let compared = ComparedPositions { from: (&from, from_position), to: (&to, to_position) };
    let listed = read_differences(output, compared, cells.limit).await?;
    let (from_spreadsheet, to_spreadsheet) = (from.id(), to.id());
    let diff = ListedJson::of(&listed);
    output.print_json(&ListedJsonOfSpreadsheets { from_spreadsheet, to_spreadsheet, diff })?;
    print_diff(output, &listed, cells)?;
    context.print_unsent_note(&from, output);
    context.print_unsent_note(&to, output);
    let diff = &listed.diff;
    let describe =
        || format!("{from_spreadsheet} at {} and {to_spreadsheet} at {}", diff.from, diff.to);
    Ok(exit_code(output, diff, describe))
}

pub(super) fn is_empty(diff: &DiffReply) -> bool {
    diff.sheets.is_empty() && diff.names.is_empty() && diff.order.is_none()
}

fn exit_code(output: &Output, diff: &DiffReply, compared: impl FnOnce() -> String) -> u8 {
    if is_empty(diff) {
        output.print_note(format!("No differences between {}.", compared()));
        return EXIT_SUCCESS;
    }
    EXIT_DIFFERENCES
}

/// Which cells are listed.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListedCells {
    pub(super) whole_sheets: WholeSheets,
    /// Maximum number of cells.
    pub(super) limit: u32,
}

/// How an added or deleted sheet is printed. All its cells have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WholeSheets {
    Counted,
    Listed,
    /// Like [`WholeSheets::Counted`], in a command without an option that lists the cells.
    OnlyCounted,
}

pub(super) fn print_diff(
    output: &Output,
    listed: &ListedDiff,
    cells: ListedCells,
) -> Result<(), CliError> {
    let diff = &listed.diff;
    output.print_lines(diff_lines(listed, cells))?;
    let counted = |sheet: &&SheetDiff| is_only_counted(sheet, cells);
    if cells.whole_sheets == WholeSheets::Counted
        && diff.sheets.iter().filter(counted).any(|sheet| listed.cell_count(sheet) > 0)
    {
        output.print_note("List the cells of added and deleted sheets with --cells.");
    }
    let others = diff.sheets.iter().filter(|sheet| !counted(sheet));
    if others.map(|sheet| listed.cell_count(sheet)).sum::<usize>() > to_index(cells.limit) {
        output.print_note(match cells.whole_sheets {
            WholeSheets::OnlyCounted => "More cells differ; `cellar diff` can list them.",
            _ => "More cells differ; pass a larger --limit, or --json.",
        });
    }
    if diff.formulas_incomplete {
        output.print_note(
            "Too many formulas refer to deleted cells: some that became #REF! are not listed.",
        );
    }
    Ok(())
}

fn to_index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn diff_lines(listed: &ListedDiff, cells: ListedCells) -> Vec<String> {
    let diff = &listed.diff;
    let mut cells_left = to_index(cells.limit);
    let mut lines = Vec::new();
    for sheet in &diff.sheets {
        lines.extend(sheet_lines(sheet, listed.cell_count(sheet), cells, &mut cells_left));
    }
    lines.extend(diff.names.iter().map(name_line));
    lines.extend(diff.order.iter().map(order_line));
    lines
}

fn is_only_counted(sheet: &SheetDiff, cells: ListedCells) -> bool {
    let is_whole = matches!(sheet.change, SheetChange::Added | SheetChange::Deleted);
    is_whole && cells.whole_sheets != WholeSheets::Listed
}

fn order_line(order: &OrderDiff) -> String {
    let list =
        |names: &[String]| names.iter().map(|name| escape(name)).collect::<Vec<_>>().join(", ");
    let (before, after) = (list(&order.before), list(&order.after));
    format!("order of sheets: {} -> {}", style(before).red(), style(after).green())
}

fn name_line(diff: &NameDiff) -> String {
    let shown = |formula: &Option<String>, absent: &str| {
        formula.as_deref().map_or_else(|| absent.to_owned(), shorten)
    };
    let (before, after) = (shown(&diff.before, "not defined"), shown(&diff.after, "deleted"));
    format!("name {}: {} -> {}", escape(&diff.name), style(before).red(), style(after).green())
}

/// Lists at most `cells_left` cells, and subtracts them. `cell_count` cells differ.
fn sheet_lines(
    sheet: &SheetDiff,
    cell_count: usize,
    cells: ListedCells,
    cells_left: &mut usize,
) -> Vec<String> {
    let change_note = match sheet.change {
        SheetChange::Added => "   sheet added",
        SheetChange::Deleted => "   sheet deleted",
        SheetChange::Renamed => "   sheet renamed",
        SheetChange::Kept => "",
    };
    let title = format!("{}{change_note}", style(escape(&sheet.name)).bold());
    if is_only_counted(sheet, cells) {
        return vec![format!("{title} ({})", count(cell_count, "cell", "cells"))];
    }
    let mut lines = vec![title];
    lines.extend(axis_lines(Axis::Rows, "rows", &sheet.rows));
    lines.extend(axis_lines(Axis::Columns, "columns", &sheet.columns));
    if sheet.formats_changed {
        lines.push("  number formats of ranges changed".to_owned());
    }
    let changed = sheet.cells.iter().map(changed_cell_line);
    let deleted = sheet.deleted_cells.iter().map(deleted_cell_line);
    let line_count = lines.len();
    lines.extend(changed.chain(deleted).take(*cells_left));
    let listed = lines.len() - line_count;
    *cells_left -= listed;
    let others = cell_count - listed;
    if others > 0 {
        lines.push(format!("  … and {}", count(others, "other cell", "other cells")));
    }
    lines
}

fn changed_cell_line(cell: &CellDiff) -> String {
    let cell_name = CellName { row: cell.row, column: cell.column };
    let (before, after) = describe_change(&cell.before, &cell.after);
    format!("  {cell_name}: {} -> {}", style(before).red(), style(after).green())
}

fn deleted_cell_line(deleted: &CellAt) -> String {
    let before = describe_cell(&deleted.cell);
    format!("  {} before: {} -> deleted", deleted.name(), style(before).red())
}

fn axis_lines(axis: Axis, axis_name: &str, diff: &AxisDiff) -> Vec<String> {
    let mut lines = Vec::new();
    if !diff.inserted.is_empty() {
        let inserted = list_spans(axis, &diff.inserted);
        lines.push(format!("  {axis_name} inserted: {}", style(inserted).green()));
    }
    if !diff.deleted.is_empty() {
        let deleted = list_spans(axis, &diff.deleted);
        lines.push(format!("  {axis_name} deleted: {}", style(deleted).red()));
    }
    lines
}

/// Number formats are included only if the descriptions would otherwise be equal.
pub(super) fn describe_change(before: &Cell, after: &Cell) -> (String, String) {
    let (before_text, after_text) = (describe_cell(before), describe_cell(after));
    if before_text != after_text {
        return (before_text, after_text);
    }
    let with_format = |cell: &Cell, text: String| {
        let format = escape(cell.format.as_deref().unwrap_or(GENERAL));
        format!("{text} formatted as {format}")
    };
    (with_format(before, before_text), with_format(after, after_text))
}

fn describe_cell(cell: &Cell) -> String {
    let value = match &cell.value {
        Value::Empty => "empty".to_owned(),
        Value::Text(text) => format!("\"{}\"", shorten(text)),
        _ => shorten(&cell.text()),
    };
    match &cell.formula {
        Some(formula) if cell.value == Value::Empty => shorten(formula),
        Some(formula) => format!("{} ({value})", shorten(formula)),
        None => value,
    }
}

fn shorten(text: &str) -> String {
    escape_shortened(text, MAX_TEXT_CHARACTERS)
}

#[cfg(test)]
pub(super) fn reply_of(
    sheets: Vec<SheetDiff>,
    names: Vec<NameDiff>,
    order: Option<OrderDiff>,
) -> DiffReply {
    DiffReply {
        from: cellar_base::position::Position::FIRST,
        to: cellar_base::position::Position::FIRST,
        sheets,
        names,
        order,
        spans_truncated: false,
        formulas_incomplete: false,
        next: None,
    }
}

#[cfg(test)]
mod tests {
    use cellar_sheet::operation::{SheetId, Spans};

    use super::*;

    fn text(text: &str) -> Cell {
        Cell { value: Value::Text(text.into()), ..Cell::default() }
    }

    fn number(format: Option<&str>) -> Cell {
        let format = format.map(str::to_owned);
        Cell { value: Value::Number(2.0), format, ..Cell::default() }
    }

    #[test]
    fn formats_all_kinds_of_differences() {
        let cell = |row, before, after| CellDiff { row, column: 1, before, after };
        let sheet = SheetDiff {
            sheet: SheetId::FIRST,
            name: "Costs\u{1b}".into(),
            change: SheetChange::Renamed,
            rows: AxisDiff { inserted: Spans::one(2, 2), deleted: Spans::one(6, 1) },
            columns: AxisDiff { inserted: Spans::default(), deleted: Spans::one(2, 1) },
            formats_changed: true,
            cells: vec![
                cell(1, Cell::default(), text("new")),
                cell(2, number(None), number(Some("0"))),
                cell(3, text(&"x".repeat(61)), number(Some("0.00"))),
            ],
            deleted_cells: vec![CellAt::new(6, 0, number(None))],
        };
        let name = |before: Option<&str>, after: Option<&str>| NameDiff {
            name: "TAX".into(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        };
        let names = vec![name(None, Some("=0.19")), name(Some("=Sheet1!$B$1"), None)];
        let list = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        let (before, after) = (list(["Costs\u{1b}", "B"]), list(["B", "Costs\u{1b}"]));
        let order = Some(OrderDiff { before, after });
        let mut diff = ListedDiff::from(reply_of(vec![sheet], names, order));
        let long = format!("  B4: \"{}…\" -> 2.00", "x".repeat(60));
        let plain_lines = |diff: &ListedDiff, cells| -> Vec<String> {
            let lines = diff_lines(diff, cells);
            lines.iter().map(|line| console::strip_ansi_codes(line).into_owned()).collect()
        };
        let listed = |whole_sheets, limit| ListedCells { whole_sheets, limit };
        let (counted, all) = (listed(WholeSheets::Counted, 4), listed(WholeSheets::Listed, 4));
        let plain = plain_lines(&diff, counted);
        let expected = [
            "Costs\\u{1b}   sheet renamed",
            "  rows inserted: 3:4",
            "  rows deleted: 7",
            "  columns deleted: C",
            "  number formats of ranges changed",
            "  B2: empty -> \"new\"",
            "  B3: 2 formatted as General -> 2 formatted as 0",
            &long,
            "  A7 before: 2 -> deleted",
            "name TAX: not defined -> =0.19",
            "name TAX: =Sheet1!$B$1 -> deleted",
            "order of sheets: Costs\\u{1b}, B -> B, Costs\\u{1b}",
        ];
        assert_eq!(plain, expected);
        assert_eq!(plain_lines(&diff, all), expected);
        diff.diff.sheets[0].change = SheetChange::Deleted;
        let plain = plain_lines(&diff, counted);
        assert_eq!(plain[0], "Costs\\u{1b}   sheet deleted (4 cells)");
        assert_eq!(plain[1..], expected[9..]);
        assert_eq!(plain_lines(&diff, all)[1..], expected[1..]);
        let some = plain_lines(&diff, listed(WholeSheets::Listed, 3));
        assert_eq!(some[1..8], expected[1..8]);
        assert_eq!(some[8], "  … and 1 other cell");
        diff.unlisted.insert(diff.diff.sheets[0].order_key(), 7_000);
        let plain = plain_lines(&diff, counted);
        assert_eq!(plain[0], "Costs\\u{1b}   sheet deleted (7,004 cells)");
        let some = plain_lines(&diff, listed(WholeSheets::Listed, 3));
        assert_eq!(some[8], "  … and 7,001 other cells");
    }
}
