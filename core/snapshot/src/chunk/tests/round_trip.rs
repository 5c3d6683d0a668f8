//! Round trips of tiles.

use proptest::prelude::*;

use super::support::{sample, tile};
use crate::chunk::{decode, encode};
use crate::tile::{Tile, TileColumn, TileValue};
use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};

proptest! {
    #[test]
    fn any_tile_reads_back_and_has_one_form(tile in tile()) {
        prop_assert!(tile.is_valid());
        let bytes = encode(&tile).unwrap();
        let read = decode(&bytes).unwrap();
        prop_assert!(read.is_valid());
        prop_assert_eq!(&read, &tile);
        // The decoded texts are stored at other offsets, but the encoded bytes are equal.
        prop_assert_eq!(encode(&read).unwrap(), bytes);
    }
}

#[test]
fn tiles_of_every_kind_read_back() {
    for tile in [Tile::default(), sample()] {
        assert_eq!(decode(&encode(&tile).unwrap()).unwrap(), tile);
    }
    assert_eq!(encode(&Tile::default()).unwrap().len(), 6);
}

#[test]
fn scattered_cells_take_a_few_bytes_each() {
    // 1,000 of 4 million columns, one cell each, in a billion rows.
    let scattered = |rows: u32| {
        let column = |number: u32| {
            let mut column = TileColumn::new(number * (MAX_COLUMNS / 1_000));
            let row = number.wrapping_mul(2_654_435_761) % rows;
            column.values.push(row, TileValue::Number(f64::from(number % 50)));
            column
        };
        Tile { columns: (0..1_000).map(column).collect() }
    };
    let bytes = |tile: &Tile| {
        let bytes = encode(tile).unwrap();
        assert_eq!(&decode(&bytes).unwrap(), tile);
        bytes.len()
    };
    // The column takes 2 bytes, kind and form 1, the number's form 1, the number 1, the row up to
    // 5.
    assert!(bytes(&scattered(1)) <= 1_000 * 6 + 10, "{}", bytes(&scattered(1)));
    assert!(bytes(&scattered(MAX_ROWS)) <= 1_000 * 10 + 10, "{}", bytes(&scattered(MAX_ROWS)));
    let near = Tile {
        columns: (0..1_000)
            .map(|number| {
                let mut column = TileColumn::new(number);
                column.values.push(MAX_ROWS - 1, TileValue::Bool(true));
                column
            })
            .collect(),
    };
    assert!(bytes(&near) <= 1_000 * 4 + 20, "one row of many columns: {}", bytes(&near));
}
