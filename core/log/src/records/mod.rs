//! Table records of the log. Each record type has a module with `key`, `encode` and `decode`.

pub mod entry;
pub mod fork;
pub mod segment;
