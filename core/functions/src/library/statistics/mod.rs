//! Statistical functions.

mod averages;
mod continuous;
mod counts;
mod discrete;
mod normal;
mod order;
mod regression;
mod spread;
mod tests_of_samples;

pub(super) use order::{median, mode_of, percentile_exclusive, percentile_inclusive};

use crate::function::Function;

pub(super) fn functions() -> [&'static [Function]; 9] {
    [
        averages::FUNCTIONS,
        continuous::FUNCTIONS,
        counts::FUNCTIONS,
        discrete::FUNCTIONS,
        normal::FUNCTIONS,
        order::FUNCTIONS,
        regression::FUNCTIONS,
        spread::FUNCTIONS,
        tests_of_samples::FUNCTIONS,
    ]
}
