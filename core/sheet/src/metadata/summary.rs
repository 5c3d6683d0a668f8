//! State summary, which the header of each log entry contains. It usually shows whether an edit can
//! have an effect, so a writer does not have to load the state.

use super::{SheetSet, WorkbookMetadata};
use crate::operation::{Operation, SetFormat};
use cellar_base::limits::{MAX_RANGE_FORMATS, MAX_SUMMARY_RUNS};
use cellar_grid::Spans;

/// The sheet numbers of a workbook, and an upper bound on the size of its range formats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateSummary {
    /// Numbers of the existing and of the deleted sheets.
    pub sheets: SheetSet,
    /// Upper bound on the number of spans in the range formats of any sheet.
    pub format_spans: u32,
}

impl StateSummary {
    /// Creates the summary of a new workbook.
    #[must_use]
    pub fn first() -> Self {
        Self { sheets: SheetSet::first(), format_spans: 0 }
    }

    /// Creates the summary of a workbook.
    #[must_use]
    pub fn of(metadata: &WorkbookMetadata) -> Self {
        let spans = metadata.sheets.values().map(|sheet| sheet.formats.span_count()).max();
        let format_spans = u32::try_from(spans.unwrap_or(0)).unwrap_or(u32::MAX);
        Self { sheets: metadata.tabs.numbers().clone(), format_spans }
    }

    /// Updates the summary with committed operations.
    pub fn apply(&mut self, operations: &[Operation]) {
        for operation in operations {
            // An operation on a missing sheet has no effect.
            let has_effect = self.sheets.apply(operation).is_ok();
            if let Operation::SetFormat(set_format) = operation
                && has_effect
            {
                self.format_spans = self.format_spans.saturating_add(span_count(set_format));
            }
        }
    }

    /// Returns whether `set_format` certainly stays within the limits on range formats. Each range
    /// format has at least two spans, so the number of spans is also an upper bound on the number
    /// of range formats.
    #[must_use]
    pub fn has_room_for(&self, set_format: &SetFormat) -> bool {
        let spans_after = self.format_spans.saturating_add(span_count(set_format));
        usize::try_from(spans_after).is_ok_and(|spans| spans <= MAX_RANGE_FORMATS)
    }

    /// Returns the approximate size of the summary in memory, in bytes.
    pub fn weight_bytes(&self) -> usize {
        const RUN_BYTES: usize = 8;
        let runs = self.sheets.live().len().saturating_add(self.sheets.used().runs().len());
        runs.saturating_mul(RUN_BYTES)
    }

    /// Returns whether the summary is small enough for an entry header.
    #[must_use]
    pub fn fits_a_header(&self) -> bool {
        let fits = |runs: &Spans| runs.len() <= MAX_SUMMARY_RUNS;
        fits(self.sheets.live()) && fits(self.sheets.used().runs())
    }
}

fn span_count(set_format: &SetFormat) -> u32 {
    let span_count = set_format.rows.len().saturating_add(set_format.columns.len());
    u32::try_from(span_count).unwrap_or(u32::MAX)
}
