//! Logs in memory for tests, here and in the crates above.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "for tests alone")]

pub mod support;
pub mod world;
