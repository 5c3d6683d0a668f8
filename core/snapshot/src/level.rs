//! Levels: what a range of entries did, in the space of its last.

use minicbor::{Decode, Encode};

use super::cbor;
use cellar_sheet::axis_map::{Axis, AxisMap};
use cellar_sheet::operation::{SheetId, Span, Spans};

/// BLAKE3 of a chunk's bytes before they are compressed: its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
#[cbor(transparent)]
pub struct ChunkHash(#[cbor(n(0), with = "minicbor::bytes")] pub [u8; 32]);

/// A chunk by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
#[cbor(array)]
pub struct ChunkRef {
    /// Its name.
    #[n(0)]
    pub hash: ChunkHash,
    /// Its bytes as stored, compressed.
    #[n(1)]
    pub bytes: u32,
}

/// The effect of a contiguous range of entries on all sheets.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Level {
    /// The sheets that it changes, by number.
    pub sheets: Vec<LevelSheet>,
}

/// What a level did to one sheet.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelSheet {
    /// The sheet.
    pub sheet: SheetId,
    /// What it did to older cells.
    pub moves: SheetMoves,
    /// Its cells: stripes from left to right, apart from each other.
    pub stripes: Vec<Stripe>,
}

impl LevelSheet {
    /// Whether it changes nothing.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.stripes.is_empty() && self.moves.is_nothing()
    }
}

/// What a level does to the cells of older ones: where they are now, and where they are hidden.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
#[cbor(map)]
pub struct SheetMoves {
    /// Where the rows of the next older level stand in this level's space.
    #[cbor(n(0), with = "cbor::row_map")]
    pub rows: AxisMap,
    /// Where its columns stand.
    #[cbor(n(1), with = "cbor::column_map")]
    pub columns: AxisMap,
    /// Where older values and formulas are hidden; the level's own are not.
    #[n(2)]
    pub value_clears: Vec<Region>,
    /// Where older formats of single cells are hidden, because a range got one.
    #[n(3)]
    pub format_clears: Vec<Region>,
}

impl Default for SheetMoves {
    /// Nothing is moved or hidden: of a level that has nothing below it.
    fn default() -> Self {
        Self {
            rows: AxisMap::identity(Axis::Rows),
            columns: AxisMap::identity(Axis::Columns),
            value_clears: Vec::new(),
            format_clears: Vec::new(),
        }
    }
}

impl SheetMoves {
    /// Whether it moves and hides nothing.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.rows.is_identity()
            && self.columns.is_identity()
            && self.value_clears.is_empty()
            && self.format_clears.is_empty()
    }

    /// All its cleared regions.
    pub fn clears(&self) -> impl Iterator<Item = &Region> {
        self.value_clears.iter().chain(&self.format_clears)
    }

    /// How many spans its regions have; bounded by `MAX_LEVEL_CLEAR_SPANS`.
    #[must_use]
    pub fn clear_spans(&self) -> usize {
        self.clears().map(Region::spans).fold(0, usize::saturating_add)
    }
}

/// Rows and columns: all cells where one of each meet, in the space of its level.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
#[cbor(array)]
pub struct Region {
    /// Its rows.
    #[cbor(n(0), with = "cbor::row_spans")]
    pub rows: Spans,
    /// Its columns.
    #[cbor(n(1), with = "cbor::column_spans")]
    pub columns: Spans,
}

impl Region {
    /// Its spans of rows and of columns.
    #[must_use]
    pub fn spans(&self) -> usize {
        self.rows.len().saturating_add(self.columns.len())
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() || self.columns.is_empty()
    }

    /// Moves it along one axis. What is inserted inside may count as inside: there is nothing older
    /// to hide there, and so a region never has more spans than it began with.
    pub fn map(&mut self, axis: Axis, map: &AxisMap) {
        match axis {
            Axis::Rows => self.rows = map.covered(&self.rows),
            Axis::Columns => self.columns = map.covered(&self.columns),
        }
    }
}

/// Neighbouring columns whose cells are in the same tiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stripe {
    /// Its columns.
    pub columns: Span,
    /// Its tiles from top to bottom, apart from each other.
    pub tiles: Vec<TilePlace>,
}

/// Where a tile stands, and which chunk it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TilePlace {
    /// Its rows.
    pub rows: Span,
    /// Its cells that have a value or a format.
    pub cells: u32,
    /// Its bytes.
    pub stored: StoredTile,
}

/// The bytes of a tile.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
#[cbor(flat)]
pub enum StoredTile {
    /// A chunk of its own.
    #[n(0)]
    Chunk(#[n(0)] ChunkRef),
    /// Inside what refers to it, in the format of a chunk, not compressed: small levels, above all the
    /// level 0 in the root.
    #[n(1)]
    Inline(#[cbor(n(0), with = "minicbor::bytes")] Vec<u8>),
}
