//! The commands `cellar clear` and `cellar format`.

use std::collections::BTreeSet;

use cellar_base::limits::MAX_CELLS_PER_OPERATION;
use cellar_sheet::a1::{Range, Rectangle};
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, ClearRange, Operation, SetCells, SetFormat, SheetId};

use super::args;
use super::context::Context;
use super::edit::{CommandEditor, choose_sheet_name, rectangle_spans};
use super::error::CliError;
use super::get::range_text;
use super::output::Output;
use crate::describe::SheetNames;
use crate::text::escape;

pub(super) async fn clear_ranges(
    context: &Context,
    output: &Output,
    args: args::Clear,
) -> Result<(), CliError> {
    let mut sheet_name = args.sheet;
    for range in &args.ranges {
        sheet_name = choose_sheet_name(sheet_name, Some(range))?;
    }
    let cells_to_clear = CellsToClear::of_ranges(&args.ranges)?;
    let editor = CommandEditor::open(context)?;
    let (sheet, names) = editor.sheet_and_names(output, sheet_name.as_deref()).await?;
    let name_range = |range: &Range| range_name(range, sheet, &names);
    let range_names: Vec<String> = args.ranges.iter().map(name_range).collect();
    let description = format!("{} cleared", range_names.join(", "));
    editor.apply_and_print(output, cells_to_clear.into_operation(sheet), &description).await
}

/// The cells to clear: a rectangle for a single range, or a list of cells for several ranges.
enum CellsToClear {
    Range(Rectangle),
    Cells(Vec<CellEdit>),
}

impl CellsToClear {
    fn of_ranges(ranges: &[Range]) -> Result<Self, CliError> {
        match ranges {
            [range] => Ok(Self::Range(range.rectangle)),
            ranges => Ok(Self::Cells(build_clearing_edits(ranges)?)),
        }
    }

    fn into_operation(self, sheet: SheetId) -> Operation {
        match self {
            Self::Range(rectangle) => {
                let (rows, columns) = rectangle_spans(rectangle);
                Operation::ClearRange(ClearRange { sheet, rows, columns })
            }
            Self::Cells(cells) => Operation::SetCells(SetCells { sheet, cells }),
        }
    }
}

/// In row-major order. A cell that is in several ranges is cleared once.
fn build_clearing_edits(ranges: &[Range]) -> Result<Vec<CellEdit>, CliError> {
    let mut cell_names = BTreeSet::new();
    for range in ranges {
        check_cell_count(range.rectangle.area())?;
        let Rectangle { first, last } = range.rectangle;
        for row in first.row..=last.row {
            cell_names.extend((first.column..=last.column).map(|column| (row, column)));
        }
    }
    check_cell_count(u64::try_from(cell_names.len()).unwrap_or(u64::MAX))?;
    let to_clearing_edit = |(row, column)| CellEdit {
        row,
        column,
        value: Some(Value::Empty),
        formula: None,
        format: None,
    };
    Ok(cell_names.into_iter().map(to_clearing_edit).collect())
}

fn check_cell_count(cell_count: u64) -> Result<(), CliError> {
    let max_cells = u64::try_from(MAX_CELLS_PER_OPERATION).unwrap_or(u64::MAX);
    if cell_count > max_cells {
        return Err(CliError::usage(
            format!("the ranges have more than {max_cells} cells"),
            "clear each large range with a separate command",
        ));
    }
    Ok(())
}

pub(super) async fn format_range(
    context: &Context,
    output: &Output,
    args: args::Format,
) -> Result<(), CliError> {
    let sheet_name = choose_sheet_name(args.sheet, Some(&args.range))?;
    let editor = CommandEditor::open(context)?;
    let (sheet, names) = editor.sheet_and_names(output, sheet_name.as_deref()).await?;
    let range = range_name(&args.range, sheet, &names);
    let description = format!("{range} formatted as {}", escape(&args.format));
    let (rows, columns) = rectangle_spans(args.range.rectangle);
    let operation = Operation::SetFormat(SetFormat { sheet, rows, columns, format: args.format });
    editor.apply_and_print(output, operation, &description).await
}

fn range_name(range: &Range, sheet: SheetId, names: &SheetNames) -> String {
    if range.rectangle == Rectangle::EVERYTHING {
        return format!("all cells{}", names.suffix(sheet));
    }
    names.prefix(sheet) + &range_text(range)
}

#[cfg(test)]
mod tests {
    use cellar_sheet::cell::display;
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn clears_each_cell_of_several_ranges_once() {
        let cells = |ranges: &[&str]| {
            let ranges: Vec<Range> = ranges.iter().map(|range| range.parse().unwrap()).collect();
            build_clearing_edits(&ranges).map(|cells| cells.len())
        };
        assert_eq!(cells(&["A1", "B1"]).unwrap(), 2);
        assert_eq!(cells(&["A1:B2", "B2:C3"]).unwrap(), 7, "B2 is in both");
        let half = MAX_CELLS_PER_OPERATION / 2;
        let (left, right) = (format!("A1:A{half}"), format!("B1:B{half}"));
        assert_eq!(cells(&[&left, &right]).unwrap(), MAX_CELLS_PER_OPERATION);
        for more in ["C1", "C:C"] {
            let error = cells(&[&left, &right, more]).unwrap_err();
            assert_eq!(error.exit_code(), super::super::EXIT_USAGE, "{more}");
        }
    }

    /// Each line of the list has a format, a number and the text that displays the number.
    #[test]
    fn formats_in_the_help_display_what_it_says() {
        let cli = super::super::args::Cli::command();
        let help = cli.find_subcommand("format").unwrap().get_after_help().unwrap().to_string();
        let list = help.lines().skip_while(|line| !line.starts_with("  Format")).skip(1);
        let list: Vec<&str> = list.take_while(|line| line.starts_with("  ")).collect();
        assert!(list.len() >= 8, "{help}");
        for line in list {
            let columns: Vec<&str> =
                line.split("  ").map(str::trim).filter(|column| !column.is_empty()).collect();
            let [format, number, text] = columns[..] else { panic!("{line}") };
            let value = Value::Number(number.parse().unwrap());
            assert_eq!(display(&value, format), text, "{line}");
        }
    }
}
