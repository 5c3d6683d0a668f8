//! Blocks: some rows of a file, column by column, in the form that levels are made of.

use cellar_base::limits::{
    MAX_BLOCK_TEXT_BYTES, MAX_IMPORT_ROW_BYTES, MAX_TILE_CELLS, MAX_TILE_TEXT_BYTES,
};
use cellar_sheet::cell::{GENERAL, Value};
use cellar_snapshot::tile::{Tile, TileColumn, TileValue, preview};

/// Some rows of a sheet.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Block {
    /// The cells, in rows and columns of the sheet. A text of more than `MAX_TILE_TEXT_BYTES` is a
    /// `TileValue::Long`, and whole in `long_texts`.
    pub tile: Tile,
    /// The bodies of long texts, in the order in which their rows stand in the file.
    pub long_texts: Vec<LongBody>,
}

/// A text that becomes an object of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongBody {
    /// BLAKE3 of the text: its name.
    pub hash: [u8; 32],
    /// The whole text.
    pub text: String,
}

/// A cell of a block.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockCell<'a> {
    /// The sheet's row.
    pub row: u32,
    /// The sheet's column.
    pub column: u32,
    /// Its value.
    pub value: Value,
    /// Its formula's text, with `=` in front.
    pub formula: Option<&'a str>,
    /// Its number format, if it is not `General`.
    pub format: Option<&'a str>,
}

/// How large blocks are. A block ends with the row that reaches one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockSize {
    /// Rows, blank ones included; at least one.
    pub rows: u32,
    /// Cells that have a value or a format.
    pub cells: usize,
}

impl Default for BlockSize {
    fn default() -> Self {
        Self { rows: 1 << 16, cells: MAX_TILE_CELLS / 8 }
    }
}

impl Block {
    /// The cells, row by row. For callers that have no use for columns: each text is copied.
    pub fn cells(&self) -> impl Iterator<Item = BlockCell<'_>> {
        let mut places: Vec<(u32, u32, &TileColumn)> = Vec::new();
        for column in &self.tile.columns {
            let mut rows: Vec<u32> = column.values.rows().to_vec();
            rows.extend_from_slice(column.formats.rows());
            rows.sort_unstable();
            rows.dedup();
            places.extend(rows.into_iter().map(|row| (row, column.column, column)));
        }
        places.sort_unstable_by_key(|(row, number, _)| (*row, *number));
        places.into_iter().map(|(row, number, column)| BlockCell {
            row,
            column: number,
            value: self.value(column, row),
            formula: column.formulas.at(row),
            format: column.formats.at(row),
        })
    }

    fn value(&self, column: &TileColumn, row: u32) -> Value {
        let layer = &column.values;
        let found = layer.rows().binary_search(&row).ok();
        match found.and_then(|index| layer.values().get(index)) {
            None | Some(TileValue::Empty) => Value::Empty,
            Some(TileValue::Number(number)) => Value::Number(*number),
            Some(TileValue::Bool(value)) => Value::Bool(*value),
            Some(TileValue::Error(code)) => Value::Error(*code),
            Some(TileValue::Text(span)) => Value::Text(span.of(layer.texts()).to_owned()),
            Some(TileValue::Long(number)) => {
                let hash = layer.long_text(*number).map(|(_, hash, _)| hash);
                let body = self.long_texts.iter().find(|body| Some(body.hash) == hash);
                Value::Text(body.map(|body| body.text.clone()).unwrap_or_default())
            }
        }
    }
}

/// A row with more text than one may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowTooLong;

/// Collects cells, row after row, into blocks.
#[derive(Debug)]
pub(crate) struct BlockBuilder {
    size: BlockSize,
    columns: Vec<TileColumn>,
    long_texts: Vec<LongBody>,
    first_row: Option<u32>,
    row: u32,
    cells: usize,
    text_bytes: usize,
    row_start_bytes: usize,
}

impl BlockBuilder {
    pub(crate) fn new(size: BlockSize) -> Self {
        Self {
            size,
            columns: Vec::new(),
            long_texts: Vec::new(),
            first_row: None,
            row: 0,
            cells: 0,
            text_bytes: 0,
            row_start_bytes: 0,
        }
    }

    /// Goes on with a row below the ones before.
    pub(crate) fn begin_row(&mut self, row: u32) {
        self.first_row.get_or_insert(row);
        self.row = row;
        self.row_start_bytes = self.text_bytes;
    }

    /// Whether the block is to be taken before `row` begins.
    pub(crate) fn is_full(&self, row: u32) -> bool {
        let first = self.first_row.unwrap_or(row);
        self.cells >= self.size.cells
            || self.text_bytes >= MAX_BLOCK_TEXT_BYTES
            || (self.cells > 0 && row.saturating_sub(first) >= self.size.rows)
    }

    /// The block so far, unless it has no cells.
    pub(crate) fn take(&mut self) -> Option<Block> {
        self.first_row = None;
        (self.row, self.text_bytes, self.row_start_bytes) = (0, 0, 0);
        if std::mem::take(&mut self.cells) == 0 {
            return None;
        }
        let filled = self.columns.iter_mut().filter(|column| !column.is_empty());
        let columns: Vec<TileColumn> = filled
            // The next block is likely to be as large.
            .map(|column| {
                let next = column.with_same_capacity();
                std::mem::replace(column, next)
            })
            .collect();
        let long_texts = std::mem::take(&mut self.long_texts);
        Some(Block { tile: Tile { columns }, long_texts })
    }

    /// A cell's value that is no text.
    pub(crate) fn value(&mut self, column: u32, value: TileValue) {
        let row = self.row;
        if let Some(target) = self.column(column) {
            target.values.push(row, value);
            self.cells = self.cells.saturating_add(1);
        }
    }

    /// A cell's text.
    pub(crate) fn text(&mut self, column: u32, text: &str) -> Result<(), RowTooLong> {
        self.count_text(text)?;
        let row = self.row;
        let hash =
            (text.len() > MAX_TILE_TEXT_BYTES).then(|| *blake3::hash(text.as_bytes()).as_bytes());
        let Some(target) = self.column(column) else {
            return Ok(());
        };
        match hash {
            None => target.values.push_text(row, text),
            Some(hash) => {
                let bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
                target.values.push_long(row, preview(text), hash, bytes);
                self.long_texts.push(LongBody { hash, text: text.to_owned() });
            }
        }
        self.cells = self.cells.saturating_add(1);
        Ok(())
    }

    /// The formula of a cell that has been given a value.
    pub(crate) fn formula(&mut self, column: u32, formula: &str) -> Result<(), RowTooLong> {
        self.count_text(formula)?;
        let row = self.row;
        if let Some(target) = self.column(column) {
            target.formulas.push(row, formula);
        }
        Ok(())
    }

    /// A cell's number format.
    pub(crate) fn format(&mut self, column: u32, format: &str) {
        let row = self.row;
        if format == GENERAL {
            return;
        }
        if let Some(target) = self.column(column) {
            let alone = target.values.rows().last() != Some(&row);
            target.formats.push(row, format);
            self.cells = self.cells.saturating_add(usize::from(alone));
        }
    }

    fn count_text(&mut self, text: &str) -> Result<(), RowTooLong> {
        self.text_bytes = self.text_bytes.saturating_add(text.len());
        let row_bytes = self.text_bytes.saturating_sub(self.row_start_bytes);
        if row_bytes > MAX_IMPORT_ROW_BYTES { Err(RowTooLong) } else { Ok(()) }
    }

    fn column(&mut self, column: u32) -> Option<&mut TileColumn> {
        let index = usize::try_from(column).ok()?;
        while self.columns.len() <= index {
            let number = u32::try_from(self.columns.len()).ok()?;
            self.columns.push(TileColumn::new(number));
        }
        self.columns.get_mut(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_full_with_its_cells_rows_or_texts() {
        let size = BlockSize { rows: 10, cells: 3 };
        let mut builder = BlockBuilder::new(size);
        assert!(builder.take().is_none());
        builder.begin_row(7);
        builder.value(2, TileValue::Bool(true));
        builder.format(2, "0");
        builder.format(0, "0");
        assert!(!builder.is_full(16) && builder.is_full(17));
        builder.format(4, GENERAL);
        assert!(!builder.is_full(8));
        builder.value(5, TileValue::Empty);
        assert!(builder.is_full(8));
        let block = builder.take().unwrap();
        assert_eq!((block.tile.first_row(), block.tile.end()), (Some(7), 8));
        let cells: Vec<_> =
            block.cells().map(|cell| (cell.row, cell.column, cell.format)).collect();
        assert_eq!(cells, [(7, 0, Some("0")), (7, 2, Some("0")), (7, 5, None)]);
        assert!(builder.take().is_none());
        let text = "x".repeat(MAX_TILE_TEXT_BYTES);
        let mut builder = BlockBuilder::new(BlockSize::default());
        for row in 0..u32::try_from(MAX_BLOCK_TEXT_BYTES / MAX_TILE_TEXT_BYTES).unwrap() {
            assert!(!builder.is_full(row));
            builder.begin_row(row);
            builder.text(0, &text).unwrap();
        }
        assert!(builder.is_full(0));
    }

    #[test]
    fn long_texts_stand_apart() {
        let mut builder = BlockBuilder::new(BlockSize::default());
        builder.begin_row(0);
        let longest = "x".repeat(MAX_TILE_TEXT_BYTES);
        let longer = format!("{}ä", "x".repeat(MAX_TILE_TEXT_BYTES - 1));
        builder.text(0, &longest).unwrap();
        builder.text(1, &longer).unwrap();
        let block = builder.take().unwrap();
        let column = |index: usize| &block.tile.columns[index].values;
        assert!(matches!(column(0).values(), [TileValue::Text(_)]));
        let (preview, hash, bytes) = column(1).long_text(0).unwrap();
        assert_eq!(preview, longer.trim_end_matches('ä'));
        assert_eq!(bytes, u32::try_from(longer.len()).unwrap());
        assert_eq!(block.long_texts, [LongBody { hash, text: longer.clone() }]);
        assert_eq!(hash, *blake3::hash(longer.as_bytes()).as_bytes());
    }
}
