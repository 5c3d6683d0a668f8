//! `cellar clear` and `cellar format`

use std::collections::BTreeSet;

use cellar_base::limits::MAX_CELLS_PER_OPERATION;
use cellar_sheet::a1::{Range, Rectangle};
use cellar_sheet::cell::{GENERAL, Value, display, general};
use cellar_sheet::operation::{CellEdit, ClearRange, Operation, SetCells, SetFormat};

use super::args;
use super::context::Context;
use super::edit::{Edit, one_sheet, spans};
use super::error::CliError;
use super::get::range_text;
use super::output::Output;
use crate::table::escape;

pub(super) async fn clear(
    context: &Context,
    output: &Output,
    args: args::Clear,
) -> Result<(), CliError> {
    let mut sheet = args.sheet;
    for range in &args.ranges {
        sheet = one_sheet(sheet, Some(range))?;
    }
    let cells = match args.ranges.as_slice() {
        [_] => None,
        ranges => Some(cells_of(ranges)?),
    };
    let edit = Edit::new(context)?;
    let sheet = edit.sheet(sheet.as_deref()).await?;
    let operation = match (args.ranges.as_slice(), cells) {
        ([range], _) => {
            let (rows, columns) = spans(range.rectangle);
            Operation::ClearRange(ClearRange { sheet, rows, columns })
        }
        (_, cells) => Operation::SetCells(SetCells { sheet, cells: cells.unwrap_or_default() }),
    };
    let ranges: Vec<String> = args.ranges.iter().map(named).collect();
    edit.apply(output, operation, &format!("{} cleared", ranges.join(", "))).await
}

/// Returns an edit that clears each cell of the ranges, in the order of rows.
fn cells_of(ranges: &[Range]) -> Result<Vec<CellEdit>, CliError> {
    let max = u64::try_from(MAX_CELLS_PER_OPERATION).unwrap_or(u64::MAX);
    let too_many = || {
        CliError::usage(
            format!("the ranges have more than {max} cells"),
            "clear large ranges one at a time: each in a command of its own",
        )
    };
    let mut cells = BTreeSet::new();
    for range in ranges {
        let Rectangle { first, last } = range.rectangle;
        let (rows, columns) = (first.row..=last.row, first.column..=last.column);
        if range.rectangle.area() > max {
            return Err(too_many());
        }
        cells.extend(rows.flat_map(|row| columns.clone().map(move |column| (row, column))));
    }
    if cells.len() > MAX_CELLS_PER_OPERATION {
        return Err(too_many());
    }
    let clear = |(row, column)| CellEdit {
        row,
        column,
        value: Some(Value::Empty),
        formula: None,
        format: None,
    };
    Ok(cells.into_iter().map(clear).collect())
}

pub(super) async fn format(
    context: &Context,
    output: &Output,
    args: args::Format,
) -> Result<(), CliError> {
    let sheet = one_sheet(args.sheet, Some(&args.range))?;
    let edit = Edit::new(context)?;
    let sheet = edit.sheet(sheet.as_deref()).await?;
    let (rows, columns) = spans(args.range.rectangle);
    let (range, format) = (named(&args.range), escape(&args.format));
    let understood = is_understood(&args.format);
    let what = match understood {
        true => format!("{range} shown as {format}"),
        false => format!("{range}: format {format} kept; shown as General here"),
    };
    let operation = Operation::SetFormat(SetFormat { sheet, rows, columns, format: args.format });
    edit.apply_with(output, operation, &what, serde_json::json!({ "understood": understood }))
        .await?;
    if !understood {
        output.note("What is understood, `cellar format --help` lists.");
    }
    Ok(())
}

/// Whether numbers are shown under a format, and not as General in its place.
fn is_understood(format: &str) -> bool {
    // One is long enough to differ with any number of decimals, the other is a day and a time.
    let differs = |number: f64| display(&Value::Number(number), format) != general(number);
    format == GENERAL || differs(1.0 / 3.0) || differs(40_909.5)
}

fn named(range: &Range) -> String {
    if range.rectangle == Rectangle::EVERYTHING {
        "everything".to_owned()
    } else {
        range_text(range)
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn a_format_that_is_not_understood_is_told_from_one_that_is() {
        let decimals = (1..=15).map(|decimals| format!("0.{}", "0".repeat(decimals)));
        for format in decimals.chain(
            ["General", "0", "yyyy-mm-dd", "dd.mm.yyyy", "hh:mm:ss", "yyyy-mm-ddThh:mm", "yyyy"]
                .map(str::to_owned),
        ) {
            assert!(is_understood(&format), "{format}");
        }
        for format in ["#,##0.0%", "0%", "0.0000000000000000", "--", "", "general", "@", "d/m/yy"] {
            assert!(!is_understood(format), "{format}");
        }
    }

    #[test]
    fn cells_of_several_ranges_are_cleared_once_and_up_to_the_limit() {
        let cells = |ranges: &[&str]| {
            let ranges: Vec<Range> = ranges.iter().map(|range| range.parse().unwrap()).collect();
            cells_of(&ranges).map(|cells| cells.len())
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
    fn what_the_help_lists_is_understood() {
        let cli = super::super::args::Cli::command();
        let help = cli.find_subcommand("format").unwrap().get_after_help().unwrap().to_string();
        let listed = help.lines().filter_map(|line| line.strip_prefix("  ")?.split_once("  "));
        let listed: Vec<&str> = listed
            .map(|(format, _)| format)
            .filter(|format| !format.is_empty() && !format.contains("cellar"))
            .collect();
        assert!(listed.len() >= 4, "{help}");
        for format in listed {
            assert!(is_understood(format), "{format}");
        }
    }
}
