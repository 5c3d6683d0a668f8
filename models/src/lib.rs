//! Exhaustive model checks of the protocols of logs and streams.
//!
//! The models hold tables, clients and faults; every decision is made by core's own machines, and
//! properties of the log are core's predicates (`cellar_log::invariants`). Nothing here decides
//! what a writer does, so a rule that is broken in core is broken here.
//!
//! - [`log`]: writers, rolls and trims over the two tables, with lost and late requests, stale
//!   reads, crashes and a clock that jumps.
//! - [`reader`]: a forward read over a log that grows and rolls.
//! - [`snapshots`]: workers that claim, store progress, hand over and finish snapshots of one log.
//! - [`push`]: clients of a sync group that push and pull, with pushes given up and repeated, look-ups
//!   that forget, restores, and mutations that cannot succeed.
//! - [`streams`]: writers that append to a stream whose tip is split, with lost and late writes, old tips, calls
//!   that are given up, and refusals that do not tell why.
//! - [`feed`]: indexers of streams, with batches that come twice, out of order or not at all, lost and late
//!   writes, deaths, and a feed that is begun anew meanwhile.
//! - [`attempts`]: one append against a store that may answer anything, for ever.

pub mod attempts;
pub mod feed;
pub mod fingerprint;
pub mod log;
pub mod push;
pub mod reader;
pub mod snapshots;
pub mod streams;
