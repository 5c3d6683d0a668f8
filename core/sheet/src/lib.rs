//! What a spreadsheet is: cells, A1 notation, operations, axis maps and workbooks.
//!
//! Knows nothing of logs or snapshots: a program that only needs cells and operations depends on
//! this crate alone.

pub mod a1;
pub mod axis_map;
pub mod cell;
pub mod metadata;
pub mod operation;
#[cfg(any(test, feature = "testing"))]
pub mod oracle;
pub mod workbook;
