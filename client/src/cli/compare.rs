use cellar_api::wire::Head;
use cellar_sheet::cell::{Cell, Value};
use serde::Serialize;

use super::args;
use super::context::Context;
use super::error::CliError;
use super::output::{Output, count};
use super::spinner::Spinner;
use super::{EXIT_DIFFERENCES, EXIT_SUCCESS};
use crate::compare::{CompareError, DifferentResult, FileComparison};
use crate::import::ReadOptions;
use crate::text::{escape, escape_shortened};

const MAX_TEXT_CHARACTERS: usize = 60;

pub(super) async fn compare_file(
    context: &Context,
    output: &Output,
    args: args::Compare,
) -> Result<u8, CliError> {
    let spreadsheet = context.spreadsheet()?;
    let mut options = ReadOptions::for_file(&args.file);
    options.sheets = args.sheets;
    let spinner = Spinner::new(output);
    let mut list = DifferenceList { limit: args.limit, is_exact: args.exact, ..Default::default() };
    let compared = Box::pin(spreadsheet.compare_file(
        args.file,
        &options,
        context.seen_position(&spreadsheet),
        |difference| spinner.suspend(|| list.add(output, difference)),
        |formulas| spinner.show(count(formulas, "formula", "formulas")),
    ))
    .await;
    spinner.end();
    let comparison = compared?;
    let read_at = Head { head: comparison.position, incarnation: comparison.incarnation };
    context.record_seen(&spreadsheet, read_at, None);
    output.print_json(&as_json(&comparison, &list))?;
    output.print_lines(summary(&comparison))?;
    print_notes(output, &comparison, &list);
    let differs = list.found > 0 || !comparison.missing_sheets.is_empty();
    Ok(if differs { EXIT_DIFFERENCES } else { EXIT_SUCCESS })
}

impl From<CompareError> for CliError {
    fn from(error: CompareError) -> Self {
        match error {
            CompareError::File(error) => error.into(),
            CompareError::Reader(error) => error.into(),
            error @ CompareError::NotAWorkbook { .. } => {
                Self::usage(error.to_string(), "pass the xlsx or ods file that was imported")
            }
        }
    }
}

/// The differences that are listed. They are only kept for JSON output.
#[derive(Default)]
struct DifferenceList {
    limit: u32,
    is_exact: bool,
    /// Number of differences, listed or not.
    found: u32,
    kept: Vec<ListedDifference>,
}

#[derive(Serialize)]
struct ListedDifference {
    sheet: String,
    cell: String,
    formula: String,
    in_file: Value,
    in_spreadsheet: Value,
    rounding: bool,
}

impl DifferenceList {
    fn add(&mut self, output: &Output, difference: DifferentResult) -> Result<(), CliError> {
        if difference.is_rounding && !self.is_exact {
            return Ok(());
        }
        self.found = self.found.saturating_add(1);
        if self.found > self.limit {
            return Ok(());
        }
        output.print_line(line(&difference))?;
        if output.json {
            let DifferentResult { sheet, cell, formula, in_file, in_spreadsheet, is_rounding } =
                difference;
            let (cell, rounding) = (cell.to_string(), is_rounding);
            self.kept.push(ListedDifference {
                sheet,
                cell,
                formula,
                in_file,
                in_spreadsheet,
                rounding,
            });
        }
        Ok(())
    }
}

fn line(difference: &DifferentResult) -> String {
    format!(
        "{}!{}   file: {}   Cellar: {}   {}",
        escape(&difference.sheet),
        difference.cell,
        described(&difference.in_file),
        described(&difference.in_spreadsheet),
        escape_shortened(&difference.formula, MAX_TEXT_CHARACTERS),
    )
}

/// Numbers have all digits, because results may differ in the last one.
fn described(value: &Value) -> String {
    match value {
        Value::Empty => "empty".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Text(text) => format!("\"{}\"", escape_shortened(text, MAX_TEXT_CHARACTERS)),
        value => Cell { value: value.clone(), ..Cell::default() }.text(),
    }
}

fn summary(comparison: &FileComparison) -> Vec<String> {
    let formulas = count(comparison.formulas, "formula", "formulas");
    let counts = [
        (comparison.different, "different"),
        (comparison.rounding, "equal except for rounding"),
        (comparison.without_value, "without a result in the file"),
        (comparison.stale, "not calculated"),
        (comparison.without_formula, "no longer formulas in the spreadsheet"),
    ];
    let equal = count(comparison.equal, "equal", "equal");
    let others = counts.into_iter().filter(|(number, _)| *number > 0);
    let parts = others.map(|(number, what)| format!(", {}", count(number, what, what)));
    vec![format!("{formulas} at {}: {equal}{}", comparison.position, parts.collect::<String>())]
}

fn print_notes(output: &Output, comparison: &FileComparison, list: &DifferenceList) {
    for name in &comparison.missing_sheets {
        let name = escape(name);
        output.print_note(format!(
            "Sheet `{name}` of the file is not in the spreadsheet; compare others with --sheets."
        ));
    }
    if comparison.formulas == 0 && comparison.missing_sheets.is_empty() {
        output.print_note("The file has no formulas that Cellar reads.");
    }
    if comparison.stale > 0 {
        output.print_note(
            "The next snapshot calculates formulas that are beyond the limits of a read; compare again in a minute.",
        );
    }
    if list.found > list.limit {
        output.print_note("More results differ; pass a larger --limit.");
    }
}

fn as_json(comparison: &FileComparison, list: &DifferenceList) -> serde_json::Value {
    serde_json::json!({
        "position": comparison.position,
        "formulas": comparison.formulas,
        "equal": comparison.equal,
        "rounding": comparison.rounding,
        "different": comparison.different,
        "without_value": comparison.without_value,
        "stale": comparison.stale,
        "without_formula": comparison.without_formula,
        "missing_sheets": comparison.missing_sheets,
        "differences": list.kept,
        "complete": list.found <= list.limit,
    })
}

#[cfg(test)]
mod tests {
    use cellar_base::position::Position;
    use cellar_sheet::a1::CellName;

    use super::*;

    fn difference(in_file: Value, in_spreadsheet: Value) -> DifferentResult {
        DifferentResult {
            sheet: "Plan\u{1b}".to_owned(),
            cell: CellName { row: 2, column: 1 },
            formula: "=A1".to_owned(),
            in_file,
            in_spreadsheet,
            is_rounding: false,
        }
    }

    #[test]
    fn a_line_shows_all_digits_and_cannot_control_the_terminal() {
        let numbers = difference(Value::Number(0.3), Value::Number(0.1 + 0.2));
        assert_eq!(
            line(&numbers),
            "Plan\\u{1b}!B3   file: 0.3   Cellar: 0.30000000000000004   =A1"
        );
        let texts = difference(Value::Text("a\u{7}".to_owned()), Value::Empty);
        assert!(line(&texts).contains("file: \"a\\u{7}\"   Cellar: empty"), "{}", line(&texts));
    }

    #[test]
    fn the_summary_has_all_counts_that_are_not_zero() {
        let mut comparison = FileComparison::new(Position::FIRST, 1);
        (comparison.formulas, comparison.equal) = (1, 1);
        assert_eq!(summary(&comparison), ["1 formula at 0.0: 1 equal"]);
        comparison.different = 2;
        comparison.formulas = 3;
        assert_eq!(summary(&comparison), ["3 formulas at 0.0: 1 equal, 2 different"]);
    }

    #[test]
    fn differences_beyond_the_limit_are_only_counted() {
        let output = Output::new(true);
        let mut list = DifferenceList { limit: 2, ..Default::default() };
        let mut add = |is_rounding| {
            let found = difference(Value::Number(1.0), Value::Number(2.0));
            list.add(&output, DifferentResult { is_rounding, ..found }).unwrap();
            (list.found, list.kept.len())
        };
        let added = [true, false, false, false].map(&mut add);
        assert_eq!(added, [(0, 0), (1, 1), (2, 2), (3, 2)]);
    }
}
