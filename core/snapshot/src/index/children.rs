//! Collects the chunk references of an imported sheet's tile index, and checks each referenced
//! chunk. The server checks the index chunk by chunk before an entry may reference it.

use super::check::ensure;
use super::lookup::WRONG_INDEX_CHUNK;
use super::{IndexChunk, IndexedTile, RowIndex, SpanMap, StripeIndex};
use crate::error::SnapshotError;
use crate::level::{ChunkRef, StoredTile};
use crate::saturate::to_usize;
use crate::tile::Tile;
use crate::tile_formulas::TileFormulas;
use cellar_base::limits::MIN_STRIPE_COLUMNS;
use cellar_formula::Template;
use cellar_sheet::operation::Span;

/// References from a tile index, or from a tile index chunk, to the objects directly below it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Children {
    /// References to cell chunks.
    pub tiles: Vec<ChildTile>,
    /// References to tile index chunks.
    pub index: Vec<ChildIndex>,
    stripe_columns: Vec<Span>,
}

/// A reference to a cell chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildTile {
    /// Chunk name and stored length.
    pub chunk: ChunkRef,
    /// Number of rows that the tile covers, as declared by the index.
    pub rows: u32,
    /// Number of the tile's cells, as declared by the index.
    pub cells: u32,
    /// Number of the tile's formulas, as declared by the index.
    pub formulas: u32,
}

/// A reference to a tile index chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildIndex {
    /// Chunk name and stored length.
    pub chunk: ChunkRef,
    /// Contents that the referenced chunk must have.
    pub part: ChildPart,
}

/// Contents that a tile index chunk must have to match its reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildPart {
    /// The list of the parts of a sheet's tile index.
    Parts,
    /// Stripes that together cover exactly these columns.
    Stripes(Span),
    /// Tiles of one stripe that together cover exactly these rows.
    Tiles(Span),
}

impl ChildPart {
    fn matches(self, chunk: &IndexChunk) -> bool {
        match (self, chunk) {
            (Self::Parts, IndexChunk::Parts(_)) => true,
            (Self::Stripes(columns), IndexChunk::Stripes(stripes)) => {
                stripes.spans().extent() == Some(columns)
            }
            (Self::Tiles(rows), IndexChunk::Tiles(tiles)) => tiles.spans().extent() == Some(rows),
            _ => false,
        }
    }
}

impl StripeIndex {
    /// Returns the direct references.
    ///
    /// # Errors
    /// Returns [`SnapshotError::Shape`] if a tile is stored inline.
    pub fn children(&self) -> Result<Children, SnapshotError> {
        let mut children = Children::default();
        match self {
            Self::Inline(stripes) => children.add_stripes(stripes)?,
            Self::Parts(part_list) => children.add_parts(part_list, ChildPart::Stripes),
            Self::Chunk(chunk) => {
                children.index.push(ChildIndex { chunk: *chunk, part: ChildPart::Parts });
            }
        }
        Ok(children)
    }
}

impl IndexChunk {
    /// Returns the direct references, or `None` if the chunk contains axis maps and cleared regions
    /// instead of tiles.
    ///
    /// # Errors
    /// Returns [`SnapshotError::Shape`] if a tile is stored inline.
    pub fn children(&self) -> Result<Option<Children>, SnapshotError> {
        let mut children = Children::default();
        match self {
            Self::Moves(_) => return Ok(None),
            Self::Parts(part_list) => children.add_parts(part_list, ChildPart::Stripes),
            Self::Stripes(stripes) => children.add_stripes(stripes)?,
            Self::Tiles(tiles) => children.add_tiles(tiles)?,
        }
        Ok(Some(children))
    }
}

impl Children {
    fn add_parts(
        &mut self,
        part_list: &SpanMap<ChunkRef>,
        expected_part: impl Fn(Span) -> ChildPart,
    ) {
        for (span, chunk) in part_list.iter() {
            self.index.push(ChildIndex { chunk: *chunk, part: expected_part(span) });
        }
    }

    fn add_stripes(&mut self, stripes: &SpanMap<RowIndex>) -> Result<(), SnapshotError> {
        for (columns, row_index) in stripes.iter() {
            self.stripe_columns.push(columns);
            match row_index {
                RowIndex::Tiles(tiles) => self.add_tiles(tiles)?,
                RowIndex::Parts(part_list) => self.add_parts(part_list, ChildPart::Tiles),
            }
        }
        Ok(())
    }

    fn add_tiles(&mut self, tiles: &SpanMap<IndexedTile>) -> Result<(), SnapshotError> {
        const INLINE_TILE: SnapshotError =
            SnapshotError::Shape("a tile of an import is stored inline");
        const AREAS_OF_IMPORT: &str =
            "the index of an import has more about the formulas of a tile than their number";
        for (rows, tile) in tiles.iter() {
            let StoredTile::Chunk(chunk) = tile.stored else { return Err(INLINE_TILE) };
            let formulas = tile.formulas.as_ref().map_or(0, |formulas| formulas.count);
            if let Some(stated) = &tile.formulas {
                ensure(*stated == TileFormulas::counted(formulas), AREAS_OF_IMPORT)?;
            }
            self.tiles.push(ChildTile { chunk, rows: rows.count, cells: tile.cells, formulas });
        }
        Ok(())
    }

    /// Returns the number of references, including duplicate references.
    #[must_use]
    pub fn count(&self) -> usize {
        self.tiles.len() + self.index.len()
    }

    /// Returns the total stored length of the referenced chunks.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let tile_chunks = self.tiles.iter().map(|tile| &tile.chunk);
        let index_chunks = self.index.iter().map(|index| &index.chunk);
        tile_chunks.chain(index_chunks).map(|chunk| u64::from(chunk.bytes)).sum()
    }

    /// Checks that all stripes have the width and alignment that
    /// [`SheetWriter`](crate::merge::SheetWriter) produces. A chunk with a list of tiles does not
    /// contain the stripe's columns. With a fixed width, the tiles can be checked without them.
    ///
    /// # Errors
    /// Returns [`SnapshotError::Shape`] if a stripe has a different width or alignment.
    pub fn check_stripes(&self) -> Result<(), SnapshotError> {
        let is_import_stripe = |columns: &Span| {
            columns.count == MIN_STRIPE_COLUMNS && columns.first.is_multiple_of(MIN_STRIPE_COLUMNS)
        };
        ensure(
            self.stripe_columns.iter().all(is_import_stripe),
            "a stripe of an import is not 128 columns wide, or is not aligned to 128 columns",
        )
    }
}

impl ChildTile {
    /// Checks that all cells of a tile are within its declared bounds, and that the numbers of cells
    /// and formulas match the index. Without this check, it would be unspecified whether readers see a cell
    /// that is out of bounds.
    ///
    /// # Errors
    /// Returns [`SnapshotError::Shape`] if a cell is out of bounds, a number differs, or a formula
    /// contains the number of a sheet. The server may change the numbers of imported sheets,
    /// so formulas of imports contain names.
    pub fn check(&self, tile: &Tile) -> Result<(), SnapshotError> {
        let mut templates = tile.columns.iter().flat_map(|column| column.templates.distinct());
        ensure(
            !templates.any(has_sheet_number),
            "a formula in a tile of an import contains the number of a sheet instead of its name",
        )?;
        let column_end = tile.columns.last().map_or(0, |column| column.index.saturating_add(1));
        let is_within_bounds = tile.end() <= self.rows && column_end <= MIN_STRIPE_COLUMNS;
        ensure(is_within_bounds, "a tile has cells outside the bounds declared by the index")?;
        let has_declared_cells = to_usize(self.cells) == tile.cell_count();
        ensure(has_declared_cells, "the number of cells in a tile does not match the index")?;
        let formula_count = tile.formula_count();
        ensure(
            self.formulas > 0 || formula_count == 0,
            "a tile has formulas, but the index does not count them; update the client",
        )?;
        let has_declared_formulas = to_usize(self.formulas) == formula_count;
        ensure(has_declared_formulas, "the number of formulas in a tile does not match the index")
    }
}

fn has_sheet_number(encoded: &str) -> bool {
    Template::decode(encoded.to_owned()).is_ok_and(|template| template.has_sheet_number())
}

impl ChildIndex {
    /// Checks that a chunk has the contents that its reference requires and is valid in an import.
    ///
    /// # Errors
    /// Returns [`SnapshotError::Shape`] if the chunk does not match.
    pub fn check(&self, chunk: &IndexChunk) -> Result<(), SnapshotError> {
        let children = chunk.children()?;
        if !self.part.matches(chunk) {
            return Err(WRONG_INDEX_CHUNK);
        }
        children.ok_or(WRONG_INDEX_CHUNK)?.check_stripes()
    }
}

impl ChunkRef {
    /// Returns whether a chunk with this stored length can be the referenced chunk. Different
    /// releases may compress the same bytes to slightly different lengths. A larger difference is
    /// not accepted, because stored lengths determine which levels are merged.
    #[must_use]
    pub fn accepts_stored_bytes(&self, stored_bytes: u64) -> bool {
        let declared_bytes = u64::from(self.bytes);
        declared_bytes <= max_similar_bytes(stored_bytes)
            && stored_bytes <= max_similar_bytes(declared_bytes)
    }

    /// Returns the maximum stored length that [`ChunkRef::accepts_stored_bytes`] accepts.
    #[must_use]
    pub fn max_stored_bytes(&self) -> u64 {
        max_similar_bytes(u64::from(self.bytes))
    }
}

/// Returns the maximum length that is accepted for a chunk that another release may have
/// compressed: twice the given length, plus the minimum frame length.
fn max_similar_bytes(bytes: u64) -> u64 {
    const MIN_FRAME_BYTES: u64 = 64;
    bytes.saturating_mul(2).saturating_add(MIN_FRAME_BYTES)
}

#[cfg(test)]
mod tests {
    use super::super::pack_import;
    use super::super::tests::{chunk_of, span};
    use super::*;
    use crate::level::{Stripe, StripeTile};
    use crate::packed::{Bounds, unpack};
    use crate::tile::{TileColumn, TileValue};

    fn stripes(count: u32, tiles: u32) -> Vec<Stripe> {
        let place = |stripe: u32, tile: u32| StripeTile {
            rows: span(tile * 10, tile * 10 + 9),
            cells: 1 + tile,
            stored: StoredTile::Chunk(chunk_of(stripe * 100_000 + tile)),
            formulas: None,
        };
        let stripe = |number: u32| Stripe {
            columns: span(number * MIN_STRIPE_COLUMNS, (number + 1) * MIN_STRIPE_COLUMNS),
            tiles: (0..tiles).map(|tile| place(number, tile)).collect(),
        };
        (0..count).map(stripe).collect()
    }

    /// Returns all tiles of an index, and the depth of the index.
    fn walk(stripes: &[Stripe]) -> (Vec<ChildTile>, usize) {
        let (index, objects) = pack_import(stripes).unwrap();
        let mut found = Vec::new();
        let (mut children, mut layers) =
            (StripeIndex::of_import(&index).unwrap().children().unwrap(), 0);
        loop {
            children.check_stripes().unwrap();
            found.append(&mut children.tiles);
            if children.index.is_empty() {
                return (found, layers);
            }
            layers += 1;
            let mut next = Children::default();
            for child in &children.index {
                let object =
                    objects.iter().find(|object| object.chunk.hash == child.chunk.hash).unwrap();
                assert_eq!(object.chunk, child.chunk);
                let bytes = unpack(child.chunk.hash, &object.stored, Bounds::CHUNK).unwrap();
                let chunk = IndexChunk::decode(&bytes).unwrap();
                child.check(&chunk).unwrap();
                let below = chunk.children().unwrap().unwrap();
                next.tiles.extend(below.tiles);
                next.index.extend(below.index);
                next.stripe_columns.extend(below.stripe_columns);
            }
            children = next;
        }
    }

    #[test]
    fn every_tile_is_referenced_once_in_every_packaging() {
        for (count, tiles, layers) in
            [(1, 3, 0), (3, 60, 1), (1, 1_000, 1), (40, 400, 2), (120, 170, 2)]
        {
            let stripes = stripes(count, tiles);
            let (found, found_layers) = walk(&stripes);
            assert_eq!(found_layers, layers, "{count} stripes of {tiles} tiles");
            let places = stripes.iter().flat_map(|stripe| &stripe.tiles);
            let expected: Vec<ChildTile> = places
                .map(|place| {
                    let StoredTile::Chunk(chunk) = place.stored else { panic!("inline") };
                    ChildTile { chunk, rows: place.rows.count, cells: place.cells, formulas: 0 }
                })
                .collect();
            let key = |tile: &ChildTile| tile.chunk.hash;
            let (mut found, mut expected) = (found, expected);
            found.sort_by_key(key);
            expected.sort_by_key(key);
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn an_exchanged_chunk_is_rejected() {
        let indexed = |tile: u32| {
            let mut list = SpanMap::default();
            let stored = StoredTile::Chunk(chunk_of(tile));
            assert!(list.push(span(0, 10), IndexedTile { cells: 1, stored, formulas: None }));
            list
        };
        let tiles = IndexChunk::Tiles(indexed(1));
        let in_stripe = |columns: Span, rows: RowIndex| {
            let mut list = SpanMap::default();
            assert!(list.push(columns, rows));
            IndexChunk::Stripes(list)
        };
        let stripes = in_stripe(span(128, 256), RowIndex::Tiles(indexed(1)));
        let mut list = SpanMap::default();
        assert!(list.push(span(0, 128), chunk_of(1)));
        let parts = IndexChunk::Parts(list);
        let moves = IndexChunk::Moves(crate::level::SheetMoves::default());
        let chunk = chunk_of(9);
        let check = |part, found: &IndexChunk| ChildIndex { chunk, part }.check(found).is_ok();
        let places = [
            (ChildPart::Parts, Some(&parts)),
            (ChildPart::Stripes(span(128, 256)), Some(&stripes)),
            (ChildPart::Stripes(span(128, 384)), None),
            (ChildPart::Tiles(span(0, 10)), Some(&tiles)),
            (ChildPart::Tiles(span(0, 11)), None),
        ];
        for (part, right) in places {
            for found in [&parts, &stripes, &tiles, &moves] {
                assert_eq!(check(part, found), right == Some(found), "{part:?} {found:?}");
            }
        }
        for columns in [span(0, 256), span(0, 127), span(1, 129), span(64, 192)] {
            let wide = in_stripe(columns, RowIndex::Tiles(indexed(1)));
            assert!(!check(ChildPart::Stripes(columns), &wide), "{columns:?}");
        }
        let mut inline = SpanMap::default();
        let stored = StoredTile::Inline(vec![1]);
        assert!(inline.push(span(0, 10), IndexedTile { cells: 1, stored, formulas: None }));
        assert!(!check(ChildPart::Tiles(span(0, 10)), &IndexChunk::Tiles(inline)));
    }

    #[test]
    fn a_tile_is_within_its_place() {
        let tile = |column: u32, row: u32| {
            let mut column = TileColumn::new(column);
            column.values.push(row, TileValue::Bool(true));
            Tile { columns: vec![column] }
        };
        let place = |rows, cells| ChildTile { chunk: chunk_of(1), rows, cells, formulas: 0 };
        assert_eq!(place(10, 1).check(&tile(MIN_STRIPE_COLUMNS - 1, 9)), Ok(()));
        assert!(place(9, 1).check(&tile(0, 9)).is_err());
        assert!(place(10, 1).check(&tile(MIN_STRIPE_COLUMNS, 0)).is_err());
        assert!(place(10, 2).check(&tile(0, 0)).is_err());
        assert!(place(10, 0).check(&tile(0, 0)).is_err());
        assert_eq!(place(1, 0).check(&Tile::default()), Ok(()));
    }

    #[test]
    fn the_stored_length_may_differ_only_a_little() {
        let says = |bytes| ChunkRef { bytes, ..chunk_of(1) };
        assert!(
            says(1_000).accepts_stored_bytes(2_064) && !says(1_000).accepts_stored_bytes(2_065)
        );
        assert!(
            says(2_064).accepts_stored_bytes(1_000) && !says(2_065).accepts_stored_bytes(1_000)
        );
        assert_eq!(says(1_000).max_stored_bytes(), 2_064);
        assert!(says(u32::MAX).accepts_stored_bytes(u64::from(u32::MAX)));
    }
}
