//! Finds the formulas whose stored values may differ from those that a calculation would give.
//!
//! A snapshot contains the values of its formulas, which a worker has calculated. An edit changes
//! the values of the formulas that read the edited cells, of those that read these formulas, and so
//! on. The areas in the tile indexes say which tiles have such formulas, so that most of them need
//! not be loaded: if a formula of a tile reads an outdated cell, all formulas of the tile are
//! outdated.
//!
//! - `areas` contains outdated cells in a bounded number of rectangles.
//! - `changes` lists the cells that entries have changed.
//! - `formula_areas` lists the tiles that have formulas, and the cells that these read.
//! - `search` follows the readers of outdated cells until there are no more.

mod areas;
mod changes;
mod formula_areas;
mod search;

pub use areas::OutdatedAreas;
pub(crate) use areas::stored_areas;
pub use search::{OutdatedBy, areas_of_formulas, find_outdated};
