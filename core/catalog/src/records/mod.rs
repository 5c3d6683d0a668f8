//! The catalog's records in the tables: one file per record, with `key`, `encode` and `decode` in each.

pub mod feed;
pub mod list;
pub mod stream;
pub mod webhook;
