//! All formulas of a large sheet, in engines that keep all cells in memory.

use formualizer_workbook::{LiteralValue, Workbook, WorkbookConfig};
use ironcalc_base::Model;
use ironcalc_base::cell::CellValue;

use crate::Failure;
use crate::clock::timed;
use crate::works::full_calculation::{FORMULAS, Input, expected_total, formula, input};

/// IronCalc calculates this fraction of the rows, because it evaluates texts of formulas one by one
/// while it loads them.
pub(crate) const IRON_CALC_SCALE: u32 = 20;
const SHEET: &str = "Sheet1";
/// The column of the running total, counted from 1.
const TOTALS: u32 = 9;
/// Columns, including those of the look-up table.
const COLUMNS: u32 = 13;
/// Rows that are loaded at once.
const CHUNK_ROWS: u32 = 50_000;

/// Returns the CPU seconds of the calculation by formualizer.
pub(crate) fn formualizer_s(rows: u32) -> Result<f64, Failure> {
    let mut loaded = Workbook::new_with_config(WorkbookConfig::ephemeral());
    if !loaded.has_sheet(SHEET) {
        loaded.add_sheet(SHEET)?;
    }
    for first in (0..rows).step_by(CHUNK_ROWS as usize) {
        let chunk = first..rows.min(first + CHUNK_ROWS);
        for column in (0..COLUMNS).filter(|column| !FORMULAS.contains(column)) {
            let value = |row| match input(row, column) {
                Some(Input::Number(number)) => vec![LiteralValue::Number(number)],
                Some(Input::Text(text)) => vec![LiteralValue::Text(text)],
                None => vec![LiteralValue::Empty],
            };
            let values: Vec<_> = chunk.clone().map(value).collect();
            loaded.set_values(SHEET, first + 1, column + 1, &values)?;
        }
        for column in FORMULAS {
            let texts: Vec<_> = chunk.clone().map(|row| vec![formula(row, column)]).collect();
            loaded.set_formulas(SHEET, first + 1, column + 1, &texts)?;
        }
    }
    let (evaluated, cpu_s) = timed(|| loaded.evaluate_all());
    evaluated?;
    let last = match loaded.get_value(SHEET, rows, TOTALS) {
        Some(LiteralValue::Number(number)) => number,
        other => return Err(format!("formualizer: the last total is {other:?}").into()),
    };
    if last != expected_total(rows) {
        return Err(format!("formualizer: the last total is {last}").into());
    }
    Ok(cpu_s)
}

/// Returns the CPU seconds of the calculation by IronCalc.
pub(crate) fn iron_calc_s(rows: u32) -> Result<f64, Failure> {
    let mut model = Model::new_empty("bench", "en", "UTC", "en")?;
    for row in 0..rows {
        let line = i32::try_from(row + 1)?;
        for column in 0..COLUMNS {
            let text = match input(row, column) {
                Some(Input::Number(number)) => number.to_string(),
                Some(Input::Text(text)) => text,
                None if FORMULAS.contains(&column) => formula(row, column),
                None => continue,
            };
            model.set_user_input(0, line, i32::try_from(column + 1)?, text)?;
        }
    }
    let ((), cpu_s) = timed(|| model.evaluate());
    let (line, column) = (i32::try_from(rows)?, i32::try_from(TOTALS)?);
    match model.get_cell_value_by_index(0, line, column)? {
        CellValue::Number(last) if last == expected_total(rows) => Ok(cpu_s),
        other => Err(format!("IronCalc: the last total is {other:?}").into()),
    }
}
