//! Aggregate and lookup functions read long columns in blocks instead of single cells.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod sheet;

use cellar_functions::EvaluationOutcome;
use cellar_sheet::cell::Value;
use sheet::{Numbers, cells_read_alone, evaluate_over};

const ROWS: u32 = 200_000;

#[test]
fn long_columns_are_read_in_blocks() {
    let source = Numbers(ROWS);
    for (formula, expected) in [
        ("=SUM(A:A)", 20_000_100_000.0),
        ("=COUNT(A:A)", 200_000.0),
        ("=COUNTA(A:A)", 200_000.0),
        ("=AVERAGE(A:A)", 100_000.5),
        ("=MIN(A:A)", 1.0),
        ("=MAX(A:A)", 200_000.0),
        ("=SUMIF(A:A,\">199998\")", 399_999.0),
        ("=SUMIFS(A:A,A:A,\">199998\",A:A,\"<200000\")", 199_999.0),
        ("=COUNTIF(A:A,\">100000\")", 100_000.0),
        ("=COUNTIF(A:A,\"\")", 848_576.0),
        ("=COUNTBLANK(A:A)", 848_576.0),
        ("=COUNTIFS(A:A,\">5\",A:A,\"<10\")", 4.0),
        ("=AVERAGEIF(A:A,\">199998\")", 199_999.5),
        ("=AVERAGEIFS(A:A,A:A,\">199998\")", 199_999.5),
        ("=MATCH(150000,A:A,0)", 150_000.0),
        ("=XMATCH(150000.5,A:A,-1)", 150_000.0),
        ("=ROWS(A:A)", 1_048_576.0),
    ] {
        cells_read_alone();
        let result = evaluate_over(&source, formula);
        assert_eq!(result, Ok(EvaluationOutcome::Value(Value::Number(expected))), "{formula}");
        assert_eq!(cells_read_alone(), 0, "{formula}");
    }
}

#[test]
fn sorted_look_ups_read_few_cells() {
    let source = Numbers(ROWS);
    for formula in [
        "=MATCH(150000.5,A:A,1)",
        "=VLOOKUP(150000.5,A:B,1,TRUE)",
        "=LOOKUP(150000.5,A:A)",
        "=XLOOKUP(150000.5,A:A,A:A,,-1,2)",
        "=INDEX(A:A,150000)",
    ] {
        cells_read_alone();
        let result = evaluate_over(&source, formula);
        assert_eq!(result, Ok(EvaluationOutcome::Value(Value::Number(150_000.0))), "{formula}");
        assert!(cells_read_alone() < 60, "{formula}");
    }
}

#[test]
fn random_numbers_depend_on_the_seed_only() {
    let source = Numbers(1);
    let first = evaluate_over(&source, "=RANDARRAY(3,3)");
    assert_eq!(first, evaluate_over(&source, "=RANDARRAY(3,3)"));
    let is_new = evaluate_over(&source, "=RAND()=RAND()");
    assert_eq!(is_new, Ok(EvaluationOutcome::Value(Value::Bool(false))));
}

#[test]
fn now_is_the_time_of_the_caller() {
    let source = Numbers(1);
    let value = |number| Ok(EvaluationOutcome::Value(Value::Number(number)));
    assert_eq!(evaluate_over(&source, "=NOW()"), value(46_000.75));
    assert_eq!(evaluate_over(&source, "=TODAY()"), value(46_000.0));
}
