//! Units in which AWS bills.

/// Hours of a month in AWS prices.
pub(crate) const MONTH_HOURS: u128 = 730;
/// Bytes of a GB in AWS prices.
pub(crate) const GB: u128 = 1 << 30;
