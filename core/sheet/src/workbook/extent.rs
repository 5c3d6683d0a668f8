//! How far a sheet was ever written to.

use serde::{Deserialize, Serialize};

use crate::axis_map::Axis;
use crate::operation::Spans;

/// How far a sheet was ever written to: rows and columns counted from the top left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Extent {
    /// Rows.
    pub rows: u32,
    /// Columns.
    pub columns: u32,
}

impl Extent {
    /// Makes room for a cell.
    pub fn cover(&mut self, row: u32, column: u32) {
        self.rows = self.rows.max(row.saturating_add(1));
        self.columns = self.columns.max(column.saturating_add(1));
    }

    /// Rows or columns came before `before`.
    pub fn insert(&mut self, axis: Axis, before: u32, count: u32) {
        let extent = self.of(axis);
        if before < *extent {
            *extent = extent.saturating_add(count).min(axis.limit());
        }
    }

    /// Rows or columns went.
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
