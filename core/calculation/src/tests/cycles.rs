//! Tests of formulas that form cycles.

use cellar_sheet::cell::{ErrorCode, Value};

use super::world::{World, number};

const REF: Value = Value::Error(ErrorCode::Ref);

#[test]
fn a_cycle_is_an_error_that_names_its_cells() {
    let mut world = World::of(&[("A1", "=B1"), ("B1", "=Other!A1+1"), ("C1", "=IFERROR(A1,5)")]);
    world.add_sheet("Other", &[("A1", "=Sheet1!A1")]);
    let results = world.results(&mut world.calculation(), &["C1", "B1"]);
    assert_eq!(results[0].value, number(5.0));
    assert_eq!((&results[1].value, results[1].is_stale), (&REF, false));
    let note = results[1].note.as_ref().unwrap();
    assert_eq!(**note, *"the formula depends on itself: B1 → Other!A1 → A1 → B1");
}

#[test]
fn a_formula_that_reads_itself_is_a_cycle() {
    let world = World::of(&[("A1", "=A1+1"), ("A2", "=SUM(A:A)"), ("A3", "=ROW(A3)")]);
    let values = world.values(&mut world.calculation(), &["A1", "A2", "A3"]);
    assert_eq!(values, [REF, REF, number(3.0)]);
}

/// `MATCH` and `XMATCH` stop at the first match, so they do not read the cell that would form a
/// cycle. The order of calculation must not change this.
#[test]
fn formulas_in_a_range_that_are_not_read_make_no_cycle() {
    let cells = [("A1", "=1+1"), ("A2", "=2+1"), ("A3", "=MATCH(3,A1:A3,0)"), ("A4", "=3+1")];
    let world = World::of(&cells);
    let mut first_others = world.calculation();
    world.values(&mut first_others, &["A1", "A2"]);
    let expected = world.values(&mut first_others, &["A3"]);
    assert_eq!(world.values(&mut world.calculation(), &["A3"]), expected);
    let world = World::of(&[
        ("A1", "=B1"),
        ("A2", "=C1"),
        ("B1", "1"),
        ("C1", "=IF(ISNUMBER(XMATCH(1,A1:A2)),7,0)"),
    ]);
    assert_eq!(
        world.values(&mut world.calculation(), &["C1"]),
        world.values(
            &mut {
                let mut calculation = world.calculation();
                world.values(&mut calculation, &["A1"]);
                calculation
            },
            &["C1"]
        )
    );
}

#[test]
fn a_long_cycle_is_shortened() {
    let mut world = World::of(&[]);
    for row in 0..40 {
        world.set_at(0, row, 0, &format!("=A{}", (row + 1) % 40 + 1));
    }
    let results = world.results(&mut world.calculation(), &["A1"]);
    let note = results[0].note.as_ref().unwrap();
    assert!(note.contains("A8 → 32 more → A1"), "{note}");
}
