//! The log's records in the tables: one file per record, with `key`, `encode` and `decode` in each.

pub mod entry;
pub mod fork;
pub mod segment;
