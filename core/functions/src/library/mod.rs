//! The built-in functions, grouped into Excel's categories.

pub(crate) mod collect;
mod criteria;
mod database;
mod date_and_time;
mod engineering;
mod financial;
mod information;
mod logical;
mod lookup;
mod math;
mod statistics;
mod text;

use crate::function::Function;

/// Returns all built-in functions.
pub(crate) fn all_functions() -> impl Iterator<Item = &'static Function> {
    [database::FUNCTIONS, date_and_time::FUNCTIONS, information::FUNCTIONS, logical::FUNCTIONS]
        .into_iter()
        .chain(engineering::functions())
        .chain(financial::functions())
        .chain(lookup::functions())
        .chain(math::functions())
        .chain(statistics::functions())
        .chain(text::functions())
        .flatten()
}
