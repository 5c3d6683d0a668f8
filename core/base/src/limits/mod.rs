//! Limits and default sizes. For each limit, the tests listed in `tests/promises/bounds.txt` check
//! that the limit is accepted and that a value above it is rejected.

mod api;
mod calculation;
mod catalog;
mod client;
mod log;
mod sheet;
mod snapshot;
mod storage;

pub use api::*;
pub use calculation::*;
pub use catalog::*;
pub use client::*;
pub use log::*;
pub use sheet::*;
pub use snapshot::*;
pub use storage::*;
