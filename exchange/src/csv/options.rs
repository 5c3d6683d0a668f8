//! Options for reading csv.

use crate::{BlockSize, ColumnTypes};

/// Options for reading a csv file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvOptions {
    /// Field delimiter: an ASCII character, such as `b'\t'` for tsv.
    pub delimiter: u8,
    /// Whether rows may have different numbers of fields. Short rows are then padded with empty
    /// cells.
    pub pads_short_rows: bool,
    /// Column types that the caller chose. The types of all other columns are detected.
    pub types: ColumnTypes,
    /// Target size of blocks.
    pub block: BlockSize,
    /// Number of bytes at the start of the file from which column types are detected before cells
    /// are returned. If `None`, column types are detected from the whole file.
    ///
    /// If a field after the sample contradicts a detected type, the import returns
    /// [`ImportStep::Restart`](crate::ImportStep::Restart) and then returns all cells again.
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
