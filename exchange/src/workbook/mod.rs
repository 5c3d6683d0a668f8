//! Workbook import, and code that the xlsx, xlsb and ods readers share.

pub(crate) mod archive;
pub(crate) mod cell;
pub(crate) mod dates;
pub(crate) mod dynamic_arrays;
pub(crate) mod formats;
pub(crate) mod formula;
pub(crate) mod functions;
mod not_imported;
pub(crate) mod other_parts;
mod read;
pub(crate) mod xml;

pub use not_imported::{NotImported, Omission};
pub use read::WorkbookImport;

/// Number of rows of a sheet in Excel.
pub const EXCEL_ROWS: u32 = 1_048_576;
/// Number of columns of a sheet in Excel. A file may declare more.
pub const EXCEL_COLUMNS: u32 = 16_384;
