//! What a port has consumed: the cost of every operation is a fact (design `5-quality.md` §3).

use std::sync::{Mutex, PoisonError};

/// Request units consumed since the meter was made or last taken.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Consumed {
    /// Read request units (one strongly consistent read of up to 4 KB).
    pub read_units: f64,
    /// Write request units (one write of up to 1 KB).
    pub write_units: f64,
    /// Requests sent.
    pub requests: u64,
}

/// Adds up what requests consume. Shared by the adapters of one process.
#[derive(Debug, Default)]
pub struct Meter {
    consumed: Mutex<Consumed>,
}

impl Meter {
    /// Counts a request that consumed this many units.
    pub fn count(&self, read_units: f64, write_units: f64) {
        let mut consumed = self.consumed.lock().unwrap_or_else(PoisonError::into_inner);
        consumed.read_units += read_units;
        consumed.write_units += write_units;
        consumed.requests += 1;
    }

    /// What was consumed since the last call.
    #[must_use]
    pub fn take(&self) -> Consumed {
        std::mem::take(&mut *self.consumed.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taking_starts_anew() {
        let meter = Meter::default();
        meter.count(0.5, 0.0);
        meter.count(0.0, 4.0);
        assert_eq!(meter.take(), Consumed { read_units: 0.5, write_units: 4.0, requests: 2 });
        assert_eq!(meter.take(), Consumed::default());
    }
}
