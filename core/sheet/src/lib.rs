//! Data model of spreadsheets: cells, A1 notation, operations and workbooks. Programs can use this
//! crate without logs and snapshots.

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
