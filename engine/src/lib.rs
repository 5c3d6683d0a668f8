//! The engine: port traits, and async services that run the core crates' state machines over the
//! ports.
//!
//! The engine does not depend on DynamoDB or HTTP. Adapters implement the [`ports`], and every
//! adapter passes the `contract` suite.

pub mod catalog;
#[cfg(any(test, feature = "testing"))]
pub mod contract;
#[cfg(test)]
mod crashes;
pub mod dead_letters;
mod eviction;
pub mod feed;
pub mod garbage;
mod log_segment_scan;
pub mod logs;
#[cfg(any(test, feature = "testing"))]
pub mod memory;
pub mod meter;
pub mod ports;
pub mod presence;
pub mod purge;
pub mod relay;
pub mod reprocess;
pub mod retention;
mod retry;
pub mod sha256;
pub mod snapshots;
pub mod streams;
pub mod system;
mod unexpected_event;
