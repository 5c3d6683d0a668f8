//! Tests of exact searches by many formulas in the same rows.

use std::collections::HashMap;

use cellar_sheet::cell::Value;

use super::world::{World, number};

const ROWS: u32 = 20_000;

/// Returns keys in `A`, and formulas in `B` that search the keys of other rows.
fn world(key: impl Fn(u32) -> String, formula: impl Fn(u32) -> String) -> World {
    let mut world = World::of(&[]);
    for row in 0..ROWS {
        world.set_at(0, row, 0, &key(row));
        world.set_at(0, row, 1, &formula(row));
    }
    world
}

/// A scan for each formula would read 200 million cells, more than one request may read.
#[test]
fn a_filled_column_of_searches_is_calculated_in_one_request() {
    let key = |row: u32| (row * 7 % ROWS).to_string();
    let formula = |row: u32| format!("=MATCH({row},A$1:A${ROWS},0)");
    let world = world(key, formula);
    let cells = ["B1", "B8", "B10000", "B20000"];
    let mut calculation = world.calculation();
    let everything: Vec<String> = (1..=ROWS).map(|row| format!("B{row}")).collect();
    let everything: Vec<&str> = everything.iter().map(String::as_str).collect();
    let values = world.values(&mut calculation, &everything);
    let places: HashMap<u32, u32> = (0..ROWS).map(|row| (row * 7 % ROWS, row + 1)).collect();
    for (row, value) in (0..ROWS).zip(&values) {
        assert_eq!(*value, number(f64::from(places[&row])), "{row}");
    }
    let mut split = world.calculation();
    split.split_runs();
    let expected =
        cells.map(|cell| values[everything.iter().position(|one| *one == cell).unwrap()].clone());
    assert_eq!(world.values(&mut split, &cells), expected);
}

#[test]
fn searches_find_texts_in_any_case_and_the_last_of_equal_values() {
    let key = |row: u32| format!("Key {}", row % 9_000);
    let formula = |row: u32| match row % 3 {
        0 => format!("=VLOOKUP(\"kEY {}\",A:A,1,FALSE)", row % 9_000),
        1 => format!("=XMATCH(\"key {}\",A:A,0,-1)", row % 9_000),
        _ => "=IFNA(MATCH(\"Key 9000\",A:A,0),-1)".to_owned(),
    };
    let world = world(key, formula);
    let mut calculation = world.calculation();
    let all: Vec<String> = (1..=300).map(|row| format!("B{row}")).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    for (row, value) in (0_u32..).zip(world.values(&mut calculation, &all)) {
        let last = (0..3).map(|times| row % 9_000 + times * 9_000).filter(|row| *row < ROWS).max();
        let expected = match row % 3 {
            0 => Value::Text(format!("Key {}", row % 9_000)),
            1 => number(f64::from(last.unwrap() + 1)),
            _ => number(-1.0),
        };
        assert_eq!(value, expected, "B{}", row + 1);
    }
}
