//! What a stack costs in a month: estimated from its use, or by AWS's own meters. Exact to the
//! pico-dollar, and without I/O.

mod bill;
mod estimate;
mod facts;
mod measured;
mod meter;

pub(crate) use bill::Bill;
pub(crate) use estimate::{Usage, assumptions, estimate};
pub(crate) use facts::Facts;
pub(crate) use measured::{Measured, NOT_MEASURED, Used, measured, queries};

/// Hours of a month, as AWS reckons.
pub(crate) const MONTH_HOURS: u128 = 730;
/// Bytes of a GB, as AWS bills it.
pub(crate) const GB: u128 = 1 << 30;
