//! Compact list of sorted spans of an axis (rows or columns), such as stripes, tiles, or index
//! parts.

use minicbor::decode::Error as DecodeError;
use minicbor::encode::{Error as EncodeError, Write};
use minicbor::{Decode, Decoder, Encode, Encoder};

use cellar_sheet::operation::{Span, Spans};

/// Start of a run of adjacent spans of equal size, of a gap, or of the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// Start of the first span.
    pub start: u32,
    /// Number of equal spans before the next pair starts; 0 for a gap or the end.
    pub count: u32,
}

/// Disjoint, ascending spans of rows or columns, stored as runs of equal spans. A regular grid of
/// any size takes only two pairs. The last pair marks the end of the last span.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AxisIndex {
    pairs: Vec<Pair>,
    /// For each pair, the number of spans before it.
    before: Vec<usize>,
}

impl AxisIndex {
    /// Returns the pairs.
    #[must_use]
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// Returns the number of spans.
    #[must_use]
    pub fn len(&self) -> usize {
        self.before.last().copied().unwrap_or(0)
    }

    /// Returns whether the index has no spans.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Returns the span from the start of the first span to the end of the last.
    #[must_use]
    pub fn extent(&self) -> Option<Span> {
        let (first, end) = (self.pairs.first()?.start, self.pairs.last()?.start);
        Some(Span { first, count: end.saturating_sub(first) })
    }

    /// Appends a span. Returns `false` and leaves the list unchanged if the span is empty or starts
    /// before the end of the last span.
    #[must_use]
    pub fn push(&mut self, span: Span) -> bool {
        let end = self.pairs.last().map_or(0, |end| end.start);
        if span.count == 0 || span.first < end {
            return false;
        }
        match self.last_size() {
            Some(size) if span.first == end && size == span.count => self.extend_last_run(span),
            Some(_) if span.first == end => {
                self.pairs.pop();
                self.before.pop();
                self.append(span);
            }
            _ => self.append(span),
        }
        true
    }

    fn append(&mut self, span: Span) {
        let before = self.count_spans();
        let end = Pair { start: span.end(), count: 0 };
        self.pairs.extend([Pair { start: span.first, count: 1 }, end]);
        self.before.extend([before, before.saturating_add(1)]);
    }

    /// Extends the last run by one span.
    fn extend_last_run(&mut self, span: Span) {
        if let [.., run, end] = self.pairs.as_mut_slice() {
            run.count = run.count.saturating_add(1);
            end.start = span.end();
        }
        if let Some(before) = self.before.last_mut() {
            *before = before.saturating_add(1);
        }
    }

    /// Returns the number of spans, including those of a last run that has no end pair yet.
    fn count_spans(&self) -> usize {
        let count = self.pairs.last().map_or(0, |pair| pair.count);
        self.len().saturating_add(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// Returns the span size of the last run.
    fn last_size(&self) -> Option<u32> {
        self.size(self.pairs.len().checked_sub(2)?)
    }

    /// Returns the size of the spans that start at a pair, or `None` for a gap or the end.
    fn size(&self, pair: usize) -> Option<u32> {
        let (run, next) = (self.pairs.get(pair)?, self.pairs.get(pair.checked_add(1)?)?);
        next.start.saturating_sub(run.start).checked_div(run.count)
    }

    /// Returns the span at `index`.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Span> {
        // A gap and the run after it have the same number of spans before them; the last pair with
        // that number is the run.
        let pair = self.before.partition_point(|before| *before <= index).checked_sub(1)?;
        let count = self.size(pair)?;
        let run = self.pairs.get(pair)?;
        let offset = u32::try_from(index.checked_sub(*self.before.get(pair)?)?).ok()?;
        Some(Span { first: run.start.checked_add(offset.checked_mul(count)?)?, count })
    }

    /// Returns the index of the first span that ends after `position`, or the number of spans if
    /// there is none.
    #[must_use]
    pub fn first_ending_after(&self, position: u32) -> usize {
        let Some(pair) = self.pairs.partition_point(|pair| pair.start <= position).checked_sub(1)
        else {
            return 0;
        };
        let before = self.before.get(pair).copied().unwrap_or(0);
        let (Some(size), Some(run)) = (self.size(pair), self.pairs.get(pair)) else {
            return before;
        };
        let offset = position.saturating_sub(run.start).checked_div(size).unwrap_or(0);
        before.saturating_add(usize::try_from(offset).unwrap_or(usize::MAX))
    }

    /// Iterates over the indices of all spans that overlap `spans`, in ascending order.
    pub fn overlapping<'a>(&'a self, spans: &'a Spans) -> impl Iterator<Item = usize> + 'a {
        let mut next = 0;
        spans.iter().flat_map(move |span| {
            let first = self.first_ending_after(span.first).max(next);
            let last = self.first_ending_after(span.end().saturating_sub(1));
            let is_overlapping = self.get(last).is_some_and(|own| own.first < span.end());
            next = last.saturating_add(usize::from(is_overlapping)).max(first);
            first..next
        })
    }

    /// Iterates over all spans in ascending order.
    pub fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        (0..self.len()).map_while(|index| self.get(index))
    }

    /// Creates an index from its pairs. Returns `None` unless [`AxisIndex::push`] could have
    /// produced exactly these pairs: starts ascend, each run divides into equal spans, adjacent
    /// runs and adjacent gaps are joined, and the last pair is the end.
    #[must_use]
    pub fn from_pairs(pairs: Vec<Pair>) -> Option<Self> {
        let mut index = Self::default();
        let mut parts = 0_usize;
        for pair in &pairs {
            index.before.push(parts);
            parts = parts.checked_add(usize::try_from(pair.count).ok()?)?;
        }
        index.pairs = pairs;
        let ends = index.pairs.last().is_none_or(|end| end.count == 0);
        let begins = index.pairs.first().is_none_or(|first| first.count > 0);
        let runs = index.pairs.windows(2).all(|two| match two {
            [one, next] if one.count == 0 => next.count > 0 && one.start < next.start,
            [one, next] => {
                let size = next.start.checked_sub(one.start).filter(|size| *size > 0);
                size.is_some_and(|size| size % one.count == 0)
            }
            _ => false,
        });
        let glued = |pair: usize| {
            let size = index.size(pair);
            size.is_none() || size != index.size(pair.saturating_add(1))
        };
        let sound = ends && begins && runs && (0..index.pairs.len()).all(glued);
        sound.then_some(index)
    }
}

/// Encodes the pairs as a flat list of start deltas and counts.
impl<Ctx> Encode<Ctx> for AxisIndex {
    fn encode<W: Write>(
        &self,
        encoder: &mut Encoder<W>,
        _: &mut Ctx,
    ) -> Result<(), EncodeError<W::Error>> {
        let numbers = self.pairs.len().saturating_mul(2);
        encoder.array(u64::try_from(numbers).unwrap_or(u64::MAX))?;
        let mut start = 0;
        for pair in &self.pairs {
            encoder.u32(pair.start.saturating_sub(start))?.u32(pair.count)?;
            start = pair.start;
        }
        Ok(())
    }
}

impl<'b, Ctx> Decode<'b, Ctx> for AxisIndex {
    fn decode(decoder: &mut Decoder<'b>, _: &mut Ctx) -> Result<Self, DecodeError> {
        let fault = || DecodeError::message("the pairs of an axis index are not in order");
        let mut numbers = decoder.array_iter::<u32>()?;
        let (mut pairs, mut start) = (Vec::new(), 0_u32);
        while let Some(distance) = numbers.next() {
            let count = numbers.next().ok_or_else(fault)??;
            start = start.checked_add(distance?).ok_or_else(fault)?;
            pairs.push(Pair { start, count });
        }
        Self::from_pairs(pairs).ok_or_else(fault)
    }
}
