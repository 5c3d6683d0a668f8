//! The engine: port traits, and the async drivers that run the core's rules over them.
//!
//! Nothing here knows DynamoDB or HTTP: adapters implement the [`ports`], and every adapter passes
//! the one [`contract`] suite.

pub mod catalog;
pub mod contract;
#[cfg(test)]
mod crashes;
pub mod feed;
pub mod garbage;
pub mod logs;
pub mod memory;
pub mod meter;
pub mod ports;
pub mod purge;
pub mod relay;
pub mod reprocess;
pub mod retention;
mod retry;
pub mod sha256;
pub mod snapshots;
pub mod streams;
pub mod system;
