//! The number format `General`.

/// Number format of a cell without an explicit format.
pub const GENERAL: &str = "General";

/// Formats a number as the shortest string that parses to the same number.
#[must_use]
pub fn general(number: f64) -> String {
    let magnitude = number.abs();
    if magnitude >= 1e21 || (magnitude < 1e-6 && magnitude > 0.0) {
        format!("{number:e}")
    } else {
        format!("{number}")
    }
}
