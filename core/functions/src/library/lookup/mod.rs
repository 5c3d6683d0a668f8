//! Lookup and reference functions.

mod address;
mod arrays;
mod choosing;
mod matching;
mod references;
mod search;
mod sorting;
mod tables;
mod unique;

pub(super) use address::quoted_sheet;

use crate::function::Function;

pub(super) fn functions() -> [&'static [Function]; 8] {
    [
        address::FUNCTIONS,
        arrays::FUNCTIONS,
        choosing::FUNCTIONS,
        matching::FUNCTIONS,
        references::FUNCTIONS,
        sorting::FUNCTIONS,
        tables::FUNCTIONS,
        unique::FUNCTIONS,
    ]
}
