//! AWS billing units.

/// Number of hours that AWS bills per month.
pub(crate) const MONTH_HOURS: u128 = 730;
/// Number of bytes in a billed GB.
pub(crate) const GB: u128 = 1 << 30;
