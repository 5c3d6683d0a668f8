//! State machine that merges several levels into one. It requests input tiles as needed and returns
//! finished output tiles. A merge can be resumed after any finished tile.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::input::SheetInput;
use super::pending_tile::{RowTooLarge, TileEncoder};
use super::sheet_merge::SheetMerge;
use super::stripe_merge::{LoadedTiles, StripeMerge, StripeStep};
use crate::level::{ChunkHash, ChunkRef, Level, TilePlace};
use crate::packed::PackedObject;
use crate::tile::Tile;

/// A merge in progress.
#[derive(Debug, Clone)]
pub struct Merge {
    inputs: Vec<SheetInput>,
    /// Index of the current sheet.
    sheet_index: usize,
    /// Current sheet, if its merge has started.
    sheet: Option<SheetMerge>,
    loaded: LoadedTiles,
    /// The finished sheets.
    level: Level,
}

/// Cursor from which a merge can be resumed. Everything before the cursor is contained in finished
/// tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MergeCursor {
    /// Sheet index among the merged sheets.
    pub sheet: u32,
    /// Stripe index within the sheet.
    pub stripe: u32,
    /// Next row to merge, in the coordinates of the newest level.
    pub row: u32,
    /// Stored bytes per 1,024 cells in the last finished tile, or 0 if unknown.
    pub density: u32,
}

/// A finished tile of the merged level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedTile {
    /// Sheet index among the merged sheets.
    pub sheet: u32,
    /// Stripe index within the sheet.
    pub stripe: u32,
    /// Rows and chunk of the tile.
    pub place: TilePlace,
}

/// Result of one merge step.
#[derive(Debug, Clone)]
pub enum MergeStep {
    /// Load these tiles and pass them to [`Merge::provide`] before the next step.
    Load(Vec<ChunkRef>),
    /// A tile of the merged level is finished.
    Tile {
        /// The tile.
        tile: MergedTile,
        /// Chunk to store before anything references it, or `None` if an input tile is reused
        /// unchanged.
        chunk: Option<PackedObject>,
        /// Cursor from which the merge can be resumed after this tile.
        cursor: MergeCursor,
    },
    /// The merge is finished.
    Done(Level),
}

impl Merge {
    /// Starts a merge.
    #[must_use]
    pub fn new(inputs: Vec<SheetInput>) -> Self {
        let (sheet, loaded) = (None, LoadedTiles::new());
        Self { inputs, sheet_index: 0, sheet, loaded, level: Level::default() }
    }

    /// Resumes a merge of the same inputs at `cursor`. `finished` must contain all tiles returned
    /// before the cursor, in the same order.
    #[must_use]
    pub fn resume(inputs: Vec<SheetInput>, finished: Vec<MergedTile>, cursor: MergeCursor) -> Self {
        let mut merge = Self::new(inputs);
        let mut finished = finished.into_iter().peekable();
        let cursor_sheet = to_index(cursor.sheet);
        while merge.sheet_index <= cursor_sheet {
            let Some(input) = merge.inputs.get(merge.sheet_index) else { break };
            let mut sheet = SheetMerge::open(input);
            while let Some(tile) =
                finished.next_if(|tile| to_index(tile.sheet) == merge.sheet_index)
            {
                sheet.push_tile(to_index(tile.stripe), tile.place);
            }
            if merge.sheet_index == cursor_sheet {
                sheet.stripe_index = to_index(cursor.stripe);
                let density = (cursor.density > 0).then_some(u64::from(cursor.density));
                sheet.open_stripe(input, cursor.row, density);
                merge.sheet = Some(sheet);
                break;
            }
            merge.close_sheet(sheet);
        }
        merge
    }

    /// Adds a tile requested by [`Merge`].
    pub fn provide(&mut self, hash: ChunkHash, tile: Arc<Tile>) {
        self.loaded.insert(hash, tile);
    }

    /// Performs the next step.
    ///
    /// # Errors
    /// [`RowTooLarge`] if a row is too large for a chunk of its stripe.
    pub fn step(&mut self, encode: TileEncoder<'_>) -> Result<MergeStep, RowTooLarge> {
        loop {
            let Some(input) = self.inputs.get(self.sheet_index) else {
                return Ok(MergeStep::Done(std::mem::take(&mut self.level)));
            };
            let sheet = self.sheet.get_or_insert_with(|| SheetMerge::open(input));
            if sheet.stripe.is_none() {
                sheet.open_stripe(input, 0, None);
            }
            let Some(stripe) = sheet.stripe.as_mut() else {
                if let Some(sheet) = self.sheet.take() {
                    self.close_sheet(sheet);
                }
                continue;
            };
            match stripe.step(&sheet.sources, &self.loaded, encode)? {
                StripeStep::Load(chunks) => return Ok(MergeStep::Load(chunks)),
                StripeStep::Tile(place, chunk) => {
                    self.loaded.retain(|hash, _| stripe.needs_tile(hash));
                    return Ok(self.record_merged_tile(place, chunk));
                }
                StripeStep::Done => sheet.close_stripe(),
            }
        }
    }

    fn record_merged_tile(&mut self, place: TilePlace, chunk: Option<PackedObject>) -> MergeStep {
        let (mut stripe, mut density) = (0, 0);
        if let Some(sheet) = &mut self.sheet {
            stripe = saturate_u32(sheet.stripe_index);
            let stripe_density = sheet.stripe.as_ref().map_or(0, StripeMerge::density);
            density = u32::try_from(stripe_density).unwrap_or(u32::MAX);
            sheet.push_tile(sheet.stripe_index, place.clone());
        }
        let sheet = saturate_u32(self.sheet_index);
        let cursor = MergeCursor { sheet, stripe, row: place.rows.end(), density };
        MergeStep::Tile { tile: MergedTile { sheet, stripe, place }, chunk, cursor }
    }

    fn close_sheet(&mut self, sheet: SheetMerge) {
        if let Some(input) = self.inputs.get(self.sheet_index) {
            self.level.sheets.extend(sheet.finish(input));
        }
        self.loaded.clear();
        self.sheet_index = self.sheet_index.saturating_add(1);
    }
}

fn to_index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn saturate_u32(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
