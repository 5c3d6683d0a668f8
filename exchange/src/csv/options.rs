//! Options for reading csv.

use crate::{BlockSize, ColumnTypes};

/// Options for reading a csv file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvOptions {
    /// Field delimiter: an ASCII character, such as `b'\t'` for tsv.
    pub delimiter: u8,
    /// Whether rows may have different numbers of fields. Short rows are padded with empty cells.
    pub pads_short_rows: bool,
    /// Column types that the caller chose. The types of all other columns are detected.
    pub types: ColumnTypes,
    /// Target size of blocks.
    pub block: BlockSize,
    /// Number of bytes to sample for type detection before the first cells are returned. If `None`,
    /// the whole file is sampled.
    ///
    /// If a field after the sample contradicts a detected type, the import returns
    /// [`ImportStep::Restart`](crate::ImportStep::Restart). It then returns all cells again.
    pub sample_bytes: Option<u64>,
}

impl Default for CsvOptions {
    fn default() -> Self {
        Self {
            delimiter: b',',
            pads_short_rows: false,
            types: ColumnTypes::default(),
            block: BlockSize::default(),
            sample_bytes: None,
        }
    }
}
