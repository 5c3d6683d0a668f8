//! The state summary in each entry's header. From the newest entry alone, a writer decides whether
//! a mutation can have an effect.

use super::{SheetSet, WorkbookMetadata};
use crate::operation::{Operation, SetFormat};
use crate::spans::Spans;
use cellar_base::limits::{MAX_RANGE_FORMATS, MAX_SUMMARY_RUNS};

/// Existing sheets, and an upper bound of range formats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateSummary {
    /// Sheets.
    pub sheets: SheetSet,
    /// Upper bound of the format spans of any single sheet.
    pub format_spans: u32,
}

impl StateSummary {
    /// Creates the summary of a new workbook.
    #[must_use]
    pub fn first() -> Self {
        Self { sheets: SheetSet::first(), format_spans: 0 }
    }

    /// Creates the summary of a state.
    #[must_use]
    pub fn of(metadata: &WorkbookMetadata) -> Self {
        let spans = metadata.sheets.values().map(|sheet| sheet.formats.span_count()).max();
        let format_spans = u32::try_from(spans.unwrap_or(0)).unwrap_or(u32::MAX);
        Self { sheets: metadata.tabs.numbers().clone(), format_spans }
    }

    /// Updates the summary for committed operations.
    pub fn apply(&mut self, operations: &[Operation]) {
        for operation in operations {
            // An operation with a fault has no effect.
            let applied = self.sheets.apply(operation).is_ok();
            if let Operation::SetFormat(set) = operation
                && applied
            {
                self.format_spans = self.format_spans.saturating_add(spans_of(set));
            }
        }
    }

    /// Returns whether every sheet certainly has capacity for another range format: each has at
    /// least one span of rows and one of columns.
    #[must_use]
    pub fn has_room_for(&self, set: &SetFormat) -> bool {
        let spans = self.format_spans.saturating_add(spans_of(set));
        usize::try_from(spans).is_ok_and(|spans| spans <= MAX_RANGE_FORMATS)
    }

    /// Returns the approximate size in memory, in bytes.
    pub fn weight_bytes(&self) -> usize {
        const RUN_BYTES: usize = 8;
        let runs = self.sheets.live().len().saturating_add(self.sheets.used().runs().len());
        runs.saturating_mul(RUN_BYTES)
    }

    /// Returns whether the summary fits a header.
    #[must_use]
    pub fn fits_a_header(&self) -> bool {
        let runs = |spans: &Spans| spans.len() <= MAX_SUMMARY_RUNS;
        runs(self.sheets.live()) && runs(self.sheets.used().runs())
    }
}

fn spans_of(set: &SetFormat) -> u32 {
    u32::try_from(set.rows.len().saturating_add(set.columns.len())).unwrap_or(u32::MAX)
}
