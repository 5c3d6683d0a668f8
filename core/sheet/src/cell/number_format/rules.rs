//! Rules that differ between cells and Excel's function `TEXT`.

use crate::cell::calendar::Date;
use crate::cell::date::SplitSerial;
use crate::cell::decimal::Decimal;
use crate::cell::general::{general, general_of_15_digits};

/// Whose rules a format follows where Cellar displays cells in another way than Excel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rules {
    /// Cellar's: digits and dates are not hidden or changed, and words must be in quotes. Codes have no
    /// control characters.
    Cells,
    /// Excel's.
    Excel,
}

impl Rules {
    /// Returns the length of a format code that is bounded. Excel counts characters.
    pub(super) fn length(self, code: &str) -> usize {
        match self {
            Self::Cells => code.len(),
            Self::Excel => code.chars().count(),
        }
    }

    pub(super) fn general(self, number: f64) -> String {
        match self {
            Self::Cells => general(number),
            Self::Excel => general_of_15_digits(number),
        }
    }

    pub(super) fn decimal(self, magnitude: f64) -> Decimal {
        match self {
            Self::Cells => Decimal::of(magnitude),
            Self::Excel => Decimal::of_15_digits(magnitude),
        }
    }

    /// Returns `None` if the date is not displayed, because programs do not agree about it.
    pub(super) fn date(self, serial: SplitSerial) -> Option<Date> {
        match self {
            Self::Cells => serial.date(),
            Self::Excel => Some(serial.excel_date()),
        }
    }
}
