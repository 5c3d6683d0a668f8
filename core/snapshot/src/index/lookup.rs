//! Finds tiles of a level, as far as the chunks of its index are loaded: no I/O here.

use std::collections::HashSet;

use super::{IndexChunk, Indexed, IndexedTile, Kept, PackedLevel, PackedSheet, RowIndex};
use super::{SheetMoves, Stripes};
use crate::error::SnapshotError;
use crate::level::{ChunkHash, ChunkRef, Level, LevelSheet, Region, Stripe, TilePlace};
use cellar_sheet::axis_map::Axis;
use cellar_sheet::operation::{SheetId, Span, Spans};

/// The chunks of the index that were loaded so far, by name.
pub type Loaded<'a> = dyn Fn(&ChunkHash) -> Option<&'a IndexChunk> + 'a;

/// What was asked for, or what is missing for it.
#[derive(Debug, Clone, PartialEq)]
pub enum Fetched<T> {
    /// Chunks to load, all at once, before asking again: at most three times for a level.
    Need(Vec<ChunkRef>),
    /// The answer.
    Ready(T),
}

/// Tiles with the columns of their stripes.
pub type Places = Vec<(Span, TilePlace)>;

impl PackedLevel {
    /// The tiles of a sheet that meet a region of the level's space, with the columns of their
    /// stripes: from left to right, in each stripe from top to bottom.
    ///
    /// # Errors
    /// [`SnapshotError`] if a loaded chunk is another than what refers to it says.
    pub fn tiles(
        &self,
        sheet: SheetId,
        region: &Region,
        loaded: &Loaded<'_>,
    ) -> Result<Fetched<Places>, SnapshotError> {
        let mut search = Search::new(loaded);
        if let Some(packed) = self.sheet(sheet) {
            search.sheet(packed, region)?;
        }
        let places = std::mem::take(&mut search.places);
        Ok(search.fetched(places))
    }

    /// What the level does to the older cells of a sheet; `None` if it does not change the sheet.
    ///
    /// # Errors
    /// As [`PackedLevel::tiles`].
    pub fn moves<'a>(
        &'a self,
        sheet: SheetId,
        loaded: &Loaded<'a>,
    ) -> Result<Fetched<Option<&'a SheetMoves>>, SnapshotError> {
        let Some(packed) = self.sheet(sheet) else {
            return Ok(Fetched::Ready(None));
        };
        let mut search = Search::new(loaded);
        let moves = search.moves(&packed.moves)?;
        Ok(search.fetched(moves))
    }

    /// The whole level, with all its index in memory.
    ///
    /// # Errors
    /// As [`PackedLevel::tiles`].
    pub fn load_all(&self, loaded: &Loaded<'_>) -> Result<Fetched<Level>, SnapshotError> {
        let everything =
            Region { rows: Spans::all(Axis::Rows), columns: Spans::all(Axis::Columns) };
        let (mut search, mut level) = (Search::new(loaded), Level::default());
        for packed in &self.sheets {
            search.sheet(packed, &everything)?;
            let stripes = stripes_of(std::mem::take(&mut search.places));
            if let Some(moves) = search.moves(&packed.moves)?.cloned() {
                level.sheets.push(LevelSheet { sheet: packed.sheet, moves, stripes });
            }
        }
        Ok(search.fetched(level))
    }
}

/// Stripes from their tiles.
fn stripes_of(places: Places) -> Vec<Stripe> {
    let mut stripes: Vec<Stripe> = Vec::new();
    for (columns, tile) in places {
        match stripes.last_mut() {
            Some(last) if last.columns == columns => last.tiles.push(tile),
            _ => stripes.push(Stripe { columns, tiles: vec![tile] }),
        }
    }
    stripes
}

pub(super) const NOT_ITS_PART: SnapshotError =
    SnapshotError::Shape("a chunk of an index is another than what refers to it says");

/// A walk down the index: what it found, and what it could not see.
struct Search<'l, 'a> {
    loaded: &'l Loaded<'a>,
    need: Vec<ChunkRef>,
    asked: HashSet<ChunkHash>,
    places: Places,
}

impl<'l, 'a> Search<'l, 'a> {
    fn new(loaded: &'l Loaded<'a>) -> Self {
        Self { loaded, need: Vec::new(), asked: HashSet::new(), places: Vec::new() }
    }

    fn fetched<T>(self, ready: T) -> Fetched<T> {
        if self.need.is_empty() { Fetched::Ready(ready) } else { Fetched::Need(self.need) }
    }

    /// A chunk, if it is there; otherwise it is needed.
    fn chunk(&mut self, chunk: &ChunkRef) -> Option<&'a IndexChunk> {
        let found = (self.loaded)(&chunk.hash);
        if found.is_none() && self.asked.insert(chunk.hash) {
            self.need.push(*chunk);
        }
        found
    }

    fn moves<'m>(
        &mut self,
        moves: &'m Kept<SheetMoves>,
    ) -> Result<Option<&'m SheetMoves>, SnapshotError>
    where
        'a: 'm,
    {
        let chunk = match moves {
            Kept::Inline(moves) => return Ok(Some(moves)),
            Kept::Chunk(chunk) => self.chunk(chunk),
        };
        match chunk {
            None => Ok(None),
            Some(IndexChunk::Moves(moves)) => Ok(Some(moves)),
            Some(_) => Err(NOT_ITS_PART),
        }
    }

    fn sheet(&mut self, sheet: &PackedSheet, region: &Region) -> Result<(), SnapshotError> {
        match &sheet.stripes {
            Stripes::Inline(stripes) => self.stripes(stripes, region),
            Stripes::Parts(parts) => self.parts(parts, region),
            Stripes::Chunk(chunk) => match self.chunk(chunk) {
                None => Ok(()),
                Some(IndexChunk::Parts(parts)) => self.parts(parts, region),
                Some(_) => Err(NOT_ITS_PART),
            },
        }
    }

    fn parts(&mut self, parts: &Indexed<ChunkRef>, region: &Region) -> Result<(), SnapshotError> {
        for (columns, chunk) in parts.meeting(&region.columns) {
            match self.chunk(chunk) {
                None => {}
                Some(IndexChunk::Stripes(stripes)) if stripes.index().extent() == Some(columns) => {
                    self.stripes(stripes, region)?;
                }
                Some(_) => return Err(NOT_ITS_PART),
            }
        }
        Ok(())
    }

    fn stripes(
        &mut self,
        stripes: &Indexed<RowIndex>,
        region: &Region,
    ) -> Result<(), SnapshotError> {
        for (columns, rows) in stripes.meeting(&region.columns) {
            match rows {
                RowIndex::Tiles(tiles) => self.tiles(columns, tiles, region),
                RowIndex::Parts(parts) => self.row_parts(columns, parts, region)?,
            }
        }
        Ok(())
    }

    fn row_parts(
        &mut self,
        columns: Span,
        parts: &Indexed<ChunkRef>,
        region: &Region,
    ) -> Result<(), SnapshotError> {
        for (rows, chunk) in parts.meeting(&region.rows) {
            match self.chunk(chunk) {
                None => {}
                Some(IndexChunk::Tiles(tiles)) if tiles.index().extent() == Some(rows) => {
                    self.tiles(columns, tiles, region);
                }
                Some(_) => return Err(NOT_ITS_PART),
            }
        }
        Ok(())
    }

    fn tiles(&mut self, columns: Span, tiles: &Indexed<IndexedTile>, region: &Region) {
        let found = tiles.meeting(&region.rows).map(|(rows, tile)| {
            let IndexedTile { cells, stored } = tile.clone();
            (columns, TilePlace { rows, cells, stored })
        });
        self.places.extend(found);
    }
}
