//! Merges levels. The newest value of each cell wins; blanks and cleared regions hide older cells.
//! All cells are mapped to the coordinates of the newest level.
//!
//! Reading a window of a sheet uses the same code as merging levels.

mod column;
mod input;
mod merge_machine;
mod merge_window;
mod part;
mod pending_tile;
mod sheet_merge;
mod source;
mod stripe_merge;
mod stripe_tiles;
mod stripes;
#[cfg(test)]
mod tests;
mod window;
mod writer;

pub use input::{InputCells, LevelInput, SheetInput};
pub use merge_machine::{Merge, MergeCursor, MergeStep, MergedTile};
pub use merge_window::merge_window;
pub use part::{Part, PlaceSize};
pub use pending_tile::{RowTooLarge, TileEncoder};
pub use source::{Source, compose_moves, level_sources};
pub use window::{Below, Window};
pub use writer::{SheetWriter, WrittenSheet};
