//! Validates tiles in memory.

use super::{LongText, TextLayer, TextSpan, Tile, TileColumn, TileValue};
use crate::saturate::to_usize;
use cellar_base::limits::{
    MAX_COLUMNS, MAX_FORMAT_BYTES, MAX_FORMULA_BYTES, MAX_ROWS, MAX_TEMPLATE_BYTES, MAX_TEXT_BYTES,
    MAX_TILE_TEXT_BYTES,
};
use cellar_formula::Template;

impl Tile {
    /// Returns whether the tile is valid: rows and columns are in ascending order and within the
    /// limits of a sheet, no column is empty, every row with a formula has a value, numbers are
    /// finite, and strings are not too long.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.columns.is_sorted_by(|column, next_column| column.index < next_column.index)
            && self.columns.iter().all(TileColumn::is_valid)
    }
}

impl TileColumn {
    fn is_valid(&self) -> bool {
        let value_rows = self.values.rows();
        !self.is_empty()
            && self.index < MAX_COLUMNS
            && are_valid_rows(value_rows)
            && value_rows.len() == self.values.values().len()
            && self.values.values().iter().all(|value| self.is_valid_value(value))
            && are_valid_texts(&self.formulas, MAX_FORMULA_BYTES)
            && self.formulas.rows().iter().all(|row| value_rows.binary_search(row).is_ok())
            && are_valid_texts(&self.templates, MAX_TEMPLATE_BYTES)
            && self.templates.rows().iter().all(|row| value_rows.binary_search(row).is_ok())
            && are_disjoint(self.formulas.rows(), self.templates.rows())
            && are_valid_templates(&self.templates)
            && are_valid_texts(&self.formats, MAX_FORMAT_BYTES)
    }

    fn is_valid_value(&self, value: &TileValue) -> bool {
        match value {
            TileValue::Number(number) => number.is_finite(),
            TileValue::Text(span) => is_valid_text(*span, self.values.texts(), MAX_TILE_TEXT_BYTES),
            TileValue::LongText(index) => {
                self.values.long_text(*index).is_some_and(|text| self.is_valid_long_text(text))
            }
            TileValue::Empty | TileValue::Bool(_) | TileValue::Error(_) => true,
        }
    }

    fn is_valid_long_text(&self, long_text: &LongText) -> bool {
        let preview = long_text.preview.of(self.values.texts());
        let byte_length = to_usize(long_text.byte_length);
        preview.len() <= MAX_TILE_TEXT_BYTES
            && byte_length > MAX_TILE_TEXT_BYTES
            && byte_length <= MAX_TEXT_BYTES
    }
}

/// Returns whether all strings are templates of formulas.
pub(crate) fn are_valid_templates(layer: &TextLayer) -> bool {
    layer.distinct().all(|encoded| Template::decode(encoded.to_owned()).is_ok())
}

/// Returns whether no row is in both lists, which are in ascending order.
pub(crate) fn are_disjoint(rows: &[u32], other_rows: &[u32]) -> bool {
    rows.is_empty() || other_rows.iter().all(|row| rows.binary_search(row).is_err())
}

fn are_valid_rows(rows: &[u32]) -> bool {
    rows.is_sorted_by(|row, next_row| row < next_row)
        && rows.last().is_none_or(|last_row| *last_row < MAX_ROWS)
}

fn are_valid_texts(layer: &TextLayer, max_text_bytes: usize) -> bool {
    are_valid_rows(layer.rows())
        && layer.rows().len() == layer.spans().len()
        && layer.spans().iter().all(|span| is_valid_text(*span, layer.texts(), max_text_bytes))
}

fn is_valid_text(span: TextSpan, texts: &str, max_text_bytes: usize) -> bool {
    let text = span.of(texts);
    text.len() == to_usize(span.len) && text.len() <= max_text_bytes
}
