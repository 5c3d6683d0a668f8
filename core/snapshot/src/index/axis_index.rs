//! Where the parts of an axis are: stripes, tiles, or runs of them.

use minicbor::decode::Error as DecodeError;
use minicbor::encode::{Error as EncodeError, Write};
use minicbor::{Decode, Decoder, Encode, Encoder};

use cellar_sheet::operation::{Span, Spans};

/// Equal parts that touch, or what is behind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// Where the first begins.
    pub start: u32,
    /// How many of the same size there are up to the next pair's start; 0: none, a gap or the end.
    pub count: u32,
}

/// Parts of an axis, ascending and apart, as sorted pairs: a regular grid of any size is two. The last
/// pair is the end of the last part.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AxisIndex {
    pairs: Vec<Pair>,
    /// For each pair, how many parts there are before it.
    before: Vec<usize>,
}

impl AxisIndex {
    /// The pairs.
    #[must_use]
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// How many parts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.before.last().copied().unwrap_or(0)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// From the first part's beginning to the last one's end.
    #[must_use]
    pub fn extent(&self) -> Option<Span> {
        let (first, end) = (self.pairs.first()?.start, self.pairs.last()?.start);
        Some(Span { first, count: end.saturating_sub(first) })
    }

    /// Adds a part behind the others; false, and nothing is added, if it is empty or not behind.
    #[must_use]
    pub fn push(&mut self, part: Span) -> bool {
        let end = self.pairs.last().map_or(0, |end| end.start);
        if part.count == 0 || part.first < end {
            return false;
        }
        match self.last_size() {
            Some(size) if part.first == end && size == part.count => self.lengthen(part),
            Some(_) if part.first == end => {
                self.pairs.pop();
                self.before.pop();
                self.append(part);
            }
            _ => self.append(part),
        }
        true
    }

    fn append(&mut self, part: Span) {
        let before = self.len_so_far();
        let end = Pair { start: part.end(), count: 0 };
        self.pairs.extend([Pair { start: part.first, count: 1 }, end]);
        self.before.extend([before, before.saturating_add(1)]);
    }

    /// The last run gets one more part.
    fn lengthen(&mut self, part: Span) {
        if let [.., run, end] = self.pairs.as_mut_slice() {
            run.count = run.count.saturating_add(1);
            end.start = part.end();
        }
        if let Some(before) = self.before.last_mut() {
            *before = before.saturating_add(1);
        }
    }

    /// Parts in all pairs, of which the last may be a run that has no end yet.
    fn len_so_far(&self) -> usize {
        let count = self.pairs.last().map_or(0, |pair| pair.count);
        self.len().saturating_add(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// The size of the parts before the end.
    fn last_size(&self) -> Option<u32> {
        self.size(self.pairs.len().checked_sub(2)?)
    }

    /// The size of the parts of a pair.
    fn size(&self, pair: usize) -> Option<u32> {
        let (run, next) = (self.pairs.get(pair)?, self.pairs.get(pair.checked_add(1)?)?);
        next.start.saturating_sub(run.start).checked_div(run.count)
    }

    /// The part of a number, counted from 0.
    #[must_use]
    pub fn get(&self, number: usize) -> Option<Span> {
        // Of a gap and the run behind it, both with as many before, the run is the last.
        let pair = self.before.partition_point(|before| *before <= number).checked_sub(1)?;
        let count = self.size(pair)?;
        let run = self.pairs.get(pair)?;
        let offset = u32::try_from(number.checked_sub(*self.before.get(pair)?)?).ok()?;
        Some(Span { first: run.start.checked_add(offset.checked_mul(count)?)?, count })
    }

    /// The number of the first part that ends behind a place; as many as there are if none does.
    #[must_use]
    pub fn number_from(&self, place: u32) -> usize {
        let Some(pair) = self.pairs.partition_point(|pair| pair.start <= place).checked_sub(1)
        else {
            return 0;
        };
        let before = self.before.get(pair).copied().unwrap_or(0);
        let (Some(size), Some(run)) = (self.size(pair), self.pairs.get(pair)) else {
            return before;
        };
        let offset = place.saturating_sub(run.start).checked_div(size).unwrap_or(0);
        before.saturating_add(usize::try_from(offset).unwrap_or(usize::MAX))
    }

    /// The numbers of the parts that meet any of the spans, ascending.
    pub fn meeting<'a>(&'a self, spans: &'a Spans) -> impl Iterator<Item = usize> + 'a {
        let mut next = 0;
        spans.iter().flat_map(move |span| {
            let first = self.number_from(span.first).max(next);
            let last = self.number_from(span.end().saturating_sub(1));
            let meets = self.get(last).is_some_and(|part| part.first < span.end());
            next = last.saturating_add(usize::from(meets)).max(first);
            first..next
        })
    }

    /// All parts, ascending.
    pub fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        (0..self.len()).map_while(|number| self.get(number))
    }

    /// An index from its pairs; `None` unless they are as they would be written: starts ascend, parts
    /// have whole sizes, no run or gap could be one with the next, and the last is the end.
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

/// A flat list: for each pair its distance from the start of the one before, and its count.
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
        let fault = || DecodeError::message("the pairs of an index are not in order");
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
