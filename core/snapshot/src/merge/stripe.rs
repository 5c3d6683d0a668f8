//! Merging one stripe, from top to bottom, with no more in memory than the tiles of a few rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::input::{InputCells, LevelInput};
use super::pending::{Pending, RowTooLarge};
use super::{Below, Part, Place, Source, TileEncoder, Window, merge_window};
use crate::level::{ChunkHash, ChunkRef, Region, StoredTile, Stripe, TilePlace};
use crate::packed::PackedObject;
use crate::tile::Tile;
use cellar_base::limits::TARGET_CHUNK_BYTES;
use cellar_sheet::axis_map::AxisMap;
use cellar_sheet::operation::{Span, Spans};

/// Tiles that are asked for at once, beyond those without which nothing goes on.
const AHEAD: usize = 4;

/// Tiles that were loaded.
pub(super) type LoadedTiles = BTreeMap<ChunkHash, Arc<Tile>>;

/// A tile of an input, as seen from the output.
#[derive(Debug, Clone)]
struct TileInput {
    level: usize,
    /// Its top left in the space of its level.
    first_row: u32,
    first_column: u32,
    place: Place,
    /// Where its rows stand in the output.
    rows: Span,
    cells: u32,
    chunk: ChunkRef,
    /// Whether it could be part of the output as it is, if nothing else has cells there.
    reusable: bool,
}

/// A stripe that is being merged.
#[derive(Debug, Clone)]
pub(super) struct StripeRun {
    columns: Span,
    below: Below,
    /// All rows above are in a tile, or in `pending`.
    row: u32,
    /// By their rows in the output.
    tiles: Vec<TileInput>,
    /// Levels whose cells are in memory, and the rows of the output in which they have some.
    memory: Vec<(usize, Arc<Tile>)>,
    memory_rows: Vec<u32>,
    pending: Pending,
}

/// What comes next in a stripe.
pub(super) enum StripeStep {
    /// These tiles are needed.
    Load(Vec<ChunkRef>),
    /// The next tile of the output, with its chunk unless that is stored already.
    Tile(TilePlace, Option<PackedObject>),
    /// Nothing.
    Done,
}

/// The levels of a sheet and where they stand.
pub(super) struct Levels<'a> {
    pub(super) inputs: &'a [LevelInput],
    pub(super) sources: &'a [Source],
    pub(super) below: Below,
}

impl StripeRun {
    /// A stripe whose rows above `row` are done.
    pub(super) fn open(columns: Span, row: u32, density: Option<u64>, levels: &Levels<'_>) -> Self {
        let pending = Pending::new(columns, None);
        let (tiles, memory, memory_rows) = (Vec::new(), Vec::new(), Vec::new());
        let below = levels.below;
        let mut run = Self { columns, below, row, tiles, memory, memory_rows, pending };
        for (level, (input, source)) in levels.inputs.iter().zip(levels.sources).enumerate() {
            match &input.cells {
                InputCells::Memory(tile) => run.add_memory(level, tile, source),
                InputCells::Chunks(stripes) => {
                    stripes.iter().for_each(|stripe| run.add_stripe(level, stripe, source));
                }
            }
        }
        run.tiles.sort_by_key(|tile| (tile.rows.first, tile.level));
        run.pending = Pending::new(columns, density.or_else(|| run.density_of_inputs()));
        run.memory_rows.sort_unstable();
        run.memory_rows.dedup();
        run
    }

    /// Bytes of 1,024 cells of the tiles that are merged: what new ones will take, about.
    fn density_of_inputs(&self) -> Option<u64> {
        let (bytes, cells) = self.tiles.iter().fold((0_u64, 0_u64), |(bytes, cells), tile| {
            let bytes = bytes.saturating_add(u64::from(tile.chunk.bytes));
            (bytes, cells.saturating_add(u64::from(tile.cells)))
        });
        bytes.saturating_mul(1_024).checked_div(cells)
    }

    fn add_memory(&mut self, level: usize, tile: &Arc<Tile>, source: &Source) {
        let part = Part { tile, first_row: 0, first_column: 0, place: Place::SHEET, source };
        let rows = self.row..u32::MAX;
        let window = Window { rows, columns: self.columns.first..self.columns.end() };
        let before = self.memory_rows.len();
        self.memory_rows.extend(part.rows(&window));
        if self.memory_rows.len() > before {
            self.memory.push((level, Arc::clone(tile)));
        }
    }

    fn add_stripe(&mut self, level: usize, stripe: &Stripe, source: &Source) {
        let covered = moved(&source.columns, stripe.columns);
        let own = Spans::one(self.columns.first, self.columns.count);
        if covered
            .is_none_or(|span| own.intersection(&Spans::one(span.first, span.count)).is_empty())
        {
            return;
        }
        for tile in &stripe.tiles {
            let (Some(rows), StoredTile::Chunk(chunk)) =
                (moved(&source.rows, tile.rows), &tile.stored)
            else {
                continue;
            };
            if rows.end() > self.row {
                let whole = whole(&source.rows, tile.rows) == Some(rows.first)
                    && whole(&source.columns, stripe.columns) == Some(self.columns.first)
                    && stripe.columns.count == self.columns.count;
                let shown = !hides(&source.hidden_values, rows, self.columns)
                    && !hides(&source.hidden_formats, rows, self.columns);
                let large = usize::try_from(chunk.bytes).is_ok_and(|b| b >= TARGET_CHUNK_BYTES / 2);
                // Only the oldest level has no blanks that hide nothing.
                let clean = !self.below.is_nothing() || level == 0;
                self.tiles.push(TileInput {
                    level,
                    first_row: tile.rows.first,
                    first_column: stripe.columns.first,
                    place: Place { rows: tile.rows.count, columns: stripe.columns.count },
                    rows,
                    cells: tile.cells,
                    chunk: *chunk,
                    reusable: whole && shown && large && clean && rows.first >= self.row,
                });
            }
        }
    }

    pub(super) fn density(&self) -> u64 {
        self.pending.density()
    }

    /// Whether a loaded tile is needed below.
    pub(super) fn needs(&self, hash: &ChunkHash) -> bool {
        self.tiles.iter().any(|tile| tile.chunk.hash == *hash && tile.rows.end() > self.row)
    }

    pub(super) fn step(
        &mut self,
        sources: &[Source],
        loaded: &LoadedTiles,
        encode: TileEncoder<'_>,
    ) -> Result<StripeStep, RowTooLarge> {
        loop {
            if self.pending.is_full() {
                return self.cut(encode);
            }
            let Some(start) = self.next_start() else { return self.cut(encode) };
            self.row = start;
            if let Some(tile) = self.reusable_here() {
                if self.pending.is_empty() {
                    self.row = tile.rows.end();
                    let (rows, cells) = (tile.rows, tile.cells);
                    let stored = StoredTile::Chunk(tile.chunk);
                    return Ok(StripeStep::Tile(TilePlace { rows, cells, stored }, None));
                }
                if self.pending.expected_bytes() >= HALF_A_CHUNK {
                    return self.cut(encode);
                }
            }
            let end = self.band_end();
            let missing = self.missing(end, loaded);
            if !missing.is_empty() {
                return Ok(StripeStep::Load(missing));
            }
            self.merge_band(end, sources, loaded);
        }
    }

    fn cut(&mut self, encode: TileEncoder<'_>) -> Result<StripeStep, RowTooLarge> {
        let cut = self.pending.cut(encode)?;
        Ok(cut.map_or(StripeStep::Done, |cut| StripeStep::Tile(cut.place, Some(cut.object))))
    }

    fn open_tiles(&self) -> impl Iterator<Item = &TileInput> {
        self.tiles.iter().filter(|tile| tile.rows.end() > self.row)
    }

    /// The next row that any input may have.
    fn next_start(&self) -> Option<u32> {
        let tile = self.open_tiles().map(|tile| tile.rows.first.max(self.row)).min();
        let at = self.memory_rows.partition_point(|row| *row < self.row);
        tile.into_iter().chain(self.memory_rows.get(at).copied()).min()
    }

    /// A tile that begins in this row and meets no cell of another.
    fn reusable_here(&self) -> Option<TileInput> {
        let here = |tile: &&TileInput| tile.reusable && tile.rows.first == self.row;
        let tile = self.open_tiles().find(here)?;
        let others = self.open_tiles().filter(|other| other.rows.first < tile.rows.end()).count();
        let at = self.memory_rows.partition_point(|row| *row < self.row);
        let memory = self.memory_rows.get(at).is_some_and(|row| *row < tile.rows.end());
        (others == 1 && !memory).then(|| tile.clone())
    }

    /// The row up to which the same tiles are open.
    fn band_end(&self) -> u32 {
        let change = |tile: &TileInput| match tile.rows.first > self.row {
            true => tile.rows.first,
            false => tile.rows.end(),
        };
        self.open_tiles().map(change).min().unwrap_or(u32::MAX)
    }

    fn missing(&self, end: u32, loaded: &LoadedTiles) -> Vec<ChunkRef> {
        let is_missing = |tile: &&TileInput| !loaded.contains_key(&tile.chunk.hash);
        let (now, later): (Vec<&TileInput>, Vec<&TileInput>) =
            self.open_tiles().partition(|tile| tile.rows.first < end);
        let now: Vec<ChunkRef> =
            now.into_iter().filter(is_missing).map(|tile| tile.chunk).collect();
        if now.is_empty() {
            return now;
        }
        let ahead = later.into_iter().take(AHEAD).filter(|tile| !tile.reusable).filter(is_missing);
        let mut chunks: Vec<ChunkRef> =
            now.into_iter().chain(ahead.map(|tile| tile.chunk)).collect();
        chunks.sort_unstable_by_key(|chunk| chunk.hash);
        chunks.dedup();
        chunks
    }

    fn merge_band(&mut self, end: u32, sources: &[Source], loaded: &LoadedTiles) {
        let memory = self.memory.iter().filter_map(|(level, tile)| {
            let (source, place) = (sources.get(*level)?, Place::SHEET);
            let part = Part { tile, first_row: 0, first_column: 0, place, source };
            Some((*level, part))
        });
        let chunks = self.open_tiles().filter(|tile| tile.rows.first < end).filter_map(|tile| {
            let cells = loaded.get(&tile.chunk.hash)?;
            let source = sources.get(tile.level)?;
            let (first_row, first_column) = (tile.first_row, tile.first_column);
            let place = tile.place;
            Some((tile.level, Part { tile: cells, first_row, first_column, place, source }))
        });
        let mut parts: Vec<(usize, Part<'_>)> = memory.chain(chunks).collect();
        parts.sort_by_key(|(level, _)| *level);
        let parts: Vec<Part<'_>> = parts.into_iter().map(|(_, part)| part).collect();
        let columns = self.columns.first..self.columns.end();
        let window = Window { rows: self.row..end, columns };
        let merged = merge_window(&parts, &window, self.below);
        self.pending.append(merged);
        self.row = end;
    }
}

/// A tile that is smaller is not left behind as it is: fragments would pile up.
const HALF_A_CHUNK: u64 = TARGET_CHUNK_BYTES as u64 / 2;

/// Where what is left of a span stands, with what was inserted between.
fn moved(map: &AxisMap, span: Span) -> Option<Span> {
    let covered = map.covered(&Spans::one(span.first, span.count));
    covered.iter().next()
}

/// Where a span begins that is still whole.
fn whole(map: &AxisMap, span: Span) -> Option<u32> {
    let first = map.get(span.first)?;
    let last = span.count.saturating_sub(1);
    let kept = map.kept(&Spans::one(span.first, span.count));
    (kept == Spans::one(first, last.saturating_add(1))).then_some(first)
}

fn hides(regions: &[Region], rows: Span, columns: Span) -> bool {
    let meets = |spans: &Spans, span: Span| {
        !spans.intersection(&Spans::one(span.first, span.count)).is_empty()
    };
    regions.iter().any(|region| meets(&region.rows, rows) && meets(&region.columns, columns))
}
