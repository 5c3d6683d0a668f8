//! PendingSnapshots table records.

pub mod pending_snapshot;
