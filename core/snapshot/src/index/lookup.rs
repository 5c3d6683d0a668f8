//! Tile lookup in a partially loaded tile index. Performs no I/O.

use std::collections::HashSet;

use super::{IndexChunk, Indexed, IndexedTile, InlineOrChunk, PackedLevel, PackedSheet, RowIndex};
use super::{SheetMoves, Stripes};
use crate::error::SnapshotError;
use crate::level::{ChunkHash, ChunkRef, Level, LevelSheet, Region, Stripe, TilePlace};
use cellar_sheet::axis_map::Axis;
use cellar_sheet::operation::{SheetId, Span, Spans};

/// Function that returns a loaded index chunk by name.
pub type Loaded<'a> = dyn Fn(&ChunkHash) -> Option<&'a IndexChunk> + 'a;

/// A result, or the chunks that must be loaded first.
#[derive(Debug, Clone, PartialEq)]
pub enum Fetched<T> {
    /// Load these chunks in one request, then repeat the lookup. A lookup needs at most three such
    /// requests per level.
    Need(Vec<ChunkRef>),
    /// The result.
    Ready(T),
}

/// Tiles with the columns of their stripes.
pub type Places = Vec<(Span, TilePlace)>;

impl PackedLevel {
    /// Returns the tiles of a sheet that overlap a region, with the columns of their stripes. The
    /// region is in the coordinates of the level. Tiles are ordered by stripe from left to right,
    /// and within a stripe from top to bottom.
    ///
    /// # Errors
    /// [`SnapshotError`] if a loaded chunk does not match the reference to it.
    pub fn tiles(
        &self,
        sheet: SheetId,
        region: &Region,
        loaded: &Loaded<'_>,
    ) -> Result<Fetched<Places>, SnapshotError> {
        let mut search = Search::new(loaded);
        if let Some(packed) = self.sheet(sheet) {
            search.visit_sheet(packed, region)?;
        }
        let places = std::mem::take(&mut search.places);
        Ok(search.finish(places))
    }

    /// Returns how the level moves and hides a sheet's older cells, or `None` if the level does not
    /// change the sheet.
    ///
    /// # Errors
    /// Returns the same errors as [`PackedLevel::tiles`].
    pub fn moves<'a>(
        &'a self,
        sheet: SheetId,
        loaded: &Loaded<'a>,
    ) -> Result<Fetched<Option<&'a SheetMoves>>, SnapshotError> {
        let Some(packed) = self.sheet(sheet) else {
            return Ok(Fetched::Ready(None));
        };
        let mut search = Search::new(loaded);
        let moves = search.load_moves(&packed.moves)?;
        Ok(search.finish(moves))
    }

    /// Returns the whole level with its complete tile index.
    ///
    /// # Errors
    /// Returns the same errors as [`PackedLevel::tiles`].
    pub fn load_all(&self, loaded: &Loaded<'_>) -> Result<Fetched<Level>, SnapshotError> {
        let everything =
            Region { rows: Spans::all(Axis::Rows), columns: Spans::all(Axis::Columns) };
        let (mut search, mut level) = (Search::new(loaded), Level::default());
        for packed in &self.sheets {
            search.visit_sheet(packed, &everything)?;
            let stripes = group_by_stripe(std::mem::take(&mut search.places));
            if let Some(moves) = search.load_moves(&packed.moves)?.cloned() {
                level.sheets.push(LevelSheet { sheet: packed.sheet, moves, stripes });
            }
        }
        Ok(search.finish(level))
    }
}

/// Groups tiles by stripe.
fn group_by_stripe(places: Places) -> Vec<Stripe> {
    let mut stripes: Vec<Stripe> = Vec::new();
    for (columns, tile) in places {
        match stripes.last_mut() {
            Some(last) if last.columns == columns => last.tiles.push(tile),
            _ => stripes.push(Stripe { columns, tiles: vec![tile] }),
        }
    }
    stripes
}

pub(super) const WRONG_INDEX_CHUNK: SnapshotError =
    SnapshotError::Shape("a chunk of a tile index does not match the reference to it");

/// State of an index traversal: the tiles found so far and the missing chunks.
struct Search<'l, 'a> {
    loaded: &'l Loaded<'a>,
    missing: Vec<ChunkRef>,
    missing_hashes: HashSet<ChunkHash>,
    places: Places,
}

impl<'l, 'a> Search<'l, 'a> {
    fn new(loaded: &'l Loaded<'a>) -> Self {
        Self { loaded, missing: Vec::new(), missing_hashes: HashSet::new(), places: Vec::new() }
    }

    fn finish<T>(self, ready: T) -> Fetched<T> {
        if self.missing.is_empty() { Fetched::Ready(ready) } else { Fetched::Need(self.missing) }
    }

    /// Returns a chunk if it is loaded, and otherwise records it as missing.
    fn load_chunk(&mut self, chunk: &ChunkRef) -> Option<&'a IndexChunk> {
        let found = (self.loaded)(&chunk.hash);
        if found.is_none() && self.missing_hashes.insert(chunk.hash) {
            self.missing.push(*chunk);
        }
        found
    }

    fn load_moves<'m>(
        &mut self,
        moves: &'m InlineOrChunk<SheetMoves>,
    ) -> Result<Option<&'m SheetMoves>, SnapshotError>
    where
        'a: 'm,
    {
        let chunk = match moves {
            InlineOrChunk::Inline(moves) => return Ok(Some(moves)),
            InlineOrChunk::Chunk(chunk) => self.load_chunk(chunk),
        };
        match chunk {
            None => Ok(None),
            Some(IndexChunk::Moves(moves)) => Ok(Some(moves)),
            Some(_) => Err(WRONG_INDEX_CHUNK),
        }
    }

    fn visit_sheet(&mut self, sheet: &PackedSheet, region: &Region) -> Result<(), SnapshotError> {
        match &sheet.stripes {
            Stripes::Inline(stripes) => self.visit_stripes(stripes, region),
            Stripes::Parts(parts) => self.visit_parts(parts, region),
            Stripes::Chunk(chunk) => match self.load_chunk(chunk) {
                None => Ok(()),
                Some(IndexChunk::Parts(parts)) => self.visit_parts(parts, region),
                Some(_) => Err(WRONG_INDEX_CHUNK),
            },
        }
    }

    fn visit_parts(
        &mut self,
        parts: &Indexed<ChunkRef>,
        region: &Region,
    ) -> Result<(), SnapshotError> {
        for (columns, chunk) in parts.overlapping(&region.columns) {
            match self.load_chunk(chunk) {
                None => {}
                Some(IndexChunk::Stripes(stripes)) if stripes.index().extent() == Some(columns) => {
                    self.visit_stripes(stripes, region)?;
                }
                Some(_) => return Err(WRONG_INDEX_CHUNK),
            }
        }
        Ok(())
    }

    fn visit_stripes(
        &mut self,
        stripes: &Indexed<RowIndex>,
        region: &Region,
    ) -> Result<(), SnapshotError> {
        for (columns, rows) in stripes.overlapping(&region.columns) {
            match rows {
                RowIndex::Tiles(tiles) => self.push_tiles(columns, tiles, region),
                RowIndex::Parts(parts) => self.visit_row_parts(columns, parts, region)?,
            }
        }
        Ok(())
    }

    fn visit_row_parts(
        &mut self,
        columns: Span,
        parts: &Indexed<ChunkRef>,
        region: &Region,
    ) -> Result<(), SnapshotError> {
        for (rows, chunk) in parts.overlapping(&region.rows) {
            match self.load_chunk(chunk) {
                None => {}
                Some(IndexChunk::Tiles(tiles)) if tiles.index().extent() == Some(rows) => {
                    self.push_tiles(columns, tiles, region);
                }
                Some(_) => return Err(WRONG_INDEX_CHUNK),
            }
        }
        Ok(())
    }

    fn push_tiles(&mut self, columns: Span, tiles: &Indexed<IndexedTile>, region: &Region) {
        let found = tiles.overlapping(&region.rows).map(|(rows, tile)| {
            let IndexedTile { cells, stored } = tile.clone();
            (columns, TilePlace { rows, cells, stored })
        });
        self.places.extend(found);
    }
}
