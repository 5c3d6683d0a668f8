//! Levels. A level is the net effect of a contiguous range of entries, in coordinates of the state
//! after the last of these entries.

use minicbor::{Decode, Encode};

use super::cbor;
pub use super::chunk_ref::{ChunkHash, ChunkRef};
use cellar_sheet::axis_map::{Axis, AxisMap};
use cellar_sheet::operation::{SheetId, Span, Spans};

/// The effect of a contiguous range of entries on all sheets.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Level {
    /// Changed sheets, sorted by sheet id.
    pub sheets: Vec<LevelSheet>,
}

/// The effect of a level on one sheet.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelSheet {
    /// Id of the sheet.
    pub sheet: SheetId,
    /// How the level moves and hides cells of older levels.
    pub moves: SheetMoves,
    /// Cells of the level, in disjoint stripes from left to right.
    pub stripes: Vec<Stripe>,
}

impl LevelSheet {
    /// Returns whether the level leaves the sheet unchanged.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.stripes.is_empty() && self.moves.is_nothing()
    }
}

/// How a level moves and hides the cells of older levels.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
#[cbor(map)]
pub struct SheetMoves {
    /// Maps rows of the next older level to rows of this level.
    #[cbor(n(0), with = "cbor::row_map")]
    pub rows: AxisMap,
    /// Maps columns of the next older level to columns of this level.
    #[cbor(n(1), with = "cbor::column_map")]
    pub columns: AxisMap,
    /// Regions where the values and formulas of older levels are hidden. Cells of this level remain
    /// visible.
    #[n(2)]
    pub value_clears: Vec<Region>,
    /// Regions where cell formats of older levels are hidden, because a range format replaced them.
    #[n(3)]
    pub format_clears: Vec<Region>,
}

impl Default for SheetMoves {
    /// Returns moves that keep all older cells in place and visible.
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
    /// Returns whether nothing is moved or hidden.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.rows.is_identity()
            && self.columns.is_identity()
            && self.value_clears.is_empty()
            && self.format_clears.is_empty()
    }

    /// Iterates over all cleared regions: those of values, then those of formats.
    pub fn clears(&self) -> impl Iterator<Item = &Region> {
        self.value_clears.iter().chain(&self.format_clears)
    }

    /// Returns the number of spans in all cleared regions; at most `MAX_LEVEL_CLEAR_SPANS` in a
    /// valid level.
    #[must_use]
    pub fn clear_spans(&self) -> usize {
        self.clears().map(Region::spans).fold(0, usize::saturating_add)
    }
}

/// The intersection of a set of rows with a set of columns, in the space of one level.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
#[cbor(array)]
pub struct Region {
    /// Rows of the region.
    #[cbor(n(0), with = "cbor::row_spans")]
    pub rows: Spans,
    /// Columns of the region.
    #[cbor(n(1), with = "cbor::column_spans")]
    pub columns: Spans,
}

impl Region {
    /// Returns the number of row spans plus the number of column spans.
    #[must_use]
    pub fn spans(&self) -> usize {
        self.rows.len().saturating_add(self.columns.len())
    }

    /// Returns whether the region contains no cell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() || self.columns.is_empty()
    }

    /// Maps the region along one axis. Lines inserted inside a span become part of the region, so
    /// that the number of spans never grows. This is harmless, because inserted lines contain no
    /// older cells.
    pub fn map(&mut self, axis: Axis, map: &AxisMap) {
        match axis {
            Axis::Rows => self.rows = map.covered(&self.rows),
            Axis::Columns => self.columns = map.covered(&self.columns),
        }
    }
}

/// A range of adjacent columns whose cells are stored in the same tiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stripe {
    /// Columns of the stripe.
    pub columns: Span,
    /// Disjoint tiles of the stripe, from top to bottom.
    pub tiles: Vec<TilePlace>,
}

/// The rows of a tile and the location of its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TilePlace {
    /// Rows of the tile.
    pub rows: Span,
    /// Number of cells that have a value or a format.
    pub cells: u32,
    /// Location of the tile's bytes.
    pub stored: StoredTile,
}

/// Location of a tile's bytes.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
#[cbor(flat)]
pub enum StoredTile {
    /// In a chunk of its own.
    #[n(0)]
    Chunk(#[n(0)] ChunkRef),
    /// The bytes are stored uncompressed, in the chunk format, inside the object that refers to the
    /// tile. Small levels use this location, especially level 0 in the root.
    #[n(1)]
    Inline(#[cbor(n(0), with = "minicbor::bytes")] Vec<u8>),
}
