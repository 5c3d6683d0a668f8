//! The records of the PendingSnapshots table.

pub mod pending_snapshot;
