//! Tests of runs over several blocks, and of their limits.

use cellar_base::limits::MAX_CALCULATION_CELLS_READ;
use cellar_grid::SheetId;
use cellar_grid::a1::CellName;
use cellar_sheet::cell::Value;
use cellar_snapshot::merge::Window;

use super::world::{World, number};
use crate::block::BLOCK_ROWS;
use crate::budget::Budget;
use crate::{CalculatedValue, Calculation, CellKey, FormulaResult};

const SHEET: SheetId = SheetId(0);

fn key(row: u32, column: u32) -> CellKey {
    CellKey { sheet: SHEET, cell: CellName { row, column } }
}

/// Creates a sheet with a column of mixed values and columns of formulas over it.
fn mixed_world(rows: u32) -> World {
    let mut world = World::of(&[]);
    for row in 0..rows {
        let value = match row % 11 {
            3 => "text".to_owned(),
            5 => "TRUE".to_owned(),
            7 => String::new(),
            _ => format!("{}", f64::from(row) / 8.0),
        };
        if !value.is_empty() {
            world.set_at(0, row, 0, &value);
        }
        let line = row + 1;
        let above = if row == 0 { "0".to_owned() } else { format!("C{row}") };
        world.set_at(0, row, 1, &format!("=SUM($A$1:A{line})"));
        world.set_at(0, row, 2, &format!("={above}+N(A{line})*2"));
        world.set_at(0, row, 3, &format!("=SUM($A$1:A{line})-MAX($A$1:A{line})"));
        world.set_at(0, row, 4, &format!("=IF(B{line}>C{line},B{line},A{line}&\"!\")"));
        world.set_at(0, row, 5, &format!("=SUM(B{line}:C{})/2", line + 2));
        world.set_at(0, row, 6, &format!("=VLOOKUP(A{line},$A$1:$B$40,2,FALSE)"));
    }
    world
}

fn results(calculation: &Calculation, keys: &[CellKey]) -> Vec<FormulaResult> {
    keys.iter().map(|key| calculation.result(*key).unwrap()).collect()
}

#[test]
fn long_runs_have_the_results_of_their_cells() {
    let rows = 2 * BLOCK_ROWS + 70;
    let world = mixed_world(rows);
    let keys: Vec<_> =
        (1..7).flat_map(|column| (0..rows).map(move |row| key(row, column))).collect();
    let mut alone = world.calculation();
    alone.split_runs();
    alone.start(keys.clone());
    world.run(&mut alone);
    let mut calculation = world.calculation();
    for (rows, columns) in [(700..720, 1..2), (900..rows, 3..4), (10..900, 5..7)] {
        calculation.start_area(SHEET, &Window { rows, columns });
        world.run(&mut calculation);
    }
    calculation.start(keys.clone());
    world.run(&mut calculation);
    let alone = results(&alone, &keys);
    assert_eq!(results(&calculation, &keys), alone);
    let window = Window { rows: 0..rows, columns: 1..7 };
    let listed: Vec<_> = calculation.results_in(SHEET, &window).collect();
    assert_eq!(listed.len(), keys.len());
    for ((cell, key), result) in listed.iter().zip(&keys).zip(&alone) {
        assert_eq!((cell.cell, cell.value), (key.cell, CalculatedValue::from(&result.value)));
    }
}

/// The formulas of the same column read each other in turns, which is no cycle.
#[test]
fn columns_that_read_each_other_row_by_row_are_no_cycle() {
    let mut world = World::of(&[("A1", "100"), ("B1", "=A1*2")]);
    let rows = BLOCK_ROWS + 40;
    for row in 1..rows {
        world.set_at(0, row, 0, &format!("=B{row}-A{row}+1"));
        world.set_at(0, row, 1, &format!("=A{}*2", row + 1));
    }
    let mut calculation = world.calculation();
    calculation.start_area(SHEET, &Window { rows: 0..rows, columns: 0..2 });
    world.run(&mut calculation);
    let last = calculation.result(key(rows - 1, 1)).unwrap();
    assert_eq!((last.value, last.is_stale), (number(2.0 * f64::from(100 + rows - 1)), false));
}

/// Only the last cell of a running total is requested.
#[test]
fn a_request_for_one_cell_calculates_the_cells_above_it_once() {
    let rows = 3 * BLOCK_ROWS;
    let mut world = World::of(&[("A1", "1"), ("B1", "=A1")]);
    for row in 1..rows {
        world.set_at(0, row, 0, "1");
        world.set_at(0, row, 1, &format!("=B{row}+A{}", row + 1));
    }
    let mut calculation = world.calculation();
    calculation.start(vec![key(rows - 1, 1)]);
    calculation.set_budget(Budget::of(u64::from(rows) + 3, u64::MAX, u64::MAX, u64::MAX));
    world.run(&mut calculation);
    let result = calculation.result(key(rows - 1, 1)).unwrap();
    assert_eq!((result.value, result.is_stale), (number(f64::from(rows)), false));
}

/// Calculates all cells of column B within a budget, in a run or one by one.
fn within(world: &World, rows: u32, budget: Budget, is_split: bool) -> Vec<FormulaResult> {
    let mut calculation = world.calculation();
    if is_split {
        calculation.split_runs();
    }
    let keys: Vec<_> = (0..rows).map(|row| key(row, 1)).collect();
    calculation.start(keys.clone());
    calculation.set_budget(budget);
    world.run(&mut calculation);
    results(&calculation, &keys)
}

#[test]
fn the_same_formulas_of_a_run_are_stale_if_the_budget_is_short() {
    let rows = 60_u32;
    let mut world = World::of(&[]);
    for row in 0..rows {
        world.set_at(0, row, 0, "2");
        world.set_at(0, row, 1, &format!("=SUM($A$1:A{})*A{}", row + 1, row + 1));
    }
    let count = u64::from(rows);
    let cells_read = count * (count + 1) / 2 + count;
    let budgets = [
        (Budget::of(count, u64::MAX, cells_read, u64::MAX), 0),
        (Budget::of(count - 1, u64::MAX, cells_read, u64::MAX), 1),
        (Budget::of(count, u64::MAX, cells_read - 1, u64::MAX), 1),
        (Budget::of(count, u64::MAX, cells_read / 2, u64::MAX), 18),
        (Budget::of(count, u64::MAX, u64::MAX, 40), 50),
    ];
    for (budget, stale) in budgets {
        let run = within(&world, rows, budget, false);
        assert_eq!(run, within(&world, rows, budget, true), "{budget:?}");
        assert_eq!(run.iter().filter(|result| result.is_stale).count(), stale, "{budget:?}");
    }
}

/// A window counts all cells that its formulas read. An area counts the cells of a growing range
/// once.
#[test]
fn growing_sums_of_an_area_are_calculated_beyond_the_limit_of_a_window() {
    let rows = 15_000_u32;
    let count = u64::from(rows);
    assert!(count * (count + 1) / 2 > MAX_CALCULATION_CELLS_READ, "the window exceeds the limit");
    let mut world = World::of(&[]);
    for row in 0..rows {
        world.set_at(0, row, 0, "1");
        world.set_at(0, row, 1, &format!("=SUM($A$1:A{})", row + 1));
    }
    let last = key(rows - 1, 1);
    let mut calculation = world.calculation();
    calculation.start((0..rows).map(|row| key(row, 1)).collect());
    world.run(&mut calculation);
    assert!(calculation.result(last).unwrap().is_stale);
    calculation.start_area(SHEET, &Window { rows: 0..rows, columns: 1..2 });
    world.run(&mut calculation);
    let result = calculation.result(last).unwrap();
    assert_eq!((result.value, result.is_stale), (number(f64::from(rows)), false));
}

#[test]
fn stored_values_of_a_run_are_shown_while_it_is_stale() {
    let mut world = World::of(&[]);
    for row in 0..5 {
        let cell = format!("A{}", row + 1);
        let value = if row == 3 { Value::Text("old".into()) } else { number(f64::from(row)) };
        world.set_stored(0, &cell, &format!("=B{}+1", row + 1), value);
    }
    let keys: Vec<_> = (0..5).map(|row| key(row, 0)).collect();
    let mut calculation = world.calculation();
    calculation.start(keys.clone());
    calculation.set_budget(Budget::of(0, u64::MAX, u64::MAX, u64::MAX));
    world.run(&mut calculation);
    let shown: Vec<_> = results(&calculation, &keys).into_iter().map(|shown| shown.value).collect();
    let [first, .., last] = &shown[..] else { panic!("{shown:?}") };
    assert_eq!((first, &shown[3], last), (&number(0.0), &Value::Text("old".into()), &number(4.0)));
    calculation.start(keys.clone());
    world.run(&mut calculation);
    assert!(results(&calculation, &keys).iter().all(|result| result.value == number(1.0)));
}
