//! The transforms of Cellar beside those of an engine that others wrote: o-spreadsheet, the one in
//! Odoo, where users edit a sheet at once, too. On generated pairs of operations both end with the same
//! cells, but for the [`rules`] that say where and why they do not.
//!
//! It runs in Node, from npm, and is licensed under LGPL-3.0: it is installed below `target/` for this
//! test alone, and nothing of it is built into Cellar or shipped with it. `cargo deny` does not see
//! what npm installs; `node/package-lock.json` pins it, by hash.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "support code of tests fails like a test"
)]

pub mod cells;
pub mod enumerated;
pub mod node;
pub mod operations;
pub mod ours;
pub mod random;
pub mod rules;
pub mod theirs;

use cellar_core::operation::Operation;
use serde::Serialize;

/// What two users did at once.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// What the one committed: an operation, or an insert and what fills the new lines.
    pub committed: Vec<Operation>,
    /// What the other did without having seen it.
    pub mine: Operation,
}
