//! Evaluates random formulas, and checks that each formula that returns several cells has the fact
//! `FormulaTraits::ARRAYS`.
//!
//! `RANDOM_CASES=200000` evaluates more random formulas.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod facts;
mod formulas;

use std::collections::BTreeMap;

use cellar_formula::expression::FormulaTraits;
use cellar_formula::reference::NoSheets;
use cellar_functions::limits::Limits;
use cellar_functions::{
    ArrayMode, CellSource, DateOrder, EvaluationContext, EvaluationOutcome, Formula, SheetIndex,
    Size, evaluate_counted,
};
use cellar_grid::testing::random_cases;
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::{ErrorCode, Value};
use facts::{Fact, Workbook, read_workbooks};
use formulas::{Generated, Generator, Random, SINGLE_VALUES};

const COLUMNS: u32 = 4;
const ROWS: u32 = 5;

/// A small sheet whose values depend on a number.
struct SmallSheet(u64);

impl CellSource for SmallSheet {
    fn grid_size(&self) -> Size {
        Size { rows: 50, columns: 12 }
    }

    fn sheet_count(&self) -> u32 {
        1
    }

    fn sheet_index(&self, name: &str) -> Option<SheetIndex> {
        (name == "Sheet1").then_some(0)
    }

    fn sheet_name(&self, _: SheetIndex) -> Option<String> {
        Some("Sheet1".to_owned())
    }

    fn used_size(&self, _: SheetIndex) -> Size {
        Size { rows: ROWS, columns: COLUMNS }
    }

    fn cell(&self, _: SheetIndex, cell: CellName) -> Value {
        if cell.row >= ROWS || cell.column >= COLUMNS {
            return Value::Empty;
        }
        let place = u64::from(cell.row * COLUMNS + cell.column);
        let mut random = Random(self.0.wrapping_add(place));
        random.below(9);
        match random.below(12) {
            0 => Value::Empty,
            1 => Value::Bool(true),
            2 => Value::Text("a b".to_owned()),
            3 => Value::Text("A1:A3".to_owned()),
            4 => Value::Error(ErrorCode::NotAvailable),
            number => Value::Number(f64::from(u32::try_from(number).unwrap() - 5)),
        }
    }

    fn spilled_area(&self, _: SheetIndex, first: CellName) -> Option<Rectangle> {
        let last = CellName { row: first.row + 2, ..first };
        (first.row < ROWS).then_some(Rectangle { first, last })
    }
}

fn context(sheet: SheetIndex, cell: CellName, limits: Limits) -> EvaluationContext {
    EvaluationContext {
        sheet,
        cell,
        now: 46_000.5,
        random_seed: 7,
        date_order: DateOrder::DayFirst,
        array_mode: ArrayMode::Spill,
        limits,
    }
}

/// Returns whether the result is an array, and the number of steps of the evaluation.
fn evaluated(text: &str, seed: u64) -> Option<(bool, u64)> {
    let formula = Formula::parse(text).ok()?;
    let limits = Limits { steps: 100_000, cells_read: 100_000, created_bytes: 4_000_000 };
    let context = context(0, CellName { row: 1, column: 6 }, limits);
    let (outcome, work) = evaluate_counted(&formula, &context, &SmallSheet(seed));
    Some((matches!(outcome, Ok(EvaluationOutcome::Array(_))), work.steps))
}

fn has_fact(text: &str) -> bool {
    let formula = cellar_formula::Formula::parse(text, &NoSheets).unwrap();
    FormulaTraits::of(formula.expression()).has_any(FormulaTraits::ARRAYS)
}

/// Returns the numbers of arguments, up to 9, that each function accepts. A function does not
/// evaluate its arguments if it does not accept their number.
fn argument_counts() -> BTreeMap<&'static str, Vec<usize>> {
    let accepts = |name: &str, count: usize| {
        let text = format!("={name}({})", vec!["A1"; count].join(","));
        count == 0 || name == "LAMBDA" || evaluated(&text, 1).is_some_and(|(_, steps)| steps > 1)
    };
    let counts = |name| (0..10).filter(|count| accepts(name, *count)).collect();
    cellar_functions::function_names().into_iter().map(|name| (name, counts(name))).collect()
}

#[test]
fn formulas_that_return_arrays_have_the_fact() {
    let cases = u64::from(random_cases(2_000));
    let mut generator = Generator::new(argument_counts());
    let (mut arrays, mut facts, mut valid, mut exceptions) = (0, 0, 0, 0);
    for seed in 0..cases {
        let Generated { text, has_calculated_index } = generator.formula(seed);
        let Some((is_array, _)) = evaluated(&text, seed) else { continue };
        let has_fact = has_fact(&text);
        valid += 1;
        arrays += u64::from(is_array);
        facts += u64::from(has_fact);
        if is_array && !has_fact {
            assert!(has_calculated_index, "{text} returns an array over sheet {seed}");
            exceptions += 1;
        }
    }
    println!(
        "{valid} formulas, {arrays} arrays, {facts} have the fact, {exceptions} calculate a 0"
    );
    assert!(arrays > valid / 10, "only {arrays} arrays");
    assert!(facts < valid * 9 / 10, "{facts} of {valid} have the fact");
}

/// Calls all functions with single values. A function that returns an array for them must be in the
/// table of `cellar_formula`.
#[test]
fn functions_that_return_arrays_for_single_values_have_the_fact() {
    let mut random = Random(3);
    let mut arrays = BTreeMap::new();
    for (name, counts) in argument_counts() {
        for count in counts {
            for seed in 0..60 {
                let values: Vec<_> = (0..count).map(|_| *random.one_of(SINGLE_VALUES)).collect();
                let text = format!("={name}({})", values.join(","));
                let Some((true, _)) = evaluated(&text, seed) else { continue };
                assert!(has_fact(&text), "{text} returns an array over sheet {seed}");
                arrays.insert(name, text);
            }
        }
    }
    println!("{arrays:?}");
    assert!(arrays.len() > 10, "{arrays:?}");
}

fn is_array_in_workbook(workbook: &Workbook, sheet: usize, fact: &Fact) -> bool {
    let Ok(formula) = Formula::parse(&fact.formula) else { return false };
    let sheet = u32::try_from(sheet).unwrap();
    let context = context(sheet, fact.area.first, Limits::default());
    let (outcome, _) = evaluate_counted(&formula, &context, workbook);
    matches!(outcome, Ok(EvaluationOutcome::Array(_)))
}

#[test]
fn few_formulas_of_workbooks_have_the_fact_without_need() {
    let (mut all, mut arrays, mut needless) = (0, 0, 0);
    for workbook in read_workbooks() {
        for (index, sheet) in workbook.sheets.iter().enumerate() {
            for fact in &sheet.facts {
                let is_array = is_array_in_workbook(&workbook, index, fact);
                let has_fact = has_fact(&fact.formula);
                assert!(!is_array || has_fact, "{} of {}", fact.formula, workbook.name);
                all += 1;
                arrays += u32::from(is_array);
                needless += u32::from(has_fact && !is_array);
            }
        }
    }
    println!("{all} formulas, {arrays} arrays, {needless} have the fact without need");
    assert!(arrays > 500, "only {arrays} arrays");
    assert!(needless < all / 100, "{needless} of {all} have the fact without need");
}
