//! Inputs of a merge.

use std::sync::Arc;

use super::window::OlderLevels;
use crate::fold::FoldedSheet;
use crate::level::{LevelSheet, SheetMoves, StoredTile, Stripe};
use crate::tile::Tile;
use cellar_sheet::operation::SheetId;

/// Levels of one sheet that are merged into a single level.
#[derive(Debug, Clone)]
pub struct SheetInput {
    /// Id of the sheet.
    pub sheet: SheetId,
    /// Whether levels exist that are older than the merged levels.
    pub older_levels: OlderLevels,
    /// Exclusive end of the columns that were ever written, in the coordinates of the newest level.
    pub written_columns: u32,
    /// Maximum width of output stripes in columns. It is a power of two and at least
    /// `MIN_STRIPE_COLUMNS`. At this minimum width, every row fits into a chunk.
    pub max_stripe_columns: u32,
    /// Levels to merge, oldest first.
    pub levels: Vec<LevelInput>,
}

/// Effect of one level on a sheet.
#[derive(Debug, Clone)]
pub struct LevelInput {
    /// Effect of the level on older cells: how rows and columns move, and which cells are hidden.
    pub moves: SheetMoves,
    /// Cells of the level.
    pub cells: LevelCells,
}

/// Location of a level's cells.
#[derive(Debug, Clone)]
pub enum LevelCells {
    /// In memory, as a single tile that covers the entire sheet.
    InMemory(Arc<Tile>),
    /// In chunks, which are loaded on demand.
    InChunks(Vec<Stripe>),
}

impl SheetInput {
    /// Returns the effects of all levels on older cells, oldest first.
    #[must_use]
    pub fn moves(&self) -> Vec<&SheetMoves> {
        self.levels.iter().map(|level| &level.moves).collect()
    }
}

impl LevelInput {
    /// Returns the merge input for folded entries.
    #[must_use]
    pub fn from_folded(sheet: FoldedSheet) -> Self {
        Self { moves: sheet.moves, cells: LevelCells::InMemory(sheet.tile) }
    }

    /// Returns the merge input for a level whose tiles are chunks, or `None` if a tile is stored
    /// inline.
    #[must_use]
    pub fn from_chunks(sheet: LevelSheet) -> Option<Self> {
        let mut tiles = sheet.stripes.iter().flat_map(|stripe| &stripe.tiles);
        let has_inline_tile = tiles.any(|tile| matches!(tile.stored, StoredTile::Inline(_)));
        if has_inline_tile {
            return None;
        }
        Some(Self { moves: sheet.moves, cells: LevelCells::InChunks(sheet.stripes) })
    }
}
