//! Limits and default sizes. Each limit is tested at its value and at one above;
//! `tests/promises/bounds.txt` lists the tests.

mod api;
mod catalog;
mod client;
mod log;
mod sheet;
mod snapshot;
mod storage;

pub use api::*;
pub use catalog::*;
pub use client::*;
pub use log::*;
pub use sheet::*;
pub use snapshot::*;
pub use storage::*;
