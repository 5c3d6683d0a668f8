//! Options for reading csv.

use super::encoding::TextEncoding;
use crate::{BlockSize, ColumnTypes};

/// Options for reading a csv file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CsvOptions {
    /// Field delimiter: an ASCII character, such as `b'\t'` for tsv. If `None`, it is detected from
    /// the start of the file: a comma, a semicolon, a tab or a vertical bar, or a comma in doubt.
    pub delimiter: Option<u8>,
    /// Encoding of a file that does not start with a byte order mark. If `None`, it is UTF-8.
    pub encoding: Option<TextEncoding>,
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
