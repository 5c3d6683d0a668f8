//! Snapshots: the state at a position, as immutable chunks (design `3-snapshots.md` §1-§4).
//!
//! A snapshot's root lists *levels*, oldest first. Each holds what a contiguous range of entries did:
//! cells in the space of its last entry, in *tiles*, and the axis maps from the space of the level
//! below into its own.

mod cbor;
pub mod cells;
pub mod chunk;
mod error;
pub mod fold;
#[cfg(test)]
mod golden;
pub mod index;
pub mod keys;
pub mod level;
pub mod merge;
pub mod named;
pub mod objects;
pub mod outline;
pub mod packed;
mod packer;
pub mod policy;
pub mod root;
pub mod round;
pub mod tile;
pub mod touched;
pub mod view;
pub(crate) mod zstd_frames;

pub use error::SnapshotError;
pub use packer::PackLimits;
