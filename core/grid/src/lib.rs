//! Rows and columns of sheets: A1 notation, spans of rows or columns, and how rows and columns move.

pub mod a1;
mod axis;
pub mod axis_map;
mod sheet_id;
mod spans;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use axis::Axis;
pub use sheet_id::{FIRST_SHEET_NAME, SheetId};
pub use spans::{Span, Spans};
