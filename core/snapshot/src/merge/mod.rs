//! Merging levels: the newer value wins, tombstones and cleared regions hide, and everything stands
//! where the newest level's space has it.
//!
//! Reading a window of a sheet is the same as merging it: there is one rule for both.

mod column;
mod input;
mod machine;
mod part;
mod pending;
mod source;
mod stripe;
mod stripes;
#[cfg(test)]
mod tests;
mod window;
mod writer;

pub use input::{InputCells, LevelInput, SheetInput};
pub use machine::{Merge, MergeCursor, MergeStep, MergedTile, TileEncoder};
pub use part::{Part, Place};
pub use pending::RowTooLarge;
pub use source::{Source, composed, sources};
pub use window::{Below, Window, merge_window};
pub use writer::{SheetWriter, WrittenSheet};
