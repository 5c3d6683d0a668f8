//! In-memory logs for the tests of this crate and of the crates that depend on it.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "test support")]

pub mod support;
pub mod world;
