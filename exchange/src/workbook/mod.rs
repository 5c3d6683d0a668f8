//! Import of workbooks, and code that the readers for xlsx, xlsb and ods share.

pub(crate) mod archive;
pub(crate) mod cell;
pub(crate) mod dates;
pub(crate) mod formats;
mod read;
pub(crate) mod xml;

pub use read::{WorkbookImport, WorkbookKind};
