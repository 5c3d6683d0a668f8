//! Records of the catalog in the tables: one file per record, with functions `key`, `encode` and
//! `decode`.

pub mod feed;
pub mod list;
pub mod stream;
pub mod webhook;
