//! Snapshots: the state at a position, as immutable chunks (design `3-snapshots.md` §1-§4).
//!
//! A snapshot's root lists *levels*, oldest first. Each holds what a contiguous range of entries did:
//! cells in the space of its last entry, in *tiles*, and the axis maps from the space of the level
//! below into its own.

mod cbor;
mod error;
#[cfg(test)]
mod golden;
pub mod index;
pub mod keys;
pub mod level;
pub mod packed;
mod packer;
pub mod root;
pub mod tile;

pub use error::SnapshotError;
pub use packer::PackLimits;
