//! Every bound of Cellar. Each is tested at its value and one above, where it is enforced:
//! `tests/promises/bounds.txt` names the tests.

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
