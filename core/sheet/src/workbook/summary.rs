//! The summary of the state that each entry carries: from the newest entry alone, a writer decides
//! whether a mutation can have an effect.

use super::SheetSet;
use crate::metadata::Outline;
use crate::operation::{Operation, SetFormat, Spans};
use cellar_base::limits::{MAX_RANGE_FORMATS, MAX_SUMMARY_RUNS};

/// Which sheets there are, and how many formats of ranges at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateSummary {
    /// The sheets.
    pub sheets: SheetSet,
    /// No fewer than the spans of all formats of ranges of any one sheet.
    pub format_spans: u32,
}

impl StateSummary {
    /// The summary of a new workbook.
    #[must_use]
    pub fn first() -> Self {
        Self { sheets: SheetSet::first(), format_spans: 0 }
    }

    /// The summary of a state.
    #[must_use]
    pub fn of(outline: &Outline) -> Self {
        let spans = outline.sheets.values().map(|sheet| sheet.formats.span_count()).max();
        let format_spans = u32::try_from(spans.unwrap_or(0)).unwrap_or(u32::MAX);
        Self { sheets: outline.tabs.numbers().clone(), format_spans }
    }

    /// Carries the summary past committed operations.
    pub fn apply(&mut self, operations: &[Operation]) {
        for operation in operations {
            // A faulty operation changes nothing.
            let applied = self.sheets.apply(operation).is_ok();
            if let Operation::SetFormat(set) = operation
                && applied
            {
                self.format_spans = self.format_spans.saturating_add(spans_of(set));
            }
        }
    }

    /// Whether every sheet surely has room for one more format: each format has at least one span of
    /// rows and one of columns.
    #[must_use]
    pub fn has_room_for(&self, set: &SetFormat) -> bool {
        let spans = self.format_spans.saturating_add(spans_of(set));
        usize::try_from(spans).is_ok_and(|spans| spans <= MAX_RANGE_FORMATS)
    }

    /// About how many bytes it takes in memory.
    pub fn weight_bytes(&self) -> usize {
        const RUN_BYTES: usize = 8;
        let runs = self.sheets.live().len().saturating_add(self.sheets.used().runs().len());
        runs.saturating_mul(RUN_BYTES)
    }

    /// Whether it is short enough for a header.
    #[must_use]
    pub fn fits_a_header(&self) -> bool {
        let runs = |spans: &Spans| spans.len() <= MAX_SUMMARY_RUNS;
        runs(self.sheets.live()) && runs(self.sheets.used().runs())
    }
}

fn spans_of(set: &SetFormat) -> u32 {
    u32::try_from(set.rows.len().saturating_add(set.columns.len())).unwrap_or(u32::MAX)
}
