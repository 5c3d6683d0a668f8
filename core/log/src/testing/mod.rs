//! Logs in memory for the tests of this crate and of the crates that use it.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "test support")]

pub mod support;
pub mod world;
