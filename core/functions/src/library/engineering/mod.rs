//! Engineering functions.

mod bases;
mod bits;
mod complex;
mod convert;
mod special;

use crate::function::Function;

pub(super) fn functions() -> [&'static [Function]; 5] {
    [bases::FUNCTIONS, bits::FUNCTIONS, complex::FUNCTIONS, convert::FUNCTIONS, special::FUNCTIONS]
}
