//! Table records of the catalog. Each module has the functions `key`, `encode` and `decode`.

pub mod feed;
pub mod list;
pub mod stream;
pub mod webhook;
