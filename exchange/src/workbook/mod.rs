//! Workbook import, including code shared by the xlsx, xlsb and ods readers.

pub(crate) mod archive;
pub(crate) mod cell;
pub(crate) mod dates;
pub(crate) mod formats;
mod read;
pub(crate) mod xml;

pub use read::WorkbookImport;
