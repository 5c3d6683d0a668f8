//! Benchmarks, each with its rows of the table.

pub(crate) mod fold;
pub(crate) mod sheet;
