//! What every reader of a tile may rely on.

use super::{TextLayer, Tile, TileColumn, TileValue};
use cellar_base::limits::{
    MAX_COLUMNS, MAX_FORMAT_BYTES, MAX_FORMULA_BYTES, MAX_ROWS, MAX_TEXT_BYTES, MAX_TILE_TEXT_BYTES,
};

impl Tile {
    /// Whether rows and columns ascend within a sheet, no column is empty, formulas stand in rows that
    /// have a value, numbers are finite, and texts are where they should be and no longer than they
    /// may be.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.columns.is_sorted_by(|one, next| one.column < next.column)
            && self.columns.iter().all(TileColumn::is_sound)
    }
}

impl TileColumn {
    fn is_sound(&self) -> bool {
        let rows = self.values.rows();
        !self.is_empty()
            && self.column < MAX_COLUMNS
            && ascending(rows)
            && rows.len() == self.values.values().len()
            && self.values.values().iter().all(|value| self.holds(value))
            && texts(&self.formulas, MAX_FORMULA_BYTES)
            && self.formulas.rows().iter().all(|row| rows.binary_search(row).is_ok())
            && texts(&self.formats, MAX_FORMAT_BYTES)
    }

    fn holds(&self, value: &TileValue) -> bool {
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

fn ascending(rows: &[u32]) -> bool {
    rows.is_sorted_by(|one, next| one < next) && rows.last().is_none_or(|row| *row < MAX_ROWS)
}

fn texts(layer: &TextLayer, most_bytes: usize) -> bool {
    let fits = |span: &super::TextSpan| {
        let text = span.of(layer.texts());
        u32::try_from(text.len()) == Ok(span.len) && text.len() <= most_bytes
    };
    ascending(layer.rows())
        && layer.rows().len() == layer.spans().len()
        && layer.spans().iter().all(fits)
}
