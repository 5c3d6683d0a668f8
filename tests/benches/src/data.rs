//! The reference data as blocks, and random edits of it.

use cellar_reference_data::{COLUMNS, ReferenceValue, value};
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};
use cellar_snapshot::tile::{Tile, TileColumn, TileValue};

/// Rows of a block, as in an import.
const BLOCK_ROWS: u32 = 4_096;

/// Returns a block with these rows of the reference data, which are also the rows of the sheet.
pub(crate) fn block(first: u32, end: u32) -> Tile {
    let column = |number| {
        let mut column = TileColumn::new(number);
        for row in first..end {
            match value(row, number) {
                ReferenceValue::Empty => {}
                ReferenceValue::Number(number) => {
                    column.values.push(row, TileValue::Number(number))
                }
                ReferenceValue::Bool(value) => column.values.push(row, TileValue::Bool(value)),
                ReferenceValue::Text(text) => column.values.push_text(row, &text),
            }
        }
        column
    };
    Tile { columns: (0..COLUMNS).map(column).collect() }
}

/// Returns all blocks from top to bottom.
pub(crate) fn blocks(rows: u32) -> impl Iterator<Item = Tile> {
    (0..rows)
        .step_by(BLOCK_ROWS as usize)
        .map(move |first| block(first, first.saturating_add(BLOCK_ROWS).min(rows)))
}

/// An edit that sets a cell to a value.
#[derive(Clone)]
pub(crate) struct Edit {
    pub(crate) row: u32,
    pub(crate) column: u32,
    pub(crate) value: ReferenceValue,
}

impl Edit {
    /// Returns the edit of this number: a random cell below `rows` gets the value of another cell
    /// in its column.
    pub(crate) fn numbered(number: u32, rows: u32) -> Self {
        let random = mixed(number);
        let below = |bits: u64, end: u32| ((u64::from(low(bits)) * u64::from(end)) >> 32) as u32;
        let (row, column) = (below(random, rows), below(random >> 32, COLUMNS));
        Self { row, column, value: value(number, column) }
    }

    pub(crate) fn operation(&self) -> Operation {
        let value = match &self.value {
            ReferenceValue::Empty => Value::Empty,
            ReferenceValue::Number(number) => Value::Number(*number),
            ReferenceValue::Bool(value) => Value::Bool(*value),
            ReferenceValue::Text(text) => Value::Text(text.clone()),
        };
        let (row, column) = (self.row, self.column);
        let cell = CellEdit { row, column, value: Some(value), formula: None, format: None };
        Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![cell] })
    }

    /// Returns the key and the value of the edit for a key-value store.
    #[cfg_attr(not(feature = "peers"), expect(dead_code, reason = "peers alone are such stores"))]
    pub(crate) fn key_and_value(&self) -> ([u8; 8], Vec<u8>) {
        let key = u64::from(self.row) << 32 | u64::from(self.column);
        let value = match &self.value {
            ReferenceValue::Empty => vec![0],
            ReferenceValue::Number(number) => [&[1], number.to_le_bytes().as_slice()].concat(),
            ReferenceValue::Bool(value) => vec![2, u8::from(*value)],
            ReferenceValue::Text(text) => [&[3], text.as_bytes()].concat(),
        };
        (key.to_be_bytes(), value)
    }
}

fn low(bits: u64) -> u32 {
    (bits & u64::from(u32::MAX)) as u32
}

/// Mixes the bits of a number (splitmix64).
fn mixed(number: u32) -> u64 {
    let mut bits = (u64::from(number) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
