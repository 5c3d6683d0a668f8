//! Table records of the catalog. The module of each record type has the functions `key`, `encode`
//! and `decode`.

pub mod feed;
pub mod list;
pub mod stream;
pub mod webhook;
