//! Comparison of Cellar's transforms with those of an independent engine: o-spreadsheet of Odoo,
//! where users also edit a sheet concurrently. For generated pairs of operations, both engines get
//! the same cells, except for the [`rules`] that only the peer follows. If Cellar follows these
//! rules instead of its own, it gets exactly the peer's cells, so that no other difference is
//! hidden by a known one.
//!
//! Not compared are features that the peer lacks or does not guarantee: ranges of all rows or
//! columns, and several pending mutations of one author. The peer transforms each of those past the
//! committed operations as if the earlier pending ones did not exist, and so changes the wrong
//! cells.
//!
//! The peer runs in Node, comes from npm, and is licensed under LGPL-3.0. It is installed below
//! `target/` for this test only, and no part of it is built into Cellar or shipped with it. `cargo
//! deny` does not check npm packages; `node/package-lock.json` pins all of them by hash.
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

/// The concurrent operations of two users.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// The operations that the first user committed, in order.
    pub committed: Vec<Operation>,
    /// The operation that the second user made without having seen the committed ones.
    pub mine: Operation,
}
