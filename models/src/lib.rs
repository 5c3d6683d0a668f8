//! Exhaustive model checks of the protocols of logs, snapshots, streams and the feed.
//!
//! The models contain tables, clients and faults. Core's own state machines make every decision,
//! and core's predicates (`cellar_log::invariants`) are the properties of the log. So a rule that
//! is broken in core is broken here too.
//!
//! - [`log`]: writers, rolls and trims over the two tables, with lost and delayed requests, stale
//!   reads, crashes and a clock that jumps.
//! - [`reader`]: a forward read over a log that grows and rolls.
//! - [`snapshots`]: workers that claim, store progress, hand over and finish snapshots of one log.
//! - [`push`]: clients of a sync group that push and pull, with abandoned and repeated pushes, lookups
//!   that have forgotten a client, restores, and mutations that cannot succeed.
//! - [`streams`]: writers that append to a stream whose tip is split, with lost and delayed writes, old tips,
//!   abandoned calls, and refusals without the current tip.
//! - [`feed`]: indexers of streams, with batches that are repeated, reordered or missing, lost and delayed
//!   writes, crashes, and a new generation of the feed.
//! - [`attempts`]: one append against a store that may give any answer, forever.

pub mod attempts;
pub mod feed;
pub mod fingerprint;
pub mod log;
pub mod push;
pub mod reader;
pub mod snapshots;
pub mod streams;
