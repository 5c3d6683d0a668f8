//! The commands `cellar clear` and `cellar format`.

use std::collections::BTreeSet;

use cellar_base::limits::MAX_CELLS_PER_OPERATION;
use cellar_sheet::a1::{Range, Rectangle};
use cellar_sheet::cell::{GENERAL, Value, display, general};
use cellar_sheet::operation::{CellEdit, ClearRange, Operation, SetCells, SetFormat, SheetId};

use super::args;
use super::context::Context;
use super::edit::{CommandEditor, choose_sheet_name, rectangle_spans};
use super::error::CliError;
use super::get::range_text;
use super::output::Output;
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
    let sheet = editor.sheet_number(sheet_name.as_deref()).await?;
    let range_names: Vec<String> = args.ranges.iter().map(range_name).collect();
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
    let sheet = editor.sheet_number(sheet_name.as_deref()).await?;
    let (range, format) = (range_name(&args.range), escape(&args.format));
    let is_supported = is_format_supported(&args.format);
    let description = if is_supported {
        format!("{range} formatted as {format}")
    } else {
        format!("{range}: format {format} stored, but displayed as General")
    };
    let (rows, columns) = rectangle_spans(args.range.rectangle);
    let operation = Operation::SetFormat(SetFormat { sheet, rows, columns, format: args.format });
    let fields = serde_json::json!({ "understood": is_supported });
    editor.apply_and_print_with_fields(output, operation, &description, fields).await?;
    if !is_supported {
        output.print_note("`cellar format --help` lists the supported formats.");
    }
    Ok(())
}

/// Numbers in other formats are displayed as General.
fn is_format_supported(format: &str) -> bool {
    // A supported format displays at least one sample number differently from General. The first
    // sample detects formats with a fixed number of decimals. The second sample detects date and
    // time formats.
    const SAMPLES: [f64; 2] = [1.0 / 3.0, 40_909.5];
    let is_general = |number: f64| display(&Value::Number(number), format) == general(number);
    format == GENERAL || !SAMPLES.into_iter().all(is_general)
}

fn range_name(range: &Range) -> String {
    if range.rectangle == Rectangle::EVERYTHING {
        return "all cells".to_owned();
    }
    range_text(range)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn distinguishes_supported_formats() {
        let decimals = (1..=15).map(|decimals| format!("0.{}", "0".repeat(decimals)));
        for format in decimals.chain(
            ["General", "0", "yyyy-mm-dd", "dd.mm.yyyy", "hh:mm:ss", "yyyy-mm-ddThh:mm", "yyyy"]
                .map(str::to_owned),
        ) {
            assert!(is_format_supported(&format), "{format}");
        }
        for format in ["#,##0.0%", "0%", "0.0000000000000000", "--", "", "general", "@", "d/m/yy"] {
            assert!(!is_format_supported(format), "{format}");
        }
    }

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

    #[test]
    fn formats_in_the_help_are_supported() {
        let cli = super::super::args::Cli::command();
        let help = cli.find_subcommand("format").unwrap().get_after_help().unwrap().to_string();
        let listed = help.lines().filter_map(|line| line.strip_prefix("  ")?.split_once("  "));
        let listed: Vec<&str> = listed
            .map(|(format, _)| format)
            .filter(|format| !format.is_empty() && !format.contains("cellar"))
            .collect();
        assert!(listed.len() >= 4, "{help}");
        for format in listed {
            assert!(is_format_supported(format), "{format}");
        }
    }
}
