//! Compact list of sorted spans of rows or columns, such as stripes, tiles or index parts.

use minicbor::decode::Error as DecodeError;
use minicbor::encode::{Error as EncodeError, Write};
use minicbor::{Decode, Decoder, Encode, Encoder};

use crate::saturate::{to_u64, to_usize};
use cellar_sheet::operation::{Span, Spans};

/// Start of a run of adjacent spans with equal size, start of a gap, or the end of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunStart {
    /// Start of the first span.
    pub start: u32,
    /// Number of spans in the run, or 0 for a gap or the end.
    pub count: u32,
}

/// Disjoint spans of rows or columns in ascending order, stored as runs of spans with equal size. A
/// regular grid of any size takes only two entries. The last entry marks the end of the last span.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AxisIndex {
    runs: Vec<RunStart>,
    spans_before: Vec<usize>,
}

impl AxisIndex {
    /// Returns the starts of the runs and gaps, followed by the end.
    #[must_use]
    pub fn runs(&self) -> &[RunStart] {
        &self.runs
    }

    /// Returns the number of spans.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans_before.last().copied().unwrap_or(0)
    }

    /// Returns whether the index has no spans.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Returns the span from the start of the first span to the end of the last span.
    #[must_use]
    pub fn extent(&self) -> Option<Span> {
        let first = self.runs.first()?.start;
        let end = self.runs.last()?.start;
        Some(Span { first, count: end.saturating_sub(first) })
    }

    /// Appends a span. Returns `false` and leaves the list unchanged if the span is empty or starts
    /// before the end of the last span.
    #[must_use]
    pub fn push(&mut self, span: Span) -> bool {
        let index_end = self.runs.last().map_or(0, |end| end.start);
        if span.count == 0 || span.first < index_end {
            return false;
        }
        let is_adjacent = !self.runs.is_empty() && span.first == index_end;
        if is_adjacent && self.last_span_size() == Some(span.count) {
            self.extend_last_run(span);
            return true;
        }
        if is_adjacent {
            // The new run starts at the previous end.
            self.runs.pop();
            self.spans_before.pop();
        }
        self.append_run(span);
        true
    }

    /// Appends a run with a single span, followed by the new end of the index.
    fn append_run(&mut self, span: Span) {
        let spans_before = self.count_spans();
        self.runs.push(RunStart { start: span.first, count: 1 });
        self.spans_before.push(spans_before);
        self.runs.push(RunStart { start: span.end(), count: 0 });
        self.spans_before.push(spans_before + 1);
    }

    fn extend_last_run(&mut self, span: Span) {
        if let [.., last_run, end] = self.runs.as_mut_slice() {
            last_run.count += 1;
            end.start = span.end();
        }
        if let Some(spans_before_end) = self.spans_before.last_mut() {
            *spans_before_end += 1;
        }
    }

    /// Returns the number of spans. Also counts the last run if no end follows it yet.
    fn count_spans(&self) -> usize {
        let last_run_count = self.runs.last().map_or(0, |run| run.count);
        self.len() + to_usize(last_run_count)
    }

    fn last_span_size(&self) -> Option<u32> {
        self.span_size(self.runs.len().checked_sub(2)?)
    }

    /// Returns `None` for a gap or the end.
    fn span_size(&self, run_index: usize) -> Option<u32> {
        let run = self.runs.get(run_index)?;
        let next_run = self.runs.get(run_index + 1)?;
        next_run.start.saturating_sub(run.start).checked_div(run.count)
    }

    /// Returns the span at `index`.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Span> {
        // A gap and the run after it have the same number of preceding spans. The last entry with
        // this number is therefore the run.
        let runs_until_index = self.spans_before.partition_point(|before| *before <= index);
        let run_index = runs_until_index.checked_sub(1)?;
        let run = self.runs.get(run_index)?;
        let span_size = self.span_size(run_index)?;
        let index_in_run = index.checked_sub(*self.spans_before.get(run_index)?)?;
        let offset = u32::try_from(index_in_run).ok()?.checked_mul(span_size)?;
        Some(Span { first: run.start.checked_add(offset)?, count: span_size })
    }

    /// Returns the index of the first span that ends after the row or column `line`, or the number
    /// of spans if there is none.
    #[must_use]
    pub fn first_ending_after(&self, line: u32) -> usize {
        let runs_until_line = self.runs.partition_point(|run| run.start <= line);
        let Some(run_index) = runs_until_line.checked_sub(1) else { return 0 };
        let spans_before = self.spans_before.get(run_index).copied().unwrap_or(0);
        let (Some(run), Some(span_size)) = (self.runs.get(run_index), self.span_size(run_index))
        else {
            return spans_before;
        };
        let index_in_run = line.saturating_sub(run.start).checked_div(span_size).unwrap_or(0);
        spans_before + to_usize(index_in_run)
    }

    /// Iterates in ascending order over the indices of all spans that overlap `spans`.
    pub fn overlapping<'a>(&'a self, spans: &'a Spans) -> impl Iterator<Item = usize> + 'a {
        let mut min_index = 0;
        spans.iter().flat_map(move |span| {
            let first_index = self.first_ending_after(span.first).max(min_index);
            let last_index = self.first_ending_after(span.end().saturating_sub(1));
            let includes_last = self.get(last_index).is_some_and(|own| own.first < span.end());
            let end_index = if includes_last { last_index + 1 } else { last_index };
            // A span that overlaps two of `spans` is returned only once.
            min_index = end_index.max(first_index);
            first_index..min_index
        })
    }

    /// Iterates over all spans in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = Span> + '_ {
        (0..self.len()).map_while(|index| self.get(index))
    }

    /// Creates an index from its runs. Returns `None` unless [`AxisIndex::push`] could have
    /// produced exactly these runs: starts ascend, the last entry is the end, and the length of
    /// each run is a multiple of its number of spans. Adjacent gaps are joined, and so are adjacent
    /// runs with spans of equal size.
    #[must_use]
    pub fn from_runs(runs: Vec<RunStart>) -> Option<Self> {
        let mut spans_before = Vec::with_capacity(runs.len());
        let mut span_count = 0_usize;
        for run in &runs {
            spans_before.push(span_count);
            span_count = span_count.checked_add(to_usize(run.count))?;
        }
        let index = Self { runs, spans_before };
        if index.starts_and_ends_correctly()
            && index.are_runs_divisible()
            && index.are_runs_joined()
        {
            Some(index)
        } else {
            None
        }
    }

    /// Returns whether the first entry is a run and the last entry is the end.
    fn starts_and_ends_correctly(&self) -> bool {
        let starts_with_run = self.runs.first().is_none_or(|first| first.count > 0);
        let has_end = self.runs.last().is_none_or(|last| last.count == 0);
        starts_with_run && has_end
    }

    /// Returns whether the starts are in ascending order, the length of each run is a multiple of
    /// its number of spans, and no two gaps are adjacent.
    fn are_runs_divisible(&self) -> bool {
        let next_runs = self.runs.iter().skip(1);
        self.runs.iter().zip(next_runs).all(|(run, next_run)| {
            if next_run.start <= run.start {
                return false;
            }
            let is_gap = run.count == 0;
            if is_gap {
                return next_run.count > 0;
            }
            (next_run.start - run.start).is_multiple_of(run.count)
        })
    }

    /// Returns whether adjacent runs have spans of different sizes.
    fn are_runs_joined(&self) -> bool {
        (0..self.runs.len()).all(|run_index| {
            let span_size = self.span_size(run_index);
            span_size.is_none() || span_size != self.span_size(run_index + 1)
        })
    }
}

/// Encodes the runs as a flat list that alternates between start deltas and counts.
impl<Ctx> Encode<Ctx> for AxisIndex {
    fn encode<W: Write>(
        &self,
        encoder: &mut Encoder<W>,
        _: &mut Ctx,
    ) -> Result<(), EncodeError<W::Error>> {
        const NUMBERS_PER_RUN: u64 = 2;
        encoder.array(to_u64(self.runs.len()) * NUMBERS_PER_RUN)?;
        let mut previous_start = 0;
        for run in &self.runs {
            encoder.u32(run.start.saturating_sub(previous_start))?.u32(run.count)?;
            previous_start = run.start;
        }
        Ok(())
    }
}

impl<'b, Ctx> Decode<'b, Ctx> for AxisIndex {
    fn decode(decoder: &mut Decoder<'b>, _: &mut Ctx) -> Result<Self, DecodeError> {
        let malformed = || DecodeError::message("the pairs of an axis index are unsorted");
        let mut numbers = decoder.array_iter::<u32>()?;
        let mut runs = Vec::new();
        let mut previous_start = 0_u32;
        while let Some(distance) = numbers.next() {
            let count = numbers.next().ok_or_else(malformed)??;
            let start = previous_start.checked_add(distance?).ok_or_else(malformed)?;
            runs.push(RunStart { start, count });
            previous_start = start;
        }
        Self::from_runs(runs).ok_or_else(malformed)
    }
}
