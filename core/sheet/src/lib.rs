//! Spreadsheet data model: cells, A1 notation, operations, axis maps and workbooks.
//!
//! The crate does not depend on logs or snapshots, so programs can use it on its own to handle
//! cells and operations.

pub mod a1;
mod axis;
pub mod axis_map;
pub mod cell;
mod extent;
pub mod metadata;
pub mod operation;
#[cfg(any(test, feature = "testing"))]
pub mod oracle;
mod sheet_id;
mod spans;
pub mod workbook;
