//! Rows and columns inserted and deleted.

use serde::{Deserialize, Serialize};

use super::{InvalidOperation, SheetId, Spans, axis_name};
use crate::axis_map::Axis;
use cellar_base::limits::MAX_INSERT;

/// Inserts blank rows (or columns) in front of one. What is pushed over the end of the largest
/// sheet is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InsertBefore {
    /// The sheet.
    #[serde(default)]
    pub sheet: SheetId,
    /// The row (or column) before which the first is inserted, from 0.
    pub before: u32,
    /// How many, at least one.
    pub count: u32,
}

/// Deletes rows (or columns) with all they hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeleteSpans {
    /// The sheet.
    #[serde(default)]
    pub sheet: SheetId,
    /// Which.
    pub spans: Spans,
}

impl InsertBefore {
    pub(super) fn validated(self, axis: Axis) -> Result<Self, InvalidOperation> {
        let what = axis_name(axis);
        if self.count == 0 || self.count > MAX_INSERT {
            return Err(InvalidOperation::InsertCount { what, count: self.count });
        }
        // In front of the last one at most: what comes behind it is blank anyway.
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
