//! Operations that insert or delete rows and columns.

use serde::{Deserialize, Serialize};

use super::InvalidOperation;
use cellar_base::limits::{MAX_INSERT, MAX_SPANS};
use cellar_grid::Axis;
use cellar_grid::SheetId;
use cellar_grid::{Span, Spans};

/// Inserts blank rows or columns. Cells that move past the end of the largest possible sheet are
/// discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InsertBefore {
    /// Number of the sheet.
    #[serde(default)]
    pub sheet: SheetId,
    /// Row or column before which the new rows or columns are inserted, counted from 0.
    pub before: u32,
    /// Number of rows or columns to insert, at least 1.
    pub count: u32,
}

/// Deletes rows or columns with their contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeleteSpans {
    /// Number of the sheet.
    #[serde(default)]
    pub sheet: SheetId,
    /// Rows (or columns) to delete.
    pub spans: Spans,
}

impl InsertBefore {
    pub(super) fn validated(self, axis: Axis) -> Result<Self, InvalidOperation> {
        if self.count == 0 || self.count > MAX_INSERT {
            let axis_name = axis.name();
            return Err(InvalidOperation::InsertCount { axis_name, count: self.count });
        }
        // An insertion after the last possible row or column would have no effect.
        if self.before >= axis.limit() {
            return Err(outside_sheet(axis, Span { first: self.before, count: self.count }));
        }
        Ok(self)
    }
}

impl DeleteSpans {
    pub(super) fn validated(self, axis: Axis) -> Result<Self, InvalidOperation> {
        Ok(Self { sheet: self.sheet, spans: validated_spans(self.spans, axis)? })
    }
}

/// Validates spans from a client, sorts them and joins adjacent ones.
///
/// # Errors
/// Returns [`InvalidOperation`] if there are no spans or too many, or if a span is empty or extends
/// past the end of the axis.
pub(super) fn validated_spans(spans: Spans, axis: Axis) -> Result<Spans, InvalidOperation> {
    let mut sorted_spans = spans.into_vec();
    if sorted_spans.is_empty() || sorted_spans.iter().any(|span| span.count == 0) {
        return Err(InvalidOperation::EmptySpan { axis_name: axis.name() });
    }
    if sorted_spans.len() > MAX_SPANS {
        let count = sorted_spans.len();
        return Err(InvalidOperation::TooManySpans { axis_name: axis.name(), count });
    }
    for span in &sorted_spans {
        let end = u64::from(span.first) + u64::from(span.count);
        if end > u64::from(axis.limit()) {
            return Err(outside_sheet(axis, *span));
        }
    }
    sorted_spans.sort_by_key(|span| span.first);
    Ok(Spans::from_sorted(sorted_spans))
}

fn outside_sheet(axis: Axis, span: Span) -> InvalidOperation {
    InvalidOperation::SpanOutsideSheet {
        axis_name: axis.name(),
        first: span.first,
        count: span.count,
        limit: axis.limit(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(list: &[(u32, u32)]) -> Spans {
        Spans::unsorted(
            list.iter().map(|(first, count)| Span { first: *first, count: *count }).collect(),
        )
    }

    #[test]
    fn joins_adjacent_spans() {
        let validated =
            validated_spans(spans(&[(5, 2), (0, 1), (7, 1), (6, 4)]), Axis::Rows).unwrap();
        assert_eq!(validated, spans(&[(0, 1), (5, 5)]));
        assert_eq!((validated.count(), validated.len()), (6, 2));
        let inside: Vec<u32> = (0..12).filter(|index| validated.contains(*index)).collect();
        assert_eq!(inside, [0, 5, 6, 7, 8, 9]);
        assert_eq!(Spans::of(inside), validated);
    }

    #[test]
    fn rejects_spans_outside_the_axis() {
        let limit = Axis::Columns.limit();
        for good in [(limit - 1, 1), (0, limit)] {
            assert!(validated_spans(spans(&[good]), Axis::Columns).is_ok());
        }
        for bad in [(limit, 1), (0, limit + 1), (limit - 1, 2), (3, 0), (u32::MAX, u32::MAX)] {
            assert!(validated_spans(spans(&[bad]), Axis::Columns).is_err(), "{bad:?}");
        }
        assert!(validated_spans(spans(&[]), Axis::Columns).is_err());
        let many =
            |count| Spans::unsorted((0..count).map(|i| Span { first: 2 * i, count: 1 }).collect());
        let max = u32::try_from(MAX_SPANS).unwrap();
        assert!(validated_spans(many(max), Axis::Rows).is_ok());
        assert!(validated_spans(many(max + 1), Axis::Rows).is_err());
    }

    #[test]
    fn rejects_inserts_outside_the_axis() {
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
