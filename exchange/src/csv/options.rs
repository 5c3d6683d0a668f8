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
    /// Number of bytes at the start of the file that are used to detect column types. If `None`,
    /// the whole file is used.
    ///
    /// If a later field contradicts a detected type, the import returns
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
