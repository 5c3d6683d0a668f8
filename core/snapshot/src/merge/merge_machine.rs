//! State machine that merges several levels into one. It requests input tiles as needed and returns
//! finished output tiles. The merge can be interrupted after any finished tile and resumed later.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::inputs::{MovesToNewest, SheetInput};
use super::pending_tile::{RowTooLarge, TileEncoder};
use super::sheet_merge::SheetMerge;
use super::stripe_merge::{LoadedTiles, StripeStep};
use crate::level::{ChunkHash, ChunkRef, Level, StripeTile};
use crate::packed::PackedObject;
use crate::saturate::{saturate_u32, to_usize};
use crate::tile::Tile;

/// A merge in progress.
#[derive(Debug, Clone)]
pub struct Merge {
    inputs: Vec<SheetInput>,
    moves_to_newest: MovesToNewest,
    sheet_index: usize,
    /// State of the current sheet's merge, or `None` if it has not started.
    sheet: Option<SheetMerge>,
    loaded_tiles: LoadedTiles,
    merged_level: Level,
}

/// Position from which a merge can be resumed. Everything before this position is in finished
/// tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MergeCursor {
    /// Index of the current sheet in the list of sheets to merge.
    pub sheet: u32,
    /// Index of the stripe within the sheet.
    pub stripe: u32,
    /// Next row to merge, in the coordinates of the newest level.
    pub row: u32,
    /// Number of stored bytes per 1,024 cells of the last encoded tile. Before the first tile, an
    /// estimate, or 0 if unknown.
    pub density: u32,
}

/// A finished tile of the merged level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedTile {
    /// Index of the sheet in the list of sheets to merge.
    pub sheet: u32,
    /// Index of the stripe within the sheet.
    pub stripe: u32,
    /// Rows of the tile, and the chunk that stores it.
    pub tile: StripeTile,
}

/// Result of a merge step.
#[derive(Debug, Clone)]
pub enum MergeStep {
    /// Tiles to load and pass to [`Merge::provide`] before the next step.
    Load(Vec<ChunkRef>),
    /// A tile of the merged level is finished.
    Tile {
        /// The tile.
        tile: MergedTile,
        /// Chunk to store before any object that references it, or `None` if an input tile is
        /// reused unchanged.
        chunk: Option<PackedObject>,
        /// Cursor from which the merge can be resumed after this tile.
        cursor: MergeCursor,
    },
    /// The merge is finished.
    Done(Level),
}

impl MergeCursor {
    fn known_density(&self) -> Option<u64> {
        if self.density == 0 { None } else { Some(u64::from(self.density)) }
    }
}

impl Merge {
    /// Starts a merge.
    #[must_use]
    pub fn new(inputs: Vec<SheetInput>) -> Self {
        Self {
            moves_to_newest: MovesToNewest::of_inputs(&inputs),
            inputs,
            sheet_index: 0,
            sheet: None,
            loaded_tiles: LoadedTiles::new(),
            merged_level: Level::default(),
        }
    }

    /// Resumes a merge of the same inputs at `cursor`. `finished_tiles` must contain all tiles that
    /// were returned before the cursor, in the same order.
    #[must_use]
    pub fn resume(
        inputs: Vec<SheetInput>,
        finished_tiles: Vec<MergedTile>,
        cursor: MergeCursor,
    ) -> Self {
        let mut merge = Self::new(inputs);
        let mut finished_tiles = finished_tiles.into_iter().peekable();
        let cursor_sheet_index = to_usize(cursor.sheet);
        while let Some(input) = merge.inputs.get(merge.sheet_index) {
            let sheet_index = merge.sheet_index;
            let mut sheet = SheetMerge::new(input, &merge.moves_to_newest);
            while let Some(merged_tile) =
                finished_tiles.next_if(|merged_tile| to_usize(merged_tile.sheet) == sheet_index)
            {
                sheet.push_tile(to_usize(merged_tile.stripe), merged_tile.tile);
            }
            if sheet_index == cursor_sheet_index {
                sheet.stripe_index = to_usize(cursor.stripe);
                sheet.start_stripe(input, cursor.row, cursor.known_density());
                merge.sheet = Some(sheet);
                break;
            }
            merge.finish_sheet(sheet);
        }
        merge
    }

    /// Adds a loaded tile that [`MergeStep::Load`] requested.
    pub fn provide(&mut self, hash: ChunkHash, tile: Arc<Tile>) {
        self.loaded_tiles.insert(hash, tile);
    }

    /// Performs the next step.
    ///
    /// # Errors
    /// Returns [`RowTooLarge`] if a row is too large for a chunk of its stripe.
    pub fn step(&mut self, encode_tile: TileEncoder<'_>) -> Result<MergeStep, RowTooLarge> {
        loop {
            let Some(input) = self.inputs.get(self.sheet_index) else {
                return Ok(MergeStep::Done(std::mem::take(&mut self.merged_level)));
            };
            let sheet =
                self.sheet.get_or_insert_with(|| SheetMerge::new(input, &self.moves_to_newest));
            if sheet.stripe.is_none() {
                sheet.start_stripe(input, 0, None);
            }
            let Some(stripe) = &mut sheet.stripe else {
                self.finish_current_sheet();
                continue;
            };
            match stripe.next_step(&sheet.mappings, &self.loaded_tiles, encode_tile)? {
                StripeStep::Load(chunks) => return Ok(MergeStep::Load(chunks)),
                StripeStep::FinishedTile { tile, new_chunk } => {
                    self.loaded_tiles.retain(|hash, _| stripe.needs_tile(hash));
                    let cursor = MergeCursor {
                        sheet: saturate_u32(self.sheet_index),
                        stripe: saturate_u32(sheet.stripe_index),
                        row: tile.rows.end(),
                        density: u32::try_from(stripe.density()).unwrap_or(u32::MAX),
                    };
                    sheet.push_tile(sheet.stripe_index, tile.clone());
                    let tile = MergedTile { sheet: cursor.sheet, stripe: cursor.stripe, tile };
                    return Ok(MergeStep::Tile { tile, chunk: new_chunk, cursor });
                }
                StripeStep::Done => sheet.end_stripe(),
            }
        }
    }

    fn finish_current_sheet(&mut self) {
        if let Some(sheet) = self.sheet.take() {
            self.finish_sheet(sheet);
        }
    }

    fn finish_sheet(&mut self, sheet: SheetMerge) {
        if let Some(input) = self.inputs.get(self.sheet_index) {
            self.merged_level.sheets.extend(sheet.finish(input));
        }
        self.loaded_tiles.clear();
        self.sheet_index += 1;
    }
}
