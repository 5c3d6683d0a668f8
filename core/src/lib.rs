//! Cellar's rules without any I/O.

pub mod environment;
pub mod schema;
