//! Table records of the log. The module of each record type has the functions `key`, `encode` and
//! `decode`.

pub mod entry;
pub mod fork;
pub mod presence;
pub mod segment;
