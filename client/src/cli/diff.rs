//! `cellar diff`

use cellar_api::wire::DiffReply;
use cellar_sheet::a1::CellName;
use cellar_sheet::axis_map::Axis;
use cellar_sheet::cell::{Cell, GENERAL, Value};
use cellar_sheet::workbook::{SheetChange, SheetDiff};
use console::style;

use super::args;
use super::axes::named;
use super::context::Context;
use super::error::CliError;
use super::output::Output;
use super::{EXIT_DIFFERENCES, EXIT_FINE};
use crate::table::escape;

/// Characters of a text that are shown.
const SHOWN_CHARACTERS: usize = 60;

pub(super) async fn run(
    context: &Context,
    output: &Output,
    args: args::Diff,
) -> Result<u8, CliError> {
    let spreadsheet = context.spreadsheet()?;
    let client = context.client()?;
    let to = match args.to {
        Some(to) => to,
        None => client.head(spreadsheet, context.seen(&client, spreadsheet)).await?.head,
    };
    let diff = client.diff(spreadsheet, args.from, to).await?;
    output.result(&diff)?;
    for line in lines(&diff) {
        output.say(line)?;
    }
    context.note_unsent(&client, spreadsheet, output);
    if diff.sheets.is_empty() {
        output.note(format!("Nothing differs between {} and {}.", diff.from, diff.to));
        return Ok(EXIT_FINE);
    }
    Ok(EXIT_DIFFERENCES)
}

fn lines(diff: &DiffReply) -> Vec<String> {
    diff.sheets.iter().flat_map(sheet_lines).collect()
}

fn sheet_lines(sheet: &SheetDiff) -> Vec<String> {
    let change = match sheet.change {
        SheetChange::Added => "   sheet added",
        SheetChange::Deleted => "   sheet deleted",
        SheetChange::Renamed => "   sheet renamed",
        SheetChange::Kept => "",
    };
    let mut lines = vec![format!("{}{change}", style(escape(&sheet.name)).bold())];
    for (axis, what, diff) in
        [(Axis::Rows, "rows", &sheet.rows), (Axis::Columns, "columns", &sheet.columns)]
    {
        if !diff.inserted.is_empty() {
            lines
                .push(format!("  {what} inserted: {}", style(named(axis, &diff.inserted)).green()));
        }
        if !diff.deleted.is_empty() {
            lines.push(format!("  {what} deleted: {}", style(named(axis, &diff.deleted)).red()));
        }
    }
    if sheet.formats_changed {
        lines.push("  formats of ranges differ".to_owned());
    }
    for cell in &sheet.cells {
        let name = CellName { row: cell.row, column: cell.column };
        let (before, after) = both(&cell.before, &cell.after);
        lines.push(format!("  {name}: {} -> {}", style(before).red(), style(after).green()));
    }
    for placed in &sheet.deleted_cells {
        let name = CellName { row: placed.row, column: placed.column };
        let (held, _) = both(&placed.cell, &Cell::default());
        lines.push(format!("  {name} before: {} -> deleted", style(held).red()));
    }
    lines
}

/// Two cells, in words that differ.
fn both(before: &Cell, after: &Cell) -> (String, String) {
    let (one, two) = (shown(before), shown(after));
    if one != two {
        return (one, two);
    }
    let with = |cell: &Cell, text: String| {
        let format = escape(cell.format.as_deref().unwrap_or(GENERAL));
        format!("{text} shown as {format}")
    };
    (with(before, one), with(after, two))
}

fn shown(cell: &Cell) -> String {
    let value = match &cell.value {
        Value::Empty => "empty".to_owned(),
        Value::Text(text) => format!("\"{}\"", cut(text)),
        _ => cut(&cell.text()),
    };
    match &cell.formula {
        Some(formula) => format!("{} ({value})", cut(formula)),
        None => value,
    }
}

fn cut(text: &str) -> String {
    let start: String = text.chars().take(SHOWN_CHARACTERS).collect();
    let more = if start.len() < text.len() { "…" } else { "" };
    format!("{}{more}", escape(&start))
}

#[cfg(test)]
mod tests {
    use cellar_api::wire::CellAt;
    use cellar_base::position::Position;
    use cellar_sheet::operation::{SheetId, Spans};
    use cellar_sheet::workbook::{AxisDiff, CellDiff};

    use super::*;

    fn text(text: &str) -> Cell {
        Cell { value: Value::Text(text.into()), ..Cell::default() }
    }

    fn number(format: Option<&str>) -> Cell {
        let format = format.map(str::to_owned);
        Cell { value: Value::Number(2.0), format, ..Cell::default() }
    }

    #[test]
    fn a_diff_says_what_was_and_what_is() {
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
        let plain: Vec<String> =
            lines(&diff).iter().map(|line| console::strip_ansi_codes(line).into_owned()).collect();
        let expected = [
            "Costs\\u{1b}   sheet renamed",
            "  rows inserted: 3:4",
            "  rows deleted: 7",
            "  columns deleted: C",
            "  formats of ranges differ",
            "  B2: empty -> \"new\"",
            "  B3: 2 shown as General -> 2 shown as 0",
            &long,
            "  A7 before: 2 -> deleted",
        ];
        assert_eq!(plain, expected);
    }
}
