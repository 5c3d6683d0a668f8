//! Divides the rows of two states into bands, so that large states are compared in parts.

use std::ops::Range;

use super::{AxisMap, Run};

/// Consecutive rows of the older state, and the rows that are at the same place in the newer state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchingBand {
    /// Rows of the older state.
    pub src: Range<u32>,
    /// Rows of the newer state.
    pub dst: Range<u32>,
}

/// The bands of two states that are not taken yet. A row is in the same band in both states.
#[derive(Debug, Clone)]
pub struct MatchingBands<'a> {
    runs: &'a [Run],
    remaining: MatchingBand,
}

impl<'a> MatchingBands<'a> {
    /// `src_used` and `dst_used` are the numbers of rows that must be in bands. Returns `None` if the
    /// map changes the order of rows.
    #[must_use]
    pub fn new(map: &'a AxisMap, src_used: u32, dst_used: u32) -> Option<Self> {
        let remaining = MatchingBand { src: 0..src_used, dst: 0..dst_used };
        map.keeps_order().then_some(Self { runs: map.runs(), remaining })
    }

    /// Returns the next band without removing it, or `None` after the last band. It has at most
    /// `max_rows` rows, but at least one. A row that both states have counts once.
    #[must_use]
    pub fn peek(&self, max_rows: u32) -> Option<MatchingBand> {
        let MatchingBand { src, dst } = &self.remaining;
        let is_taken = |run: &Run| {
            let is_src_taken = run.src_end() <= src.start || src.is_empty();
            is_src_taken && (run.dst_end() <= dst.start || dst.is_empty())
        };
        let first_run = self.runs.partition_point(is_taken);
        let mut band = MatchingBand { src: src.start..src.start, dst: dst.start..dst.start };
        let mut rows_left = max_rows.max(1);
        for run in self.runs.get(first_run..).unwrap_or_default() {
            extend(&mut band.src, run.src.min(src.end), &mut rows_left);
            extend(&mut band.dst, run.dst.min(dst.end), &mut rows_left);
            if rows_left == 0 {
                break;
            }
            let taken = length(run.src, band.src.end).max(length(run.dst, band.dst.end));
            let used = length(run.src, src.end).max(length(run.dst, dst.end)).min(run.len);
            let kept = length(taken, used).min(rows_left);
            rows_left -= kept;
            band.src.end = band.src.end.max((run.src + taken + kept).min(src.end));
            band.dst.end = band.dst.end.max((run.dst + taken + kept).min(dst.end));
        }
        extend(&mut band.src, src.end, &mut rows_left);
        extend(&mut band.dst, dst.end, &mut rows_left);
        (!band.src.is_empty() || !band.dst.is_empty()).then_some(band)
    }

    /// Removes the next band, which [`MatchingBands::peek`] returned.
    pub fn remove(&mut self, band: &MatchingBand) {
        self.remaining.src.start = band.src.end;
        self.remaining.dst.start = band.dst.end;
    }
}

/// Extends the rows up to `end`, but by at most `rows_left` rows.
fn extend(rows: &mut Range<u32>, end: u32, rows_left: &mut u32) {
    let added = length(rows.end, end).min(*rows_left);
    rows.end += added;
    *rows_left -= added;
}

/// Returns the number of rows from `first` to `end`.
fn length(first: u32, end: u32) -> u32 {
    end.saturating_sub(first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{map_of, step};
    use super::*;
    use crate::axis::Axis;

    fn bands(map: &AxisMap, src_used: u32, dst_used: u32, max_rows: u32) -> Vec<MatchingBand> {
        let mut remaining = MatchingBands::new(map, src_used, dst_used).unwrap();
        let mut bands = Vec::new();
        while let Some(band) = remaining.peek(max_rows) {
            remaining.remove(&band);
            bands.push(band);
        }
        bands
    }

    fn ranges(bands: Vec<MatchingBand>) -> Vec<(Range<u32>, Range<u32>)> {
        bands.into_iter().map(|band| (band.src, band.dst)).collect()
    }

    #[test]
    fn rows_are_in_the_same_band_in_both_states() {
        let inserted = AxisMap::insert(Axis::Rows, 2, 3);
        let parts = [(0..2, 0..4), (2..5, 4..8), (5..6, 8..9)];
        assert_eq!(ranges(bands(&inserted, 6, 9, 4)), parts);
        assert_eq!(ranges(bands(&inserted, 6, 9, 100)), [(0..6, 0..9)]);
        let identity = AxisMap::identity(Axis::Rows);
        assert_eq!(ranges(bands(&identity, 5, 3, 4)), [(0..4, 0..3), (4..5, 3..3)]);
        let nothing = AxisMap::empty(Axis::Rows);
        assert_eq!(ranges(bands(&nothing, 3, 0, 2)), [(0..2, 0..0), (2..3, 0..0)]);
        assert_eq!(ranges(bands(&nothing, 0, 1, 2)), [(0..0, 0..1)]);
        assert_eq!(ranges(bands(&identity, 0, 0, 2)), []);
    }

    proptest! {
        #[test]
        fn bands_contain_all_used_rows_once_and_match(
            steps in proptest::collection::vec(step(), 0..6),
            (src_used, dst_used) in (0..40_u32, 0..40_u32),
            max_rows in 1..9_u32,
        ) {
            let identity = AxisMap::identity(Axis::Rows);
            let map = steps.iter().fold(identity, |map, step| map.then(&map_of(step)));
            let bands = bands(&map, src_used, dst_used, max_rows);
            let (mut src_end, mut dst_end) = (0, 0);
            for MatchingBand { src, dst } in &bands {
                prop_assert_eq!((src.start, dst.start), (src_end, dst_end));
                (src_end, dst_end) = (src.end, dst.end);
                for row in src.clone() {
                    if let Some(new_row) = map.get(row).filter(|new_row| *new_row < dst_used) {
                        prop_assert!(dst.contains(&new_row), "row {row} of {bands:?}");
                    }
                }
                for row in dst.clone() {
                    if let Some(old_row) = map.source(row).filter(|old_row| *old_row < src_used) {
                        prop_assert!(src.contains(&old_row), "new row {row} of {bands:?}");
                    }
                }
                let deleted = src.clone().filter(|row| map.get(*row).is_none()).count();
                let inserted = dst.clone().filter(|row| map.source(*row).is_none()).count();
                let kept = (src.len() - deleted).max(dst.len() - inserted);
                let max_rows = usize::try_from(max_rows).unwrap();
                prop_assert!((1..=max_rows).contains(&(deleted + inserted + kept)), "{bands:?}");
            }
            prop_assert_eq!((src_end, dst_end), (src_used, dst_used));
        }
    }
}
