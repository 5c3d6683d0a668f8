//! Inputs of a merge.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::formulas::FormulaMapping;
use super::window::OlderLevels;
use crate::fold::{FoldedSheet, ImportedFormulas};
use crate::level::{LevelSheet, SheetMoves, StoredTile, Stripe, StripeTile};
use crate::tile::Tile;
use cellar_formula::changes::MovedLines;
use cellar_sheet::metadata::Tabs;
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
    /// Whether formulas may exist in levels of any sheet that are older than the merged levels.
    /// They may name this sheet.
    pub has_older_formulas: bool,
    /// Names of the sheets after the newest level.
    pub tabs: Arc<Tabs>,
}

/// Effect of one level on a sheet.
#[derive(Debug, Clone)]
pub struct LevelInput {
    /// Effect of the level on older cells: how rows and columns move, and which cells are hidden.
    pub moves: SheetMoves,
    /// Cells of the level.
    pub cells: LevelCells,
    /// Index of the level among the merged levels of all sheets, oldest first.
    pub level_index: usize,
    /// Context of the formulas of an imported sheet. `None` if the level is not imported: rows and
    /// columns then move as in the newer levels.
    pub imported_formulas: Option<ImportedFormulas>,
}

/// Location of a level's cells.
#[derive(Debug, Clone)]
pub enum LevelCells {
    /// In memory, as a single tile that covers the entire sheet.
    InMemory(Arc<Tile>),
    /// In chunks, which are loaded on demand.
    InChunks(Vec<Stripe>),
}

impl LevelCells {
    /// Returns whether any cell may have a formula.
    fn may_have_formulas(&self) -> bool {
        match self {
            Self::InMemory(tile) => tile.formula_count() > 0,
            Self::InChunks(stripes) => {
                let mut tiles = stripes.iter().flat_map(|stripe| &stripe.tiles);
                tiles.any(StripeTile::may_have_formulas)
            }
        }
    }
}

/// How the rows and columns of all sheets move from each merged level to the newest level.
#[derive(Debug, Clone, Default)]
pub(crate) struct MovesToNewest {
    moves_by_level: BTreeMap<usize, Arc<MovedLines>>,
}

impl MovesToNewest {
    /// Composes the moves of all levels, unless there are no formulas.
    pub(crate) fn of_inputs(inputs: &[SheetInput]) -> Self {
        let mut levels = inputs.iter().flat_map(|input| &input.levels);
        if !levels.any(|level| level.cells.may_have_formulas()) {
            return Self::default();
        }
        let mut own_moves_by_level: BTreeMap<usize, MovedLines> = BTreeMap::new();
        for input in inputs {
            for level in &input.levels {
                let own_moves = own_moves_by_level.entry(level.level_index).or_default();
                own_moves.insert(input.sheet, level.moves.lines());
            }
        }
        let mut newer_moves = MovedLines::default();
        let mut moves_by_level = BTreeMap::new();
        for (level_index, own_moves) in own_moves_by_level.into_iter().rev() {
            let older_moves = own_moves.then(&newer_moves);
            moves_by_level.insert(level_index, Arc::new(newer_moves));
            newer_moves = older_moves;
        }
        Self { moves_by_level }
    }

    /// Returns how each level of a sheet moves its formulas.
    pub(crate) fn formula_mappings(&self, input: &SheetInput) -> Vec<FormulaMapping> {
        let to_mapping = |level: &LevelInput| {
            let moves_to_newest = self.moves_by_level.get(&level.level_index);
            let imported = level.imported_formulas.as_ref();
            let moves = imported.map(|formulas| &formulas.moves).or(moves_to_newest);
            FormulaMapping {
                sheet: input.sheet,
                moves: moves.cloned().unwrap_or_default(),
                tabs: Arc::clone(&input.tabs),
                file: imported.map(|formulas| Arc::clone(&formulas.file)),
            }
        };
        input.levels.iter().map(to_mapping).collect()
    }
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
    pub fn from_folded(sheet: FoldedSheet, level_index: usize) -> Self {
        Self::new(sheet.moves, LevelCells::InMemory(sheet.tile), level_index)
    }

    /// Returns the merge input for a level that is not imported.
    #[must_use]
    pub fn new(moves: SheetMoves, cells: LevelCells, level_index: usize) -> Self {
        Self { moves, cells, level_index, imported_formulas: None }
    }

    /// Returns the merge input for a level whose tiles are chunks, or `None` if a tile is stored
    /// inline.
    #[must_use]
    pub fn from_chunks(sheet: LevelSheet, level_index: usize) -> Option<Self> {
        let mut tiles = sheet.stripes.iter().flat_map(|stripe| &stripe.tiles);
        let has_inline_tile = tiles.any(|tile| matches!(tile.stored, StoredTile::Inline(_)));
        if has_inline_tile {
            return None;
        }
        Some(Self::new(sheet.moves, LevelCells::InChunks(sheet.stripes), level_index))
    }
}
