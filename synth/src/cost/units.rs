//! Units in which AWS bills.

/// Number of hours in a month, as AWS bills it.
pub(crate) const MONTH_HOURS: u128 = 730;
/// Number of bytes in a GB, as AWS bills it.
pub(crate) const GB: u128 = 1 << 30;
