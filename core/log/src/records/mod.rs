//! Records of the log in the tables. Each kind of record has a file with `key`, `encode` and
//! `decode`.

pub mod entry;
pub mod fork;
pub mod segment;
