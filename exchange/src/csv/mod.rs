//! Reads and writes csv. A file is read in two passes. The first pass detects the column types
//! (`survey`), and the second pass creates the cells (`cells`). Each pass keeps at most one row and
//! one block in memory.
//!
//! If the first pass only covers a sample at the start of the file, most of the file is usually
//! read only once. `input` decodes the file to UTF-8, and `delimiter` detects the delimiter. `records`
//! splits the file into records and fields. It uses `uniform_rows` for many rows at once, and `scanner`
//! for rows with doubled quotes or several lines.

mod cells;
mod delimiter;
mod encoding;
mod input;
mod options;
mod read;
mod records;
mod row;
mod scanner;
mod survey;
#[cfg(test)]
mod tests;
mod uniform_rows;
mod write;

pub use encoding::{NotAnEncoding, TextEncoding};
pub use options::CsvOptions;
pub use read::CsvImport;
pub use row::CsvRow;
pub use survey::Survey;
pub use write::CsvWriter;
