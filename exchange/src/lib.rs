//! Reads csv, xlsx, xlsb and ods files, and writes csv and xlsx files.
//!
//! Reading returns each sheet's cells in [`Block`]s of rows. A block stores its cells column by
//! column, like the LSM levels of a snapshot. Memory is bounded for every file: sizes that a file
//! declares are not trusted, and constants in `cellar_base::limits` limit all data in memory.
//! Writing accepts cells row by row. No input causes a panic.
//!
//! ```
//! use cellar_exchange::{CsvImport, CsvOptions, Import, ImportStep};
//! let file: &[u8] = b"name,price\ntea,2.50\n";
//! let mut import = CsvImport::open(file, &CsvOptions::default())?;
//! while let Some(step) = import.next_step()? {
//!     if let ImportStep::Block(block) = step {
//!         assert_eq!(block.tile.cell_count(), 4);
//!     }
//! }
//! # Ok::<(), cellar_exchange::ReadError>(())
//! ```

mod block;
mod cell_to_write;
mod csv;
mod error;
mod file_format;
mod import;
mod ods;
mod source;
mod typing;
mod workbook;
mod xlsb;
mod xlsx;
mod xlsx_out;

pub use block::{Block, BlockCell, BlockSize, LongBlockText};
pub use cell_to_write::{CellToWrite, Spill};
pub use csv::{CsvImport, CsvOptions, CsvRow, CsvWriter, NotAnEncoding, Survey, TextEncoding};
pub use error::{ReadError, WorkbookError, WriteError};
pub use file_format::FileFormat;
pub use import::{Import, ImportProgress, ImportStep, SheetStart};
pub use source::{FileSource, Source};
pub use typing::{ColumnKind, ColumnTypes, ColumnTyping, NotColumnTypes, TypeChoice};
pub use workbook::{EXCEL_COLUMNS, EXCEL_ROWS, NotImported, Omission, WorkbookImport};
pub use xlsx::NameInFile;
pub use xlsx_out::XlsxWriter;
