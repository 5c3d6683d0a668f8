//! Merges levels. All cells are mapped to the coordinates of the newest level. The newest value of
//! each cell is kept; blanks and cleared regions hide older cells. The same code reads a window of
//! a sheet and merges levels.

mod column;
mod formulas;
mod inputs;
mod level_mapping;
mod merge_machine;
mod merge_window;
mod pending_rows;
mod pending_tile;
mod placed_tile;
mod sheet_merge;
mod stripe_merge;
mod stripe_tiles;
mod stripes;
#[cfg(test)]
mod tests;
mod window;
mod writer;

pub(crate) use formulas::StoredFormula;
pub use formulas::{FormulaMapping, with_formula_texts};
pub(crate) use inputs::MovesToNewest;
pub use inputs::{LevelCells, LevelInput, SheetInput};
pub use level_mapping::{LevelMapping, compose_moves, map_levels_to_newest};
pub use merge_machine::{Merge, MergeCursor, MergeStep, MergedTile};
pub use merge_window::merge_window;
pub use pending_tile::{RowTooLarge, TileEncoder};
pub(crate) use placed_tile::indices_in_run;
pub use placed_tile::{PlacedTile, TileSize};
pub use window::{OlderLevels, Window};
pub use writer::{SheetWriter, WrittenSheet};
