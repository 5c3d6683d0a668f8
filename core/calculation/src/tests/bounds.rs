//! Tests of the limits of a request.

use cellar_base::limits::{
    MAX_CALCULATION_BYTES, MAX_CALCULATION_LONG_TEXTS, MAX_KEPT_CALCULATION_BYTES,
    MAX_TILE_TEXT_BYTES,
};
use cellar_grid::SheetId;
use cellar_grid::a1::CellName;
use cellar_sheet::cell::{Cell, Value};
use cellar_snapshot::cells::TileCell;
use cellar_snapshot::merge::Window;

use super::world::{World, number};
use crate::budget::Budget;
use crate::cells::LoadedCells;
use crate::{Calculation, CellKey, CellWindow, FormulaResult, KeptCalculation};

const MANY: u64 = u64::MAX;

fn key(row: u32, column: u32) -> CellKey {
    CellKey { sheet: SheetId(0), cell: CellName { row, column } }
}

/// Calculates the formula in one cell with the given budget.
fn result(world: &World, key: CellKey, budget: Budget) -> FormulaResult {
    result_of(world, world.calculation(), key, budget)
}

fn result_of(
    world: &World,
    mut calculation: Calculation,
    key: CellKey,
    budget: Budget,
) -> FormulaResult {
    calculation.start(vec![key]);
    calculation.set_budget(budget);
    world.run(&mut calculation);
    calculation.result(key).unwrap()
}

/// Returns the smallest limit with which a formula has its value, and the note that the formula has
/// with a limit that is one less.
fn least_budget(
    world: &World,
    key: CellKey,
    value: Value,
    budget: impl Fn(u64) -> Budget,
) -> (u64, String) {
    let (mut too_small, mut enough) = (0, 1_000_000);
    while enough - too_small > 1 {
        let middle = u64::midpoint(too_small, enough);
        let is_stale = result(world, key, budget(middle)).is_stale;
        *if is_stale { &mut too_small } else { &mut enough } = middle;
    }
    let whole = result(world, key, budget(enough));
    assert_eq!((whole.value, whole.is_stale), (value, false));
    let short = result(world, key, budget(enough - 1));
    assert_eq!((short.value, short.is_stale), (Value::Empty, true));
    (enough, short.note.unwrap().to_string())
}

/// Creates a column in which each formula reads the cell above it.
fn chain(length: u32) -> World {
    let mut world = World::of(&[("A1", "1")]);
    for row in 1..length {
        world.set_at(0, row, 0, &format!("=A{row}+1"));
    }
    world
}

#[test]
fn the_number_of_formulas_is_bounded() {
    let world = chain(101);
    // One by one, each formula except the first is evaluated twice: before and after the formula
    // that it reads. In a run, each formula is evaluated once, except the requested one.
    for (is_split, needed) in [(true, 199), (false, 101)] {
        let result = |formulas| {
            let mut calculation = world.calculation();
            if is_split {
                calculation.split_runs();
            }
            result_of(&world, calculation, key(100, 0), Budget::of(formulas, MANY, MANY, MANY))
        };
        let whole = result(needed);
        assert_eq!((whole.value, whole.is_stale), (number(101.0), false));
        let short = result(needed - 1);
        assert_eq!((short.value, short.is_stale), (Value::Empty, true));
        assert!(short.note.unwrap().contains("depend on more than"), "the note says why");
    }
}

#[test]
fn the_number_of_loaded_cells_is_bounded() {
    let mut world = World::of(&[("B1", "=SUM(A1:A100000)")]);
    for row in 0..100_000 {
        world.set_at(0, row, 0, "1");
    }
    let of_loaded = |cells| Budget::of(MANY, cells, MANY, MANY);
    let (least, short) = least_budget(&world, key(0, 1), number(100_000.0), of_loaded);
    // The block of B1 has 512 rows, and eight empty cells count as one. The cells of A are loaded if
    // less than the limit is loaded before.
    assert_eq!(least, 512 / 8 + 1);
    assert!(short.contains("need more than"), "{short}");
}

#[test]
fn the_work_of_all_formulas_together_is_bounded() {
    let mut world = World::of(&[("B1", "=SUM(A1:A10000)"), ("B2", "=B1+SUM(A1:A10000)")]);
    for row in 0..10_000 {
        world.set_at(0, row, 0, "1");
    }
    let of_read = |cells| Budget::of(MANY, MANY, cells, MANY);
    let (least, short) = least_budget(&world, key(1, 1), number(20_000.0), of_read);
    // Cells that are read again, after others were loaded, count again.
    assert_eq!(least, 4 * 10_000 + 2);
    assert!(short.contains("need too much work"), "{short}");
    let of_steps = |steps| Budget::of(MANY, MANY, MANY, steps);
    let (least, short) = least_budget(&world, key(1, 1), number(20_000.0), of_steps);
    // A sum of any number of cells is few steps.
    assert_eq!(least, 12);
    assert!(short.contains("need too much work"), "{short}");
}

/// A long chain of formulas does not overflow the call stack. Later requests reuse the results of
/// earlier ones.
#[test]
fn a_long_chain_is_calculated_in_several_requests() {
    let length = 250_000;
    let world = chain(length);
    let last = key(length - 1, 0);
    let mut calculation = world.calculation();
    calculation.start(vec![last]);
    world.run(&mut calculation);
    assert!(calculation.result(last).unwrap().is_stale);
    let mut row = 50_000;
    while row < length {
        calculation.start(vec![key(row, 0)]);
        world.run(&mut calculation);
        let result = calculation.result(key(row, 0)).unwrap();
        assert_eq!((result.value, result.is_stale), (number(f64::from(row + 1)), false));
        row += 49_999;
    }
    calculation.start(vec![last]);
    world.run(&mut calculation);
    assert_eq!(calculation.result(last).unwrap().value, number(f64::from(length)));
}

#[test]
fn the_number_of_long_texts_is_bounded() {
    for (count, is_stale) in
        [(MAX_CALCULATION_LONG_TEXTS, false), (MAX_CALCULATION_LONG_TEXTS + 1, true)]
    {
        let mut world = World::of(&[("B1", "=SUM(LEN(A:A))")]);
        let mut bytes = 0;
        for row in 0..u32::try_from(count).unwrap() {
            let text = format!("{row:024}{}", "x".repeat(MAX_TILE_TEXT_BYTES));
            bytes += text.len();
            world.set_at(0, row, 0, &text);
        }
        let result = &world.results(&mut world.calculation(), &["B1"])[0];
        assert_eq!(result.is_stale, is_stale, "{count}");
        if !is_stale {
            assert_eq!(result.value, Value::Number(f64::from(u32::try_from(bytes).unwrap())));
        }
    }
}

#[test]
fn the_kept_memory_is_bounded() {
    let mut world = World::of(&[("B1", "=SUM(A1:A2000)")]);
    for row in 0..2_000 {
        world.set_at(0, row, 0, "1");
    }
    let load = || {
        let mut cells = LoadedCells::default();
        for columns in [0..1, 1..2] {
            let window =
                CellWindow { sheet: SheetId(0), window: Window { rows: 0..2_048, columns } };
            cells.add(window.sheet, &window.window, &world.stored.tile(&window), &world.workbook());
        }
        cells
    };
    let is_loaded = |cells: &LoadedCells, column| {
        cells.block(SheetId(0), CellName { row: 0, column }).is_some()
    };
    let mut cells = load();
    let bytes = cells.memory_bytes();
    cells.start_request(bytes);
    assert!(is_loaded(&cells, 0) && is_loaded(&cells, 1), "all fit");
    cells.start_request(bytes - 1);
    assert!(!is_loaded(&cells, 0) && is_loaded(&cells, 1), "cells with formulas are kept");
    cells.start_request(1);
    assert!(!is_loaded(&cells, 1), "not even those fit");
    let mut cells = load();
    cells.start_request(MAX_CALCULATION_BYTES);
    assert!(is_loaded(&cells, 0), "as between two reads");
}

#[test]
fn the_memory_of_results_kept_between_requests_is_bounded() {
    let mut world = World::of(&[("B1", "=SUM(A1:A2000)")]);
    for row in 0..2_000 {
        world.set_at(0, row, 0, "1");
    }
    let mut calculation = world.calculation();
    assert_eq!(world.values(&mut calculation, &["B1"]), [number(2_000.0)]);
    let bytes_with_inputs = calculation.cells.memory_bytes();
    let keep = |max_bytes| {
        KeptCalculation::Started(Box::new(calculation.clone())).with_results_only(max_bytes)
    };
    let Some(KeptCalculation::Started(kept)) = keep(bytes_with_inputs) else { panic!("dropped") };
    let bytes = kept.cells.memory_bytes();
    assert!(bytes < bytes_with_inputs / 2, "{bytes}");
    assert_eq!(kept.result(key(0, 1)).unwrap().value, number(2_000.0));
    assert!(keep(bytes).is_some());
    assert!(keep(bytes - 1).is_none());
    assert!(keep(MAX_KEPT_CALCULATION_BYTES).is_some(), "as between two requests");
}

/// A request ends when its work is used up. Formulas whose cells were not loaded are stale too.
#[test]
fn formulas_that_were_not_loaded_are_stale() {
    let world = World::of(&[("A1", "=1+1"), ("A2", "=2+2"), ("A2000", "=3+3"), ("B9000", "=4+4")]);
    let cells =
        |shown: &[TileCell]| -> Vec<bool> { shown.iter().map(|cell| cell.is_stale).collect() };
    let mut shown: Vec<TileCell> = [(0, 0), (1, 0), (1_999, 0), (8_999, 1)]
        .map(|(row, column)| {
            let cell = Cell { formula: Some("=1".to_owned()), ..Cell::default() };
            TileCell::with_cell(row, column, cell)
        })
        .to_vec();
    let mut calculation = world.calculation();
    calculation.start_window(SheetId(0), &shown);
    calculation.set_budget(Budget::of(1, MANY, MANY, MANY));
    world.run(&mut calculation);
    calculation.show_results(SheetId(0), &mut shown);
    assert_eq!(cells(&shown), [false, true, true, true]);
    assert!(shown.iter().skip(1).all(|cell| cell.note.is_some()), "{shown:?}");
    calculation.start_window(SheetId(0), &shown);
    world.run(&mut calculation);
    calculation.show_results(SheetId(0), &mut shown);
    assert_eq!(cells(&shown), [false; 4]);
}

/// Only the limits of the request end it.
#[test]
fn a_formula_beyond_its_own_limits_does_not_end_the_request() {
    let world =
        World::of(&[("A1", "=SUM(B1:B9)"), ("A2", "=SUM(SEQUENCE(99999999))"), ("A3", "=1")]);
    let mut calculation = world.calculation();
    let results = world.results(&mut calculation, &["A1", "A2", "A3"]);
    let stale: Vec<bool> = results.iter().map(|result| result.is_stale).collect();
    assert_eq!(stale, [false, true, false], "{results:?}");
}
