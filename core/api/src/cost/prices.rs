//! Prices of requests in US dollars.

use std::fmt;
use std::ops::Add;

use super::Cost;

/// Number of pico-dollars per dollar.
const PICODOLLARS_PER_DOLLAR: u128 = 1_000_000_000_000;
/// Number of decimals of a dollar amount with a precision of one pico-dollar.
const DIGITS: usize = 12;

/// An amount in US dollars with a precision of one pico-dollar (10⁻¹² dollars). It is displayed
/// without rounding and without trailing zeros, such as `$0.00000125`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Dollars {
    picodollars: u128,
}

impl Dollars {
    /// Creates an amount from a number of pico-dollars.
    #[must_use]
    pub const fn from_picodollars(picodollars: u128) -> Self {
        Self { picodollars }
    }

    /// Returns the amount in pico-dollars.
    #[must_use]
    pub const fn picodollars(self) -> u128 {
        self.picodollars
    }

    /// Formats the amount as a decimal number of dollars, without a currency sign.
    #[must_use]
    pub fn to_decimal(self) -> String {
        let (whole, remainder) =
            (self.picodollars / PICODOLLARS_PER_DOLLAR, self.picodollars % PICODOLLARS_PER_DOLLAR);
        let fraction = format!("{remainder:0DIGITS$}");
        match fraction.trim_end_matches('0') {
            "" => whole.to_string(),
            fraction => format!("{whole}.{fraction}"),
        }
    }
}

impl Add for Dollars {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { picodollars: self.picodollars.saturating_add(other.picodollars) }
    }
}

impl fmt::Display for Dollars {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "${}", self.to_decimal())
    }
}

/// Prices per request or request unit, in pico-dollars (10⁻¹² dollars).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prices {
    /// Price of half a read request unit.
    pub read_half_unit: u64,
    /// Price of a write request unit.
    pub write_unit: u64,
    /// Price of a PUT or LIST object request.
    pub object_put: u64,
    /// Price of a GET or HEAD object request.
    pub object_get: u64,
    /// Price of a request that sets or removes object tags.
    pub object_tag: u64,
    /// Price of a DELETE object request.
    pub object_delete: u64,
    /// Price of a queue request.
    pub queue_request: u64,
}

impl Prices {
    /// Public on-demand prices in the region us-east-1, in US dollars:
    ///
    /// - DynamoDB: 0.625 per million write request units and 0.125 per million read request units.
    /// - S3 Standard: 0.005 per thousand PUT, LIST and tag requests and 0.0004 per thousand GET
    ///   requests.
    /// - SQS: 0.40 per million requests.
    ///
    /// Lambda, data transfer, storage, streams, backups and logs are not included. The free tier is
    /// not deducted.
    pub const US_EAST_1: Self = Self {
        read_half_unit: 62_500,
        write_unit: 625_000,
        object_put: 5_000_000,
        object_get: 400_000,
        object_tag: 5_000_000,
        object_delete: 0,
        queue_request: 400_000,
    };

    /// Converts a cost to US dollars. An amount that would overflow is limited to the maximum.
    #[must_use]
    pub fn dollars(&self, cost: &Cost) -> Dollars {
        let items = [
            (cost.read_half_units, self.read_half_unit),
            (cost.write_units, self.write_unit),
            (cost.object_puts, self.object_put),
            (cost.object_gets, self.object_get),
            (cost.object_tags, self.object_tag),
            (cost.object_deletes, self.object_delete),
            (cost.queue_requests, self.queue_request),
        ];
        // The product of two 64-bit numbers always fits into 128 bits.
        let amount =
            |(count, price)| Dollars::from_picodollars(u128::from(count) * u128::from(price));
        items.into_iter().map(amount).fold(Dollars::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::costs;
    use super::*;

    fn dollars(cost: Cost) -> String {
        Prices::US_EAST_1.dollars(&cost).to_string()
    }

    #[test]
    fn prices_match_the_public_price_list() {
        let million = 1_000_000;
        let none = Cost::default();
        for (cost, expected) in [
            (none, "$0"),
            (Cost { write_units: million, ..none }, "$0.625"),
            (Cost { read_half_units: 2 * million, ..none }, "$0.125"),
            (Cost { object_puts: 1_000, ..none }, "$0.005"),
            (Cost { object_tags: 1_000, ..none }, "$0.005"),
            (Cost { object_gets: 1_000, ..none }, "$0.0004"),
            (Cost { object_deletes: million, ..none }, "$0"),
            (Cost { queue_requests: million, ..none }, "$0.4"),
            (Cost { table_requests: million, object_bytes_sent: million, ..none }, "$0"),
            (Cost { write_units: 2, ..none }, "$0.00000125"),
            (Cost { read_half_units: 1, write_units: 3, ..none }, "$0.0000019375"),
            (Cost { read_half_units: 1, ..none }, "$0.0000000625"),
        ] {
            assert_eq!(dollars(cost), expected, "{cost:?}");
        }
    }

    #[test]
    fn the_largest_cost_has_a_price() {
        let all = Cost { write_units: u64::MAX, read_half_units: u64::MAX, ..Cost::default() };
        assert_eq!(dollars(all), "$12682136550675.3167353125");
        let sum = Dollars::from_picodollars(u128::MAX) + Dollars::from_picodollars(1);
        assert_eq!(sum.picodollars(), u128::MAX);
    }

    proptest! {
        #[test]
        fn the_price_of_a_sum_is_the_sum_of_the_prices(
            a in costs(u64::MAX / 2), b in costs(u64::MAX / 2),
        ) {
            let price = |cost| Prices::US_EAST_1.dollars(&cost);
            prop_assert_eq!(price(a + b), price(a) + price(b));
        }

        #[test]
        fn an_amount_is_printed_to_the_last_digit(picodollars: u64) {
            let text = Dollars::from_picodollars(picodollars.into()).to_decimal();
            let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
            prop_assert!(!fraction.ends_with('0') && !text.ends_with('.'));
            let digits = format!("{whole}{fraction:0<DIGITS$}");
            prop_assert_eq!(digits.parse::<u64>().unwrap(), picodollars);
        }
    }
}
