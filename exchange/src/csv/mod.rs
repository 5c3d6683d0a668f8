//! Reads and writes csv.
//!
//! A file is read in two passes: the first detects the column types (`survey`), the second creates
//! the cells (`cells`). Each pass keeps at most one row and one block in memory. If types may be
//! detected from a sample, one pass is enough for most files. `records` splits the bytes into
//! records and fields, with `scanner` for quoted fields.

mod cells;
mod options;
mod read;
mod records;
mod scanner;
mod survey;
#[cfg(test)]
mod tests;
mod write;

pub use options::CsvOptions;
pub use read::CsvImport;
pub use survey::Survey;
pub use write::CsvWriter;
