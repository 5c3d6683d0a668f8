//! The works that are measured (design `5-quality.md` §4), each with its rows of the table.

pub(crate) mod fold;
pub(crate) mod sheet;
