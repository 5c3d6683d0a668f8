//! Golden files of all released versions, and the example in `docs/reference/chunk-format.md`.

use std::fs;
use std::path::PathBuf;

use super::support::{sample, with_templates};
use crate::chunk::{decode, encode};
use crate::tile::{Tile, TileColumn, TileValue};
use cellar_base::hexadecimal::hexadecimal;
use cellar_sheet::cell::ErrorCode;

/// Compares a tile with its golden file. Writes a missing file if requested by an environment
/// variable.
fn released(name: &str, tile: &Tile) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(name);
    let bytes = encode(tile).unwrap();
    let hex = hexadecimal(&bytes);
    if std::env::var_os("WRITE_GOLDEN_FILES").is_some() && !path.exists() {
        fs::write(&path, format!("{hex}\n")).unwrap();
    }
    let released = fs::read_to_string(&path).unwrap();
    assert_eq!(decode(&from_hex(&released)).unwrap(), *tile, "a released chunk reads otherwise");
    // All workers must write the same bytes, so that equal chunks are one object.
    assert_eq!(
        hex,
        released.trim(),
        "the encoding of a released version has changed: add a new version instead"
    );
}

fn from_hex(text: &str) -> Vec<u8> {
    let digits: Vec<char> = text.chars().filter(|character| !character.is_whitespace()).collect();
    let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

fn numbers(column: u32, count: u32, number: impl Fn(u32) -> f64) -> TileColumn {
    let mut this = TileColumn::new(column);
    (0..count).for_each(|row| this.values.push(row, TileValue::Number(number(row))));
    this
}

fn texts(column: u32, count: u32, text: impl Fn(u32) -> String) -> TileColumn {
    let mut this = TileColumn::new(column);
    (0..count).for_each(|row| this.values.push_text(row, &text(row)));
    this
}

/// Returns a pseudo-random number that does not depend on a library.
fn wild(row: u32) -> u32 {
    (row + 1).wrapping_mul(2_654_435_761) ^ (row + 7).wrapping_mul(40_503) >> 3
}

/// Columns for all forms that the encoder chooses.
pub(super) fn every_form() -> Tile {
    let f = f64::from;
    let mut gaps = TileColumn::new(10);
    (0..40_u32).for_each(|row| gaps.values.push(row * row * 1_000, TileValue::Bool(row % 3 == 0)));
    let mut bitmap = TileColumn::new(11);
    (0..600).filter(|row| !wild(*row).is_multiple_of(9)).for_each(|row| {
        bitmap.values.push(
            row,
            [TileValue::Empty, TileValue::Error(ErrorCode::Ref)]
                [usize::from(wild(row).is_multiple_of(5))],
        );
        bitmap.formats.push(row, ["0", "0.00", "General"][usize::try_from(wild(row) % 3).unwrap()]);
    });
    let word =
        |row: u32| ["alpha", "beta", "", "gamma", "delta"][usize::try_from(wild(row) % 5).unwrap()];
    let name = |row: u32| format!("name {}", wild(row) % 7);
    let note = |row: u32| [word(row), word(row + 500), word(row * 3), word(row * 7 + 1)].join(" ");
    Tile {
        columns: vec![
            numbers(0, 1_300, |row| f(wild(row) % 1_000)),
            numbers(1, 200, |row| f(row) * 3.0 - 50.0),
            numbers(2, 200, |row| f(row) * f(row)),
            numbers(3, 300, |row| f(wild(row) % 10_000) / 100.0),
            numbers(4, 300, |row| if row == 250 { -0.0 } else { f(row * 5 + wild(row) % 4) }),
            numbers(5, 100, |row| f(wild(row)) / 7.0),
            numbers(6, 100, |row| f(1 + row / 20) / 3.0),
            numbers(7, 200, |row| f(wild(row) % 3) / 7.0),
            numbers(8, 300, |row| f(if row % 50 == 3 { 1_000_000_000 + wild(row) % 9 } else { 5 })),
            numbers(9, 5, |row| f(wild(row) % 5) - 2.0),
            gaps,
            bitmap,
            texts(12, 300, name),
            texts(13, 100, |row| format!("/a/path/to/{row:05}")),
            texts(14, 150, note),
            texts(15, 40, |row| format!("{:x}", wild(row))),
        ],
    }
}

#[test]
fn tiles_of_version_1() {
    released("chunk-tile-v1.hex", &sample());
    released("chunk-tile-v1-every-form.hex", &every_form());
    released("chunk-tile-v1-empty.hex", &Tile::default());
}

#[test]
fn tiles_of_version_2() {
    released("chunk-tile-v2.hex", &with_templates());
}

#[test]
fn only_tiles_with_templates_have_version_2() {
    const VERSION_BYTE: usize = 2;
    for tile in [sample(), every_form(), Tile::default()] {
        assert_eq!(encode(&tile).unwrap()[VERSION_BYTE], 1);
    }
    assert_eq!(encode(&with_templates()).unwrap()[VERSION_BYTE], 2);
}

#[test]
fn the_example_of_the_format() {
    let mut first = TileColumn::new(0);
    for (row, price) in [(2, 9.5), (3, 12.75), (4, 20.0)] {
        first.values.push(row, TileValue::Number(price));
        first.formats.push(row, "0.00");
    }
    first.formulas.push(4, "=B4*2");
    let mut second = TileColumn::new(3);
    second.values.push(2, TileValue::Empty);
    second.values.push_text(4, "né");
    let tile = Tile { columns: vec![first, second] };
    let document = include_str!("../../../../../docs/reference/chunk-format.md");
    let (_, example) = document.split_once("```hex\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let bytes = example.lines().map(|line| line.split('|').next().unwrap()).collect::<String>();
    assert_eq!(hexadecimal(&encode(&tile).unwrap()), hexadecimal(&from_hex(&bytes)));
    assert_eq!(decode(&from_hex(&bytes)).unwrap(), tile);
}
