//! Number formats of ranges of cells.

use serde::{Deserialize, Serialize};

use crate::a1::Rectangle;
use crate::axis_map::{Axis, AxisMap};
use crate::cell::GENERAL;
use crate::operation::SetFormat;
use cellar_base::limits::{MAX_RANGE_FORMAT_SPANS, MAX_RANGE_FORMATS};
use cellar_grid::{Span, Spans};

/// A range and its number format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RangeFormat {
    /// Rows of the range.
    pub rows: Spans,
    /// Columns of the range.
    pub columns: Spans,
    /// Number format of the range. `General` overrides the number formats of older ranges.
    pub format: String,
}

/// A sheet would have too many range formats, or too many spans in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the sheet has too many range formats")]
pub struct TooManyRangeFormats;

/// Range formats of a sheet, oldest first. The newest range that contains a cell determines its
/// number format.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FormatLayer {
    records: Vec<RangeFormat>,
    /// Approximate size in memory, in bytes.
    total_bytes: usize,
    total_spans: usize,
}

impl RangeFormat {
    /// Returns whether the range contains the cell at `row` and `column`.
    #[must_use]
    pub fn contains(&self, (row, column): (u32, u32)) -> bool {
        self.rows.contains(row) && self.columns.contains(column)
    }

    fn is_empty(&self) -> bool {
        self.rows.is_empty() || self.columns.is_empty()
    }

    fn is_within(&self, rows: &Spans, columns: &Spans) -> bool {
        rows.cover(&self.rows) && columns.cover(&self.columns)
    }
}

struct Totals {
    records: usize,
    spans: usize,
    bytes: usize,
}

impl Totals {
    fn of<'a>(records: impl Iterator<Item = &'a RangeFormat>) -> Self {
        let mut totals = Self { records: 0, spans: 0, bytes: 0 };
        for record in records {
            totals.records = totals.records.saturating_add(1);
            totals.spans = totals.spans.saturating_add(record_span_count(record));
            totals.bytes = totals.bytes.saturating_add(record_weight_bytes(record));
        }
        totals
    }
}

impl FormatLayer {
    /// Returns the number format of the newest range that contains the cell, or `None` if no range
    /// contains the cell.
    #[must_use]
    pub fn format_at(&self, row: u32, column: u32) -> Option<&str> {
        let mut newest_first = self.records.iter().rev();
        newest_first
            .find(|record| record.contains((row, column)))
            .map(|record| record.format.as_str())
    }

    /// Returns the range formats, oldest first.
    pub fn records(&self) -> &[RangeFormat] {
        &self.records
    }

    /// Creates a format layer from range formats, oldest first, without checking limits.
    pub fn from_records(records: Vec<RangeFormat>) -> Self {
        let mut layer = Self { records, total_bytes: 0, total_spans: 0 };
        layer.update_totals();
        layer
    }

    /// Returns whether the layer is empty.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Returns the non-empty intersections of the range formats with `rectangle`, oldest first.
    #[must_use]
    pub fn in_rectangle(&self, rectangle: Rectangle) -> Vec<RangeFormat> {
        let span_from_to =
            |first: u32, last: u32| Spans::one(first, last.saturating_sub(first).saturating_add(1));
        let rows = span_from_to(rectangle.first.row, rectangle.last.row);
        let columns = span_from_to(rectangle.first.column, rectangle.last.column);
        self.intersection(&rows, &columns)
    }

    /// Returns the non-empty intersections of the range formats with `rows` and `columns`, oldest
    /// first.
    #[must_use]
    pub fn intersection(&self, rows: &Spans, columns: &Spans) -> Vec<RangeFormat> {
        let intersections = self.records.iter().map(|record| RangeFormat {
            rows: record.rows.intersection(rows),
            columns: record.columns.intersection(columns),
            format: record.format.clone(),
        });
        intersections.filter(|intersection| !intersection.is_empty()).collect()
    }

    /// Returns the range formats in which the two layers differ, including range formats in a
    /// different order. Outside the returned ranges, both layers determine the same number formats.
    pub(crate) fn difference(&self, other: &Self) -> Vec<RangeFormat> {
        let mut differing_records = Vec::new();
        let mut own_records = self.records.iter();
        for other_record in &other.records {
            if !own_records.as_slice().contains(other_record) {
                differing_records.push(other_record.clone());
                continue;
            }
            // Range formats before the matching one are missing from the other layer, or are in a
            // different order.
            let records_before = own_records.by_ref().take_while(|record| *record != other_record);
            differing_records.extend(records_before.cloned());
        }
        differing_records.extend(own_records.cloned());
        differing_records
    }

    /// Adds a range format and removes older range formats that it covers completely.
    ///
    /// # Errors
    /// Returns [`TooManyRangeFormats`] and changes nothing if the sheet would have too many range
    /// formats to be stored.
    pub fn try_set(&mut self, set_format: &SetFormat) -> Result<(), TooManyRangeFormats> {
        let covered = self.totals_of_covered(set_format);
        if !self.has_room_if_replacing(&covered, set_format) {
            return Err(TooManyRangeFormats);
        }
        self.remove_covered(set_format, &covered);
        let SetFormat { rows, columns, format, .. } = set_format;
        // `General` is stored only if it overrides an older range format.
        let is_needed = format != GENERAL || !self.intersection(rows, columns).is_empty();
        if is_needed {
            self.push(RangeFormat {
                rows: rows.clone(),
                columns: columns.clone(),
                format: format.clone(),
            });
        }
        Ok(())
    }

    fn remove_covered(&mut self, set_format: &SetFormat, covered: &Totals) {
        if covered.records == 0 {
            return;
        }
        self.total_bytes = self.total_bytes.saturating_sub(covered.bytes);
        self.total_spans = self.total_spans.saturating_sub(covered.spans);
        self.records.retain(|record| !record.is_within(&set_format.rows, &set_format.columns));
    }

    fn push(&mut self, record: RangeFormat) {
        self.total_bytes = self.total_bytes.saturating_add(record_weight_bytes(&record));
        self.total_spans = self.total_spans.saturating_add(record_span_count(&record));
        self.records.push(record);
    }

    pub(crate) fn span_count(&self) -> usize {
        self.total_spans
    }

    /// Returns whether [`FormatLayer::try_set`] would succeed for `set_format`.
    pub fn has_room_for(&self, set_format: &SetFormat) -> bool {
        self.has_room_if_replacing(&self.totals_of_covered(set_format), set_format)
    }

    fn has_room_if_replacing(&self, covered: &Totals, set_format: &SetFormat) -> bool {
        let remaining_records = self.records.len().saturating_sub(covered.records);
        let remaining_spans = self.total_spans.saturating_sub(covered.spans);
        let added_spans = set_format.rows.len().saturating_add(set_format.columns.len());
        remaining_records < MAX_RANGE_FORMATS
            && remaining_spans.saturating_add(added_spans) <= MAX_RANGE_FORMAT_SPANS
    }

    fn totals_of_covered(&self, set_format: &SetFormat) -> Totals {
        let is_covered =
            |record: &&RangeFormat| record.is_within(&set_format.rows, &set_format.columns);
        Totals::of(self.records.iter().filter(is_covered))
    }

    fn update_totals(&mut self) {
        let totals = Totals::of(self.records.iter());
        self.total_spans = totals.spans;
        self.total_bytes = totals.bytes;
    }

    pub(crate) fn mapped(&self, rows: &AxisMap, columns: &AxisMap) -> Self {
        let mut mapped = self.clone();
        mapped.map_ranges(Axis::Rows, rows);
        mapped.map_ranges(Axis::Columns, columns);
        mapped
    }

    /// Returns the index after the last row or column of any range. Ranges that extend to the end
    /// of the axis are ignored.
    pub(crate) fn used_end(&self, axis: Axis) -> u32 {
        let ends = self.records.iter().filter_map(|record| match axis {
            Axis::Rows => record.rows.iter().last(),
            Axis::Columns => record.columns.iter().last(),
        });
        ends.map(Span::end).filter(|end| *end < axis.limit()).max().unwrap_or(0)
    }

    /// Moves all ranges as described by an axis map. A range grows if rows or columns were inserted
    /// inside it.
    pub fn map_ranges(&mut self, axis: Axis, map: &AxisMap) {
        for record in &mut self.records {
            let spans = match axis {
                Axis::Rows => &mut record.rows,
                Axis::Columns => &mut record.columns,
            };
            *spans = map.covering_spans(spans);
        }
        self.records.retain(|record| !record.is_empty());
        self.update_totals();
    }

    /// Returns the approximate size of the range formats in memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.total_bytes
    }
}

fn record_span_count(record: &RangeFormat) -> usize {
    record.rows.len().saturating_add(record.columns.len())
}

fn record_weight_bytes(record: &RangeFormat) -> usize {
    const FRAME_BYTES: usize = 96;
    const SPAN_BYTES: usize = 8;
    let spans = record_span_count(record);
    FRAME_BYTES.saturating_add(spans.saturating_mul(SPAN_BYTES)).saturating_add(record.format.len())
}
