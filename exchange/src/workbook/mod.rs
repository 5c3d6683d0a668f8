//! Workbook import, and code that the xlsx, xlsb and ods readers share.

pub(crate) mod archive;
pub(crate) mod cell;
pub(crate) mod dates;
pub(crate) mod formats;
pub(crate) mod formula;
pub(crate) mod functions;
mod read;
pub(crate) mod xml;

pub use read::WorkbookImport;
