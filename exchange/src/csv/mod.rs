//! Reads and writes csv.
//!
//! Reading takes two passes: the first detects the types of columns (`survey`), the second creates cells
//! (`cells`). Neither keeps more than a row and a block in memory. If a sample may decide the types, one pass
//! is enough for most files. `records` splits the bytes into records and fields.

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
