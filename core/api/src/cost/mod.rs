//! The cost of a request: numbers of request units, requests and bytes, as reported by the cloud
//! services. Every response contains the total cost of its request ([`Cost::to_header`]).
//! [`Prices`] converts a cost to US dollars.

mod display;
mod header;
mod prices;

pub use header::{HEADER, InvalidCost};
pub use prices::{Dollars, Prices};

use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// The resources that a request consumed. Function invocations, data transfer and storage are not
/// included.
///
/// Integers make sums exact. A sum that would overflow is limited to the maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// Twice the number of read request units. An eventually consistent read of up to 4 KB consumes
    /// half a unit.
    pub read_half_units: u64,
    /// Number of write request units. A write of up to 1 KB consumes one unit.
    pub write_units: u64,
    /// Number of table requests. They are free, because DynamoDB bills for request units instead.
    pub table_requests: u64,
    /// Number of PUT and LIST requests to the object storage. Both have the same price.
    pub object_puts: u64,
    /// Number of GET and HEAD object requests.
    pub object_gets: u64,
    /// Number of requests that set or remove object tags.
    pub object_tags: u64,
    /// Number of DELETE requests to the object storage, which are free.
    pub object_deletes: u64,
    /// Total size of the objects that were written, in bytes.
    pub object_bytes_sent: u64,
    /// Bytes of read objects.
    pub object_bytes_received: u64,
    /// Requests to queues.
    pub queue_requests: u64,
}

impl Cost {
    /// Returns the number of read request units. The result is exact below 2⁵² units.
    #[must_use]
    pub fn read_units(&self) -> f64 {
        self.read_half_units as f64 / 2.0
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        // The pattern names all fields, so the compiler reports a field that this function omits.
        let Self {
            read_half_units,
            write_units,
            table_requests,
            object_puts,
            object_gets,
            object_tags,
            object_deletes,
            object_bytes_sent,
            object_bytes_received,
            queue_requests,
        } = other;
        for (sum, addend) in [
            (&mut self.read_half_units, read_half_units),
            (&mut self.write_units, write_units),
            (&mut self.table_requests, table_requests),
            (&mut self.object_puts, object_puts),
            (&mut self.object_gets, object_gets),
            (&mut self.object_tags, object_tags),
            (&mut self.object_deletes, object_deletes),
            (&mut self.object_bytes_sent, object_bytes_sent),
            (&mut self.object_bytes_received, object_bytes_received),
            (&mut self.queue_requests, queue_requests),
        ] {
            *sum = sum.saturating_add(addend);
        }
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Generates costs in which no number exceeds `max`.
    pub(super) fn costs(max: u64) -> impl Strategy<Value = Cost> {
        // Most requests use only one service, so most numbers are zero.
        prop::array::uniform10(prop_oneof![Just(0), 0..=max, Just(max)]).prop_map(of_numbers)
    }

    fn of_numbers(numbers: [u64; 10]) -> Cost {
        Cost {
            read_half_units: numbers[0],
            write_units: numbers[1],
            table_requests: numbers[2],
            object_puts: numbers[3],
            object_gets: numbers[4],
            object_tags: numbers[5],
            object_deletes: numbers[6],
            object_bytes_sent: numbers[7],
            object_bytes_received: numbers[8],
            queue_requests: numbers[9],
        }
    }

    #[test]
    fn adds_each_field() {
        let one = of_numbers([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        let two = of_numbers([10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
        assert_eq!(one + two, of_numbers([11, 22, 33, 44, 55, 66, 77, 88, 99, 110]));
        assert_eq!([one, two].into_iter().sum::<Cost>(), one + two);
        assert_eq!(one.read_units(), 0.5);
        let most = of_numbers([u64::MAX; 10]);
        assert_eq!(most + one, most);
    }

    proptest! {
        #[test]
        fn sums_do_not_depend_on_the_order(
            a in costs(u64::MAX), b in costs(u64::MAX), c in costs(u64::MAX),
        ) {
            prop_assert_eq!(a + b, b + a);
            prop_assert_eq!((a + b) + c, a + (b + c));
            prop_assert_eq!(a + Cost::default(), a);
        }
    }
}
