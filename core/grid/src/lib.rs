//! The grid of rows and columns of a sheet: A1 notation, spans of rows or columns, and maps of
//! inserted and deleted rows or columns.

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
