//! Limits on the work of one request.

use cellar_base::limits::{
    MAX_CALCULATION_CELLS_LOADED, MAX_CALCULATION_CELLS_READ, MAX_CALCULATION_FORMULAS,
    MAX_CALCULATION_STEPS, MAX_SPILL_WORK,
};
use cellar_functions::limits::Limits;
use cellar_functions::{RunEvaluation, Work};

/// The remaining work of one request. It is measured in operations and not in time, so that the
/// same formulas are calculated on slow and fast machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    formulas: u64,
    cells_loaded: u64,
    cells_read: u64,
    steps: u64,
    /// Whether cells that several formulas read together count once.
    counts_done_work: bool,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            formulas: MAX_CALCULATION_FORMULAS,
            cells_loaded: MAX_CALCULATION_CELLS_LOADED,
            cells_read: MAX_CALCULATION_CELLS_READ,
            steps: MAX_CALCULATION_STEPS,
            counts_done_work: false,
        }
    }
}

impl Budget {
    #[cfg(test)]
    pub(crate) fn of(formulas: u64, cells_loaded: u64, cells_read: u64, steps: u64) -> Self {
        Self { formulas, cells_loaded, cells_read, steps, counts_done_work: false }
    }

    /// Counts one evaluation of a formula. Returns the limits for this evaluation, or an error if
    /// the maximum number of evaluations is reached.
    pub(crate) fn take_formula(&mut self) -> Result<Limits, Exhausted> {
        let Some(formulas) = self.formulas.checked_sub(1) else { return Err(Exhausted::Formulas) };
        self.formulas = formulas;
        let whole = Limits::default();
        Ok(Limits {
            cells_read: whole.cells_read.min(self.cells_read),
            steps: whole.steps.min(self.steps),
            created_bytes: whole.created_bytes,
        })
    }

    /// Returns the budget of a request for all formulas of an area. Cells that several formulas read
    /// together, such as those of growing ranges, count once.
    pub(crate) fn of_area() -> Self {
        Self { counts_done_work: true, ..Self::default() }
    }

    /// Returns the budget for all rounds in which the cells that results fill are found.
    pub(crate) fn of_spills() -> Self {
        let whole = Self::default();
        Self {
            formulas: whole.formulas * MAX_SPILL_WORK,
            cells_loaded: whole.cells_loaded * MAX_SPILL_WORK,
            cells_read: whole.cells_read * MAX_SPILL_WORK,
            steps: whole.steps * MAX_SPILL_WORK,
            counts_done_work: false,
        }
    }

    /// Returns the limits of each formula of a run. They do not depend on earlier evaluations.
    pub(crate) fn limits_of_run() -> Limits {
        Limits::default()
    }

    /// Deducts the cost of `count` formulas that were evaluated together. Does nothing and returns
    /// `false` if they exceed the remaining budget.
    pub(crate) fn take_run(&mut self, count: u32, evaluation: &RunEvaluation) -> bool {
        let RunEvaluation { work, done_work, .. } = evaluation;
        let Work { cells_read, steps } = if self.counts_done_work { *done_work } else { *work };
        let rest = (
            self.formulas.checked_sub(u64::from(count)),
            self.cells_read.checked_sub(cells_read),
            self.steps.checked_sub(steps),
        );
        let (Some(formulas), Some(cells_read), Some(steps)) = rest else { return false };
        (self.formulas, self.cells_read, self.steps) = (formulas, cells_read, steps);
        true
    }

    /// Deducts the cost of an evaluation from the remaining budget.
    pub(crate) fn take_evaluation(&mut self, cells_read: u64, steps: u64) {
        self.cells_read = self.cells_read.saturating_sub(cells_read);
        self.steps = self.steps.saturating_sub(steps);
    }

    /// Returns whether the limits of an evaluation were reduced because earlier evaluations had
    /// used up most of the budget.
    pub(crate) fn is_short(limits: &Limits) -> bool {
        *limits != Limits::default()
    }

    /// Subtracts the number of cells that were loaded.
    pub(crate) fn take_loaded(&mut self, cells: u64) {
        self.cells_loaded = self.cells_loaded.saturating_sub(cells);
    }

    /// Returns an error if no more cells may be loaded.
    pub(crate) fn check_loading(&self) -> Result<(), Exhausted> {
        if self.cells_loaded == 0 { Err(Exhausted::CellsLoaded) } else { Ok(()) }
    }
}

/// The limit that a request has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Exhausted {
    #[error("the cells depend on more than {MAX_CALCULATION_FORMULAS} formulas")]
    Formulas,
    #[error("the formulas need more than {MAX_CALCULATION_CELLS_LOADED} cells")]
    CellsLoaded,
    #[error("together, the formulas of the window need too much work; read a smaller window")]
    CellsRead,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_evaluates_a_bounded_number_of_formulas() {
        let mut budget = Budget::default();
        for _ in 0..MAX_CALCULATION_FORMULAS {
            assert!(budget.take_formula().is_ok());
        }
        assert_eq!(budget.take_formula(), Err(Exhausted::Formulas));
    }

    #[test]
    fn a_request_loads_a_bounded_number_of_cells() {
        let mut budget = Budget::default();
        budget.take_loaded(MAX_CALCULATION_CELLS_LOADED - 1);
        assert_eq!(budget.check_loading(), Ok(()));
        budget.take_loaded(1);
        assert_eq!(budget.check_loading(), Err(Exhausted::CellsLoaded));
    }

    #[test]
    fn the_formulas_of_a_request_share_their_work() {
        let mut budget = Budget::default();
        let whole = budget.take_formula().unwrap();
        assert_eq!(whole, Limits::default());
        budget.take_evaluation(MAX_CALCULATION_CELLS_READ - 1, MAX_CALCULATION_STEPS - 1);
        let last = budget.take_formula().unwrap();
        assert_eq!((last.cells_read, last.steps), (1, 1));
        assert!(Budget::is_short(&last) && !Budget::is_short(&whole));
        budget.take_evaluation(2, 2);
        let none = budget.take_formula().unwrap();
        assert_eq!((none.cells_read, none.steps), (0, 0));
    }
}
