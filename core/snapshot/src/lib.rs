//! Snapshots: the state of a spreadsheet at a log position, stored as immutable objects.
//!
//! The root of a snapshot lists its *levels*, oldest first. A level contains the changes made by a
//! contiguous range of log entries: the changed cells, stored in *tiles*, and axis maps, which
//! translate row and column numbers of the next older level to those of this level.

mod cbor;
pub mod cells;
pub mod chunk;
mod chunk_ref;
pub mod compaction;
pub mod dependents;
mod error;
pub mod fold;
#[cfg(test)]
mod formula_model;
pub mod garbage;
#[cfg(test)]
mod golden;
pub mod index;
pub mod keys;
pub mod level;
mod line_ends;
pub mod merge;
pub mod objects;
pub mod outdated;
pub mod packed;
mod packer;
pub mod pending_snapshot;
pub mod policy;
pub mod records;
pub mod references;
pub mod relay;
pub mod root;
mod root_parts;
mod saturate;
pub mod snapshot_job;
pub mod tile;
mod tile_formulas;
pub mod touched;
pub mod view;
mod window_estimate;
mod window_formulas;

pub use error::SnapshotError;
pub use packer::PackLimits;
pub use tile_formulas::TileFormulas;
pub use window_estimate::{WindowEstimate, estimate_window};
