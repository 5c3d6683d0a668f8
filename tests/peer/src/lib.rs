//! The transforms of Cellar beside those of an engine that others wrote: o-spreadsheet, the one in
//! Odoo, where users edit a sheet at once, too. On generated pairs both end with the same cells, but
//! for the [`rules`] that the peer follows and Cellar does not: with these in place of its own, Cellar
//! ends with the very cells of the peer, so that no other difference hides behind a known one.
//!
//! Left out is what the peer does not have or does not promise: ranges of all rows or columns, and an
//! author's own mutations one behind the other. It moves each of those past what others committed as if
//! there were no own ones before, and so changes cells that nobody meant.
//!
//! It runs in Node, comes from npm, and is licensed under LGPL-3.0: it is installed below `target/` for
//! this test alone, and nothing of it is built into Cellar or shipped with it. `cargo deny` does not
//! see what npm installs; `node/package-lock.json` pins all of it, by hash.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "support code of tests fails like a test"
)]

pub mod cells;
pub mod enumerated;
pub mod explain;
pub mod node;
pub mod operations;
pub mod ours;
pub mod random;
pub mod rules;
pub mod theirs;

use cellar_sheet::operation::Operation;
use serde::Serialize;

/// What two users did at once.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// What the one committed, one behind the other.
    pub committed: Vec<Operation>,
    /// What the other did without having seen any of it.
    pub mine: Operation,
}
