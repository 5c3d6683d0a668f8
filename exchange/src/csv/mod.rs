//! csv, in and out.
//!
//! Reading takes two passes, neither of which holds more than a row and a block: the first finds
//! out what each column is (`survey`), the second makes cells (`cells`). If a sample may decide at first
//! what columns are, one is enough for most files. `records` takes the bytes apart.

mod cells;
mod read;
mod records;
mod survey;
#[cfg(test)]
mod tests;
mod write;

pub use read::CsvImport;
pub use survey::Survey;
pub use write::CsvWriter;

use crate::{BlockSize, ColumnTypes};

/// How a csv file is to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvOptions {
    /// What separates fields: an ASCII character, `b'\t'` for tsv.
    pub delimiter: u8,
    /// Accept rows with different numbers of fields.
    pub pad: bool,
    /// Types that are given, not found.
    pub types: ColumnTypes,
    /// How large blocks are.
    pub block: BlockSize,
    /// The cells come at once, typed as the columns of so many bytes are. If fields behind them show
    /// that a column is something else, all come once more ([`Piece::Restart`](crate::Piece::Restart)).
    /// `None`: no cell comes before the whole file was looked through.
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
