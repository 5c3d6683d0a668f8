//! Random numbers of a run, derived from its seed.

use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cellar_engine::ports::Random;

/// Denominator of a [`Rate`].
const RATE_BASE: u64 = 10_000;

/// A probability in units of 1/10,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub struct Rate(pub u16);

/// A source of random numbers. The seed and the number of earlier calls determine each number.
#[derive(Debug)]
pub struct SimRandom {
    numbers: Mutex<fastrand::Rng>,
}

impl SimRandom {
    /// Creates the source for a seed.
    #[must_use]
    pub fn of_seed(seed: u64) -> Self {
        Self { numbers: Mutex::new(fastrand::Rng::with_seed(seed)) }
    }

    fn lock(&self) -> MutexGuard<'_, fastrand::Rng> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates an independent source. Using the new source does not affect this one.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self { numbers: Mutex::new(self.lock().fork()) }
    }

    /// Draws whether an event with the given rate happens. At a rate of zero, no number is drawn.
    #[must_use]
    pub fn happens(&self, rate: Rate) -> bool {
        rate.0 > 0 && self.lock().u64(0..RATE_BASE) < u64::from(rate.0)
    }

    /// Draws a number in the given range.
    #[must_use]
    pub fn draw_in(&self, range: RangeInclusive<u64>) -> u64 {
        self.lock().u64(range)
    }

    /// Draws a number below `end`. If `end` is 0, it counts as 1.
    #[must_use]
    pub fn draw_below(&self, end: u32) -> u32 {
        self.lock().u32(0..end.max(1))
    }

    /// Draws an element of a slice. Returns `None` if the slice is empty.
    #[must_use]
    pub fn pick<'a, T>(&self, from: &'a [T]) -> Option<&'a T> {
        let index = self.lock().usize(0..from.len().max(1));
        from.get(index)
    }

    /// Draws a number up to `max` that is usually small: half of the numbers are below a sixteenth
    /// of `max`.
    #[must_use]
    pub fn draw_mostly_small(&self, max: u64) -> u64 {
        let bound = max >> self.draw_in(0..=8);
        self.draw_in(0..=bound)
    }
}

impl Random for SimRandom {
    fn next(&self) -> u64 {
        self.lock().u64(..)
    }
}
