//! Merging levels: the newer value wins, tombstones and cleared regions hide, and everything stands
//! where the newest level's space has it (design `3-snapshots.md` §1).
//!
//! Reading a window of a sheet is the same as merging it: there is one rule for both.

mod column;
mod part;
mod source;
#[cfg(test)]
mod tests;
mod window;

pub use part::Part;
pub use source::{ComposedChanges, LevelChanges, Source, composed, sources};
pub use window::{Below, Window, merge_window};
