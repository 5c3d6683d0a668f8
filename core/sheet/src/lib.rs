//! Data model of spreadsheets: cells, A1 notation, operations and workbooks. Programs can use this
//! crate without logs and snapshots.

pub mod cell;
pub mod condition;
pub mod exact_sum;
mod extent;
pub mod metadata;
pub mod operation;
#[cfg(any(test, feature = "testing"))]
pub mod oracle;
pub mod text_pattern;
pub mod tracked_cells;
pub mod workbook;

pub use cellar_grid::{a1, axis_map};
