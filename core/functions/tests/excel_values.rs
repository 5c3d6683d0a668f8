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

use facts::compare::{actual_values, is_equal};
use facts::{Fact, Sheet, Workbook, read_workbooks};

/// Minimum percentage of results that equal Excel's values.
const MIN_EQUAL_PERCENT: f64 = 99.0;

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
