//! Bytes per cell on the reference data; deterministic.

use cellar_reference_data::{COLUMNS, ReferenceValue, value};

use crate::chunk::{chunk_of, decode};
use crate::packed::{Bounds, unpack};
use crate::tile::{Tile, TileColumn, TileValue};
use cellar_base::limits::TARGET_CHUNK_BYTES;

fn tile(first: u32, rows: u32) -> Tile {
    let column = |number: u32| {
        let mut column = TileColumn::new(number);
        for row in 0..rows {
            match value(first + row, number) {
                ReferenceValue::Empty => {}
                ReferenceValue::Number(number) => {
                    column.values.push(row, TileValue::Number(number));
                }
                ReferenceValue::Bool(value) => column.values.push(row, TileValue::Bool(value)),
                ReferenceValue::Text(text) => column.values.push_text(row, &text),
            }
        }
        column
    };
    Tile { columns: (0..COLUMNS).map(column).collect() }
}

#[test]
fn populated_cells_take_at_most_2_7_bytes() {
    const ROWS: u32 = 5_400;
    let (mut stored, mut cells) = (0, 0);
    for first in [0, 1_000_000, 9_000_000] {
        let tile = tile(first, ROWS);
        let chunk = chunk_of(&tile).unwrap();
        assert!(chunk.stored.len().abs_diff(TARGET_CHUNK_BYTES) < TARGET_CHUNK_BYTES / 20);
        let read = unpack(chunk.chunk.hash, &chunk.stored, Bounds::CHUNK).unwrap();
        let read = decode(&read).unwrap();
        assert_eq!(read, tile);
        stored += chunk.stored.len();
        cells += tile.cell_count();
    }
    assert!(stored * 100 <= cells * 270, "{stored} bytes for {cells} cells");
}
