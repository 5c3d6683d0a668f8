//! Reads the cells of a rectangle in horizontal bands, so that only the tiles of one band must be
//! in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use cellar_api::wire::CellAt;
use cellar_base::limits::MAX_READ_BAND_TILES;
use cellar_calculation::CellWindow;
use cellar_sheet::a1::Rectangle;
use cellar_sheet::cell::{ErrorCode, Value};
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::SheetId;
use cellar_snapshot::cells::visible_cells;
use cellar_snapshot::level::ChunkHash;
use cellar_snapshot::merge::Window;
use cellar_snapshot::objects::{Fetch, ObjectKind, ObjectRequest};
use cellar_snapshot::packed::{Bounds, unpack};
use cellar_snapshot::tile::Tile;
use cellar_snapshot::view;

use super::ReaderError;
use super::objects::{ChunkReceiver, SnapshotSource};
use super::opened::ReadableState;

/// Number of cells in the first band, including blank cells. Determines the number of rows of the
/// band.
const FIRST_BAND_CELLS: u32 = 32 * 1024;
/// If a band has fewer non-blank cells than this, the number of rows is doubled for the next band.
const SPARSE_BAND_CELLS: usize = 8 * 1024;
/// If a band has at least this many non-blank cells, the number of rows is halved for the next
/// band.
const DENSE_BAND_CELLS: usize = 64 * 1024;

fn clip_to_extent(rectangle: Rectangle, extent: Extent) -> (Range<u32>, Range<u32>) {
    let Rectangle { first, last } = rectangle;
    let rows = first.row..last.row.saturating_add(1).min(extent.rows);
    let columns = first.column..last.column.saturating_add(1).min(extent.columns);
    (rows, columns)
}

/// `columns` must not be empty.
fn first_band_rows(columns: &Range<u32>) -> u32 {
    let column_count = columns.end - columns.start;
    (FIRST_BAND_CELLS / column_count).max(1)
}

/// `band_rows` and `cell_count` are the numbers of rows and non-blank cells in the previous band.
fn next_band_rows(band_rows: u32, cell_count: usize) -> u32 {
    match cell_count {
        ..SPARSE_BAND_CELLS => band_rows.saturating_mul(2),
        DENSE_BAND_CELLS.. => halve_rows(band_rows),
        _ => band_rows,
    }
}

fn halve_rows(row_count: u32) -> u32 {
    (row_count / 2).max(1)
}

/// The bands of a rectangle that are not read yet.
struct Bands {
    remaining: Range<u32>,
    columns: Range<u32>,
    band_rows: u32,
}

impl Bands {
    /// `columns` must not be empty.
    fn new(rows: Range<u32>, columns: Range<u32>) -> Self {
        Self { remaining: rows, band_rows: first_band_rows(&columns), columns }
    }

    fn next(&self) -> Option<Window> {
        let Range { start, end } = self.remaining;
        let band_end = start.saturating_add(self.band_rows).min(end);
        (start < end).then(|| Window { rows: start..band_end, columns: self.columns.clone() })
    }

    /// `cell_count` is the number of non-blank cells in the last band.
    fn adapt_height(&mut self, cell_count: usize) {
        self.band_rows = next_band_rows(self.band_rows, cell_count);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MissingTilesAction {
    Load,
    /// Drop all tiles from memory and determine the missing tiles again, because the band may also
    /// require tiles that were dropped.
    DropLoaded,
    NarrowBand,
}

impl MissingTilesAction {
    fn for_band(loaded_tiles: usize, missing_tiles: usize, band_rows: usize) -> Self {
        if missing_tiles == 0 || loaded_tiles + missing_tiles <= MAX_READ_BAND_TILES {
            Self::Load
        } else if loaded_tiles > 0 {
            Self::DropLoaded
        } else if band_rows > 1 {
            Self::NarrowBand
        } else {
            Self::Load
        }
    }
}

enum BandMerge {
    Merged(Tile),
    /// The band has several rows and requires more tiles than are allowed in memory.
    TooManyTiles,
}

/// Texts that are missing or corrupt are not included.
#[derive(Debug, Default)]
pub(super) struct LongTexts {
    by_hash: BTreeMap<ChunkHash, String>,
}

impl LongTexts {
    pub(super) fn take(&mut self, hash: &ChunkHash) -> Option<String> {
        self.by_hash.remove(hash)
    }

    fn value_of(&self, hash: ChunkHash) -> Value {
        match self.by_hash.get(&hash) {
            Some(text) => Value::Text(text.clone()),
            None => Value::Error(ErrorCode::Lost),
        }
    }
}

impl ChunkReceiver for LongTexts {
    type Request = ChunkHash;

    fn hash_of(request: &ChunkHash) -> ChunkHash {
        *request
    }

    fn accept(&mut self, hash: &ChunkHash, stored: &[u8]) -> Result<(), String> {
        let bytes = unpack(*hash, stored, Bounds::TEXT).map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes).map_err(|error| error.to_string())?;
        self.by_hash.insert(*hash, text);
        Ok(())
    }

    fn handle_unavailable(&mut self, _: &ChunkHash, _: ReaderError) -> Result<(), ReaderError> {
        Ok(())
    }
}

impl ReadableState {
    /// In row-major order, including long texts.
    pub(super) async fn nonblank_cells(
        &mut self,
        source: &SnapshotSource,
        sheet: SheetId,
        rectangle: Rectangle,
    ) -> Result<Vec<CellAt>, ReaderError> {
        let Some(extent) = self.used_range(source, sheet).await? else { return Ok(Vec::new()) };
        let (rows, columns) = clip_to_extent(rectangle, extent);
        if columns.is_empty() {
            return Ok(Vec::new());
        }
        let mut bands = Bands::new(rows, columns);
        let mut cells = Vec::new();
        while let Some((window, merged)) = self.next_band(source, sheet, &mut bands).await? {
            let band = CellWindow { sheet, window };
            let band_cells = self.displayed_cells(source, &band, &merged).await?;
            bands.adapt_height(band_cells.len());
            cells.extend(band_cells);
        }
        Ok(cells)
    }

    /// Returns the cells of the next band as they are stored, or `None` after the last band.
    async fn next_band(
        &mut self,
        source: &SnapshotSource,
        sheet: SheetId,
        bands: &mut Bands,
    ) -> Result<Option<(Window, Tile)>, ReaderError> {
        while let Some(band) = bands.next() {
            match self.merge_band(source, sheet, &band).await? {
                BandMerge::Merged(merged_band) => {
                    bands.remaining.start = band.rows.end;
                    return Ok(Some((band, merged_band)));
                }
                BandMerge::TooManyTiles => {
                    bands.band_rows = halve_rows(band.rows.end - band.rows.start);
                }
            }
        }
        Ok(None)
    }

    async fn merge_band(
        &mut self,
        source: &SnapshotSource,
        sheet: SheetId,
        band: &Window,
    ) -> Result<BandMerge, ReaderError> {
        loop {
            let (root, tabs) = (self.root.as_ref(), &self.metadata.tabs);
            let fetch = view::read_window(root, &self.tail, tabs, sheet, band, &self.objects)
                .map_err(|error| ReaderError::inconsistent(source.log(), &error))?;
            let missing_objects = match fetch {
                Fetch::Ready(tile) => return Ok(BandMerge::Merged(tile)),
                Fetch::Missing(missing_objects) => missing_objects,
            };
            let is_tile = |object: &&ObjectRequest| object.kind == ObjectKind::Tile;
            let missing_tiles = missing_objects.iter().filter(is_tile).count();
            let loaded_tiles = self.objects.tile_count();
            match MissingTilesAction::for_band(loaded_tiles, missing_tiles, band.rows.len()) {
                MissingTilesAction::Load => {
                    source.load_chunks(&missing_objects, &mut self.objects).await?;
                }
                MissingTilesAction::DropLoaded => self.objects.drop_tiles(),
                MissingTilesAction::NarrowBand => return Ok(BandMerge::TooManyTiles),
            }
        }
    }

    async fn displayed_cells(
        &mut self,
        source: &SnapshotSource,
        band: &CellWindow,
        merged: &Tile,
    ) -> Result<Vec<CellAt>, ReaderError> {
        let metadata = self.metadata.sheets.get(&band.sheet);
        let Some(metadata) = metadata else { return Ok(Vec::new()) };
        let mut tile_cells = visible_cells(merged, &metadata.formats);
        self.calculate(source, band, &mut tile_cells).await?;
        let hashes = tile_cells.iter().filter_map(|cell| cell.long_text.map(ChunkHash)).collect();
        let long_texts = self.load_texts(source, &hashes).await?;
        let mut displayed_cells = Vec::with_capacity(tile_cells.len());
        for mut tile_cell in tile_cells {
            if let Some(text_hash) = tile_cell.long_text {
                tile_cell.cell.value = long_texts.value_of(ChunkHash(text_hash));
            }
            displayed_cells.push(tile_cell.into());
        }
        Ok(displayed_cells)
    }

    /// The texts are taken from the log entries after the snapshot root or loaded from chunks.
    /// Texts that are missing or corrupt are omitted.
    pub(super) async fn load_texts(
        &self,
        source: &SnapshotSource,
        hashes: &BTreeSet<ChunkHash>,
    ) -> Result<LongTexts, ReaderError> {
        let mut long_texts = LongTexts::default();
        if hashes.is_empty() {
            return Ok(long_texts);
        }
        let mut missing_hashes = hashes.clone();
        for tail_text in &self.tail.long_texts {
            let hash = ChunkHash(tail_text.hash);
            if missing_hashes.remove(&hash) {
                long_texts.by_hash.insert(hash, tail_text.text.clone());
            }
        }
        source.load_chunks(&Vec::from_iter(missing_hashes), &mut long_texts).await?;
        Ok(long_texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_tiles_in_memory_is_inclusive() {
        let most = MAX_READ_BAND_TILES;
        for (loaded, missing, rows, action) in [
            (0, most, 2, MissingTilesAction::Load),
            (0, most + 1, 2, MissingTilesAction::NarrowBand),
            (0, most + 1, 1, MissingTilesAction::Load),
            (1, most - 1, 2, MissingTilesAction::Load),
            (1, most, 2, MissingTilesAction::DropLoaded),
            (1, most, 1, MissingTilesAction::DropLoaded),
            (most + 9, 0, 2, MissingTilesAction::Load),
        ] {
            assert_eq!(
                MissingTilesAction::for_band(loaded, missing, rows),
                action,
                "{loaded} {missing} {rows}"
            );
        }
    }

    #[test]
    fn clips_to_the_used_range() {
        let everything = clip_to_extent(Rectangle::EVERYTHING, Extent { rows: 3, columns: 2 });
        assert_eq!(everything, (0..3, 0..2));
        let inside: cellar_sheet::a1::Range = "B2:C3".parse().unwrap();
        assert_eq!(clip_to_extent(inside.rectangle, Extent { rows: 9, columns: 2 }), (1..3, 1..2));
        let (rows, columns) = clip_to_extent(inside.rectangle, Extent { rows: 1, columns: 1 });
        assert!(rows.is_empty() && columns.is_empty());
    }
}
