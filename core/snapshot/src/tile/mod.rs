//! In-memory tiles. A tile contains the cells of a rectangle, stored column by column. A column
//! concatenates its strings, so that cells need no individual allocations. Stored tiles are encoded
//! in the chunk format.

mod named_text;
mod text_layer;
mod valid;
mod value_layer;

use crate::saturate::to_usize;

pub use named_text::{NamedText, preview};
pub use text_layer::{TextLayer, TextSpan};
pub(crate) use valid::{are_disjoint, are_valid_templates};
pub use value_layer::{LongText, TileValue, ValueLayer};

/// Cells of a rectangle. Rows and columns are relative to the top left corner, so that a tile can
/// be moved without being changed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tile {
    /// Non-empty columns in ascending order.
    pub columns: Vec<TileColumn>,
}

/// A column of a tile. Values (with their formulas) and formats are separate layers, because a
/// level may set only the value or only the format of a cell. The other part comes from older
/// levels.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TileColumn {
    /// Column index, relative to the tile's left edge.
    pub index: u32,
    /// Values set by the level. `Empty` hides an older value.
    pub values: ValueLayer,
    /// Texts of formulas, each in a row that also has a value. A value without a formula hides an
    /// older formula. A stored tile has texts if it was written before formulas followed rows, or if
    /// a text is no formula.
    pub formulas: TextLayer,
    /// Templates of formulas in their encoded form, each in a row that also has a value and has no
    /// text in `formulas`. Tiles of windows have none.
    pub templates: TextLayer,
    /// Number formats of cells. `General` hides an older format.
    pub formats: TextLayer,
}

impl Tile {
    /// Returns the number of cells with a value or a format.
    #[must_use]
    pub fn cell_count(&self) -> usize {
        self.columns.iter().map(TileColumn::cell_count).fold(0, usize::saturating_add)
    }

    /// Returns the number of cells with a formula.
    #[must_use]
    pub fn formula_count(&self) -> usize {
        self.columns.iter().map(TileColumn::formula_count).sum()
    }

    /// Returns the total length of the formulas in bytes. Formulas that share bytes count one by one.
    #[must_use]
    pub fn formula_bytes(&self) -> usize {
        let layers = self.columns.iter().flat_map(|column| [&column.formulas, &column.templates]);
        let spans = layers.flat_map(TextLayer::spans);
        spans.map(|span| to_usize(span.len)).fold(0, usize::saturating_add)
    }

    /// Returns whether the tile has no cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.columns.iter().all(TileColumn::is_empty)
    }

    /// Returns the number of cells above `row`.
    #[must_use]
    pub fn cell_count_above(&self, row: u32) -> usize {
        self.columns
            .iter()
            .map(|column| column.cell_count_above(row))
            .fold(0, usize::saturating_add)
    }

    /// Returns the first row that has a cell.
    #[must_use]
    pub fn first_row(&self) -> Option<u32> {
        self.columns.iter().filter_map(TileColumn::first_row).min()
    }

    /// Returns the row after the last non-empty row, or 0 if the tile is empty.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.columns.iter().map(TileColumn::end).max().unwrap_or(0)
    }

    /// Returns the approximate memory use in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.columns.iter().map(TileColumn::memory_bytes).fold(0, usize::saturating_add)
    }

    /// Calls `add_cells` with the column that has an index. A column without cells is not kept.
    pub(crate) fn add_to_column(&mut self, index: u32, add_cells: impl FnOnce(&mut TileColumn)) {
        match self.columns.binary_search_by_key(&index, |column| column.index) {
            Ok(place) => {
                if let Some(column) = self.columns.get_mut(place) {
                    add_cells(column);
                }
            }
            Err(place) => {
                let mut column = TileColumn::new(index);
                add_cells(&mut column);
                if !column.is_empty() {
                    self.columns.insert(place, column);
                }
            }
        }
    }

    /// Appends a tile whose rows are all below the rows of this tile.
    pub fn append(&mut self, other: Self) {
        if self.columns.is_empty() {
            *self = other;
            return;
        }
        let mut joined_columns: Vec<TileColumn> = Vec::with_capacity(self.columns.len());
        let mut other_columns = other.columns.into_iter().peekable();
        for mut column in std::mem::take(&mut self.columns) {
            let index = column.index;
            while let Some(left_column) = other_columns.next_if(|other| other.index < index) {
                joined_columns.push(left_column);
            }
            if let Some(same_column) = other_columns.next_if(|other| other.index == index) {
                column.append(&same_column);
            }
            joined_columns.push(column);
        }
        joined_columns.extend(other_columns);
        self.columns = joined_columns;
    }

    /// Returns the row after the last non-empty row above `row`, or 0 if all rows above are empty.
    #[must_use]
    pub fn end_above(&self, row: u32) -> u32 {
        self.columns.iter().map(|column| column.end_above(row)).max().unwrap_or(0)
    }

    /// Removes the cells from `row` on, and returns them.
    #[must_use]
    pub fn split_off(&mut self, row: u32) -> Self {
        let lower_columns = self.columns.iter_mut().map(|column| column.split_off(row));
        let columns = lower_columns.filter(|column| !column.is_empty()).collect();
        self.columns.retain(|column| !column.is_empty());
        Self { columns }
    }

    /// Moves all cells. They must be below and right of the new origin.
    pub fn move_up_and_left(&mut self, rows: u32, columns: u32) {
        for column in &mut self.columns {
            column.index = column.index.saturating_sub(columns);
            column.map_rows(|row| row.saturating_sub(rows));
        }
    }

    /// Moves all cells.
    pub fn move_down_and_right(&mut self, rows: u32, columns: u32) {
        for column in &mut self.columns {
            column.index = column.index.saturating_add(columns);
            column.map_rows(|row| row.saturating_add(rows));
        }
    }
}

impl TileColumn {
    /// Returns an empty column.
    #[must_use]
    pub fn new(index: u32) -> Self {
        Self { index, ..Self::default() }
    }

    /// Returns an empty column with the same column index, and with enough capacity for all cells
    /// of this column.
    #[must_use]
    pub fn with_same_capacity(&self) -> Self {
        let mut column = Self::new(self.index);
        column.values.reserve(self.values.len(), self.values.texts().len());
        column.formulas.reserve(&self.formulas);
        column.templates.reserve(&self.templates);
        column.formats.reserve(&self.formats);
        column
    }

    /// Returns the estimated number of cells, which is the larger of the number of values and the
    /// number of formats.
    #[must_use]
    pub fn cell_count(&self) -> usize {
        self.values.len().max(self.formats.len())
    }

    /// Returns the number of cells with a formula.
    #[must_use]
    pub fn formula_count(&self) -> usize {
        self.formulas.len() + self.templates.len()
    }

    /// Returns whether the column has no cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && self.formats.is_empty()
    }

    /// Returns the estimated number of cells above `row`, which is the larger of the number of
    /// values and the number of formats.
    #[must_use]
    pub fn cell_count_above(&self, row: u32) -> usize {
        self.values.count_above(row).max(self.formats.count_above(row))
    }

    fn memory_bytes(&self) -> usize {
        const VALUE_BYTES: usize = 20;
        const SPAN_BYTES: usize = 12;
        let text_layers = [&self.formulas, &self.templates, &self.formats];
        let span_count: usize = text_layers.iter().map(|layer| layer.len()).sum();
        let layer_bytes: usize = text_layers.iter().map(|layer| layer.texts().len()).sum();
        let text_bytes = self.values.texts().len() + layer_bytes;
        let value_bytes = self.values.len() * VALUE_BYTES;
        size_of::<Self>() + value_bytes + span_count * SPAN_BYTES + text_bytes
    }

    /// Returns the first row that has a cell.
    #[must_use]
    pub fn first_row(&self) -> Option<u32> {
        let first_value_row = self.values.rows().first();
        let first_format_row = self.formats.rows().first();
        first_value_row.into_iter().chain(first_format_row).min().copied()
    }

    /// Appends a column whose rows are all below the rows of this column.
    pub fn append(&mut self, other: &Self) {
        self.values.append(&other.values);
        self.formulas.append(&other.formulas);
        self.templates.append(&other.templates);
        self.formats.append(&other.formats);
    }

    fn split_off(&mut self, row: u32) -> Self {
        Self {
            index: self.index,
            values: self.values.split_off(row),
            formulas: self.formulas.split_off(row),
            templates: self.templates.split_off(row),
            formats: self.formats.split_off(row),
        }
    }

    /// `moved` must not change the order of rows.
    fn map_rows(&mut self, moved: impl Fn(u32) -> u32 + Copy) {
        let text_layers = [&mut self.formulas, &mut self.templates, &mut self.formats];
        let text_rows = text_layers.into_iter().flat_map(TextLayer::rows_mut);
        for row in self.values.rows_mut().iter_mut().chain(text_rows) {
            *row = moved(*row);
        }
    }

    /// Returns the row after the last non-empty row above `row`, or 0 if all rows above are empty.
    #[must_use]
    pub fn end_above(&self, row: u32) -> u32 {
        let value_rows = self.values.rows().get(..self.values.count_above(row));
        let format_rows = self.formats.rows().get(..self.formats.count_above(row));
        end_of_rows(value_rows.unwrap_or_default())
            .max(end_of_rows(format_rows.unwrap_or_default()))
    }

    /// Returns the row after the last non-empty row, or 0 if the column is empty.
    #[must_use]
    pub fn end(&self) -> u32 {
        end_of_rows(self.values.rows()).max(end_of_rows(self.formats.rows()))
    }
}

/// Returns the row after the last of the rows, which are in ascending order. Returns 0 if there are
/// none.
fn end_of_rows(rows: &[u32]) -> u32 {
    rows.last().map_or(0, |last_row| last_row.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Has texts that follow each other, texts in another order, shared formats, and long texts.
    fn tile() -> Tile {
        let [mut numbers, mut texts, mut long_texts, mut decoded] =
            [0, 1, 2, 3].map(TileColumn::new);
        for row in 5..25_u32 {
            numbers.values.push(row, TileValue::Number(f64::from(row)));
            numbers.formats.push(row, if row % 7 < 5 { "0.0" } else { "0" });
            texts.values.push_text(row, &format!("ä{row}"));
            if row % 4 == 0 {
                texts.templates.push(row, &format!("={row}"));
                texts.values.push(row + 1, TileValue::Bool(true));
                let byte_length = 10_000 + row;
                long_texts.values.push_long_text(row, "preview", [7; 32], byte_length);
            }
            long_texts.values.push_text(row, "text");
        }
        let spans = [(2, 3), (0, 2), (5, 0), (2, 1)].map(|(start, len)| TextSpan { start, len });
        let values = spans.map(TileValue::Text).to_vec();
        let rows = vec![6, 7, 20, 21];
        let texts_of_spans = "abcde".to_owned();
        let values =
            ValueLayer::from_parts(rows.clone(), values, texts_of_spans.clone(), Vec::new());
        decoded.values = values.unwrap();
        decoded.formats = TextLayer::from_parts(rows, spans.to_vec(), texts_of_spans).unwrap();
        Tile { columns: vec![numbers, texts, long_texts, decoded] }
    }

    #[test]
    fn a_tile_can_be_split_at_every_row() {
        let whole = tile();
        for row in 0..30 {
            let mut upper = whole.clone();
            let lower = upper.split_off(row);
            assert_eq!(upper.cell_count() + lower.cell_count(), whole.cell_count());
            assert!(upper.end() <= row && lower.first_row().is_none_or(|first| first >= row));
            assert!(upper.memory_bytes() + lower.memory_bytes() <= 2 * whole.memory_bytes());
            upper.append(lower);
            assert_eq!(upper, whole, "{row}");
        }
    }

    #[test]
    fn a_split_copies_only_texts_that_are_used() {
        let mut upper = tile();
        let lower = upper.split_off(15);
        let [_, texts, ..] = upper.columns.as_slice() else { panic!("{upper:?}") };
        let [_, lower_texts, ..] = lower.columns.as_slice() else { panic!("{lower:?}") };
        assert!(texts.values.texts().ends_with("ä14") && texts.templates.texts().ends_with("=12"));
        assert!(lower_texts.values.texts().starts_with("ä15"));
        assert!(lower_texts.templates.texts().starts_with("=16"));
    }

    #[test]
    fn moving_back_restores_a_tile() {
        let whole = tile();
        let mut moved = whole.clone();
        moved.move_down_and_right(100, 3);
        assert_eq!((moved.first_row(), moved.end()), (Some(105), whole.end() + 100));
        assert_eq!(moved.columns.iter().map(|column| column.index).max(), Some(6));
        moved.move_up_and_left(100, 3);
        assert_eq!(moved, whole);
    }
}
