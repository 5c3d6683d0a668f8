use cellar_api::wire::DiffReply;
use cellar_sheet::a1::CellName;
use cellar_sheet::axis_map::Axis;
use cellar_sheet::cell::{Cell, GENERAL, Value};
use cellar_sheet::workbook::{AxisDiff, SheetChange, SheetDiff};
use console::style;

use super::args;
use super::axes::list_spans;
use super::context::Context;
use super::error::CliError;
use super::output::Output;
use super::{EXIT_DIFFERENCES, EXIT_SUCCESS};
use crate::text::{escape, escape_shortened};

const MAX_TEXT_CHARACTERS: usize = 60;

pub(super) async fn show_differences(
    context: &Context,
    output: &Output,
    args: args::Diff,
) -> Result<u8, CliError> {
    let spreadsheet = context.spreadsheet()?;
    let later_position = match args.to {
        Some(position) => position,
        None => spreadsheet.head_at_or_after(context.seen_position(&spreadsheet)).await?.head,
    };
    let diff = spreadsheet.diff(args.from, later_position).await?;
    output.print_json(&diff)?;
    output.print_lines(diff_lines(&diff))?;
    context.print_unsent_note(&spreadsheet, output);
    if diff.sheets.is_empty() {
        output.print_note(format!("No differences between {} and {}.", diff.from, diff.to));
        return Ok(EXIT_SUCCESS);
    }
    Ok(EXIT_DIFFERENCES)
}

fn diff_lines(diff: &DiffReply) -> Vec<String> {
    diff.sheets.iter().flat_map(sheet_lines).collect()
}

fn sheet_lines(sheet: &SheetDiff) -> Vec<String> {
    let change_note = match sheet.change {
        SheetChange::Added => "   sheet added",
        SheetChange::Deleted => "   sheet deleted",
        SheetChange::Renamed => "   sheet renamed",
        SheetChange::Kept => "",
    };
    let mut lines = vec![format!("{}{change_note}", style(escape(&sheet.name)).bold())];
    lines.extend(axis_lines(Axis::Rows, "rows", &sheet.rows));
    lines.extend(axis_lines(Axis::Columns, "columns", &sheet.columns));
    if sheet.formats_changed {
        lines.push("  number formats of ranges changed".to_owned());
    }
    for cell in &sheet.cells {
        let cell_name = CellName { row: cell.row, column: cell.column };
        let (before, after) = describe_change(&cell.before, &cell.after);
        lines.push(format!("  {cell_name}: {} -> {}", style(before).red(), style(after).green()));
    }
    for deleted in &sheet.deleted_cells {
        let old_name = CellName { row: deleted.row, column: deleted.column };
        let before = describe_cell(&deleted.cell);
        lines.push(format!("  {old_name} before: {} -> deleted", style(before).red()));
    }
    lines
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
fn describe_change(before: &Cell, after: &Cell) -> (String, String) {
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
        Some(formula) => format!("{} ({value})", shorten(formula)),
        None => value,
    }
}

fn shorten(text: &str) -> String {
    escape_shortened(text, MAX_TEXT_CHARACTERS)
}

#[cfg(test)]
mod tests {
    use cellar_api::wire::CellAt;
    use cellar_base::position::Position;
    use cellar_sheet::operation::{SheetId, Spans};
    use cellar_sheet::workbook::CellDiff;

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
            deleted_cells: vec![CellAt { row: 6, column: 0, cell: number(None) }],
        };
        let (from, to) = (Position::FIRST, Position::FIRST);
        let diff = DiffReply { from, to, sheets: vec![sheet], spans_truncated: false, next: None };
        let long = format!("  B4: \"{}…\" -> 2.00", "x".repeat(60));
        let plain: Vec<String> = diff_lines(&diff)
            .iter()
            .map(|line| console::strip_ansi_codes(line).into_owned())
            .collect();
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
        ];
        assert_eq!(plain, expected);
    }
}
