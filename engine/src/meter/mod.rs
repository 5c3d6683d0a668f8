//! Measures the resources that port requests consume.
//!
//! Each adapter counts its requests with the [`Meter`] of the process. [`measure`] returns the
//! consumption of a single API request, even if other requests run concurrently. Adapters need no
//! additional code for this.

mod measure;

pub use measure::{carried, measure};

use std::sync::{Mutex, PoisonError};

use cellar_api::cost::Cost;

/// Kind of object store request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectRequest {
    /// A PUT or LIST request.
    Put,
    /// A GET or HEAD request.
    Get,
    /// A request that writes or removes tags.
    Tag,
    /// A DELETE request.
    Delete,
}

/// Counts the resources that requests consume. All adapters of a process share one meter.
#[derive(Debug, Default)]
pub struct Meter {
    consumed: Mutex<Cost>,
}

impl Meter {
    /// Adds the consumption of a table request. Read units are rounded up to a multiple of one
    /// half, and write units to an integer.
    pub fn count(&self, read_units: f64, write_units: f64) {
        self.add(Cost {
            read_half_units: rounded_up(read_units * 2.0),
            write_units: rounded_up(write_units),
            table_requests: 1,
            ..Cost::default()
        });
    }

    /// Adds an object store request that transferred `bytes` bytes of an object.
    pub fn count_object(&self, request: ObjectRequest, bytes: u64) {
        let no_cost = Cost::default();
        self.add(match request {
            ObjectRequest::Put => Cost { object_puts: 1, object_bytes_sent: bytes, ..no_cost },
            ObjectRequest::Get => Cost { object_gets: 1, object_bytes_received: bytes, ..no_cost },
            ObjectRequest::Tag => Cost { object_tags: 1, ..no_cost },
            ObjectRequest::Delete => Cost { object_deletes: 1, ..no_cost },
        });
    }

    /// Adds the bytes received for an object. This is a separate call because the number is known
    /// only after the transfer.
    pub fn add_object_bytes_received(&self, bytes: u64) {
        self.add(Cost { object_bytes_received: bytes, ..Cost::default() });
    }

    /// Counts a queue request.
    pub fn count_queue(&self) {
        self.add(Cost { queue_requests: 1, ..Cost::default() });
    }

    /// Returns the consumption since the last call and resets the counters.
    #[must_use]
    pub fn take(&self) -> Cost {
        std::mem::take(&mut *self.consumed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, cost: Cost) {
        *self.consumed.lock().unwrap_or_else(PoisonError::into_inner) += cost;
        measure::add(cost);
    }
}

/// Rounds up a number of request units that a service reported. NaN and negative numbers become 0.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and converts NaN to 0"
)]
fn rounded_up(units: f64) -> u64 {
    units.ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn take_resets_the_meter() {
        let meter = Meter::default();
        meter.count(0.5, 0.0);
        meter.count(0.0, 4.0);
        meter.count_object(ObjectRequest::Put, 7);
        meter.count_object(ObjectRequest::Get, 9);
        meter.count_object(ObjectRequest::Tag, 0);
        meter.count_object(ObjectRequest::Delete, 0);
        meter.count_queue();
        let all = Cost {
            read_half_units: 1,
            write_units: 4,
            table_requests: 2,
            object_puts: 1,
            object_gets: 1,
            object_tags: 1,
            object_deletes: 1,
            object_bytes_sent: 7,
            object_bytes_received: 9,
            queue_requests: 1,
        };
        assert_eq!(meter.take(), all);
        assert_eq!(meter.take(), Cost::default());
    }

    #[test]
    fn sums_are_exact_and_fractions_are_rounded_up() {
        let meter = Meter::default();
        for _ in 0..1_000 {
            meter.count(0.5, 1.0);
        }
        let cost = meter.take();
        assert_eq!((cost.read_half_units, cost.write_units), (1_000, 1_000));
        for (units, halves) in [(0.0, 0), (0.25, 1), (0.5, 1), (12.5, 25), (f64::NAN, 0), (-1.0, 0)]
        {
            meter.count(units, 0.0);
            assert_eq!(meter.take().read_half_units, halves, "{units}");
        }
    }
}
