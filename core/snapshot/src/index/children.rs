//! What an index of an imported sheet refers to, and what each of these must be: so it is checked
//! piece by piece, before an entry of the log names it.

use super::check::ensure;
use super::lookup::NOT_ITS_PART;
use super::{IndexChunk, Indexed, IndexedTile, RowIndex, Stripes};
use crate::error::SnapshotError;
use crate::level::{ChunkRef, StoredTile};
use crate::tile::Tile;
use cellar_base::limits::MIN_STRIPE_COLUMNS;
use cellar_sheet::operation::Span;

/// What an index refers to directly.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Children {
    /// Chunks of cells.
    pub tiles: Vec<ChildTile>,
    /// Chunks of the index.
    pub index: Vec<ChildIndex>,
    /// The columns of the stripes that it lists.
    stripes: Vec<Span>,
}

/// A chunk of cells in an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildTile {
    /// The chunk.
    pub chunk: ChunkRef,
    /// Rows of its place.
    pub rows: u32,
    /// Cells that it is said to have.
    pub cells: u32,
}

/// A chunk of an index in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildIndex {
    /// The chunk.
    pub chunk: ChunkRef,
    /// What is in it.
    pub part: ChildPart,
}

/// What a chunk of an index must be, because another refers to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildPart {
    /// The list of the parts of a sheet's index.
    Parts,
    /// Stripes, from the first column to the last.
    Stripes(Span),
    /// Tiles of one stripe, from the first row to the last.
    Tiles(Span),
}

impl Stripes {
    /// What it refers to.
    ///
    /// # Errors
    /// [`SnapshotError::Shape`] if a tile of it is no chunk.
    pub fn children(&self) -> Result<Children, SnapshotError> {
        let mut children = Children::default();
        match self {
            Self::Inline(stripes) => children.stripes_of(stripes)?,
            Self::Parts(parts) => children.parts_of(parts, ChildPart::Stripes),
            Self::Chunk(chunk) => {
                children.index.push(ChildIndex { chunk: *chunk, part: ChildPart::Parts });
            }
        }
        Ok(children)
    }
}

impl IndexChunk {
    /// What it refers to; `None` if it is no chunk of an index of tiles.
    ///
    /// # Errors
    /// [`SnapshotError::Shape`] if a tile of it is no chunk.
    pub fn children(&self) -> Result<Option<Children>, SnapshotError> {
        let mut children = Children::default();
        match self {
            Self::Moves(_) => return Ok(None),
            Self::Parts(parts) => children.parts_of(parts, ChildPart::Stripes),
            Self::Stripes(stripes) => children.stripes_of(stripes)?,
            Self::Tiles(tiles) => children.tiles_of(tiles)?,
        }
        Ok(Some(children))
    }
}

impl Children {
    fn parts_of(&mut self, parts: &Indexed<ChunkRef>, part: impl Fn(Span) -> ChildPart) {
        let chunks = parts.iter().map(|(span, chunk)| (*chunk, part(span)));
        self.index.extend(chunks.map(|(chunk, part)| ChildIndex { chunk, part }));
    }

    fn stripes_of(&mut self, stripes: &Indexed<RowIndex>) -> Result<(), SnapshotError> {
        stripes.iter().try_for_each(|(columns, rows)| {
            self.stripes.push(columns);
            match rows {
                RowIndex::Tiles(tiles) => self.tiles_of(tiles),
                RowIndex::Parts(parts) => {
                    self.parts_of(parts, ChildPart::Tiles);
                    Ok(())
                }
            }
        })
    }

    fn tiles_of(&mut self, tiles: &Indexed<IndexedTile>) -> Result<(), SnapshotError> {
        const INLINE: SnapshotError = SnapshotError::Shape("a tile of an import is no chunk");
        for (rows, tile) in tiles.iter() {
            let StoredTile::Chunk(chunk) = tile.stored else { return Err(INLINE) };
            self.tiles.push(ChildTile { chunk, rows: rows.count, cells: tile.cells });
        }
        Ok(())
    }

    /// How many there are; one that is named twice counts twice.
    #[must_use]
    pub fn count(&self) -> usize {
        self.tiles.len().saturating_add(self.index.len())
    }

    /// Bytes of all of them, as stored.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let tiles = self.tiles.iter().map(|tile| &tile.chunk);
        let all = tiles.chain(self.index.iter().map(|index| &index.chunk));
        all.map(|chunk| u64::from(chunk.bytes)).fold(0, u64::saturating_add)
    }

    /// Checks that its stripes are as a [`SheetWriter`](crate::merge::SheetWriter) makes
    /// them. So a tile can be checked without the stripe that it is in: chunks of an index that list
    /// tiles do not say which that is.
    ///
    /// # Errors
    /// [`SnapshotError::Shape`] for another stripe.
    pub fn check_stripes(&self) -> Result<(), SnapshotError> {
        let narrow = |columns: &Span| {
            columns.count == MIN_STRIPE_COLUMNS && columns.first.is_multiple_of(MIN_STRIPE_COLUMNS)
        };
        const OTHER: &str =
            "a stripe of an import has other columns than 128 from a multiple of it";
        ensure(self.stripes.iter().all(narrow), OTHER)
    }
}

impl ChildTile {
    /// Checks that a tile is within its place. Whoever reads or merges only a part of a sheet would
    /// see what is outside, or not, by chance.
    ///
    /// # Errors
    /// [`SnapshotError::Shape`] for one that is not, or has another number of cells.
    pub fn check(&self, tile: &Tile) -> Result<(), SnapshotError> {
        let columns = tile.columns.last().map_or(0, |last| last.column.saturating_add(1));
        let within = tile.end() <= self.rows && columns <= MIN_STRIPE_COLUMNS;
        ensure(within, "a tile has cells outside of its place in the index")?;
        let same = usize::try_from(self.cells) == Ok(tile.cells());
        ensure(same, "a tile has another number of cells than the index says")
    }
}

impl ChildIndex {
    /// Checks that a chunk is what refers to it says, and of an import.
    ///
    /// # Errors
    /// [`SnapshotError::Shape`] if it is not.
    pub fn check(&self, chunk: &IndexChunk) -> Result<(), SnapshotError> {
        let is_its_part = match (self.part, chunk) {
            (ChildPart::Parts, IndexChunk::Parts(_)) => true,
            (ChildPart::Stripes(columns), IndexChunk::Stripes(stripes)) => {
                stripes.index().extent() == Some(columns)
            }
            (ChildPart::Tiles(rows), IndexChunk::Tiles(tiles)) => {
                tiles.index().extent() == Some(rows)
            }
            _ => false,
        };
        match chunk.children()? {
            Some(children) if is_its_part => children.check_stripes(),
            _ => Err(NOT_ITS_PART),
        }
    }
}

impl ChunkRef {
    /// Whether a chunk of so many stored bytes may be this one. Another release may compress the same
    /// bytes otherwise; but nobody makes a chunk seem far smaller or larger than it is: what levels
    /// weigh decides how they are merged.
    #[must_use]
    pub fn is_about(&self, stored_bytes: u64) -> bool {
        let said = u64::from(self.bytes);
        said <= at_most(stored_bytes) && stored_bytes <= at_most(said)
    }

    /// The most bytes that [`ChunkRef::is_about`] is true of.
    #[must_use]
    pub fn most_stored_bytes(&self) -> u64 {
        at_most(u64::from(self.bytes))
    }
}

/// Twice as many, and what a frame has at least.
fn at_most(bytes: u64) -> u64 {
    const FRAME_BYTES: u64 = 64;
    bytes.saturating_mul(2).saturating_add(FRAME_BYTES)
}

#[cfg(test)]
mod tests {
    use super::super::pack_import;
    use super::super::tests::{chunk_of, span};
    use super::*;
    use crate::level::{Stripe, TilePlace};
    use crate::packed::{Bounds, unpack};
    use crate::tile::{TileColumn, TileValue};

    fn stripes(count: u32, tiles: u32) -> Vec<Stripe> {
        let place = |stripe: u32, tile: u32| TilePlace {
            rows: span(tile * 10, tile * 10 + 9),
            cells: 1 + tile,
            stored: StoredTile::Chunk(chunk_of(stripe * 100_000 + tile)),
        };
        let stripe = |number: u32| Stripe {
            columns: span(number * MIN_STRIPE_COLUMNS, (number + 1) * MIN_STRIPE_COLUMNS),
            tiles: (0..tiles).map(|tile| place(number, tile)).collect(),
        };
        (0..count).map(stripe).collect()
    }

    /// All tiles below, and how many layers of the index are.
    fn walk(stripes: &[Stripe]) -> (Vec<ChildTile>, usize) {
        let (index, objects) = pack_import(stripes).unwrap();
        let mut found = Vec::new();
        let (mut children, mut layers) =
            (Stripes::of_import(&index).unwrap().children().unwrap(), 0);
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
                next.stripes.extend(below.stripes);
            }
            children = next;
        }
    }

    #[test]
    fn every_tile_is_named_once_at_every_rung_of_the_packaging() {
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
                    ChildTile { chunk, rows: place.rows.count, cells: place.cells }
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
    fn a_chunk_in_the_place_of_another_is_refused() {
        let indexed = |tile: u32| {
            let mut list = Indexed::default();
            let stored = StoredTile::Chunk(chunk_of(tile));
            assert!(list.push(span(0, 10), IndexedTile { cells: 1, stored }));
            list
        };
        let tiles = IndexChunk::Tiles(indexed(1));
        let in_stripe = |columns: Span, rows: RowIndex| {
            let mut list = Indexed::default();
            assert!(list.push(columns, rows));
            IndexChunk::Stripes(list)
        };
        let stripes = in_stripe(span(128, 256), RowIndex::Tiles(indexed(1)));
        let mut list = Indexed::default();
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
        let mut inline = Indexed::default();
        let stored = StoredTile::Inline(vec![1]);
        assert!(inline.push(span(0, 10), IndexedTile { cells: 1, stored }));
        assert!(!check(ChildPart::Tiles(span(0, 10)), &IndexChunk::Tiles(inline)));
    }

    #[test]
    fn a_tile_is_within_its_place() {
        let tile = |column: u32, row: u32| {
            let mut column = TileColumn::new(column);
            column.values.push(row, TileValue::Bool(true));
            Tile { columns: vec![column] }
        };
        let place = |rows, cells| ChildTile { chunk: chunk_of(1), rows, cells };
        assert_eq!(place(10, 1).check(&tile(MIN_STRIPE_COLUMNS - 1, 9)), Ok(()));
        assert!(place(9, 1).check(&tile(0, 9)).is_err());
        assert!(place(10, 1).check(&tile(MIN_STRIPE_COLUMNS, 0)).is_err());
        assert!(place(10, 2).check(&tile(0, 0)).is_err());
        assert!(place(10, 0).check(&tile(0, 0)).is_err());
        assert_eq!(place(1, 0).check(&Tile::default()), Ok(()));
    }

    #[test]
    fn a_chunk_weighs_about_what_is_said() {
        let says = |bytes| ChunkRef { bytes, ..chunk_of(1) };
        assert!(says(1_000).is_about(2_064) && !says(1_000).is_about(2_065));
        assert!(says(2_064).is_about(1_000) && !says(2_065).is_about(1_000));
        assert_eq!(says(1_000).most_stored_bytes(), 2_064);
        assert!(says(u32::MAX).is_about(u64::from(u32::MAX)));
    }
}
