//! Used range of a sheet.

use serde::{Deserialize, Serialize};

use cellar_grid::Axis;
use cellar_grid::Spans;

/// Used range of a sheet: the smallest rectangle that starts at A1 and contains every cell ever
/// written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Extent {
    /// Number of rows.
    pub rows: u32,
    /// Number of columns.
    pub columns: u32,
}

impl Extent {
    /// Extends the used range to the cell at `row` and `column`.
    pub fn cover(&mut self, row: u32, column: u32) {
        self.rows = self.rows.max(row.saturating_add(1));
        self.columns = self.columns.max(column.saturating_add(1));
    }

    /// Adapts the used range to an insertion of `count` rows or columns before `before`.
    pub fn insert(&mut self, axis: Axis, before: u32, count: u32) {
        let length = self.length_mut(axis);
        if before < *length {
            *length = length.saturating_add(count).min(axis.limit());
        }
    }

    /// Adapts the used range to a deletion of rows or columns.
    pub fn delete(&mut self, axis: Axis, spans: &Spans) {
        let length = self.length_mut(axis);
        let deleted_count = spans.intersection(&Spans::one(0, *length)).count();
        *length = length.saturating_sub(u32::try_from(deleted_count).unwrap_or(u32::MAX));
    }

    pub(crate) fn length(self, axis: Axis) -> u32 {
        match axis {
            Axis::Rows => self.rows,
            Axis::Columns => self.columns,
        }
    }

    fn length_mut(&mut self, axis: Axis) -> &mut u32 {
        match axis {
            Axis::Rows => &mut self.rows,
            Axis::Columns => &mut self.columns,
        }
    }
}
