//! Evaluates the formulas of workbooks in several rows at once, and compares the results with those
//! of the rows one by one.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod facts;

use cellar_formula::Template;
use cellar_formula::reference::NoSheets;
use cellar_functions::limits::Limits;
use cellar_functions::{
    ArrayMode, DateOrder, EvaluationContext, EvaluationOutcome, Formula, RunTotals, RunValues,
    Work, evaluate_counted, evaluate_run,
};
use cellar_sheet::a1::CellName;
use cellar_sheet::cell::Value;
use facts::{Fact, Workbook, read_workbooks};

/// Number of cells to which each formula is filled down.
const ROWS: u32 = 4;

fn context(sheet: usize, cell: CellName, limits: Limits) -> EvaluationContext {
    EvaluationContext {
        sheet: u32::try_from(sheet).unwrap(),
        cell,
        now: 46_000.5,
        random_seed: 1,
        date_order: DateOrder::DayFirst,
        array_mode: ArrayMode::Spill,
        limits,
    }
}

/// Returns text that differs for different bits of numbers.
fn exact(value: &Value) -> String {
    match value {
        Value::Number(number) => format!("{:x}", number.to_bits()),
        other => format!("{other:?}"),
    }
}

/// Evaluates a formula that was filled down from the cell of a fact, row by row. Returns `None` if a
/// result is an array or exceeds a limit.
fn by_rows(
    workbook: &Workbook,
    sheet: usize,
    template: &Template,
    first: CellName,
) -> Option<(Vec<String>, Work)> {
    let mut values = Vec::new();
    let mut all = Work::default();
    for row in first.row..first.row + ROWS {
        let cell = CellName { row, ..first };
        let formula = Formula::parse(&template.text_at(cell, &NoSheets)).ok()?;
        let context = context(sheet, cell, Limits::default());
        let (outcome, work) = evaluate_counted(&formula, &context, workbook);
        let EvaluationOutcome::Value(value) = outcome.ok()? else { return None };
        values.push(exact(&value));
        all.cells_read += work.cells_read;
        all.steps += work.steps;
    }
    Some((values, all))
}

/// Returns whether the formula of a fact was evaluated in all rows at once.
fn is_evaluated(workbook: &Workbook, sheet: usize, fact: &Fact) -> bool {
    let first = fact.area.first;
    let Ok(parsed) = cellar_formula::Formula::parse(&fact.formula, &NoSheets) else { return false };
    let template = Template::of(&parsed, first);
    let last = CellName { row: first.row + ROWS - 1, ..first };
    if !template.is_inside_sheet_at(first) || !template.is_inside_sheet_at(last) {
        return false;
    }
    let shared = Formula::of_copies(&parsed, &NoSheets, first);
    let context = context(sheet, first, Limits::default());
    let totals = &mut RunTotals::default();
    let Some(run) = evaluate_run(&shared, &context, ROWS, workbook, totals) else { return false };
    let values: Vec<String> = match &run.values {
        RunValues::Numbers(numbers) => {
            numbers.iter().map(|number| exact(&Value::Number(*number))).collect()
        }
        RunValues::Values(values) => values.iter().map(exact).collect(),
    };
    let name = (&workbook.name, sheet, first, &fact.formula);
    let (expected, work) = by_rows(workbook, sheet, &template, first).unwrap_or_default();
    assert_eq!(values, expected, "{name:?}");
    assert!(run.work.cells_read + 2 >= work.cells_read, "{name:?}: {:?} {work:?}", run.work);
    assert!(
        run.work.steps + 2 * u64::from(ROWS) >= work.steps,
        "{name:?}: {:?} {work:?}",
        run.work
    );
    true
}

#[test]
fn formulas_of_workbooks_have_the_same_values_in_runs() {
    let (mut count, mut evaluated) = (0_u32, 0_u32);
    for workbook in read_workbooks() {
        for (index, sheet) in workbook.sheets.iter().enumerate() {
            for fact in &sheet.facts {
                count += 1;
                evaluated += u32::from(is_evaluated(&workbook, index, fact));
            }
        }
    }
    println!("{evaluated} of {count} formulas were evaluated in runs");
    assert!(evaluated > count / 2, "only {evaluated} of {count}");
}
