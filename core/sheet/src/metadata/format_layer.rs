//! Range formats: one record per range, independent of its number of cells.

use serde::{Deserialize, Serialize};

use crate::a1::Rectangle;
use crate::axis_map::{Axis, AxisMap};
use crate::cell::GENERAL;
use crate::operation::SetFormat;
use crate::spans::{Span, Spans};
use cellar_base::limits::{MAX_RANGE_FORMAT_SPANS, MAX_RANGE_FORMATS};

/// Number format of a range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RangeFormat {
    /// Rows.
    pub rows: Spans,
    /// Columns.
    pub columns: Spans,
    /// Number format; `General` where it removes an older one.
    pub format: String,
}

/// Range formats of a sheet, oldest first: the newest one that contains a cell applies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FormatLayer {
    records: Vec<RangeFormat>,
    /// Approximate size in memory, in bytes.
    bytes: usize,
    /// Total number of spans of rows and columns.
    spans: usize,
}

impl RangeFormat {
    /// Returns whether the range contains a place (row, column).
    #[must_use]
    pub fn holds(&self, (row, column): (u32, u32)) -> bool {
        self.rows.contains(row) && self.columns.contains(column)
    }

    /// Returns whether the range lies completely in these rows and columns.
    fn is_within(&self, rows: &Spans, columns: &Spans) -> bool {
        rows.cover(&self.rows) && columns.cover(&self.columns)
    }
}

impl FormatLayer {
    /// Returns the format of a place; `General` if the newest range says so.
    #[must_use]
    pub fn at(&self, row: u32, column: u32) -> Option<&str> {
        let mut newest_first = self.records.iter().rev();
        newest_first.find(|record| record.holds((row, column))).map(|record| record.format.as_str())
    }

    /// Returns the records, oldest first.
    pub fn records(&self) -> &[RangeFormat] {
        &self.records
    }

    /// Creates a layer from the records of a snapshot, oldest first.
    pub fn from_records(records: Vec<RangeFormat>) -> Self {
        let mut layer = Self { records, bytes: 0, spans: 0 };
        (_, layer.spans, layer.bytes) = layer.totals(|_| true);
        layer
    }

    /// Returns whether there are no range formats.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Returns the records that intersect a rectangle, cut to it, oldest first.
    #[must_use]
    pub fn in_rectangle(&self, rectangle: Rectangle) -> Vec<RangeFormat> {
        let side =
            |first: u32, last: u32| Spans::one(first, last.saturating_sub(first).saturating_add(1));
        let rows = side(rectangle.first.row, rectangle.last.row);
        let columns = side(rectangle.first.column, rectangle.last.column);
        self.intersection(&rows, &columns)
    }

    /// Returns the records cut to these rows and columns, oldest first.
    #[must_use]
    pub fn intersection(&self, rows: &Spans, columns: &Spans) -> Vec<RangeFormat> {
        let cut = self.records.iter().map(|record| RangeFormat {
            rows: record.rows.intersection(rows),
            columns: record.columns.intersection(columns),
            format: record.format.clone(),
        });
        cut.filter(|record| !record.rows.is_empty() && !record.columns.is_empty()).collect()
    }

    /// Returns records of either layer so that both layers display the same wherever none of them
    /// applies: all records except those that both layers have, in the same order.
    pub(crate) fn difference(&self, other: &Self) -> Vec<RangeFormat> {
        let (mut own, mut differing) = (self.records.iter(), Vec::new());
        for record in &other.records {
            let mut rest = own.clone();
            // Skipped records exist only in this layer.
            match rest.position(|own| own == record) {
                Some(passed) => {
                    differing.extend(own.by_ref().take(passed).cloned());
                    own = rest;
                }
                None => differing.push(record.clone()),
            }
        }
        differing.extend(own.cloned());
        differing
    }

    /// Adds a record on top and removes those that it covers. Returns `false`, without a change, if
    /// there are too many: an unreadable state would be worse than a missing format.
    pub fn set(&mut self, set: &SetFormat) -> bool {
        let Some((gone, spans_gone, bytes_gone)) = self.covered_by(set) else { return false };
        let SetFormat { rows, columns, format, .. } = set;
        let record =
            RangeFormat { rows: rows.clone(), columns: columns.clone(), format: format.clone() };
        self.bytes = self.bytes.saturating_sub(bytes_gone);
        self.spans = self.spans.saturating_sub(spans_gone);
        if gone > 0 {
            self.records.retain(|record| !record.is_within(rows, columns));
        }
        if format != GENERAL || !self.intersection(rows, columns).is_empty() {
            self.bytes = self.bytes.saturating_add(weight_bytes(&record));
            self.spans = self.spans.saturating_add(span_count(&record));
            self.records.push(record);
        }
        true
    }

    /// Returns the total number of spans of rows and columns.
    pub(crate) fn span_count(&self) -> usize {
        self.spans
    }

    /// Returns whether another record fits, considering those that it covers.
    pub fn has_room_for(&self, set: &SetFormat) -> bool {
        self.covered_by(set).is_some()
    }

    /// Returns the number of covered records, their spans and their bytes; `None` if the new record
    /// does not fit.
    fn covered_by(&self, set: &SetFormat) -> Option<(usize, usize, usize)> {
        let covered = self.totals(|record| record.is_within(&set.rows, &set.columns));
        let records = self.records.len().saturating_sub(covered.0);
        let added = set.rows.len().saturating_add(set.columns.len());
        let spans = self.spans.saturating_sub(covered.1).saturating_add(added);
        let has_room = records < MAX_RANGE_FORMATS && spans <= MAX_RANGE_FORMAT_SPANS;
        has_room.then_some(covered)
    }

    /// Returns the number of matching records, their spans and their bytes.
    fn totals(&self, wanted: impl Fn(&RangeFormat) -> bool) -> (usize, usize, usize) {
        let records = self.records.iter().filter(|record| wanted(record));
        records.fold((0_usize, 0_usize, 0_usize), |(count, spans, bytes), record| {
            let bytes = bytes.saturating_add(weight_bytes(record));
            (count.saturating_add(1), spans.saturating_add(span_count(record)), bytes)
        })
    }

    /// Returns the records moved by the maps of both axes.
    pub(crate) fn mapped(&self, rows: &AxisMap, columns: &AxisMap) -> Self {
        let mut mapped = self.clone();
        mapped.map(Axis::Rows, rows);
        mapped.map(Axis::Columns, columns);
        mapped
    }

    /// Returns the end of the formats that do not extend to the end of the axis.
    pub(crate) fn reach(&self, axis: Axis) -> u32 {
        let ends = self.records.iter().filter_map(|record| match axis {
            Axis::Rows => record.rows.iter().last(),
            Axis::Columns => record.columns.iter().last(),
        });
        ends.map(Span::end).filter(|end| *end < axis.limit()).max().unwrap_or(0)
    }

    /// Moves every record by an axis map; a record grows by rows inserted inside it.
    pub fn map(&mut self, axis: Axis, map: &AxisMap) {
        for record in &mut self.records {
            let spans = match axis {
                Axis::Rows => &mut record.rows,
                Axis::Columns => &mut record.columns,
            };
            *spans = map.covered(spans);
        }
        self.records.retain(|record| !record.rows.is_empty() && !record.columns.is_empty());
        (_, self.spans, self.bytes) = self.totals(|_| true);
    }

    /// Returns the approximate size in memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

fn span_count(record: &RangeFormat) -> usize {
    record.rows.len().saturating_add(record.columns.len())
}

fn weight_bytes(record: &RangeFormat) -> usize {
    const FRAME_BYTES: usize = 96;
    const SPAN_BYTES: usize = 8;
    let spans = span_count(record);
    FRAME_BYTES.saturating_add(spans.saturating_mul(SPAN_BYTES)).saturating_add(record.format.len())
}
