//! The rules by which a result is compared with the value in a file.

use cellar_api::wire::CellAt;
use cellar_exchange::Block;
use cellar_sheet::a1::CellName;
use cellar_sheet::cell::Value;

/// Two numbers agree if their difference is at most this fraction of the larger one. Programs add up
/// numbers in different orders, so that results differ in the digits after these.
const ROUNDING_FRACTION: f64 = 1e-12;

/// A cell with a formula.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FormulaInFile {
    pub(super) cell: CellName,
    pub(super) value: Value,
}

/// Result of the comparison of a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Equal,
    Rounding,
    Different,
    WithoutValue,
    Stale,
    WithoutFormula,
}

/// Returns the formulas of a block row by row.
pub(super) fn formulas_of(block: &Block) -> Vec<FormulaInFile> {
    let cells = block.cells().filter(|cell| cell.formula.is_some());
    cells
        .map(|cell| FormulaInFile {
            cell: CellName { row: cell.row, column: cell.column },
            value: cell.value,
        })
        .collect()
}

/// Compares the value that the file stores with the cell in the spreadsheet.
pub(super) fn verdict(in_file: &Value, in_spreadsheet: Option<&CellAt>) -> Verdict {
    let Some(found) = in_spreadsheet.filter(|found| found.cell.formula.is_some()) else {
        return Verdict::WithoutFormula;
    };
    if *in_file == Value::Empty {
        return Verdict::WithoutValue;
    }
    if found.stale {
        return Verdict::Stale;
    }
    match (in_file, &found.cell.value) {
        (in_file, result) if in_file == result => Verdict::Equal,
        (Value::Number(left), Value::Number(right)) if agree(*left, *right) => Verdict::Rounding,
        // Some programs store no value for an empty text.
        (Value::Text(text), Value::Empty) if text.is_empty() => Verdict::Equal,
        _ => Verdict::Different,
    }
}

fn agree(left: f64, right: f64) -> bool {
    (left - right).abs() <= ROUNDING_FRACTION * left.abs().max(right.abs())
}

#[cfg(test)]
mod tests {
    use cellar_sheet::cell::{Cell, ErrorCode};

    use super::*;

    fn formula(value: Value) -> CellAt {
        CellAt::new(0, 0, Cell { value, formula: Some("=A1".to_owned()), format: None })
    }

    #[test]
    fn results_are_equal_differ_by_rounding_or_differ() {
        let text = |text: &str| Value::Text(text.to_owned());
        for (in_file, result, expected) in [
            (Value::Number(0.1 + 0.2), Value::Number(0.1 + 0.2), Verdict::Equal),
            (Value::Number(0.3), Value::Number(0.1 + 0.2), Verdict::Rounding),
            (Value::Number(1.0), Value::Number(1.0 + 0.9e-12), Verdict::Rounding),
            (Value::Number(1.0), Value::Number(1.0 + 1.1e-12), Verdict::Different),
            (Value::Number(0.0), Value::Number(1e-300), Verdict::Different),
            (Value::Number(1.0), text("1"), Verdict::Different),
            (Value::Number(1.0), Value::Bool(true), Verdict::Different),
            (text("a"), text("A"), Verdict::Different),
            (text(""), Value::Empty, Verdict::Equal),
            (
                Value::Error(ErrorCode::NotAvailable),
                Value::Error(ErrorCode::NotAvailable),
                Verdict::Equal,
            ),
            (
                Value::Error(ErrorCode::NotAvailable),
                Value::Error(ErrorCode::Value),
                Verdict::Different,
            ),
            (Value::Empty, Value::Number(1.0), Verdict::WithoutValue),
        ] {
            assert_eq!(verdict(&in_file, Some(&formula(result.clone()))), expected, "{result:?}");
        }
    }

    #[test]
    fn a_cell_without_a_current_result_is_not_compared() {
        let value = Value::Number(1.0);
        let stale = CellAt { stale: true, ..formula(value.clone()) };
        assert_eq!(verdict(&value, Some(&stale)), Verdict::Stale);
        let constant = CellAt::new(0, 0, Cell { value: value.clone(), ..Cell::default() });
        assert_eq!(verdict(&value, Some(&constant)), Verdict::WithoutFormula);
        assert_eq!(verdict(&value, None), Verdict::WithoutFormula);
    }
}
