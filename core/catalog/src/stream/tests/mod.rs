//! Tests of the layer as a whole.

mod appends;
mod limits;
mod rebuilds;
pub(crate) mod support;
mod writers;
