//! Workbooks: what xlsx, xlsb and ods have in common.

pub(crate) mod archive;
pub(crate) mod cell;
pub(crate) mod dates;
pub(crate) mod formats;
mod read;
pub(crate) mod xml;

pub use read::{WorkbookImport, WorkbookKind};
