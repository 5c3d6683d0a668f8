//! Benchmarks, each with its rows of the table.

pub(crate) mod excel_values;
pub(crate) mod fold;
pub(crate) mod formulas;
pub(crate) mod full_calculation;
pub(crate) mod running_total;
pub(crate) mod sheet;
