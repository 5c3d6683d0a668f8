//! Loads rows in horizontal bands, so that only the tiles of one band must be in memory.

use std::ops::Range;

use cellar_base::limits::MAX_READ_BAND_TILES;
use cellar_sheet::operation::SheetId;
use cellar_snapshot::dependents::SearchedState;
use cellar_snapshot::merge::{Window, with_formula_texts};
use cellar_snapshot::objects::{Fetch, ObjectKind, ObjectRequest, Objects};
use cellar_snapshot::tile::Tile;
use cellar_snapshot::view;

use super::ReaderError;
use super::objects::SnapshotSource;

/// Determines the number of rows of bands.
#[derive(Debug, Clone, Copy)]
pub(super) struct BandSize {
    /// Number of cells in the first band, including blank cells.
    first_cells: u32,
    /// If a band has fewer non-blank cells than this, the number of rows is doubled for the next band.
    sparse_cells: usize,
    /// If a band has at least this many non-blank cells, the number of rows is halved for the next
    /// band.
    dense_cells: usize,
}

impl BandSize {
    /// A band whose cells are in memory.
    pub(super) const IN_MEMORY: Self =
        Self { first_cells: 32 * 1024, sparse_cells: 8 * 1024, dense_cells: 64 * 1024 };
    /// Several bands that a task reads one after the other. Neighbouring tasks both load the tiles at
    /// their border, so a task reads several tiles.
    pub(super) const OF_TASK: Self =
        Self { first_cells: 256 * 1024, sparse_cells: 64 * 1024, dense_cells: 512 * 1024 };
    /// Rows whose cells of two states are in memory.
    pub(super) const OF_TWO_STATES: Self =
        Self { first_cells: 32 * 1024, sparse_cells: 32 * 1024, dense_cells: 128 * 1024 };
}

/// Number of rows of the next band, which depends on how many cells the last one had.
pub(super) struct BandHeight {
    size: BandSize,
    rows: u32,
}

impl BandHeight {
    pub(super) fn new(size: BandSize, columns: u32) -> Self {
        Self { size, rows: (size.first_cells / columns.max(1)).max(1) }
    }

    pub(super) fn rows(&self) -> u32 {
        self.rows
    }

    /// `cell_count` is the number of non-blank cells in the last band.
    pub(super) fn adapt(&mut self, cell_count: usize) {
        if cell_count < self.size.sparse_cells {
            self.rows = self.rows.saturating_mul(2);
        } else if cell_count >= self.size.dense_cells {
            self.halve();
        }
    }

    pub(super) fn halve(&mut self) {
        self.rows = (self.rows / 2).max(1);
    }
}

/// The bands of a rectangle that are not read yet.
pub(super) struct Bands {
    height: BandHeight,
    remaining: Range<u32>,
    columns: Range<u32>,
}

impl Bands {
    /// `columns` must not be empty.
    pub(super) fn new(size: BandSize, rows: Range<u32>, columns: Range<u32>) -> Self {
        let height = BandHeight::new(size, columns.end - columns.start);
        Self { height, remaining: rows, columns }
    }

    /// Returns the next band without removing it, or `None` after the last band.
    fn peek(&self) -> Option<Window> {
        let Range { start, end } = self.remaining;
        let band_end = start.saturating_add(self.height.rows()).min(end);
        (start < end).then(|| Window { rows: start..band_end, columns: self.columns.clone() })
    }

    /// Removes and returns the next band, or returns `None` after the last band.
    pub(super) fn take_next(&mut self) -> Option<Window> {
        let band = self.peek()?;
        self.remaining.start = band.rows.end;
        Some(band)
    }

    /// `cell_count` is the number of non-blank cells in the last band.
    pub(super) fn adapt_height(&mut self, cell_count: usize) {
        self.height.adapt(cell_count);
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

/// Returns the cells of the next band with the texts of their formulas, or `None` after the last band.
pub(super) async fn load_next_band(
    source: &SnapshotSource,
    state: SearchedState<'_>,
    sheet: SheetId,
    bands: &mut Bands,
    objects: &mut Objects,
) -> Result<Option<(Window, Tile)>, ReaderError> {
    let band = load_next_stored_band(source, state, sheet, bands, objects).await?;
    Ok(band.map(|(window, tile)| (window, with_formula_texts(tile, &state.metadata.tabs))))
}

/// Returns the cells of the next band as they are stored, with the templates of their formulas, or
/// `None` after the last band.
pub(super) async fn load_next_stored_band(
    source: &SnapshotSource,
    state: SearchedState<'_>,
    sheet: SheetId,
    bands: &mut Bands,
    objects: &mut Objects,
) -> Result<Option<(Window, Tile)>, ReaderError> {
    while let Some(band) = bands.peek() {
        match merge_band(source, state, sheet, &band, objects).await? {
            BandMerge::Merged(merged_band) => {
                bands.remaining.start = band.rows.end;
                return Ok(Some((band, merged_band)));
            }
            BandMerge::TooManyTiles => {
                bands.height.rows = band.rows.end - band.rows.start;
                bands.height.halve();
            }
        }
    }
    Ok(None)
}

async fn merge_band(
    source: &SnapshotSource,
    SearchedState { root, tail, metadata }: SearchedState<'_>,
    sheet: SheetId,
    band: &Window,
    objects: &mut Objects,
) -> Result<BandMerge, ReaderError> {
    let tabs = &metadata.tabs;
    loop {
        let fetch = view::read_window_with_templates(root, tail, tabs, sheet, band, objects)
            .map_err(|error| ReaderError::inconsistent(source.log(), &error))?;
        let missing_objects = match fetch {
            Fetch::Ready(tile) => return Ok(BandMerge::Merged(tile)),
            Fetch::Missing(missing_objects) => missing_objects,
        };
        let is_tile = |object: &&ObjectRequest| object.kind == ObjectKind::Tile;
        let missing_tiles = missing_objects.iter().filter(is_tile).count();
        let loaded_tiles = objects.tile_count();
        match MissingTilesAction::for_band(loaded_tiles, missing_tiles, band.rows.len()) {
            MissingTilesAction::Load => source.load_chunks(&missing_objects, objects).await?,
            MissingTilesAction::DropLoaded => objects.drop_tiles(),
            MissingTilesAction::NarrowBand => return Ok(BandMerge::TooManyTiles),
        }
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
    fn heights_adapt_at_their_limits() {
        let size = BandSize::OF_TWO_STATES;
        let (sparse, dense) = (size.sparse_cells, size.dense_cells);
        let mut height = BandHeight::new(size, 64);
        assert_eq!(height.rows(), 512);
        for (cells, rows) in
            [(sparse - 1, 1_024), (sparse, 1_024), (dense - 1, 1_024), (dense, 512)]
        {
            height.adapt(cells);
            assert_eq!(height.rows(), rows, "after {cells} cells");
        }
        let mut wide = BandHeight::new(size, u32::MAX);
        wide.halve();
        assert_eq!((wide.rows(), BandHeight::new(size, 0).rows()), (1, size.first_cells));
    }

    #[test]
    fn bands_adapt_to_the_density_of_cells() {
        let size = BandSize { first_cells: 40, sparse_cells: 5, dense_cells: 30 };
        let mut bands = Bands::new(size, 3..60, 2..6);
        for (rows, cell_count) in [(3..13, 4), (13..33, 5), (33..53, 29), (53..60, 30), (60..60, 0)]
        {
            let taken = bands.take_next().map_or(60..60, |band| band.rows);
            assert_eq!(taken, rows);
            bands.adapt_height(cell_count);
        }
        let mut wide = Bands::new(size, 0..2, 0..1_000);
        assert_eq!(wide.take_next().unwrap().rows, 0..1);
        wide.adapt_height(size.dense_cells);
        assert_eq!(wide.take_next().unwrap().rows, 1..2);
        assert_eq!(wide.take_next(), None);
    }
}
