//! What is merged.

use std::sync::Arc;

use super::Below;
use crate::fold::FoldedSheet;
use crate::level::{LevelSheet, SheetMoves, StoredTile, Stripe};
use crate::tile::Tile;
use cellar_sheet::operation::SheetId;

/// The levels of one sheet, oldest first, that become one.
#[derive(Debug, Clone)]
pub struct SheetInput {
    /// The sheet.
    pub sheet: SheetId,
    /// What stands below all of them.
    pub below: Below,
    /// How many columns were ever written to, in the space of the newest.
    pub columns: u32,
    /// How many columns a stripe of the output has at most, a power of two and at least
    /// `MIN_STRIPE_COLUMNS`: of these any row fits a chunk.
    pub stripe_columns: u32,
    /// The levels.
    pub levels: Vec<LevelInput>,
}

/// What one level did to a sheet.
#[derive(Debug, Clone)]
pub struct LevelInput {
    /// What it did to the cells below.
    pub moves: SheetMoves,
    /// Its cells.
    pub cells: InputCells,
}

/// Where the cells of a level are.
#[derive(Debug, Clone)]
pub enum InputCells {
    /// In memory: one tile of the whole sheet.
    Memory(Arc<Tile>),
    /// In chunks, which are loaded as they are needed.
    Chunks(Vec<Stripe>),
}

impl SheetInput {
    /// What each level did to the cells below, oldest first.
    #[must_use]
    pub fn moves(&self) -> Vec<&SheetMoves> {
        self.levels.iter().map(|level| &level.moves).collect()
    }
}

impl LevelInput {
    /// A level that was just folded.
    #[must_use]
    pub fn folded(sheet: FoldedSheet) -> Self {
        Self { moves: sheet.moves, cells: InputCells::Memory(sheet.tile) }
    }

    /// A level whose tiles are chunks; `None` if one of them is inline.
    #[must_use]
    pub fn stored(sheet: LevelSheet) -> Option<Self> {
        let mut tiles = sheet.stripes.iter().flat_map(|stripe| &stripe.tiles);
        let chunks = tiles.all(|tile| matches!(tile.stored, StoredTile::Chunk(_)));
        chunks.then_some(Self { moves: sheet.moves, cells: InputCells::Chunks(sheet.stripes) })
    }

    /// A level whose cells are at hand.
    #[must_use]
    pub fn in_memory(sheet: LevelSheet, tile: Arc<Tile>) -> Self {
        Self { moves: sheet.moves, cells: InputCells::Memory(tile) }
    }
}
