//! The merge of several levels into one, step by step: it asks for the tiles it needs and gives the
//! tiles it made, and can be taken up again behind any of them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::input::{InputCells, SheetInput};
use super::pending::RowTooLarge;
use super::stripe::{Levels, LoadedTiles, StripeRun, StripeStep};
use super::stripes::ColumnWeights;
use super::{Source, composed, sources};
use crate::level::{ChunkHash, ChunkRef, Level, LevelSheet, StoredTile, Stripe, TilePlace};
use crate::packed::PackedObject;
use crate::tile::Tile;
use cellar_sheet::operation::{Span, Spans};

/// Makes a chunk of a tile; `None` if it is too large for one.
pub type TileEncoder<'a> = &'a dyn Fn(&Tile) -> Option<PackedObject>;

/// A merge under way.
#[derive(Debug, Clone)]
pub struct Merge {
    inputs: Vec<SheetInput>,
    /// The sheet that is being merged.
    number: usize,
    run: Option<SheetRun>,
    loaded: LoadedTiles,
    level: Level,
}

/// Where a merge stands: all above is in tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MergeCursor {
    /// The number of the sheet among those that are merged.
    pub sheet: u32,
    /// The number of its stripe.
    pub stripe: u32,
    /// The row, in the space of the newest level.
    pub row: u32,
    /// Bytes of 1,024 cells, as seen.
    pub density: u32,
}

/// A tile of the output, and where it belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedTile {
    /// The number of the sheet among those that are merged.
    pub sheet: u32,
    /// The number of its stripe.
    pub stripe: u32,
    /// The tile.
    pub place: TilePlace,
}

/// What a merge needs or gives.
#[derive(Debug, Clone)]
pub enum MergeStep {
    /// These tiles, before it can go on: see [`Merge::provide`].
    Load(Vec<ChunkRef>),
    /// The next tile of the new level. Its chunk is to be stored before anything refers to it; none
    /// if the tile is that of an input.
    Tile {
        /// The tile.
        tile: MergedTile,
        /// What to store.
        chunk: Option<PackedObject>,
        /// Where the merge stands behind it.
        cursor: MergeCursor,
    },
    /// All is merged.
    Done(Level),
}

#[derive(Debug, Clone)]
struct SheetRun {
    sources: Vec<Source>,
    stripes: Vec<Span>,
    number: usize,
    stripe: Option<StripeRun>,
    tiles: Vec<Stripe>,
}

impl Merge {
    /// A merge from the beginning.
    #[must_use]
    pub fn new(inputs: Vec<SheetInput>) -> Self {
        let (run, loaded) = (None, LoadedTiles::new());
        Self { inputs, number: 0, run, loaded, level: Level::default() }
    }

    /// The same merge taken up again: the tiles that it had given, and where it stood.
    #[must_use]
    pub fn resumed(inputs: Vec<SheetInput>, done: Vec<MergedTile>, cursor: MergeCursor) -> Self {
        let mut merge = Self::new(inputs);
        let at = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let mut done = done.into_iter().peekable();
        while merge.number < merge.inputs.len() && merge.number <= at(cursor.sheet) {
            let Some(input) = merge.inputs.get(merge.number) else { break };
            let mut run = SheetRun::open(input);
            let here = |tile: &MergedTile| at(tile.sheet) == merge.number;
            while let Some(tile) = done.next_if(here) {
                if let Some(stripe) = run.tiles.get_mut(at(tile.stripe)) {
                    stripe.tiles.push(tile.place);
                }
            }
            if merge.number == at(cursor.sheet) {
                run.number = at(cursor.stripe);
                let density = Some(u64::from(cursor.density)).filter(|density| *density > 0);
                run.open_stripe(input, cursor.row, density);
                merge.run = Some(run);
                break;
            }
            merge.close(run);
        }
        merge
    }

    /// A tile that was asked for.
    pub fn provide(&mut self, hash: ChunkHash, tile: Arc<Tile>) {
        self.loaded.insert(hash, tile);
    }

    /// The next step.
    ///
    /// # Errors
    /// [`RowTooLarge`] if a row fits no chunk, which none does that was made by operations.
    pub fn step(&mut self, encode: TileEncoder<'_>) -> Result<MergeStep, RowTooLarge> {
        loop {
            let Some(input) = self.inputs.get(self.number) else {
                return Ok(MergeStep::Done(std::mem::take(&mut self.level)));
            };
            let run = self.run.get_or_insert_with(|| SheetRun::open(input));
            if run.stripe.is_none() {
                run.open_stripe(input, 0, None);
            }
            let Some(stripe) = run.stripe.as_mut() else {
                if let Some(run) = self.run.take() {
                    self.close(run);
                }
                continue;
            };
            match stripe.step(&run.sources, &self.loaded, encode)? {
                StripeStep::Load(chunks) => return Ok(MergeStep::Load(chunks)),
                StripeStep::Tile(place, chunk) => {
                    self.loaded.retain(|hash, _| stripe.needs(hash));
                    return Ok(self.tile(place, chunk));
                }
                StripeStep::Done => {
                    run.stripe = None;
                    run.number = run.number.saturating_add(1);
                }
            }
        }
    }

    fn tile(&mut self, place: TilePlace, chunk: Option<PackedObject>) -> MergeStep {
        let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let (mut stripe, mut density) = (0, 0);
        if let Some(run) = &mut self.run {
            stripe = small(run.number);
            let seen = run.stripe.as_ref().map_or(0, StripeRun::density);
            density = u32::try_from(seen).unwrap_or(u32::MAX);
            if let Some(stripe) = run.tiles.get_mut(run.number) {
                stripe.tiles.push(place.clone());
            }
        }
        let sheet = small(self.number);
        let cursor = MergeCursor { sheet, stripe, row: place.rows.end(), density };
        MergeStep::Tile { tile: MergedTile { sheet, stripe, place }, chunk, cursor }
    }

    fn close(&mut self, run: SheetRun) {
        if let Some(input) = self.inputs.get(self.number) {
            self.level.sheets.extend(closed(input, run));
        }
        self.loaded.clear();
        self.number = self.number.saturating_add(1);
    }
}

/// The merged sheet; none if nothing is left of it.
fn closed(input: &SheetInput, run: SheetRun) -> Option<LevelSheet> {
    let sheet = LevelSheet {
        sheet: input.sheet,
        moves: composed(&input.moves()).above(input.below),
        stripes: run.tiles.into_iter().filter(|stripe| !stripe.tiles.is_empty()).collect(),
    };
    (!sheet.is_nothing()).then_some(sheet)
}

impl SheetRun {
    fn open(input: &SheetInput) -> Self {
        let sources = sources(&input.moves());
        let stripes = stripes(input, &sources);
        let tiles = stripes.iter().map(|span| Stripe { columns: *span, tiles: Vec::new() });
        let tiles = tiles.collect();
        Self { sources, stripes, number: 0, stripe: None, tiles }
    }

    fn open_stripe(&mut self, input: &SheetInput, row: u32, density: Option<u64>) {
        let (inputs, sources) = (input.levels.as_slice(), self.sources.as_slice());
        let levels = Levels { inputs, sources, below: input.below };
        let columns = self.stripes.get(self.number);
        self.stripe = columns.map(|columns| StripeRun::open(*columns, row, density, &levels));
    }
}

/// Into which stripes the merged sheet is divided: by what its inputs weigh.
fn stripes(input: &SheetInput, sources: &[Source]) -> Vec<Span> {
    const CELL_BYTES: u64 = 8;
    let mut weights = ColumnWeights::default();
    let written = Spans::one(0, input.columns);
    for (level, source) in input.levels.iter().zip(sources) {
        match &level.cells {
            InputCells::Memory(tile) => {
                for column in &tile.columns {
                    let texts =
                        column.values.texts().len().saturating_add(column.formulas.texts().len());
                    let cells = u64::try_from(column.cells()).unwrap_or(u64::MAX);
                    let texts = u64::try_from(texts).unwrap_or(u64::MAX);
                    let bytes = cells.saturating_mul(CELL_BYTES).saturating_add(texts);
                    if let Some(at) = source.columns.get(column.column) {
                        weights.add(Span { first: at, count: 1 }, bytes);
                    }
                }
            }
            InputCells::Chunks(stripes) => {
                for stripe in stripes {
                    let all = Spans::one(stripe.columns.first, stripe.columns.count);
                    let moved = source.columns.covered(&all).intersection(&written);
                    if let Some(span) = moved.iter().next() {
                        weights.add(span, stored_bytes(stripe));
                    }
                }
            }
        }
    }
    weights.stripes(input.stripe_columns)
}

fn stored_bytes(stripe: &Stripe) -> u64 {
    let bytes = stripe.tiles.iter().map(|tile| match &tile.stored {
        StoredTile::Chunk(chunk) => u64::from(chunk.bytes),
        StoredTile::Inline(bytes) => u64::try_from(bytes.len()).unwrap_or(u64::MAX),
    });
    bytes.fold(0, u64::saturating_add)
}
