//! The used range of a sheet.

use serde::{Deserialize, Serialize};

use crate::axis::Axis;
use crate::spans::Spans;

/// Used range of a sheet: numbers of rows and columns ever written, from A1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Extent {
    /// Rows.
    pub rows: u32,
    /// Columns.
    pub columns: u32,
}

impl Extent {
    /// Extends the range to a cell.
    pub fn cover(&mut self, row: u32, column: u32) {
        self.rows = self.rows.max(row.saturating_add(1));
        self.columns = self.columns.max(column.saturating_add(1));
    }

    /// Updates the range for inserted rows or columns.
    pub fn insert(&mut self, axis: Axis, before: u32, count: u32) {
        let extent = self.of(axis);
        if before < *extent {
            *extent = extent.saturating_add(count).min(axis.limit());
        }
    }

    /// Updates the range for deleted rows or columns.
    pub fn delete(&mut self, axis: Axis, spans: &Spans) {
        let extent = self.of(axis);
        let gone = spans.intersection(&Spans::one(0, *extent)).count();
        *extent = extent.saturating_sub(u32::try_from(gone).unwrap_or(u32::MAX));
    }

    fn of(&mut self, axis: Axis) -> &mut u32 {
        match axis {
            Axis::Rows => &mut self.rows,
            Axis::Columns => &mut self.columns,
        }
    }
}
