//! Every limit holds at N and N + 1, when encoding and when decoding.

use super::support::sample;
use crate::chunk::{UnencodableTile, decode, encode};
use crate::tile::{TextSpan, Tile, TileColumn, TileValue};
use cellar_base::limits::{
    MAX_CHUNK_BYTES, MAX_COLUMNS, MAX_COPIED_FORMAT_BYTES, MAX_FORMAT_BYTES, MAX_FORMULA_BYTES,
    MAX_ROWS, MAX_TEMPLATE_BYTES, MAX_TEXT_BYTES, MAX_TILE_CELLS, MAX_TILE_COLUMNS,
    MAX_TILE_TEXT_BYTES,
};

fn one(fill: impl FnOnce(&mut TileColumn)) -> Tile {
    let mut column = TileColumn::new(0);
    fill(&mut column);
    Tile { columns: vec![column] }
}

fn fits(tile: &Tile) -> bool {
    match encode(tile) {
        Ok(bytes) => {
            assert_eq!(&decode(&bytes).unwrap(), tile);
            true
        }
        Err(_) => false,
    }
}

#[test]
fn cells_are_counted_over_all_layers_and_columns() {
    let tile = |values: usize, formats: usize| {
        let mut tile = one(|column| {
            (0..u32::try_from(values).unwrap())
                .for_each(|row| column.values.push(row, TileValue::Empty));
            column.formulas.push(5, "=1");
        });
        let mut other = TileColumn::new(1);
        (0..u32::try_from(formats).unwrap()).for_each(|row| other.formats.push(row, "0"));
        tile.columns.push(other);
        tile
    };
    assert!(fits(&tile(MAX_TILE_CELLS - 100 - 1, 100)));
    let too_many = encode(&tile(MAX_TILE_CELLS - 100, 100));
    assert_eq!(too_many, Err(UnencodableTile::Cells { cells: MAX_TILE_CELLS + 1 }));
}

#[test]
fn columns_are_counted() {
    let tile = |columns: usize| {
        let column = |number| {
            let mut column = TileColumn::new(number);
            column.values.push(0, TileValue::Empty);
            column
        };
        Tile { columns: (0..u32::try_from(columns).unwrap()).map(column).collect() }
    };
    assert!(fits(&tile(MAX_TILE_COLUMNS)));
    let columns = MAX_TILE_COLUMNS + 1;
    assert_eq!(encode(&tile(columns)), Err(UnencodableTile::Columns { columns }));
}

#[test]
fn texts_end_at_their_limits() {
    let text = |bytes: usize| one(|column| column.values.push_text(0, &"x".repeat(bytes)));
    assert!(fits(&text(MAX_TILE_TEXT_BYTES)) && !fits(&text(MAX_TILE_TEXT_BYTES + 1)));
    let formula = |bytes: usize| {
        one(|column| {
            column.values.push(0, TileValue::Empty);
            column.formulas.push(0, &"x".repeat(bytes));
        })
    };
    assert!(fits(&formula(MAX_FORMULA_BYTES)) && !fits(&formula(MAX_FORMULA_BYTES + 1)));
    let template = |bytes: usize| {
        one(|column| {
            column.values.push(0, TileValue::Empty);
            column.templates.push(0, &format!("={}", "x".repeat(bytes - 1)));
        })
    };
    assert!(fits(&template(MAX_TEMPLATE_BYTES)) && !fits(&template(MAX_TEMPLATE_BYTES + 1)));
    let format = |bytes: usize| one(|column| column.formats.push(0, &"x".repeat(bytes)));
    assert!(fits(&format(MAX_FORMAT_BYTES)) && !fits(&format(MAX_FORMAT_BYTES + 1)));
    let long = |preview: usize, bytes: usize| {
        let bytes = u32::try_from(bytes).unwrap();
        one(|column| column.values.push_long_text(0, &"x".repeat(preview), [1; 32], bytes))
    };
    assert!(
        fits(&long(MAX_TILE_TEXT_BYTES, MAX_TILE_TEXT_BYTES + 1)) && fits(&long(0, MAX_TEXT_BYTES))
    );
    assert!(!fits(&long(MAX_TILE_TEXT_BYTES + 1, MAX_TEXT_BYTES)));
    assert!(!fits(&long(0, MAX_TILE_TEXT_BYTES)) && !fits(&long(0, MAX_TEXT_BYTES + 1)));
}

#[test]
fn rows_and_columns_end_at_their_limits() {
    let row = |row: u32| one(|column| column.values.push(row, TileValue::Empty));
    assert!(fits(&row(MAX_ROWS - 1)) && !fits(&row(MAX_ROWS)));
    let format = |row: u32| one(|column| column.formats.push(row, "0"));
    assert!(fits(&format(MAX_ROWS - 1)) && !fits(&format(MAX_ROWS)));
    let column = |number: u32| {
        let mut tile = row(0);
        tile.columns[0].index = number;
        tile
    };
    assert!(fits(&column(MAX_COLUMNS - 1)) && !fits(&column(MAX_COLUMNS)));
}

#[test]
fn the_length_of_a_chunk_is_bounded() {
    // Texts of random letters, which no form shortens. The last text fills the remaining bytes.
    let letters = |number: u32, bytes: usize| -> String {
        let mut random = vec![0; bytes];
        blake3::Hasher::new().update(&number.to_le_bytes()).finalize_xof().fill(&mut random);
        random.iter().map(|byte| char::from(b' ' + 1 + byte % 94)).collect()
    };
    let tile = |last: usize| {
        one(|column| {
            (0..1_020)
                .for_each(|row| column.values.push_text(row, &letters(row, MAX_TILE_TEXT_BYTES)));
            (1_020..1_026).for_each(|row| column.values.push_text(row, &letters(row, 2_000)));
            column.values.push_text(1_026, &letters(1_026, last));
        })
    };
    let last = MAX_CHUNK_BYTES - encode(&tile(2_000)).unwrap().len() + 2_000;
    assert_eq!(encode(&tile(last)).unwrap().len(), MAX_CHUNK_BYTES);
    assert!(fits(&tile(last)));
    let bytes = MAX_CHUNK_BYTES + 1;
    assert_eq!(encode(&tile(last + 1)), Err(UnencodableTile::Bytes { bytes }));
}

#[test]
fn formats_of_columns_are_counted_before_they_are_copied() {
    let long = "0".repeat(MAX_FORMAT_BYTES);
    let most = MAX_COPIED_FORMAT_BYTES / MAX_FORMAT_BYTES;
    let tile = |columns: usize| {
        let column = |number| {
            let mut column = TileColumn::new(number);
            column.formats.push(0, &long);
            column.formats.push(2, &long);
            column
        };
        Tile { columns: (0..u32::try_from(columns).unwrap()).map(column).collect() }
    };
    assert!(fits(&tile(most)));
    let bytes = (most + 1) * MAX_FORMAT_BYTES;
    assert_eq!(encode(&tile(most + 1)), Err(UnencodableTile::Formats { bytes }));
}

#[test]
fn invalid_tiles_are_rejected() {
    let part = |tile: Tile| {
        assert!(matches!(encode(&tile), Err(UnencodableTile::Malformed(_))), "{tile:?}");
    };
    for number in [f64::NAN, f64::INFINITY] {
        part(one(|column| column.values.push(0, TileValue::Number(number))));
    }
    part(one(|column| column.values.push(0, TileValue::Text(TextSpan { start: 0, len: 1 }))));
    part(one(|column| column.values.push(0, TileValue::LongText(0))));
    part(one(|_| {}));
    part(one(|column| column.formulas.push(0, "=1")));
    part(one(|column| {
        column.values.push(0, TileValue::Empty);
        column.formulas.push(1, "=1");
    }));
    part(one(|column| column.templates.push(0, "=1")));
    for template in ["", "1", "=\u{1}", "=\u{1}r0\u{2}"] {
        part(one(|column| {
            column.values.push(0, TileValue::Empty);
            column.templates.push(0, template);
        }));
    }
    part(one(|column| {
        column.values.push(0, TileValue::Empty);
        column.formulas.push(0, "=1");
        column.templates.push(0, "=1");
    }));
    let mut twice = sample();
    twice.columns[1].index = 2;
    part(twice);
}
