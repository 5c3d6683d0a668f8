//! Compares results with the values that Excel calculated for the formulas in workbooks.
//!
//! `facts.txt` contains the cells and formulas of the workbooks (see `tests/functions/extract.py`).
//! `differences.txt` lists the formulas whose results differ, with reasons. The test fails if a
//! difference is not listed, or if a listed difference no longer exists.
//!
//! `UPDATE_DIFFERENCES=PATH` writes the unlisted differences to a file.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod facts;

use std::collections::BTreeMap;

use cellar_functions::{
    Array, ArrayMode, DateOrder, EvaluationContext, EvaluationOutcome, evaluate_text,
    limits::Limits,
};
use cellar_sheet::cell::{ErrorCode, Value};
use facts::{Fact, Sheet, Workbook, read_workbooks};

/// Maximum relative difference between numbers that are considered equal. Excel shows 15 digits,
/// and its algorithms are often less accurate.
const RELATIVE_TOLERANCE: f64 = 1e-9;
/// Maximum absolute difference between numbers near zero that are considered equal.
const ABSOLUTE_TOLERANCE: f64 = 1e-12;
/// Minimum percentage of results that equal Excel's values.
const MIN_EQUAL_PERCENT: f64 = 99.0;

fn is_equal(expected: &Value, actual: &Value) -> bool {
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
fn actual_values(workbook: &Workbook, sheet: usize, fact: &Fact) -> Result<Vec<Value>, String> {
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

/// Describes the first difference from Excel's values, or returns `None`.
fn difference(workbook: &Workbook, sheet: usize, fact: &Fact) -> Option<String> {
    let expected = workbook.sheets[sheet].values_in(fact.area);
    match actual_values(workbook, sheet, fact) {
        Err(error) => Some(format!("{:?} | {error}", expected[0])),
        Ok(actual) => {
            // A single value fills all cells of the area.
            let actual = actual.iter().cycle().take(expected.len().max(actual.len()));
            expected
                .iter()
                .zip(actual)
                .find(|(expected, actual)| !is_equal(expected, actual))
                .map(|(expected, actual)| format!("{expected:?} | {actual:?}"))
        }
    }
}

fn key(workbook: &Workbook, sheet: &Sheet, fact: &Fact) -> String {
    format!("{} {}!{}", workbook.name, sheet.name, fact.area.first)
}

/// Returns the listed differences as a map from key to reason. A line that starts with `#` is the
/// reason for the lines after it.
fn listed_differences() -> BTreeMap<String, String> {
    let mut reason = String::new();
    let mut listed = BTreeMap::new();
    for line in include_str!("differences.txt").lines() {
        if let Some(text) = line.strip_prefix("# ") {
            reason = text.to_owned();
        } else if !line.trim().is_empty() {
            assert!(!reason.is_empty(), "{line} has no reason");
            listed.insert(line.to_owned(), reason.clone());
        }
    }
    listed
}

#[test]
fn formulas_have_the_values_of_excel() {
    let mut listed = listed_differences();
    let mut unlisted = Vec::new();
    let (mut count, mut different) = (0_u32, 0_u32);
    for workbook in read_workbooks() {
        for (index, sheet) in workbook.sheets.iter().enumerate() {
            for fact in &sheet.facts {
                count += 1;
                let Some(difference) = difference(&workbook, index, fact) else { continue };
                different += 1;
                let key = key(&workbook, sheet, fact);
                if listed.remove(&key).is_none() {
                    unlisted.push(format!("{key}\t{}\t{difference}", fact.formula));
                }
            }
        }
    }
    let percent = 100.0 * f64::from(count - different) / f64::from(count);
    println!("{count} formulas, {different} differ, {percent:.2} % are equal");
    if let Ok(path) = std::env::var("UPDATE_DIFFERENCES") {
        std::fs::write(path, unlisted.join("\n")).unwrap();
    }
    assert!(count > 20_000, "only {count} formulas were read");
    assert!(
        unlisted.is_empty(),
        "{} differences are not listed:\n{}",
        unlisted.len(),
        unlisted.join("\n")
    );
    assert!(listed.is_empty(), "listed differences no longer exist: {listed:?}");
    assert!(percent >= MIN_EQUAL_PERCENT, "only {percent} % of the results equal Excel's values");
}
