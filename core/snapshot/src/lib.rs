//! Snapshots: the state at a position, as immutable chunks.
//!
//! A snapshot's root lists *levels*, oldest first. Each holds what a contiguous range of entries
//! did: cells in the space of its last entry, in *tiles*, and the axis maps from the space of the
//! level below into its own.

mod cbor;
pub mod cells;
pub mod chunk;
mod chunk_ref;
pub mod compaction;
mod error;
pub mod fold;
pub mod garbage;
#[cfg(test)]
mod golden;
pub mod index;
pub mod keys;
pub mod level;
pub mod merge;
pub mod objects;
pub mod packed;
mod packer;
pub mod pending_snapshot;
pub mod policy;
pub mod records;
pub mod references;
pub mod relay;
pub mod root;
mod root_parts;
pub mod snapshot_job;
pub mod tile;
pub mod touched;
pub mod view;

pub use error::SnapshotError;
pub use packer::PackLimits;
