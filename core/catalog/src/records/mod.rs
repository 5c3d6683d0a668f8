//! Records of the catalog in the tables. Each kind of record has a file with functions `key`,
//! `encode` and `decode`.

pub mod feed;
pub mod list;
pub mod stream;
pub mod webhook;
