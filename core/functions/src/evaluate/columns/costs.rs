//! Counts the work of an evaluation in columns.

use std::cell::Cell;

use super::super::Work;
use super::super::budget::Budget;
use crate::limits::Limits;
use crate::number::count;

/// Work and memory.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    cells_read: u64,
    steps: u64,
    created_bytes: u64,
}

impl Cost {
    fn of(budget: &Budget) -> Self {
        let Work { cells_read, steps } = budget.work();
        Self { cells_read, steps, created_bytes: budget.created_bytes() }
    }

    fn plus(self, other: Self, times: u64) -> Self {
        let add = |one: u64, other: u64| one.saturating_add(other.saturating_mul(times));
        Self {
            cells_read: add(self.cells_read, other.cells_read),
            steps: add(self.steps, other.steps),
            created_bytes: add(self.created_bytes, other.created_bytes),
        }
    }

    fn max(self, other: Self) -> Self {
        Self {
            cells_read: self.cells_read.max(other.cells_read),
            steps: self.steps.max(other.steps),
            created_bytes: self.created_bytes.max(other.created_bytes),
        }
    }
}

/// The work of an evaluation in columns.
#[derive(Debug, Clone, Default)]
pub(super) struct Costs {
    /// At least the work of all cells, evaluated one by one.
    counted: Cell<Cost>,
    /// The work that was done.
    done: Cell<Cost>,
    /// At least the work of the most expensive cell.
    largest: Cell<Cost>,
    /// The work of the most expensive cell for the current expression.
    largest_own: Cell<Cost>,
}

impl Costs {
    pub(super) fn reset_to(&self, before: &Self) {
        self.counted.set(before.counted.get());
        // Work that was in vain was done all the same.
        self.largest.set(before.largest.get());
        self.largest_own.set(Cost::default());
    }

    fn add(&self, rows: usize, each: Cost, done: Cost) {
        self.counted.set(self.counted.get().plus(each, count(rows)));
        self.done.set(self.done.get().plus(done, 1));
        self.largest.set(self.largest.get().plus(each, 1));
    }

    /// Adds steps of each row.
    pub(super) fn add_steps(&self, rows: usize, steps: u64) {
        let each = Cost { steps, ..Cost::default() };
        self.add(rows, each, Cost::default().plus(each, count(rows)));
    }

    /// Adds the cells that each row reads, of which `done_cells` are different.
    pub(super) fn add_cells(&self, rows: usize, cells_read: u64, done_cells: u64) {
        let cost = |cells_read| Cost { cells_read, ..Cost::default() };
        self.add(rows, cost(cells_read), cost(done_cells));
    }

    /// Adds different numbers of cells for the rows: `all_cells` together and at most `most_cells`
    /// for one row.
    pub(super) fn add_growing(&self, all_cells: u64, most_cells: u64, done_cells: u64) {
        let cost = |cells_read| Cost { cells_read, ..Cost::default() };
        self.counted.set(self.counted.get().plus(cost(all_cells), 1));
        self.done.set(self.done.get().plus(cost(done_cells), 1));
        self.largest.set(self.largest.get().plus(cost(most_cells), 1));
    }

    /// Adds the work of an evaluation whose result all rows share.
    pub(super) fn add_shared(&self, rows: usize, budget: &Budget) {
        self.add(rows, Cost::of(budget), Cost::of(budget));
    }

    /// Adds the work for one of several rows.
    pub(super) fn add_own(&self, budget: &Budget) {
        let cost = Cost::of(budget);
        self.counted.set(self.counted.get().plus(cost, 1));
        self.done.set(self.done.get().plus(cost, 1));
        self.largest_own.set(self.largest_own.get().max(cost));
    }

    /// Ends the rows of `add_own`.
    pub(super) fn end_own(&self) {
        self.largest.set(self.largest.get().plus(self.largest_own.take(), 1));
    }

    /// Returns whether no cell exceeds a limit.
    pub(super) fn are_within(&self, limits: &Limits) -> bool {
        let largest = self.largest.get();
        largest.cells_read <= limits.cells_read
            && largest.steps <= limits.steps
            && largest.created_bytes <= limits.created_bytes
    }

    /// Returns the counted work and the work that was done.
    pub(super) fn work(&self) -> (Work, Work) {
        let work = |cost: Cost| Work { cells_read: cost.cells_read, steps: cost.steps };
        (work(self.counted.get()), work(self.done.get()))
    }
}

impl Costs {
    /// Adds the memory of texts. Each row is assumed to create all of them.
    pub(super) fn add_texts(&self, budget: &Budget) {
        let created_bytes = budget.created_bytes();
        let texts = Cost { created_bytes, ..Cost::default() };
        self.largest.set(self.largest.get().plus(texts, 1));
    }
}
