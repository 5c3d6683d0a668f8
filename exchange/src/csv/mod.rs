//! csv, in and out.
//!
//! Reading takes two passes, neither of which holds more than a row and a block: the first finds
//! out what each column is (`survey`), the second makes cells. `records` takes the bytes apart.

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
}

impl Default for CsvOptions {
    fn default() -> Self {
        Self {
            delimiter: b',',
            pad: false,
            types: ColumnTypes::default(),
            block: BlockSize::default(),
        }
    }
}
