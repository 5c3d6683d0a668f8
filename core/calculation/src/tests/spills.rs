//! Tests of results that fill several cells.

use cellar_base::limits::{
    MAX_CALCULATION_CELLS_READ, MAX_SPILL_ROUNDS, MAX_SPILL_WORK, MAX_SPILLED_CELLS,
};
use cellar_grid::SheetId;
use cellar_grid::a1::{CellName, Rectangle};
use cellar_sheet::cell::{ErrorCode, Value};
use cellar_sheet::metadata::FormatLayer;
use cellar_snapshot::cells::TileCell;
use cellar_snapshot::merge::Window;

use super::world::{World, number};
use crate::{Calculation, FormulaResult};

const SPILL: Value = Value::Error(ErrorCode::Spill);

/// Returns the spilled cells of the first sheet as `A1=value`.
fn spilled(calculation: &Calculation) -> Vec<String> {
    let mut cells = Vec::new();
    let window = Window { rows: 0..100, columns: 0..100 };
    calculation.show_spilled_cells(SheetId(0), &window, &FormatLayer::default(), &mut cells);
    let text = |TileCell { row, column, cell, filled_by, .. }: TileCell| {
        assert!(filled_by.is_some());
        let name = CellName { row, column };
        format!("{name}={}", cell.text())
    };
    cells.into_iter().map(text).collect()
}

fn result(world: &World, cell: &str) -> FormulaResult {
    let mut calculation = world.spilled_calculation();
    world.results(&mut calculation, &[cell]).remove(0)
}

fn note(world: &World, cell: &str) -> String {
    let result = result(world, cell);
    assert!(!result.is_stale);
    result.note.map(|note| note.to_string()).unwrap_or_default()
}

#[test]
fn a_result_fills_blank_cells_and_other_formulas_read_them() {
    let world = World::of(&[
        ("B2", "=SEQUENCE(2,3)"),
        ("A1", "=SUM(B2:D3)"),
        ("A5", "=C3*10"),
        ("A6", "=SUM(B2#)+COLUMNS(B2#)"),
        ("A7", "=COUNT(3:3)"),
    ]);
    let mut calculation = world.spilled_calculation();
    assert_eq!(spilled(&calculation), ["C2=2", "D2=3", "B3=4", "C3=5", "D3=6"]);
    let values = world.values(&mut calculation, &["B2", "A1", "A5", "A6", "A7"]);
    assert_eq!(values, [1.0, 21.0, 50.0, 24.0, 3.0].map(number));
}

#[test]
fn results_depend_on_each_other_in_any_order() {
    let world = World::of(&[
        ("A1", "=SORT(C1#,1,-1)"),
        ("C1", "=SEQUENCE(3)"),
        ("E1", "=A1#*100+C1#"),
        ("G1", "=SUM(E:E)"),
    ]);
    let mut calculation = world.spilled_calculation();
    let cells = ["A2=2", "C2=2", "E2=202", "A3=1", "C3=3", "E3=103"];
    assert_eq!(spilled(&calculation), cells);
    assert_eq!(world.values(&mut calculation, &["G1"]), [number(606.0)]);
}

#[test]
fn a_result_that_does_not_fit_is_an_error() {
    let world = World::of(&[
        ("A1", "=SEQUENCE(3)"),
        ("A3", "x"),
        ("C1", "=SEQUENCE(1,2)"),
        ("D1", "=C1"),
        ("F1", "=SEQUENCE(3)"),
        ("E2", "=SEQUENCE(1,2)"),
        ("XFD1", "=1"),
        ("H1", "=A1+1"),
        ("I1", "=A1#"),
    ]);
    let mut calculation = world.spilled_calculation();
    assert_eq!(spilled(&calculation), ["F2=2", "F3=3"]);
    let values = world.values(&mut calculation, &["A1", "C1", "E2", "D1", "H1", "I1"]);
    let reference = Value::Error(ErrorCode::Ref);
    assert_eq!(values, [SPILL, SPILL, SPILL, SPILL, SPILL, reference]);
    assert_eq!(note(&world, "A1"), "the result needs A3, which is not empty");
    assert_eq!(note(&world, "C1"), "the result needs D1, which is not empty");
    assert_eq!(note(&world, "E2"), "the result needs a cell that the result of F1 fills");
}

#[test]
fn a_result_stays_inside_the_sheet() {
    let mut world = World::of(&[]);
    world.set_at(0, 0, cellar_base::limits::MAX_COLUMNS - 1, "={1,2}");
    world.set_at(0, 1, cellar_base::limits::MAX_COLUMNS - 2, "={1,2}");
    let mut calculation = world.spilled_calculation();
    let name = |row, column| cellar_grid::a1::CellName { row, column }.to_string();
    let last = name(0, cellar_base::limits::MAX_COLUMNS - 1);
    let before = name(1, cellar_base::limits::MAX_COLUMNS - 2);
    assert_eq!(world.values(&mut calculation, &[&last, &before]), [SPILL, number(1.0)]);
    assert_eq!(
        note(&world, &last),
        "the result extends beyond the last row or column of the sheet"
    );
}

#[test]
fn a_result_that_changes_the_cells_that_it_reads_is_a_cycle() {
    let world = World::of(&[
        ("A1", "=SEQUENCE(2)+A2"),
        ("C1", "=IF(E2=0,SEQUENCE(2),5)"),
        ("E1", "=IF(C2=0,SEQUENCE(2),6)"),
        ("G1", "=SEQUENCE(2)"),
    ]);
    let mut calculation = world.spilled_calculation();
    assert_eq!(spilled(&calculation), ["G2=2"]);
    let reference = Value::Error(ErrorCode::Ref);
    assert_eq!(world.values(&mut calculation, &["A1"]), [reference]);
    assert_eq!(note(&world, "A1"), "the formula depends on cells that its result fills");
    let again = world.values(&mut world.spilled_calculation(), &["C1", "E1"]);
    assert_eq!(world.values(&mut calculation, &["C1", "E1"]), again);
}

#[test]
fn a_chain_of_results_has_a_limited_length() {
    let chain = |length: usize| {
        let mut world = World::of(&[("A1", "=SEQUENCE(2)")]);
        for row in 1..length {
            let cell = format!("{}1", cellar_grid::a1::column_name(u32::try_from(row).unwrap()));
            let before = cellar_grid::a1::column_name(u32::try_from(row - 1).unwrap());
            world.set(0, &cell, &format!("={before}1#"));
        }
        let mut calculation = world.spilled_calculation();
        let last = cellar_grid::a1::column_name(u32::try_from(length - 1).unwrap());
        world.values(&mut calculation, &[&format!("{last}1")]).remove(0)
    };
    assert_eq!(chain(MAX_SPILL_ROUNDS - 1), number(1.0));
    assert_ne!(chain(MAX_SPILL_ROUNDS), number(1.0));
}

#[test]
fn results_fill_a_limited_number_of_cells() {
    let columns = 4;
    let rows = MAX_SPILLED_CELLS / columns;
    let world = |rows: u64| {
        let first = format!("=SEQUENCE({},{columns})", rows - 1);
        World::of(&[("A1", &first), ("G1", "=SEQUENCE(2,2)"), ("J1", "={1,2}")])
    };
    let fitting = world(rows);
    let values = fitting.values(&mut fitting.spilled_calculation(), &["A1", "G1", "J1"]);
    assert_eq!(values, [number(1.0), number(1.0), SPILL]);
    let note_of_last = note(&fitting, "J1");
    assert!(note_of_last.contains(&MAX_SPILLED_CELLS.to_string()), "{note_of_last}");
    let large = world(rows + 2);
    let values = large.values(&mut large.spilled_calculation(), &["A1", "G1", "J1"]);
    assert_eq!(values, [SPILL, SPILL, SPILL]);
}

/// The result of a stale formula could fill any blank cell to the right and below.
#[test]
fn readers_of_cells_that_a_stale_formula_may_fill_are_stale() {
    let world = World::of(&[
        ("B2", "=SEQUENCE(2+0*SUM(SEQUENCE(99999999)))"),
        ("A9", "=SUM(B3:B5)"),
        ("A8", "=SUM(A1:A5)"),
        ("D9", "1"),
        ("A7", "=D9"),
    ]);
    let mut calculation = world.spilled_calculation();
    let may_be_filled = calculation.cells.spills.changed_cells().map(|area| area.cells);
    let first = CellName { row: 1, column: 1 };
    assert!(may_be_filled.eq([Rectangle { first, ..Rectangle::EVERYTHING }]));
    let results = world.results(&mut calculation, &["B2", "A9", "A8", "A7"]);
    let stale: Vec<bool> = results.iter().map(|result| result.is_stale).collect();
    assert_eq!(stale, [true, true, false, false], "{results:?}");
}

#[test]
fn spilled_cells_have_the_formats_of_the_cells_that_were_read() {
    let mut world = World::of(&[("A1", "46000"), ("A2", "46001"), ("C1", "=SORT(A1:A2,1,-1)")]);
    world.set_format(0, "A1", "yyyy-mm-dd");
    let mut calculation = world.spilled_calculation();
    assert_eq!(spilled(&calculation), ["C2=2025-12-09"]);
    let format = world.results(&mut calculation, &["C1"]).remove(0).format;
    assert_eq!(format.as_deref(), Some("yyyy-mm-dd"));
}

/// Each round evaluates all formulas of a cycle, and may load the same cells again.
#[test]
fn the_rounds_share_their_work() {
    let read_rows = |rows: u32| {
        let mut world = World::of(&[("B1", &format!("=SUM(A1:A{rows})*0+SEQUENCE(2)+B2"))]);
        world.set_at(0, rows - 1, 0, "1");
        let mut calculation = world.spilled_calculation();
        world.results(&mut calculation, &["B1"]).remove(0)
    };
    let reference = Value::Error(ErrorCode::Ref);
    let work = MAX_CALCULATION_CELLS_READ * MAX_SPILL_WORK;
    let rounds = u64::try_from(MAX_SPILL_ROUNDS + 1).unwrap();
    // The result of a cycle is known after as many rounds.
    let fitting = u32::try_from(work / (rounds + 1)).unwrap();
    assert_eq!(read_rows(fitting / 10).value, reference);
    assert!(read_rows(fitting * 2).is_stale);
}
