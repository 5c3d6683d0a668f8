//! Math and trigonometry.

mod aggregate;
mod arithmetic;
mod combinatorics;
mod conversion;
mod criteria_sums;
mod matrices;
mod random;
pub(super) mod rounding;
mod sums;
mod trigonometry;

use crate::function::Function;

pub(super) fn functions() -> [&'static [Function]; 10] {
    [
        aggregate::FUNCTIONS,
        arithmetic::FUNCTIONS,
        combinatorics::FUNCTIONS,
        conversion::FUNCTIONS,
        criteria_sums::FUNCTIONS,
        matrices::FUNCTIONS,
        random::FUNCTIONS,
        rounding::FUNCTIONS,
        sums::FUNCTIONS,
        trigonometry::FUNCTIONS,
    ]
}
