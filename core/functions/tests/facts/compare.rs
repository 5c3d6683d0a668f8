//! Compares results with Excel's values. The benchmarks use the same rules for other libraries.

#![allow(dead_code, reason = "some test targets do not use it")]

use cellar_functions::{
    Array, ArrayMode, DateOrder, EvaluationContext, EvaluationOutcome, evaluate_text,
    limits::Limits,
};
use cellar_sheet::cell::{ErrorCode, Value};

use super::{Fact, Workbook};

/// Maximum relative difference between numbers that are considered equal. Excel shows 15 digits,
/// and its algorithms are often less accurate.
const RELATIVE_TOLERANCE: f64 = 1e-9;
/// Maximum absolute difference between numbers near zero that are considered equal.
const ABSOLUTE_TOLERANCE: f64 = 1e-12;
/// Returns whether a result equals the value of Excel.
pub(crate) fn is_equal(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::Number(expected), Value::Number(actual)) => {
            let difference = (expected - actual).abs();
            difference <= RELATIVE_TOLERANCE * expected.abs().max(actual.abs())
                || difference <= ABSOLUTE_TOLERANCE
        }
        // Files store newer error values such as #CALC! as #VALUE!.
        (Value::Error(ErrorCode::Value), Value::Error(ErrorCode::Calc)) => true,
        _ => expected == actual,
    }
}

/// Evaluates a formula. Returns the values of the cells that it fills in the workbook.
pub(crate) fn actual_values(
    workbook: &Workbook,
    sheet: usize,
    fact: &Fact,
) -> Result<Vec<Value>, String> {
    let context = EvaluationContext {
        sheet: u32::try_from(sheet).unwrap(),
        cell: fact.area.first,
        now: 46_000.5,
        random_seed: 1,
        // The workbooks were calculated on a computer with this date order.
        date_order: DateOrder::DayFirst,
        array_mode: if fact.is_array { ArrayMode::Spill } else { ArrayMode::Intersect },
        limits: Limits::default(),
    };
    let outcome =
        evaluate_text(&fact.formula, &context, workbook).map_err(|error| error.to_string())?;
    let array = match outcome {
        EvaluationOutcome::Value(value) => Array { rows: 1, columns: 1, values: vec![value] },
        EvaluationOutcome::Array(array) => array,
    };
    let rows = (fact.area.last.row - fact.area.first.row + 1) as usize;
    let columns = (fact.area.last.column - fact.area.first.column + 1) as usize;
    if (array.rows, array.columns) != (rows, columns) && array.values.len() > 1 {
        return Err(format!("{} x {} values", array.rows, array.columns));
    }
    Ok(array.values)
}
