//! Sheet numbers ever used.

use crate::sheet_id::SheetId;
use crate::spans::{Span, Spans};
use cellar_base::limits::MAX_SHEET_NUMBER_RUNS;

/// Sheet numbers used in one spreadsheet, stored as runs. At most `MAX_SHEET_NUMBER_RUNS` runs,
/// unless they come from unchecked input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SheetNumbers(Spans);

impl SheetNumbers {
    /// Creates a set of ascending numbers.
    #[must_use]
    pub fn of(sheets: impl IntoIterator<Item = SheetId>) -> Self {
        Self(Spans::of(sheets.into_iter().map(|sheet| sheet.0)))
    }

    /// Creates a set of runs.
    #[must_use]
    pub fn from_runs(runs: Spans) -> Self {
        Self(runs)
    }

    /// Returns the runs, ascending.
    #[must_use]
    pub fn runs(&self) -> &Spans {
        &self.0
    }

    /// Returns whether a number was used.
    #[must_use]
    pub fn contains(&self, sheet: SheetId) -> bool {
        self.0.contains(sheet.0)
    }

    /// Returns the number of the next sheet: above all others.
    #[must_use]
    pub fn next(&self) -> SheetId {
        SheetId(self.0.iter().next_back().map_or(0, |last| last.end()))
    }

    /// Adds a run of numbers, without the limit.
    pub(super) fn cover(&mut self, run: Span) {
        let mut runs: Vec<Span> = self.0.iter().chain([run]).collect();
        runs.sort_by_key(|run| run.first);
        self.0 = Spans::from_sorted(runs);
    }

    /// Adds a number. Returns `false`, without a change, if it was used, if it is the largest
    /// number, which is reserved, or if there would be too many runs. The next number always
    /// succeeds.
    pub fn insert(&mut self, sheet: SheetId) -> bool {
        sheet.0 < u32::MAX && self.0.insert(sheet.0, MAX_SHEET_NUMBER_RUNS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_number_and_those_in_gaps_are_taken_up_to_the_limit_of_runs() {
        let most = u32::try_from(MAX_SHEET_NUMBER_RUNS).unwrap();
        let mut numbers = SheetNumbers::of((0..most - 1).map(|at| SheetId(at * 3)));
        assert!(numbers.insert(SheetId(most * 3)), "as many runs as there may be");
        let full = numbers.clone();
        assert!(!numbers.insert(SheetId(most * 4)), "one more");
        assert_eq!(numbers, full);
        for gap in [1, 2, most * 3 + 1] {
            assert_eq!(SheetId(most * 3 + 1), full.next());
            assert!(numbers.insert(SheetId(gap)), "{gap}");
            assert!(!numbers.insert(SheetId(gap)), "{gap} twice");
        }
        assert_eq!(numbers.runs().len(), MAX_SHEET_NUMBER_RUNS - 1);
    }

    #[test]
    fn the_greatest_number_is_never_given() {
        let mut numbers = SheetNumbers::of([SheetId(u32::MAX - 2)]);
        assert!(numbers.insert(SheetId(u32::MAX - 1)));
        assert_eq!(numbers.next(), SheetId(u32::MAX));
        assert!(!numbers.insert(numbers.next()));
    }
}
