//! Compares Cellar's transforms with those of an independent engine, the "peer": Odoo's
//! o-spreadsheet, in which users also edit a sheet concurrently. For generated pairs of operations,
//! both engines produce the same cells, except for the [`rules`] that only the peer follows. If
//! Cellar follows these rules instead of its own, it produces exactly the peer's cells. A known
//! difference therefore cannot hide another one.
//!
//! Two features are not compared, because the peer lacks them or does not guarantee them: ranges of
//! all rows or columns, and several pending mutations from one author. The peer transforms each of
//! an author's pending mutations past the committed operations as if the author's earlier pending
//! mutations did not exist, and therefore changes the wrong cells.
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
    /// The operation of the second user, who had not seen the committed operations.
    pub mine: Operation,
}
