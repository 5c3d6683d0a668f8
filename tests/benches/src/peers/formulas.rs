//! Spreadsheet engines that keep all cells in memory. Loading is not measured.

use std::hint::black_box;

use cellar_reference_data::ReferenceValue;
use formualizer_workbook::{LiteralValue, Workbook, WorkbookConfig};
use ironcalc_base::Model;
use ironcalc_base::cell::CellValue;

use super::formula_works::Measured;
use crate::Failure;
use crate::clock::timed;
use crate::works::formulas::{CHAIN, NUMBERS, chain_formula};

/// The column of the formulas, counted from 1.
const FORMULAS: u32 = 21;
const SHEET: &str = "Sheet1";

fn numbers(rows: u32) -> impl Iterator<Item = (u32, f64)> {
    (0..rows).filter_map(|row| match cellar_reference_data::value(row, NUMBERS) {
        ReferenceValue::Number(number) => Some((row + 1, number)),
        _ => None,
    })
}

fn sum_formula(rows: u32) -> String {
    format!("=SUM(B1:B{rows})")
}

fn to_measured(name: &'static str, rows: u32, sum_s: f64, chain_s: f64) -> Measured {
    let chain_us = chain_s / f64::from(CHAIN.min(rows)) * 1e6;
    Measured { name, sum_ns: sum_s / f64::from(rows) * 1e9, chain_us }
}

pub(super) fn formualizer(rows: u32) -> Result<Measured, Failure> {
    let mut loaded = Workbook::new_with_config(WorkbookConfig::ephemeral());
    if !loaded.has_sheet(SHEET) {
        loaded.add_sheet(SHEET)?;
    }
    let mut column = vec![vec![LiteralValue::Empty]; rows as usize];
    for (row, number) in numbers(rows) {
        column[row as usize - 1] = vec![LiteralValue::Number(number)];
    }
    loaded.set_values(SHEET, 1, NUMBERS + 1, &column)?;
    loaded.set_formula(SHEET, 1, FORMULAS + 1, &sum_formula(rows))?;
    let (sum, sum_s) = timed(|| loaded.evaluate_cell(SHEET, 1, FORMULAS + 1));
    black_box(sum?);
    let chain: Vec<_> = (0..CHAIN.min(rows)).map(|row| vec![chain_formula(row)]).collect();
    loaded.set_formulas(SHEET, 1, FORMULAS, &chain)?;
    let (evaluated, chain_s) = timed(|| loaded.evaluate_all());
    evaluated?;
    let last = loaded.get_value(SHEET, CHAIN.min(rows), FORMULAS);
    if !matches!(last, Some(LiteralValue::Number(_) | LiteralValue::Int(_))) {
        return Err(format!("formualizer: the chain ends with {last:?}").into());
    }
    Ok(to_measured("formualizer", rows, sum_s, chain_s))
}

pub(super) fn iron_calc(rows: u32) -> Result<Measured, Failure> {
    let mut model = Model::new_empty("bench", "en", "UTC", "en")?;
    let column = i32::try_from(NUMBERS + 1)?;
    for (row, number) in numbers(rows) {
        model.set_user_input(0, i32::try_from(row)?, column, number.to_string())?;
    }
    model.set_user_input(0, 1, i32::try_from(FORMULAS + 1)?, sum_formula(rows))?;
    let ((), sum_s) = timed(|| model.evaluate());
    // It calculates all formulas each time.
    model.set_user_input(0, 1, i32::try_from(FORMULAS + 1)?, String::new())?;
    for row in 0..CHAIN.min(rows) {
        let (line, column) = (i32::try_from(row + 1)?, i32::try_from(FORMULAS)?);
        model.set_user_input(0, line, column, chain_formula(row))?;
    }
    let ((), chain_s) = timed(|| model.evaluate());
    let (line, column) = (i32::try_from(CHAIN.min(rows))?, i32::try_from(FORMULAS)?);
    match model.get_cell_value_by_index(0, line, column)? {
        CellValue::Number(_) => Ok(to_measured("IronCalc", rows, sum_s, chain_s)),
        other => Err(format!("IronCalc: the chain ends with {other:?}").into()),
    }
}
