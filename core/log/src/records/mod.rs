//! Records of the log in the tables: one file per record, with `key`, `encode` and `decode`.

pub mod entry;
pub mod fork;
pub mod segment;
