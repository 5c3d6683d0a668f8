//! Reads and writes csv.
//!
//! A file is read in two passes: the first one detects the types of columns (`survey`), the second
//! one creates cells (`cells`). Both passes keep at most one row and one block in memory. If the
//! types may be detected from a sample, one pass is enough for most files. `records` splits the
//! bytes into records and fields.

mod cells;
mod options;
mod read;
mod records;
mod survey;
#[cfg(test)]
mod tests;
mod write;

pub use options::CsvOptions;
pub use read::CsvImport;
pub use survey::Survey;
pub use write::CsvWriter;
