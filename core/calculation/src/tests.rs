//! Tests of calculations on small sheets, including a second evaluation of each formula.

mod bounds;
mod cycles;
mod long_runs;
mod lookups;
mod random;
mod runs;
mod spills;
mod world;

use cellar_sheet::cell::{ErrorCode, Value};

use world::{World, number};

#[test]
fn a_formula_uses_the_results_of_other_formulas() {
    let world = World::of(&[
        ("A1", "2"),
        ("A2", "3"),
        ("B1", "=A1*A2"),
        ("B2", "=B1+C1"),
        ("C1", "=SUM(A1:A2)"),
        ("D1", "=SUM(B:B)"),
    ]);
    let mut calculation = world.calculation();
    assert_eq!(world.values(&mut calculation, &["D1"]), [number(17.0)]);
    assert_eq!(world.values(&mut calculation, &["B1", "B2"]), [number(6.0), number(11.0)]);
}

#[test]
fn formulas_read_other_sheets_and_names() {
    let mut world =
        World::of(&[("A1", "=Other!B2*rate"), ("A2", "=Missing!A1"), ("A3", "=nothing")]);
    world.add_sheet("Other", &[("B2", "=21+B3"), ("B3", "0")]);
    world.set_name("RATE", "=Other!$B$4");
    world.set(1, "B4", "2");
    let mut calculation = world.calculation();
    let values = world.values(&mut calculation, &["A1", "A2", "A3"]);
    assert_eq!(values[0], number(42.0));
    assert_eq!(values[1], Value::Error(ErrorCode::Ref));
    assert_eq!(values[2], Value::Error(ErrorCode::Name));
}

#[test]
fn a_long_range_is_read_in_windows() {
    let rows = 100_000_u32;
    let mut world = World::of(&[("B1", "=SUM(A:A)+SUM(A1:B1)"), ("C1", "=SUM(A:A)")]);
    for row in 0..rows {
        world.set_at(0, row, 0, "1");
    }
    let mut calculation = world.calculation();
    assert_eq!(world.values(&mut calculation, &["C1"]), [number(f64::from(rows))]);
    assert!(world.windows_read() < 4, "{}", world.windows_read());
}

/// Consecutive numbers and consecutive results are read as blocks.
#[test]
fn sums_do_not_depend_on_which_cells_have_formulas() {
    let numbers = ["2.1", "8.5", "8.1", "0.3"];
    let mut world = World::of(&[]);
    for (row, number) in (0..).zip(numbers) {
        world.set_at(0, row, 0, number);
        let with_formula = format!("={number}");
        world.set_at(0, row, 1, if row == 0 { &with_formula } else { number });
    }
    for (row, function) in (0..).zip(["SUM", "AVERAGE", "SUMSQ"]) {
        world.set_at(0, row, 2, &format!("={function}(A1:A4)"));
        world.set_at(0, row, 3, &format!("={function}(B1:B4)"));
    }
    let mut calculation = world.calculation();
    let of_numbers = world.values(&mut calculation, &["C1", "C2", "C3"]);
    assert_eq!(of_numbers, world.values(&mut calculation, &["D1", "D2", "D3"]));
    assert_eq!(of_numbers[0], number(19.0));
}

#[test]
fn the_branch_that_is_not_taken_is_not_calculated() {
    let world = World::of(&[("A1", "=IF(B1>0,C1,A1)"), ("B1", "1"), ("C1", "=B1+1")]);
    let mut calculation = world.calculation();
    assert_eq!(world.values(&mut calculation, &["A1"]), [number(2.0)]);
}

#[test]
fn a_result_of_several_cells_says_so() {
    let mut world = World::of(&[("A1", "=SEQUENCE(3)"), ("B1", "=A1")]);
    world.set_stored(0, "C1", "=SEQUENCE(2)", number(7.0));
    world.set_at(0, 0, 3, "=C1+1");
    world.set_at(0, 0, 4, "=D1+1");
    let mut calculation = world.calculation();
    let results = world.results(&mut calculation, &["A1", "C1", "D1", "E1"]);
    assert_eq!(results[0].value, Value::Error(ErrorCode::Spill));
    assert!(!results[0].is_stale);
    assert_eq!((results[1].value.clone(), results[1].is_stale), (number(7.0), true));
    assert!(results[2].is_stale, "it reads a stale cell");
    for (result, start) in results[1..].iter().zip([
        "not calculated: the result is an array of 2 × 1 values",
        "not calculated: C1 is not calculated: the result is an array",
        "not calculated: D1 is not calculated: the result is an array",
    ]) {
        let note = result.note.as_ref().unwrap();
        assert!(note.starts_with(start), "{note}");
    }
}

#[test]
fn a_text_that_is_no_formula_keeps_its_value() {
    let mut world = World::of(&[]);
    world.set_stored(0, "A1", "=1+", number(5.0));
    let results = world.results(&mut world.calculation(), &["A1"]);
    assert_eq!((results[0].value.clone(), results[0].is_stale), (number(5.0), true));
    assert!(results[0].note.as_ref().unwrap().contains("character 4"), "{:?}", results[0].note);
}

#[test]
fn a_result_without_a_format_has_that_of_its_operands() {
    let mut world =
        World::of(&[("A1", "2026-11-26"), ("A2", "=A1+7"), ("A3", "=A2+7"), ("A4", "=A2")]);
    world.set_format(0, "A1", "yyyy-mm-dd");
    world.set_format(0, "A4", "General");
    let results = world.results(&mut world.calculation(), &["A3", "A2", "A4"]);
    let formats: Vec<_> = results.iter().map(|result| result.format.as_deref()).collect();
    assert_eq!(formats, [Some("yyyy-mm-dd"), Some("yyyy-mm-dd"), None]);
}

#[test]
fn a_range_with_a_header_has_the_format_of_the_cell_below() {
    let formulas =
        [("B1", "=MAX(A:A)"), ("B2", "=MAX(A1:A2)"), ("B3", "=MAX(A2:A3)"), ("B4", "=A1")];
    let cells = [("A1", "Date"), ("A2", "2026-11-26"), ("A3", "7")];
    let mut world = World::of(&[cells.as_slice(), &formulas].concat());
    // The first total of a running total reads no cell below.
    world.set(0, "C1", "=SUM($A$1:A1)");
    world.set_format(0, "A2", "yyyy-mm-dd");
    let results = world.results(&mut world.calculation(), &["B1", "B2", "B3", "B4", "C1"]);
    let formats: Vec<_> = results.iter().map(|result| result.format.as_deref()).collect();
    let date = Some("yyyy-mm-dd");
    assert_eq!(formats, [date, date, date, None, None]);
}

#[test]
fn time_and_random_numbers_belong_to_the_position() {
    let world =
        World::of(&[("A1", "=NOW()"), ("A2", "=RAND()"), ("A3", "=RAND()"), ("A4", "=TODAY()")]);
    let values = world.values(&mut world.calculation(), &["A1", "A2", "A3", "A4"]);
    // 2026-11-26 12:00
    assert_eq!((values[0].clone(), values[3].clone()), (number(46_352.5), number(46_352.0)));
    assert_ne!(values[1], values[2]);
    assert_eq!(values, world.values(&mut world.calculation(), &["A1", "A2", "A3", "A4"]));
}
