//! Tests of event streams.

mod appends;
mod limits;
mod rebuilds;
pub(crate) mod support;
mod writers;
