//! Conversions between number types. Conversions from floating-point numbers to integers saturate.

/// Converts a length to `u64`.
pub(crate) fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Truncates a number to an integer. It saturates at `-i64::MAX` instead of `i64::MIN`, so that the
/// absolute value does not overflow.
#[allow(clippy::cast_possible_truncation, reason = "`as` saturates and discards the fraction")]
pub(crate) fn to_i64(number: f64) -> i64 {
    (number as i64).max(-i64::MAX)
}

/// Truncates a number to a length. Negative numbers become 0.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates and discards the fraction"
)]
pub(crate) fn to_length(number: f64) -> usize {
    number as usize
}

/// Truncates a number to a row or column index. Negative numbers become 0.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates and discards the fraction"
)]
pub(crate) fn to_u32(number: f64) -> u32 {
    number as u32
}

/// Converts a length to a floating-point number.
#[allow(clippy::cast_precision_loss, reason = "lengths are far below 2⁵³")]
pub(crate) fn from_length(length: usize) -> f64 {
    length as f64
}

/// Converts an integer to the nearest floating-point number, which is exact up to 2⁵³.
#[allow(clippy::cast_precision_loss, reason = "cell values are f64")]
pub(crate) fn from_i64(number: i64) -> f64 {
    number as f64
}

/// Rounds a number to 15 significant digits, the precision with which Excel shows and compares
/// numbers.
pub(crate) fn to_15_digits(number: f64) -> f64 {
    if number == 0.0 || !number.is_finite() {
        return number;
    }
    format!("{number:.14e}").parse().unwrap_or(number)
}
