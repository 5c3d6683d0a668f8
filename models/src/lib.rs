//! Exhaustive model checking of the log, snapshot, stream and feed protocols.
//!
//! The models implement only tables, clients and injected faults. Every protocol decision is made
//! by core's own state machines, and the log's properties are core's predicates
//! (`cellar_log::invariants`). A bug in core therefore also shows up in the models.
//!
//! - [`log`]: writers, rolls and trims, with lost and delayed requests, stale reads, crashes and clock jumps.
//! - [`reader`]: a forward read of a log that grows and rolls.
//! - [`snapshots`]: workers that claim, checkpoint, hand over and finish the snapshots of one log.
//! - [`push`]: clients of a sync group that push and pull, with abandoned and retried pushes, lookups that have forgotten a client, restores, and mutations that cannot succeed.
//! - [`streams`]: writers that append to a stream whose tip (newest item) is split, with lost and delayed writes, stale tips, abandoned calls, and refusals that omit the current tip.
//! - [`feed`]: indexers of event streams, with repeated, reordered or missing batches, lost and delayed writes, crashes, and new feed generations.
//! - [`attempts`]: one append against an adversarial store.

pub mod attempts;
pub mod feed;
pub mod fingerprint;
pub mod log;
pub mod push;
pub mod reader;
pub mod snapshots;
pub mod streams;
