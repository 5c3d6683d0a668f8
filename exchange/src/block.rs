//! Blocks of consecutive rows of an imported file. A block stores its cells column by column, as a
//! snapshot does.

use std::borrow::Cow;

use cellar_base::limits::{MAX_BLOCK_TEXT_BYTES, MAX_IMPORT_ROW_BYTES, MAX_TILE_TEXT_BYTES};
use cellar_formula::Template;
use cellar_formula::reference::NoSheets;
use cellar_sheet::a1::CellName;
use cellar_sheet::cell::{GENERAL, Value};
use cellar_snapshot::merge::SheetWriter;
use cellar_snapshot::tile::{Tile, TileColumn, TileValue, preview};

const DEFAULT_BLOCK_ROWS: u32 = 1 << 17;

/// A block of consecutive rows of a sheet.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Block {
    /// The cells of the block, addressed by their row and column in the sheet. Text longer than
    /// `MAX_TILE_TEXT_BYTES` is not part of the tile: the cell contains a `TileValue::LongText`,
    /// and `long_texts` contains the full text.
    pub tile: Tile,
    /// Long texts, in no particular order.
    pub long_texts: Vec<LongBlockText>,
}

/// Text that is too long for a tile and is therefore stored as a separate object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongBlockText {
    /// BLAKE3 hash of the text, which is used as the object's name.
    pub hash: [u8; 32],
    pub text: String,
}

/// A cell of a block.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockCell<'a> {
    /// Zero-based row of the cell in the sheet.
    pub row: u32,
    /// Zero-based column of the cell in the sheet.
    pub column: u32,
    pub value: Value,
    /// Text of the formula. Starts with `=`.
    pub formula: Option<Cow<'a, str>>,
    /// Number format, or `None` for `General`.
    pub format: Option<&'a str>,
}

/// Target size of a block. A block ends with the row in which its number of rows or cells reaches
/// the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockSize {
    /// Maximum number of rows in a block, including blank rows. Must be at least 1.
    pub rows: u32,
    /// Number of cells after which a block ends. Only cells with a value or a number format are
    /// counted.
    pub cells: usize,
}

impl Default for BlockSize {
    fn default() -> Self {
        Self { rows: DEFAULT_BLOCK_ROWS, cells: SheetWriter::default().next_block_cells() }
    }
}

impl Block {
    /// Iterates over the cells row by row. Copies the text of each cell. To process the cells
    /// column by column, use `tile` instead.
    pub fn cells(&self) -> impl Iterator<Item = BlockCell<'_>> {
        let mut cell_positions: Vec<(u32, &TileColumn)> = Vec::new();
        for column in &self.tile.columns {
            let mut rows: Vec<u32> = column.values.rows().to_vec();
            rows.extend_from_slice(column.formats.rows());
            rows.sort_unstable();
            rows.dedup();
            cell_positions.extend(rows.into_iter().map(|row| (row, column)));
        }
        cell_positions.sort_unstable_by_key(|(row, column)| (*row, column.index));
        cell_positions.into_iter().map(|(row, column)| BlockCell {
            row,
            column: column.index,
            value: self.value_at(column, row),
            formula: formula_text(column, row),
            format: column.formats.at(row),
        })
    }

    fn value_at(&self, column: &TileColumn, row: u32) -> Value {
        let value_layer = &column.values;
        let Ok(index) = value_layer.rows().binary_search(&row) else { return Value::Empty };
        match value_layer.values().get(index) {
            None | Some(TileValue::Empty) => Value::Empty,
            Some(TileValue::Number(number)) => Value::Number(*number),
            Some(TileValue::Bool(boolean)) => Value::Bool(*boolean),
            Some(TileValue::Error(code)) => Value::Error(*code),
            Some(TileValue::Text(span)) => Value::Text(span.of(value_layer.texts()).to_owned()),
            Some(TileValue::LongText(long_text_index)) => {
                let hash = value_layer.long_text(*long_text_index).map(|long_text| long_text.hash);
                let long_text = self.long_texts.iter().find(|text| Some(text.hash) == hash);
                Value::Text(long_text.map(|long_text| long_text.text.clone()).unwrap_or_default())
            }
        }
    }
}

fn formula_text(column: &TileColumn, row: u32) -> Option<Cow<'_, str>> {
    if let Some(text) = column.formulas.at(row) {
        return Some(Cow::Borrowed(text));
    }
    let template = Template::decode(column.templates.at(row)?.to_owned()).ok()?;
    Some(Cow::Owned(template.text_at(CellName { row, column: column.index }, &NoSheets)))
}

/// A row contains more than `MAX_IMPORT_ROW_BYTES` bytes of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowTooLong;

#[derive(Debug)]
pub(crate) struct BlockBuilder {
    size: BlockSize,
    columns: Vec<TileColumn>,
    long_texts: Vec<LongBlockText>,
    first_row: Option<u32>,
    current_row: u32,
    cell_count: usize,
    /// Total length of the texts and formulas in the current block, in bytes.
    text_bytes: usize,
    text_bytes_before_row: usize,
}

impl BlockBuilder {
    pub(crate) fn new(size: BlockSize) -> Self {
        Self {
            size,
            columns: Vec::new(),
            long_texts: Vec::new(),
            first_row: None,
            current_row: 0,
            cell_count: 0,
            text_bytes: 0,
            text_bytes_before_row: 0,
        }
    }

    pub(crate) fn set_block_cells(&mut self, cells: usize) {
        self.size.cells = cells;
    }

    /// Rows must be started from top to bottom. Before cells are added to columns, it suffices to start
    /// the first of their rows.
    pub(crate) fn start_row(&mut self, row: u32) {
        self.first_row.get_or_insert(row);
        self.current_row = row;
        self.text_bytes_before_row = self.text_bytes;
    }

    pub(crate) fn is_full_before(&self, next_row: u32) -> bool {
        let first_row = self.first_row.unwrap_or(next_row);
        self.cell_count >= self.size.cells
            || self.text_bytes >= MAX_BLOCK_TEXT_BYTES
            || (self.cell_count > 0 && next_row.saturating_sub(first_row) >= self.size.rows)
    }

    /// Returns how many rows from `next_row` on fit into the block, at least one, if each has at most
    /// `columns` cells and no text.
    pub(crate) fn free_rows(&self, next_row: u32, columns: usize) -> u32 {
        let first_row = self.first_row.unwrap_or(next_row);
        let free_rows = self.size.rows.saturating_sub(next_row.saturating_sub(first_row));
        let free_cells = self.size.cells.saturating_sub(self.cell_count);
        let rows_of_free_cells = free_cells.checked_div(columns).unwrap_or(free_cells);
        free_rows.min(u32::try_from(rows_of_free_cells).unwrap_or(u32::MAX)).max(1)
    }

    /// Returns how many bytes of text fit into the block.
    pub(crate) fn free_text_bytes(&self) -> usize {
        MAX_BLOCK_TEXT_BYTES.saturating_sub(self.text_bytes)
    }

    /// Returns `None` if the completed block has no cells.
    pub(crate) fn take_block(&mut self) -> Option<Block> {
        let has_cells = self.cell_count > 0;
        self.first_row = None;
        self.current_row = 0;
        self.cell_count = 0;
        self.text_bytes = 0;
        self.text_bytes_before_row = 0;
        if !has_cells {
            return None;
        }
        let tile = Tile { columns: self.take_filled_columns() };
        Some(Block { tile, long_texts: std::mem::take(&mut self.long_texts) })
    }

    fn take_filled_columns(&mut self) -> Vec<TileColumn> {
        let mut filled_columns = Vec::new();
        for column in &mut self.columns {
            if !column.is_empty() {
                // Consecutive blocks are usually of similar size, so allocate the same capacity for
                // the next block.
                let empty_column = column.with_same_capacity();
                filled_columns.push(std::mem::replace(column, empty_column));
            }
        }
        filled_columns
    }

    pub(crate) fn push_value(&mut self, column: u32, value: TileValue) {
        let row = self.current_row;
        if let Some(mut cells) = self.column(column) {
            cells.push_value(row, value);
        }
    }

    pub(crate) fn push_text(&mut self, column: u32, text: &str) -> Result<(), RowTooLong> {
        self.check_row_bytes(text)?;
        let row = self.current_row;
        if let Some(mut cells) = self.column(column) {
            cells.push_text(row, text);
        }
        Ok(())
    }

    /// The cell's value must be added first.
    pub(crate) fn push_formula(&mut self, column: u32, formula: &str) -> Result<(), RowTooLong> {
        self.add_text_bytes(formula)?;
        let row = self.current_row;
        if let Some(tile_column) = get_or_create_column(&mut self.columns, column) {
            tile_column.formulas.push(row, formula);
        }
        Ok(())
    }

    /// The cell's value must be added first.
    pub(crate) fn push_template(&mut self, column: u32, encoded: &str) -> Result<(), RowTooLong> {
        self.add_text_bytes(encoded)?;
        let row = self.current_row;
        if let Some(tile_column) = get_or_create_column(&mut self.columns, column) {
            tile_column.templates.push(row, encoded);
        }
        Ok(())
    }

    /// `General` is not stored.
    pub(crate) fn push_format(&mut self, column: u32, format: &str) {
        let row = self.current_row;
        if let Some(mut cells) = self.column(column) {
            cells.push_format(row, format);
        }
    }

    fn add_text_bytes(&mut self, text: &str) -> Result<(), RowTooLong> {
        self.check_row_bytes(text)?;
        self.text_bytes += text.len();
        Ok(())
    }

    fn check_row_bytes(&self, text: &str) -> Result<(), RowTooLong> {
        let row_bytes = self.text_bytes - self.text_bytes_before_row + text.len();
        if row_bytes > MAX_IMPORT_ROW_BYTES { Err(RowTooLong) } else { Ok(()) }
    }

    /// Returns a column to which cells of the current rows can be added. The caller checks that no
    /// row has more than `MAX_IMPORT_ROW_BYTES`.
    pub(crate) fn column(&mut self, column: u32) -> Option<ColumnBuilder<'_>> {
        let Self { columns, long_texts, cell_count, text_bytes, .. } = self;
        let tile_column = get_or_create_column(columns, column)?;
        Some(ColumnBuilder { tile_column, long_texts, cell_count, text_bytes })
    }
}

/// Creates the column and all columns before it if they do not exist.
fn get_or_create_column(columns: &mut Vec<TileColumn>, column: u32) -> Option<&mut TileColumn> {
    let index = usize::try_from(column).ok()?;
    while columns.len() <= index {
        let next_column = u32::try_from(columns.len()).ok()?;
        columns.push(TileColumn::new(next_column));
    }
    columns.get_mut(index)
}

/// Adds cells to a column of a block, from top to bottom.
#[derive(Debug)]
pub(crate) struct ColumnBuilder<'b> {
    tile_column: &'b mut TileColumn,
    long_texts: &'b mut Vec<LongBlockText>,
    cell_count: &'b mut usize,
    text_bytes: &'b mut usize,
}

impl ColumnBuilder<'_> {
    #[inline]
    pub(crate) fn push_value(&mut self, row: u32, value: TileValue) {
        self.tile_column.values.push(row, value);
        *self.cell_count += 1;
    }

    pub(crate) fn push_text(&mut self, row: u32, text: &str) {
        *self.text_bytes += text.len();
        *self.cell_count += 1;
        if text.len() > MAX_TILE_TEXT_BYTES {
            let hash = *blake3::hash(text.as_bytes()).as_bytes();
            let byte_length = u32::try_from(text.len()).unwrap_or(u32::MAX);
            self.tile_column.values.push_long_text(row, preview(text), hash, byte_length);
            self.long_texts.push(LongBlockText { hash, text: text.to_owned() });
        } else {
            self.tile_column.values.push_text(row, text);
        }
    }

    /// The cell's value must be added first. `General` is not stored.
    pub(crate) fn push_format(&mut self, row: u32, format: &str) {
        if format == GENERAL {
            return;
        }
        self.count_unless_counted(row);
        self.tile_column.formats.push(row, format);
    }

    /// Adds the format that was added last, which must not be `General`. The cell's value must be
    /// added first.
    #[inline]
    pub(crate) fn push_last_format(&mut self, row: u32) {
        self.count_unless_counted(row);
        self.tile_column.formats.push_last_text(row);
    }

    /// Counts a cell that has a format and no value.
    #[inline]
    fn count_unless_counted(&mut self, row: u32) {
        let has_value = self.tile_column.values.rows().last() == Some(&row);
        if !has_value {
            *self.cell_count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_snapshot::tile::LongText;

    #[test]
    fn a_block_is_full_with_its_cells_rows_or_texts() {
        let size = BlockSize { rows: 10, cells: 3 };
        let mut builder = BlockBuilder::new(size);
        assert!(builder.take_block().is_none());
        builder.start_row(7);
        builder.push_value(2, TileValue::Bool(true));
        builder.push_format(2, "0");
        builder.push_format(0, "0");
        assert!(!builder.is_full_before(16) && builder.is_full_before(17));
        builder.push_format(4, GENERAL);
        assert!(!builder.is_full_before(8));
        builder.push_value(5, TileValue::Empty);
        assert!(builder.is_full_before(8));
        let block = builder.take_block().unwrap();
        assert_eq!((block.tile.first_row(), block.tile.end()), (Some(7), 8));
        let cells: Vec<_> =
            block.cells().map(|cell| (cell.row, cell.column, cell.format)).collect();
        assert_eq!(cells, [(7, 0, Some("0")), (7, 2, Some("0")), (7, 5, None)]);
        assert!(builder.take_block().is_none());
        let text = "x".repeat(MAX_TILE_TEXT_BYTES);
        let mut builder = BlockBuilder::new(BlockSize::default());
        for row in 0..u32::try_from(MAX_BLOCK_TEXT_BYTES / MAX_TILE_TEXT_BYTES).unwrap() {
            assert!(!builder.is_full_before(row));
            builder.start_row(row);
            builder.push_text(0, &text).unwrap();
        }
        assert!(builder.is_full_before(0));
    }

    #[test]
    fn long_texts_are_stored_separately() {
        let mut builder = BlockBuilder::new(BlockSize::default());
        builder.start_row(0);
        let longest = "x".repeat(MAX_TILE_TEXT_BYTES);
        let longer = format!("{}ä", "x".repeat(MAX_TILE_TEXT_BYTES - 1));
        builder.push_text(0, &longest).unwrap();
        builder.push_text(1, &longer).unwrap();
        let block = builder.take_block().unwrap();
        let column = |index: usize| &block.tile.columns[index].values;
        assert!(matches!(column(0).values(), [TileValue::Text(_)]));
        let LongText { preview, hash, byte_length } = *column(1).long_text(0).unwrap();
        assert_eq!(preview.of(column(1).texts()), longer.trim_end_matches('ä'));
        assert_eq!(byte_length, u32::try_from(longer.len()).unwrap());
        assert_eq!(block.long_texts, [LongBlockText { hash, text: longer.clone() }]);
        assert_eq!(hash, *blake3::hash(longer.as_bytes()).as_bytes());
    }
}
