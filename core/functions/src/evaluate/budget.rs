//! Counts the work and memory that an evaluation uses.

use std::cell::Cell;

use super::Work;
use crate::limits::{LimitExceeded, Limits, MAX_ARRAY_VALUES, MAX_DEPTH};

/// The work and memory that an evaluation has used.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    steps: Cell<u64>,
    cells_read: Cell<u64>,
    created_bytes: Cell<u64>,
    depth: Cell<u32>,
}

fn add(counter: &Cell<u64>, amount: u64) -> u64 {
    let sum = counter.get().saturating_add(amount);
    counter.set(sum);
    sum
}

impl Budget {
    pub(crate) fn work(&self) -> Work {
        Work { cells_read: self.cells_read.get(), steps: self.steps.get() }
    }

    /// Returns the total size of the created strings and arrays, in bytes.
    pub(super) fn created_bytes(&self) -> u64 {
        self.created_bytes.get()
    }

    pub(crate) fn spend_steps(&self, amount: u64, limits: &Limits) -> Result<(), LimitExceeded> {
        let limit = limits.steps;
        if add(&self.steps, amount) > limit { Err(LimitExceeded::Steps { limit }) } else { Ok(()) }
    }

    pub(crate) fn spend_cells(&self, amount: u64, limits: &Limits) -> Result<(), LimitExceeded> {
        let limit = limits.cells_read;
        let is_over = add(&self.cells_read, amount) > limit;
        if is_over { Err(LimitExceeded::CellsRead { limit }) } else { Ok(()) }
    }

    pub(crate) fn spend_bytes(&self, amount: u64, limits: &Limits) -> Result<(), LimitExceeded> {
        let limit = limits.created_bytes;
        let is_over = add(&self.created_bytes, amount) > limit;
        if is_over { Err(LimitExceeded::CreatedBytes { limit }) } else { Ok(()) }
    }

    /// Counts the steps and the memory that an array needs.
    pub(crate) fn spend_array(&self, values: u64, limits: &Limits) -> Result<(), LimitExceeded> {
        const VALUE_BYTES: u64 = 32;
        if values > MAX_ARRAY_VALUES {
            return Err(LimitExceeded::ArrayValues { values });
        }
        self.spend_steps(values, limits)?;
        self.spend_bytes(values.saturating_mul(VALUE_BYTES), limits)
    }

    /// Runs `work` one nesting level deeper. Fails if this exceeds [`MAX_DEPTH`].
    pub(crate) fn nested<T, E: From<LimitExceeded>>(
        &self,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let depth = self.depth.get() + 1;
        if depth > MAX_DEPTH {
            return Err(LimitExceeded::Depth.into());
        }
        self.depth.set(depth);
        let result = work();
        self.depth.set(depth - 1);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{MAX_CELLS_READ, MAX_CREATED_BYTES, MAX_STEPS};

    fn nest(budget: &Budget, levels: u32) -> Result<(), LimitExceeded> {
        if levels == 0 {
            return Ok(());
        }
        budget.nested(|| nest(budget, levels - 1))
    }

    #[test]
    fn depth_is_limited() {
        let budget = Budget::default();
        assert_eq!(nest(&budget, MAX_DEPTH), Ok(()));
        assert_eq!(nest(&budget, MAX_DEPTH + 1), Err(LimitExceeded::Depth));
        // The depth is restored after a failed evaluation.
        assert_eq!(nest(&budget, MAX_DEPTH), Ok(()));
    }

    #[test]
    fn work_and_memory_are_limited() {
        let (budget, limits) = (Budget::default(), Limits::default());
        assert_eq!(budget.spend_cells(MAX_CELLS_READ, &limits), Ok(()));
        let cells = LimitExceeded::CellsRead { limit: MAX_CELLS_READ };
        assert_eq!(budget.spend_cells(1, &limits), Err(cells));
        assert_eq!(budget.spend_steps(MAX_STEPS, &limits), Ok(()));
        let steps = LimitExceeded::Steps { limit: MAX_STEPS };
        assert_eq!(budget.spend_steps(1, &limits), Err(steps));
        assert_eq!(budget.spend_bytes(MAX_CREATED_BYTES, &limits), Ok(()));
        let bytes = LimitExceeded::CreatedBytes { limit: MAX_CREATED_BYTES };
        assert_eq!(budget.spend_bytes(1, &limits), Err(bytes));
    }
}
