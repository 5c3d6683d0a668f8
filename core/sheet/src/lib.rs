//! What a spreadsheet is: cells, A1 notation, operations, axis maps and workbooks.
//!
//! Independent of logs and snapshots: a program that needs only cells and operations depends on
//! this crate alone.

pub mod a1;
pub mod axis_map;
pub mod cell;
pub mod metadata;
pub mod operation;
#[cfg(any(test, feature = "testing"))]
pub mod oracle;
pub mod workbook;
