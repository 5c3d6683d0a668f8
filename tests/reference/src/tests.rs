use std::collections::{HashMap, HashSet};

use super::*;

const ROWS: u32 = 100_000;

/// Returns the entropy of the items' distribution, in bits.
fn entropy<T: std::hash::Hash + Eq>(items: impl Iterator<Item = T>) -> f64 {
    let mut counts: HashMap<T, u32> = HashMap::new();
    items.for_each(|item| *counts.entry(item).or_default() += 1);
    let total = f64::from(counts.values().sum::<u32>());
    counts.values().map(|count| f64::from(*count) / total).map(|share| -share * share.log2()).sum()
}

#[test]
fn the_entropy_of_each_column_is_as_documented() {
    let near = |found: f64, said: f64| assert!((found - said).abs() < 0.05, "{found} {said}");
    // If there are enough rows, the entropy is measured; if not, it is calculated from the
    // generator's distribution.
    near(entropy((0..ROWS).map(product)), 6.57);
    near(12.0 * 36_f64.log2(), 62.04);
    near(1_000_f64.log2(), 9.97);
    near(1_000_000_f64.log2(), 19.93);
    let empty = entropy((0..ROWS).map(|row| measure(row).is_none()));
    near(0.95 * 53.0 + empty, 50.64);
    near(64_f64.log2() / 64.0, 0.09);
    near(entropy((0..ROWS).map(|row| value(row, 7) == ReferenceValue::Bool(true))), 0.47);
    let blank = entropy((0..ROWS).map(|row| note(row).is_none()));
    near(blank + 0.3 * (8_f64.log2() + 4.5 * 256_f64.log2()), 12.58);
    let bits = 6.57 + 62.04 + 9.97 + 19.93 + 50.64 + 0.09 + 0.47 + 12.58;
    assert!((bits / 8.0 / 9.25 - ENTROPY_BYTES_PER_CELL).abs() < 0.005, "{}", bits / 74.0);
}

#[test]
fn as_many_cells_are_populated_as_documented() {
    let empty =
        |row: u32| (0..COLUMNS).filter(move |column| value(row, *column) == ReferenceValue::Empty);
    let empty: usize = (0..ROWS).map(|row| empty(row).count()).sum();
    let populated = f64::from(ROWS * COLUMNS) - f64::from(u32::try_from(empty).unwrap());
    assert!((populated / f64::from(ROWS) * 1_000.0 - 9_250.0).abs() < 10.0, "{populated}");
    assert_eq!(value(0, COLUMNS), ReferenceValue::Empty);
}

#[test]
fn the_values_never_change() {
    let number = |value: ReferenceValue| match value {
        ReferenceValue::Number(number) => number,
        other => panic!("{other:?}"),
    };
    for row in [0, 1, 63, 64, 99_999, u32::MAX] {
        let total = number(value(row, 3)) * number(value(row, 4));
        assert!((total - number(value(row, 9))).abs() < 0.005);
        assert!((number(value(row, 0)) - f64::from(row) - 1.0).abs() < 0.1);
    }
    let text = |column| match value(7, column) {
        ReferenceValue::Text(text) => text,
        other => panic!("{other:?}"),
    };
    assert_eq!([text(1), text(2)], ["Pine Bracket", "3PRHPO1VJE7L"]);
    let notes: Vec<String> = (1..7).filter_map(note).collect();
    assert_eq!(notes, ["macal conport oport ocal maked", "maked staring shipring becal"]);
    let numbers = [3, 4, 5, 6].map(|column| number(value(7, column)));
    assert_eq!(numbers, [438.0, 7_216.34, 0.847_279_090_637_283_2, 43_831.0]);
}

#[test]
fn codes_names_and_words_are_unique() {
    assert_eq!((0..ROWS).map(code).collect::<HashSet<_>>().len(), 100_000);
    assert_eq!((0..PRODUCTS).map(product_name).collect::<HashSet<_>>().len(), 200);
    assert_eq!((0..WORDS).map(word).collect::<HashSet<_>>().len(), 256);
}

#[test]
fn dates_rise_slowly() {
    assert!((1..ROWS).all(|row| (0..2).contains(&(date(row) - date(row - 1)))));
}
