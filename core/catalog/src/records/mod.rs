//! Table records of the catalog. Each record type has a module with `key`, `encode` and `decode`.

pub mod feed;
pub mod list;
pub mod stream;
pub mod webhook;
