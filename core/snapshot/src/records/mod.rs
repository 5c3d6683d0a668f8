//! The record of a pending snapshot in its table.

pub mod pending_snapshot;
