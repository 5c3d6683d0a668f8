//! Conversions between numbers. Casts of fractions to integers saturate.

/// Returns a length as a 64-bit number.
pub(crate) fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Returns the integer part of a number, saturated so that its absolute value exists.
#[allow(clippy::cast_possible_truncation, reason = "`as` saturates and discards the fraction")]
pub(crate) fn to_i64(number: f64) -> i64 {
    (number as i64).max(-i64::MAX)
}

/// Returns the integer part of a number as a length; a negative number is 0.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates and discards the fraction"
)]
pub(crate) fn to_length(number: f64) -> usize {
    number as usize
}

/// Returns the integer part of a number as a row or column; a negative number is 0.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates and discards the fraction"
)]
pub(crate) fn to_u32(number: f64) -> u32 {
    number as u32
}

/// Returns a length as a number.
#[allow(clippy::cast_precision_loss, reason = "lengths are far below 2⁵³")]
pub(crate) fn from_length(length: usize) -> f64 {
    length as f64
}

/// Returns an integer as a number, rounded to the nearest one above 2⁵³.
#[allow(clippy::cast_precision_loss, reason = "numbers of cells are f64")]
pub(crate) fn from_i64(number: i64) -> f64 {
    number as f64
}

/// Rounds a number to 15 significant digits, which is what Excel shows and compares.
pub(crate) fn to_15_digits(number: f64) -> f64 {
    if number == 0.0 || !number.is_finite() {
        return number;
    }
    format!("{number:.14e}").parse().unwrap_or(number)
}
