//! Text functions.

mod characters;
mod conversion;
mod joining;
mod parts;
mod regex;
mod splitting;

pub(in crate::library) use regex::compile_regex;

use crate::function::Function;

pub(super) fn functions() -> [&'static [Function]; 6] {
    [
        characters::FUNCTIONS,
        conversion::FUNCTIONS,
        joining::FUNCTIONS,
        parts::FUNCTIONS,
        regex::FUNCTIONS,
        splitting::FUNCTIONS,
    ]
}
