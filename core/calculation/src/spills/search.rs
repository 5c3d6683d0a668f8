//! Finds the cells that results fill, by repeated calculation.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cellar_base::limits::MAX_SPILL_ROUNDS;
use cellar_grid::a1::SheetArea;

use super::placement::{AnchorResult, place};
use super::{Anchor, Spills};
use crate::budget::Budget;
use crate::calculation::Calculation;
use crate::workbook::CellKey;

/// Finds the cells that the results of formulas fill.
///
/// A driver creates a calculation with [`SpillSearch::prepare`], runs the requests of
/// [`SpillSearch::start`] and [`SpillSearch::start_placing`], and calls [`SpillSearch::advance`],
/// until it returns `true`. Results depend only on the cells of the spreadsheet, because the search
/// starts without any filled cells.
#[derive(Debug, Clone)]
pub struct SpillSearch {
    spills: Arc<Spills>,
    cyclic: BTreeSet<CellKey>,
    /// The rest of the work that all rounds may do.
    budget: Budget,
    round: usize,
    /// How many times the results have not become stable.
    failures: usize,
}

impl SpillSearch {
    /// Starts a search. `anchors` are the formulas that may return several cells.
    #[must_use]
    pub fn new(anchors: impl IntoIterator<Item = CellKey>) -> Self {
        let anchors = anchors.into_iter().map(|key| (key, Anchor::Single)).collect();
        Self {
            spills: Arc::new(Spills { anchors }),
            cyclic: BTreeSet::new(),
            budget: Budget::of_spills(),
            round: 0,
            failures: 0,
        }
    }

    /// Returns whether no formula may return several cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spills.anchors.is_empty()
    }

    /// Returns the cells that results fill or may fill, and the anchors whose results do not fit. Stored
    /// values of formulas that read them are outdated.
    #[must_use]
    pub fn changed_cells(&self) -> Vec<SheetArea> {
        self.spills.changed_cells().collect()
    }

    /// Has a calculation read the cells that results fill. No cells must be loaded yet.
    #[must_use]
    pub fn prepare(&self, calculation: Calculation) -> Calculation {
        calculation.with_spills(Arc::clone(&self.spills))
    }

    /// Starts the request for the anchors.
    pub fn start(&self, calculation: &mut Calculation) {
        calculation.start_within(self.spills.anchors.keys().copied().collect(), self.budget);
    }

    /// Starts the request for the cells that the results of the anchors would fill.
    pub fn start_placing(&self, calculation: &mut Calculation) {
        calculation.start_loading_spilled_areas();
    }

    /// Places the results of the anchors. Returns `true` if they fill the same cells with the same
    /// values as before. If not, they must be calculated again.
    pub fn advance(&mut self, calculation: &Calculation) -> bool {
        self.budget = calculation.budget;
        let results = self.results(calculation);
        let content_in = |area: &SheetArea| calculation.content_in(area);
        let next = place(results, &self.cyclic, content_in);
        if next == *self.spills {
            return true;
        }
        self.round += 1;
        // Each round calculates at least one more result of a chain. A chain has each anchor once.
        let longest_chain = self.spills.anchors.len();
        if self.round <= longest_chain.min(MAX_SPILL_ROUNDS - 1) {
            self.spills = Arc::new(next);
            return false;
        }
        self.break_cycles(next);
        false
    }

    fn results(&self, calculation: &Calculation) -> BTreeMap<CellKey, AnchorResult> {
        let keys = self.spills.anchors.keys();
        let result_of = |key: &CellKey| match calculation.spilled_result(*key) {
            Some(result) => AnchorResult::Several(result.clone()),
            None => match calculation.result(*key) {
                Some(result) if result.is_stale => AnchorResult::Stale,
                _ => AnchorResult::Single,
            },
        };
        keys.map(|key| (*key, result_of(key))).collect()
    }

    /// Lets the results that still change fill no cells. If this is not enough, no result fills cells.
    fn break_cycles(&mut self, mut next: Spills) {
        let is_changing = |key: &CellKey| self.spills.anchor(*key) != next.anchor(*key);
        let all_fail = self.failures > 0;
        let keys = self.spills.anchors.keys().copied();
        let cyclic: Vec<CellKey> = keys.filter(|key| all_fail || is_changing(key)).collect();
        for key in &cyclic {
            if let Some(anchor @ Anchor::Spilled(_)) = next.anchors.get_mut(key) {
                *anchor = Anchor::Blocked(super::Obstacle::Cycle);
            }
        }
        self.cyclic.extend(cyclic);
        self.spills = Arc::new(next);
        self.failures += 1;
        self.round = 0;
    }
}
