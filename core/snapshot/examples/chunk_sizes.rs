//! Measures the chunk format on the reference data: bytes and time per cell, and each column's
//! share of the bytes.
//!
//! `cargo run --release -p cellar-snapshot --example chunk_sizes`

use std::time::Instant;

use cellar_base::limits::TARGET_CHUNK_BYTES;
use cellar_reference_data::{COLUMNS, NAMES, ReferenceValue, value};
use cellar_snapshot::chunk::{chunk_of, decode, encode};
use cellar_snapshot::packed::{Bounds, unpack};
use cellar_snapshot::tile::{Tile, TileColumn, TileValue};

/// Number of times each measurement is repeated; the median is reported.
const REPEATS: usize = 41;

fn column(number: u32, first: u32, rows: u32) -> TileColumn {
    let mut column = TileColumn::new(number);
    for row in 0..rows {
        match value(first + row, number) {
            ReferenceValue::Empty => {}
            ReferenceValue::Number(number) => column.values.push(row, TileValue::Number(number)),
            ReferenceValue::Bool(value) => column.values.push(row, TileValue::Bool(value)),
            ReferenceValue::Text(text) => column.values.push_text(row, &text),
        }
    }
    column
}

fn tile(first: u32, rows: u32) -> Tile {
    Tile { columns: (0..COLUMNS).map(|number| column(number, first, rows)).collect() }
}

fn median_ns<T>(mut work: impl FnMut() -> T) -> f64 {
    let mut times: Vec<f64> = (0..REPEATS)
        .map(|_| {
            let begin = Instant::now();
            std::hint::black_box(work());
            begin.elapsed().as_secs_f64() * 1e9
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times.get(REPEATS / 2).copied().unwrap_or_default()
}

fn per(cells: usize, amount: f64) -> f64 {
    amount / f64::from(u32::try_from(cells).unwrap_or(u32::MAX))
}

fn bytes(list: &[u8]) -> f64 {
    f64::from(u32::try_from(list.len()).unwrap_or(u32::MAX))
}

fn report(name: &str, tile: &Tile) -> Result<(), Box<dyn std::error::Error>> {
    let plain = encode(tile)?;
    let chunk = chunk_of(tile).ok_or("the tile is too large")?;
    let cells = tile.cell_count();
    let encode_ns = median_ns(|| encode(tile));
    let chunk_ns = median_ns(|| chunk_of(tile));
    let unpack_ns = median_ns(|| unpack(chunk.chunk.hash, &chunk.stored, Bounds::CHUNK));
    let decode_ns = median_ns(|| decode(&plain));
    println!(
        "{name:9} {cells:6} cells {:7} stored {:6.3} B/cell ({:6.3} unpacked) | encode {:5.1} + pack {:5.1} ns | unpack {:4.2} + decode {:4.2} ns",
        chunk.stored.len(),
        per(cells, bytes(&chunk.stored)),
        per(cells, bytes(&plain)),
        per(cells, encode_ns),
        per(cells, (chunk_ns - encode_ns).max(0.0)),
        per(cells, unpack_ns),
        per(cells, decode_ns),
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Grows the chunk row by row until it reaches the target size.
    let mut rows = 1_000;
    while chunk_of(&tile(0, rows)).is_some_and(|chunk| chunk.stored.len() < TARGET_CHUNK_BYTES) {
        rows += 250;
    }
    println!("{rows} rows");
    for first in [0, 1_000_000] {
        report("tile", &tile(first, rows))?;
    }
    for (number, name) in (0..COLUMNS).zip(NAMES) {
        report(name, &Tile { columns: vec![column(number, 1_000_000, rows)] })?;
    }
    Ok(())
}
