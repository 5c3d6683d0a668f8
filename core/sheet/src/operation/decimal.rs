//! Stored encoding of decimal numbers. For example, 12.75 is stored as the integer 1275 with two
//! decimals, which takes four bytes instead of nine.

use serde::{Deserialize, Serialize};

use crate::cell::general;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredDecimal {
    decimals: u8,
    digits: i64,
}

/// Exclusive upper bound on the integer. Larger integers would take as much space as an `f64`.
const MAX_DIGITS: i64 = 1 << 40;

impl StoredDecimal {
    /// Returns the decimal number that equals `number` exactly. Returns `None` if there is none or
    /// if storing it would not take less space than storing the `f64`.
    pub(super) fn exact_and_shorter(number: f64) -> Option<Self> {
        let decimal_text = general(number);
        let (whole_digits, decimals) = decimal_text.split_once('.')?;
        let digits: i64 = [whole_digits, decimals].concat().parse().ok()?;
        let decimal = Self { decimals: u8::try_from(decimals.len()).ok()?, digits };
        let is_exact = decimal.number().to_bits() == number.to_bits();
        let is_shorter = digits.abs() < MAX_DIGITS;
        if is_exact && is_shorter { Some(decimal) } else { None }
    }

    pub(super) fn number(self) -> f64 {
        format!("{}e-{}", self.digits, self.decimals).parse().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_decimal_is_exact(number: f64) {
            if let Some(decimal) = StoredDecimal::exact_and_shorter(number) {
                prop_assert_eq!(decimal.number().to_bits(), number.to_bits());
            }
        }

        #[test]
        fn prices_and_coordinates_are_decimals(digits in -(1_i64 << 39)..(1 << 39), decimals in 1..=8_u8) {
            let number = StoredDecimal { decimals, digits }.number();
            prop_assume!(number.fract() != 0.0 && number.abs() >= 1e-6);
            prop_assert!(StoredDecimal::exact_and_shorter(number).is_some(), "{number}");
        }
    }

    #[test]
    fn rejects_numbers_without_a_short_decimal() {
        for number in [std::f64::consts::PI, 1e300, 1e-9, -0.0, 1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(StoredDecimal::exact_and_shorter(number), None, "{number}");
        }
        assert_eq!(
            StoredDecimal::exact_and_shorter(-0.5),
            Some(StoredDecimal { decimals: 1, digits: -5 })
        );
    }
}
