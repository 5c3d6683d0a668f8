//! Looks up tiles in a tile index that may be only partly loaded. Performs no I/O.

use std::collections::HashSet;

use super::{IndexChunk, IndexedTile, InlineOrChunk, PackedLevel, PackedSheet, RowIndex, SpanMap};
use super::{SheetMoves, StripeIndex};
use crate::error::SnapshotError;
use crate::level::{ChunkHash, ChunkRef, Level, LevelSheet, Region, Stripe, StripeTile};
use cellar_sheet::axis_map::Axis;
use cellar_sheet::operation::{SheetId, Span, Spans};

/// Function that returns an index chunk by name if the chunk is loaded.
pub type LoadedChunks<'a> = dyn Fn(&ChunkHash) -> Option<&'a IndexChunk> + 'a;

/// A result, or the chunks that must be loaded first.
#[derive(Debug, Clone, PartialEq)]
pub enum Lookup<T> {
    /// Chunks that must be loaded before the lookup is repeated. They can be loaded in a single
    /// request. A lookup needs at most three such requests per level.
    Missing(Vec<ChunkRef>),
    /// The result.
    Ready(T),
}

/// A tile, and the columns of its stripe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocatedTile {
    /// Columns of the stripe.
    pub columns: Span,
    /// Rows of a tile and the location of its bytes.
    pub tile: StripeTile,
}

impl PackedLevel {
    /// Returns the tiles of a sheet that overlap a region, which is in the coordinates of the
    /// level. Tiles are ordered by stripe from left to right, and from top to bottom within a
    /// stripe.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if a loaded chunk does not match the reference to it.
    pub fn tiles(
        &self,
        sheet_id: SheetId,
        region: &Region,
        loaded_chunks: &LoadedChunks<'_>,
    ) -> Result<Lookup<Vec<LocatedTile>>, SnapshotError> {
        let mut traversal = IndexTraversal::new(loaded_chunks);
        let mut tiles = Vec::new();
        if let Some(packed_sheet) = self.sheet(sheet_id) {
            tiles = traversal.find_tiles(packed_sheet, region)?;
        }
        Ok(traversal.finish(tiles))
    }

    /// Returns the level's effect on a sheet's older cells: how rows and columns move, and which
    /// cells are hidden. Returns `None` if the level does not change the sheet.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if a loaded chunk does not match the reference to it.
    pub fn moves<'a>(
        &'a self,
        sheet_id: SheetId,
        loaded_chunks: &LoadedChunks<'a>,
    ) -> Result<Lookup<Option<&'a SheetMoves>>, SnapshotError> {
        let Some(packed_sheet) = self.sheet(sheet_id) else { return Ok(Lookup::Ready(None)) };
        let mut traversal = IndexTraversal::new(loaded_chunks);
        let moves = traversal.find_moves(&packed_sheet.moves)?;
        Ok(traversal.finish(moves))
    }

    /// Returns the entire level, including its complete tile index.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if a loaded chunk does not match the reference to it.
    pub fn load_all(
        &self,
        loaded_chunks: &LoadedChunks<'_>,
    ) -> Result<Lookup<Level>, SnapshotError> {
        let whole_sheet =
            Region { rows: Spans::all(Axis::Rows), columns: Spans::all(Axis::Columns) };
        let mut traversal = IndexTraversal::new(loaded_chunks);
        let mut level = Level::default();
        for packed_sheet in &self.sheets {
            let stripes = group_by_stripe(traversal.find_tiles(packed_sheet, &whole_sheet)?);
            if let Some(moves) = traversal.find_moves(&packed_sheet.moves)?.cloned() {
                level.sheets.push(LevelSheet { sheet: packed_sheet.sheet, moves, stripes });
            }
        }
        Ok(traversal.finish(level))
    }
}

impl LocatedTile {
    /// Records that the tile has no formulas unless the index has its formulas.
    fn mark_without_formulas(&mut self) {
        self.tile.formulas.get_or_insert_default();
    }
}

fn group_by_stripe(tiles: Vec<LocatedTile>) -> Vec<Stripe> {
    let mut stripes: Vec<Stripe> = Vec::new();
    for LocatedTile { columns, tile } in tiles {
        match stripes.last_mut() {
            Some(last_stripe) if last_stripe.columns == columns => last_stripe.tiles.push(tile),
            _ => stripes.push(Stripe { columns, tiles: vec![tile] }),
        }
    }
    stripes
}

pub(super) const WRONG_INDEX_CHUNK: SnapshotError =
    SnapshotError::Shape("a chunk of a tile index does not match the reference to it");

struct IndexTraversal<'l, 'a> {
    loaded_chunks: &'l LoadedChunks<'a>,
    missing_chunks: Vec<ChunkRef>,
    missing_hashes: HashSet<ChunkHash>,
}

impl<'l, 'a> IndexTraversal<'l, 'a> {
    fn new(loaded_chunks: &'l LoadedChunks<'a>) -> Self {
        Self { loaded_chunks, missing_chunks: Vec::new(), missing_hashes: HashSet::new() }
    }

    fn finish<T>(self, result: T) -> Lookup<T> {
        if self.missing_chunks.is_empty() {
            Lookup::Ready(result)
        } else {
            Lookup::Missing(self.missing_chunks)
        }
    }

    fn get_or_record_missing(&mut self, chunk: &ChunkRef) -> Option<&'a IndexChunk> {
        let loaded_chunk = (self.loaded_chunks)(&chunk.hash);
        if loaded_chunk.is_none() && self.missing_hashes.insert(chunk.hash) {
            self.missing_chunks.push(*chunk);
        }
        loaded_chunk
    }

    /// Returns the axis maps and cleared regions of a sheet, or `None` if the chunk that contains
    /// them is missing.
    fn find_moves<'m>(
        &mut self,
        moves: &'m InlineOrChunk<SheetMoves>,
    ) -> Result<Option<&'m SheetMoves>, SnapshotError>
    where
        'a: 'm,
    {
        let chunk = match moves {
            InlineOrChunk::Inline(moves) => return Ok(Some(moves)),
            InlineOrChunk::Chunk(chunk) => chunk,
        };
        match self.get_or_record_missing(chunk) {
            None => Ok(None),
            Some(IndexChunk::Moves(moves)) => Ok(Some(moves)),
            Some(_) => Err(WRONG_INDEX_CHUNK),
        }
    }

    /// Tiles whose index chunks are not loaded are omitted.
    fn find_tiles(
        &mut self,
        sheet: &PackedSheet,
        region: &Region,
    ) -> Result<Vec<LocatedTile>, SnapshotError> {
        let mut tiles = Vec::new();
        match &sheet.stripes {
            StripeIndex::Inline(stripes) => self.visit_stripes(stripes, region, &mut tiles)?,
            StripeIndex::Parts(part_list) => {
                self.visit_stripe_parts(part_list, region, &mut tiles)?;
            }
            StripeIndex::Chunk(chunk) => match self.get_or_record_missing(chunk) {
                None => {}
                Some(IndexChunk::Parts(part_list)) => {
                    self.visit_stripe_parts(part_list, region, &mut tiles)?;
                }
                Some(_) => return Err(WRONG_INDEX_CHUNK),
            },
        }
        if sheet.formulas.is_some() {
            tiles.iter_mut().for_each(LocatedTile::mark_without_formulas);
        }
        Ok(tiles)
    }

    fn visit_stripe_parts(
        &mut self,
        part_list: &SpanMap<ChunkRef>,
        region: &Region,
        tiles: &mut Vec<LocatedTile>,
    ) -> Result<(), SnapshotError> {
        for (columns, chunk) in part_list.overlapping(&region.columns) {
            match self.get_or_record_missing(chunk) {
                None => {}
                Some(IndexChunk::Stripes(stripes)) if stripes.spans().extent() == Some(columns) => {
                    self.visit_stripes(stripes, region, tiles)?;
                }
                Some(_) => return Err(WRONG_INDEX_CHUNK),
            }
        }
        Ok(())
    }

    fn visit_stripes(
        &mut self,
        stripes: &SpanMap<RowIndex>,
        region: &Region,
        tiles: &mut Vec<LocatedTile>,
    ) -> Result<(), SnapshotError> {
        for (columns, row_index) in stripes.overlapping(&region.columns) {
            match row_index {
                RowIndex::Tiles(row_tiles) => push_tiles(columns, row_tiles, region, tiles),
                RowIndex::Parts(part_list) => {
                    self.visit_row_parts(columns, part_list, region, tiles)?;
                }
            }
        }
        Ok(())
    }

    fn visit_row_parts(
        &mut self,
        columns: Span,
        part_list: &SpanMap<ChunkRef>,
        region: &Region,
        tiles: &mut Vec<LocatedTile>,
    ) -> Result<(), SnapshotError> {
        for (rows, chunk) in part_list.overlapping(&region.rows) {
            match self.get_or_record_missing(chunk) {
                None => {}
                Some(IndexChunk::Tiles(row_tiles)) if row_tiles.spans().extent() == Some(rows) => {
                    push_tiles(columns, row_tiles, region, tiles);
                }
                Some(_) => return Err(WRONG_INDEX_CHUNK),
            }
        }
        Ok(())
    }
}

fn push_tiles(
    columns: Span,
    row_tiles: &SpanMap<IndexedTile>,
    region: &Region,
    tiles: &mut Vec<LocatedTile>,
) {
    for (rows, IndexedTile { cells, stored, formulas }) in row_tiles.overlapping(&region.rows) {
        let (stored, formulas) = (stored.clone(), formulas.clone());
        let tile = StripeTile { rows, cells: *cells, stored, formulas };
        tiles.push(LocatedTile { columns, tile });
    }
}
