//! The set of all sheet numbers that were ever used in a spreadsheet.

use cellar_base::limits::MAX_SHEET_NUMBER_RUNS;
use cellar_grid::SheetId;
use cellar_grid::{Span, Spans};

/// The set of all sheet numbers that were ever used in a spreadsheet. It is stored as runs of
/// consecutive numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SheetNumbers(Spans);

impl SheetNumbers {
    /// Creates a set from numbers in ascending order.
    #[must_use]
    pub fn of(sheets: impl IntoIterator<Item = SheetId>) -> Self {
        Self(Spans::of(sheets.into_iter().map(|sheet| sheet.0)))
    }

    /// Creates a set from runs of consecutive numbers, without checking the number of runs.
    #[must_use]
    pub fn from_runs(runs: Spans) -> Self {
        Self(runs)
    }

    /// Returns the runs of consecutive numbers in ascending order.
    #[must_use]
    pub fn runs(&self) -> &Spans {
        &self.0
    }

    /// Returns whether the sheet number was ever used.
    #[must_use]
    pub fn contains(&self, sheet: SheetId) -> bool {
        self.0.contains(sheet.0)
    }

    /// Returns the number for the next new sheet: one more than the highest number ever used.
    #[must_use]
    pub fn next(&self) -> SheetId {
        SheetId(self.0.iter().next_back().map_or(0, |last| last.end()))
    }

    /// Adds consecutive numbers, without checking the number of runs.
    pub(super) fn cover(&mut self, run: Span) {
        let mut runs: Vec<Span> = self.0.iter().chain([run]).collect();
        runs.sort_by_key(|run| run.first);
        self.0 = Spans::from_sorted(runs);
    }

    /// Adds a number. The result is `false` and nothing changes if the number was already used, if
    /// it is the reserved number `u32::MAX`, or if the set would have too many runs.
    pub fn insert(&mut self, sheet: SheetId) -> bool {
        sheet.0 < u32::MAX && self.0.insert(sheet.0, MAX_SHEET_NUMBER_RUNS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn insert_limits_the_number_of_runs() {
        let most = u32::try_from(MAX_SHEET_NUMBER_RUNS).unwrap();
        let mut numbers = SheetNumbers::of((0..most - 1).map(|at| SheetId(at * 3)));
        assert!(numbers.insert(SheetId(most * 3)), "the maximum number of runs");
        let full = numbers.clone();
        assert!(!numbers.insert(SheetId(most * 4)), "one run too many");
        assert_eq!(numbers, full);
        for gap in [1, 2, most * 3 + 1] {
            assert_eq!(SheetId(most * 3 + 1), full.next());
            assert!(numbers.insert(SheetId(gap)), "{gap}");
            assert!(!numbers.insert(SheetId(gap)), "{gap} twice");
        }
        assert_eq!(numbers.runs().len(), MAX_SHEET_NUMBER_RUNS - 1);
    }

    #[test]
    fn rejects_the_reserved_number() {
        let mut numbers = SheetNumbers::of([SheetId(u32::MAX - 2)]);
        assert!(numbers.insert(SheetId(u32::MAX - 1)));
        assert_eq!(numbers.next(), SheetId(u32::MAX));
        assert!(!numbers.insert(numbers.next()));
    }
}
