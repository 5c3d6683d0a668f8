//! Formulas over a large sheet: a sum of a column, a window of formulas far down, and a chain.

use cellar_calculation::{CalculatedWorkbook, Calculation, CalculationStep, CellKey};
use cellar_reference_data::ReferenceValue;
use cellar_sheet::a1::CellName;
use cellar_sheet::cell::Value;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};
use cellar_snapshot::fold::{Fold, FoldedLevel};
use cellar_snapshot::objects::Fetch;
use cellar_snapshot::outdated::OutdatedAreas;
use cellar_snapshot::root::Root;
use cellar_snapshot::view;

use super::sheet::{Imported, import};
use crate::clock::{median_s, timed};
use crate::report::Row;
use crate::{Failure, Options, peers};

/// Repetitions of short measurements.
const REPEATS: usize = 9;
/// Number of rows of a window.
const WINDOW_ROWS: u32 = 50;
/// Number of columns with formulas in a window.
const WINDOW_COLUMNS: u32 = 5;
/// Number of formulas of the chain.
pub(crate) const CHAIN: u32 = 50_000;
/// A column of numbers of the reference data.
pub(crate) const NUMBERS: u32 = 1;

/// Returns the formula of the chain in a row: the sum of the numbers up to this row.
pub(crate) fn chain_formula(row: u32) -> String {
    match row {
        0 => "=B1".to_owned(),
        _ => format!("=U{row}+B{}", row + 1),
    }
}

pub(crate) fn run(options: &Options) -> Result<Vec<Row>, Failure> {
    let mut imported = import(options.rows)?;
    let sum = format!("=SUM(B1:B{})", options.rows);
    let sum_cell = vec![(CellName { row: 0, column: 20 }, sum)];
    let mut cold = measured(&mut imported, options.rows, &sum_cell)?;
    let again_s = cold.again_s;
    let expected = expected_sum(options.rows);
    if cold.values.pop() != Some(Value::Number(expected)) {
        return Err("the sum is wrong".into());
    }
    let first = options.rows / 10 * 9;
    let mut window = Vec::new();
    for row in first..first + WINDOW_ROWS {
        for offset in 0..WINDOW_COLUMNS {
            let formula = format!("=B{}*2+{offset}", row + 1);
            window.push((CellName { row, column: 20 + offset }, formula));
        }
    }
    let window = measured(&mut imported, options.rows, &window)?;
    let link = |row| (CellName { row, column: 20 }, chain_formula(row));
    let chain: Vec<_> = (0..CHAIN.min(options.rows)).map(link).collect();
    let formulas = chain.len() as f64;
    let chain = measured(&mut imported, options.rows, &chain)?;
    let sum_ns = cold.first_s / f64::from(options.rows) * 1e9;
    let mut sum = Row::new("sum of a column", "ns a row", sum_ns).at_most(300.0);
    let chain_us = chain.first_s / formulas * 1e6;
    let mut links = Row::new("chain of formulas", "CPU µs a formula", chain_us);
    for peer in peers::formula_works::measured(options.rows)? {
        sum = sum.beside(peer.name, Some(peer.sum_ns));
        links = links.beside(peer.name, Some(peer.chain_us));
    }
    Ok(vec![
        sum,
        Row::new("sum of a column, again", "CPU ms", again_s * 1e3).at_most(30.0),
        Row::new("50 rows of 5 formulas far below", "CPU ms", window.first_s * 1e3),
        links,
    ])
}

fn expected_sum(rows: u32) -> f64 {
    let numbers = (0..rows).filter_map(|row| match cellar_reference_data::value(row, NUMBERS) {
        ReferenceValue::Number(number) => Some(number),
        _ => None,
    });
    numbers.sum()
}

struct Measured {
    first_s: f64,
    /// With the cells of the first time.
    again_s: f64,
    values: Vec<Value>,
}

/// Calculates formulas that were set after the snapshot.
fn measured(
    imported: &mut Imported,
    rows: u32,
    formulas: &[(CellName, String)],
) -> Result<Measured, Failure> {
    let root = Root::unpack(imported.root.chunk.hash, &imported.root.stored)?;
    let (metadata, tail) = edited(&root, rows, formulas)?;
    let keys: Vec<CellKey> =
        formulas.iter().map(|(cell, _)| CellKey { sheet: SheetId::FIRST, cell: *cell }).collect();
    let new = || {
        let workbook = CalculatedWorkbook::new(&metadata, 0, 1);
        Calculation::new(workbook, OutdatedAreas::everything())
    };
    let mut calculate = |calculation: &mut Calculation| {
        let (done, seconds) =
            timed(|| calculated(imported, &root, &metadata, &tail, calculation, &keys));
        done.map(|()| seconds)
    };
    let mut seconds = Vec::new();
    for _ in 0..REPEATS {
        seconds.push(calculate(&mut new())?);
    }
    seconds.sort_by(f64::total_cmp);
    let mut kept = new();
    calculate(&mut kept)?;
    let again_s = median_s(REPEATS, || calculate(&mut kept).is_ok());
    let mut values = Vec::new();
    for key in &keys {
        let result = kept.result(*key).ok_or("a formula is not calculated")?;
        if result.is_stale {
            return Err(format!("{} is stale: {:?}", key.cell, result.note).into());
        }
        values.push(result.value);
    }
    Ok(Measured { first_s: seconds[REPEATS / 2], again_s, values })
}

fn edited(
    root: &Root,
    rows: u32,
    formulas: &[(CellName, String)],
) -> Result<(WorkbookMetadata, FoldedLevel), Failure> {
    let Fetch::Ready(mut metadata) = view::read_metadata(root, &Default::default())? else {
        return Err("the metadata is not in the root".into());
    };
    metadata.sheets.entry(SheetId::FIRST).or_default().extent.rows = rows;
    let mut fold = Fold::new(metadata);
    for part in formulas.chunks(10_000) {
        let edit = |(cell, formula): &(CellName, String)| CellEdit {
            row: cell.row,
            column: cell.column,
            value: Some(Value::Empty),
            formula: Some(formula.clone()),
            format: None,
        };
        let set = SetCells { sheet: SheetId::FIRST, cells: part.iter().map(edit).collect() };
        fold.apply_operations(&[Operation::SetCells(set)])?;
    }
    Ok(fold.finish())
}

fn calculated(
    imported: &mut Imported,
    root: &Root,
    metadata: &WorkbookMetadata,
    tail: &FoldedLevel,
    calculation: &mut Calculation,
    keys: &[CellKey],
) -> Result<(), Failure> {
    calculation.start(keys.to_vec());
    loop {
        let CalculationStep::Cells(windows) = calculation.step() else { return Ok(()) };
        for asked in windows {
            let (tile, _) = imported.bucket.ready(|objects| {
                let (sheet, window) = (asked.sheet, &asked.window);
                Ok(view::read_window_with_templates(
                    Some(root),
                    tail,
                    &metadata.tabs,
                    sheet,
                    window,
                    objects,
                )?)
            })?;
            calculation.supply(&asked, tile);
        }
    }
}
