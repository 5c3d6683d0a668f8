//! Insertion and deletion of rows and columns.

use serde::{Deserialize, Serialize};

use super::{InvalidOperation, SheetId, Spans, axis_name};
use crate::axis_map::Axis;
use cellar_base::limits::MAX_INSERT;

/// Inserts blank rows (or columns) before one. Cells moved past the maximum size are discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InsertBefore {
    /// Sheet id.
    #[serde(default)]
    pub sheet: SheetId,
    /// Row (or column) before which to insert, from 0.
    pub before: u32,
    /// Number of rows (or columns), at least one.
    pub count: u32,
}

/// Deletes rows (or columns) and their contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeleteSpans {
    /// Sheet id.
    #[serde(default)]
    pub sheet: SheetId,
    /// Rows (or columns) to delete.
    pub spans: Spans,
}

impl InsertBefore {
    pub(super) fn validated(self, axis: Axis) -> Result<Self, InvalidOperation> {
        let what = axis_name(axis);
        if self.count == 0 || self.count > MAX_INSERT {
            return Err(InvalidOperation::InsertCount { what, count: self.count });
        }
        // At most before the last row: anything after it is blank.
        if self.before >= axis.limit() {
            let (first, count, max) = (self.before, self.count, axis.limit());
            return Err(InvalidOperation::SpanOutsideSheet { what, first, count, max });
        }
        Ok(self)
    }
}

impl DeleteSpans {
    pub(super) fn validated(self, axis: Axis) -> Result<Self, InvalidOperation> {
        Ok(Self { sheet: self.sheet, spans: self.spans.validated(axis)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserts_end_at_their_limits() {
        for axis in [Axis::Rows, Axis::Columns] {
            for (before, count, fits) in [
                (0, 0, false),
                (0, 1, true),
                (0, MAX_INSERT, true),
                (0, MAX_INSERT + 1, false),
                (axis.limit() - 1, 1, true),
                (axis.limit(), 1, false),
            ] {
                let insert = InsertBefore { sheet: SheetId::FIRST, before, count };
                assert_eq!(insert.validated(axis).is_ok(), fits, "{insert:?}");
            }
        }
    }
}
