//! Validates tiles in memory.

use super::{TextLayer, Tile, TileColumn, TileValue};
use cellar_base::limits::{
    MAX_COLUMNS, MAX_FORMAT_BYTES, MAX_FORMULA_BYTES, MAX_ROWS, MAX_TEXT_BYTES, MAX_TILE_TEXT_BYTES,
};

impl Tile {
    /// Returns whether the tile is valid: rows and columns ascend within the limits of a sheet, no
    /// column is empty, every row with a formula has a value, numbers are finite, and texts are
    /// within their limits.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.columns.is_sorted_by(|one, next| one.column < next.column)
            && self.columns.iter().all(TileColumn::is_valid)
    }
}

impl TileColumn {
    fn is_valid(&self) -> bool {
        let rows = self.values.rows();
        !self.is_empty()
            && self.column < MAX_COLUMNS
            && are_valid_rows(rows)
            && rows.len() == self.values.values().len()
            && self.values.values().iter().all(|value| self.is_valid_value(value))
            && are_valid_texts(&self.formulas, MAX_FORMULA_BYTES)
            && self.formulas.rows().iter().all(|row| rows.binary_search(row).is_ok())
            && are_valid_texts(&self.formats, MAX_FORMAT_BYTES)
    }

    fn is_valid_value(&self, value: &TileValue) -> bool {
        match value {
            TileValue::Number(number) => number.is_finite(),
            TileValue::Text(span) => {
                let text = span.of(self.values.texts());
                u32::try_from(text.len()) == Ok(span.len) && text.len() <= MAX_TILE_TEXT_BYTES
            }
            TileValue::Long(number) => {
                let is_long = |bytes: usize| bytes > MAX_TILE_TEXT_BYTES && bytes <= MAX_TEXT_BYTES;
                self.values.long_text(*number).is_some_and(|(preview, _, bytes)| {
                    preview.len() <= MAX_TILE_TEXT_BYTES
                        && usize::try_from(bytes).is_ok_and(is_long)
                })
            }
            TileValue::Empty | TileValue::Bool(_) | TileValue::Error(_) => true,
        }
    }
}

fn are_valid_rows(rows: &[u32]) -> bool {
    rows.is_sorted_by(|one, next| one < next) && rows.last().is_none_or(|row| *row < MAX_ROWS)
}

fn are_valid_texts(layer: &TextLayer, max_bytes: usize) -> bool {
    let fits = |span: &super::TextSpan| {
        let text = span.of(layer.texts());
        u32::try_from(text.len()) == Ok(span.len) && text.len() <= max_bytes
    };
    are_valid_rows(layer.rows())
        && layer.rows().len() == layer.spans().len()
        && layer.spans().iter().all(fits)
}
