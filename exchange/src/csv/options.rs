//! Options for reading csv.

use crate::{BlockSize, ColumnTypes};

/// Options for reading a csv file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvOptions {
    /// Field delimiter, an ASCII character; `b'\t'` for tsv.
    pub delimiter: u8,
    /// Whether rows may have different numbers of fields. Short rows are filled with empty cells.
    pub pad: bool,
    /// Column types that are chosen rather than detected.
    pub types: ColumnTypes,
    /// Target size of blocks.
    pub block: BlockSize,
    /// Number of bytes from which column types are detected before the first cells are returned.
    ///
    /// If a later field contradicts a detected type, all cells are returned again after
    /// [`Piece::Restart`](crate::Piece::Restart). `None` detects the types from the whole file.
    pub sample_bytes: Option<u64>,
}

impl Default for CsvOptions {
    fn default() -> Self {
        Self {
            delimiter: b',',
            pad: false,
            types: ColumnTypes::default(),
            block: BlockSize::default(),
            sample_bytes: None,
        }
    }
}
