//! A level is the net effect of a contiguous range of log entries on all sheets, in the coordinates
//! after the last entry of the range.

use minicbor::{Decode, Encode};

use super::cbor;
pub use super::chunk_ref::{ChunkHash, ChunkRef};
use super::line_ends;
use super::tile_formulas::TileFormulas;
use cellar_formula::changes::SheetLines;
use cellar_formula::{DeletedLines, LineMap};
use cellar_sheet::axis_map::{Axis, AxisMap};
use cellar_sheet::operation::{SheetId, Span, Spans};

/// Net effect of a contiguous range of entries on all sheets.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Level {
    /// Changed sheets, in ascending order of their ids.
    pub sheets: Vec<LevelSheet>,
}

/// Net effect of a level on one sheet.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelSheet {
    /// Id of the sheet.
    pub sheet: SheetId,
    /// Effect of the level on older cells: how rows and columns move, and which cells are hidden.
    pub moves: SheetMoves,
    /// Cells of the level, in disjoint stripes from left to right.
    pub stripes: Vec<Stripe>,
}

impl LevelSheet {
    /// Returns whether the level leaves the sheet unchanged.
    #[must_use]
    pub fn has_no_changes(&self) -> bool {
        self.stripes.is_empty() && self.moves.has_no_effect()
    }
}

/// Effect of a level on the cells of older levels: how rows and columns move, and which cells are
/// hidden.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
#[cbor(map)]
pub struct SheetMoves {
    /// Maps rows of the next older level to rows of this level.
    #[cbor(n(0), with = "cbor::row_map")]
    pub rows: AxisMap,
    /// Maps columns of the next older level to columns of this level.
    #[cbor(n(1), with = "cbor::column_map")]
    pub columns: AxisMap,
    /// Regions in which older values and formulas are hidden. The cells of this level remain
    /// visible there.
    #[n(2)]
    pub value_clears: Vec<Region>,
    /// Regions in which older cell formats are hidden, because a range format replaced them.
    #[n(3)]
    pub format_clears: Vec<Region>,
    /// Where ranges start or end that started or ended with deleted rows, if `rows` does not
    /// determine it. Only formulas of older levels need these ends.
    #[cbor(n(4), with = "line_ends::row_ends", has_nil)]
    pub row_ends: Vec<DeletedLines>,
    /// The same for columns.
    #[cbor(n(5), with = "line_ends::column_ends", has_nil)]
    pub column_ends: Vec<DeletedLines>,
}

impl Default for SheetMoves {
    /// Returns the effect of a level that neither moves nor hides older cells.
    fn default() -> Self {
        Self {
            rows: AxisMap::identity(Axis::Rows),
            columns: AxisMap::identity(Axis::Columns),
            value_clears: Vec::new(),
            format_clears: Vec::new(),
            row_ends: Vec::new(),
            column_ends: Vec::new(),
        }
    }
}

impl SheetMoves {
    /// Returns whether no older cells are moved or hidden.
    #[must_use]
    pub fn has_no_effect(&self) -> bool {
        self.rows.is_identity()
            && self.columns.is_identity()
            && self.value_clears.is_empty()
            && self.format_clears.is_empty()
    }

    /// Returns how the rows and columns of references move.
    #[must_use]
    pub fn lines(&self) -> SheetLines {
        SheetLines {
            rows: LineMap::with_ends(self.rows.clone(), Axis::Rows, &self.row_ends),
            columns: LineMap::with_ends(self.columns.clone(), Axis::Columns, &self.column_ends),
        }
    }

    /// Sets the ends of ranges to those of `lines`, whose axis maps must be those of the level.
    pub(crate) fn set_ends(&mut self, lines: &SheetLines) {
        self.row_ends = lines.rows.undetermined_ends();
        self.column_ends = lines.columns.undetermined_ends();
    }

    /// Iterates over all cleared regions, first those that hide values.
    pub fn clears(&self) -> impl Iterator<Item = &Region> {
        self.value_clears.iter().chain(&self.format_clears)
    }

    /// Returns the total number of spans in the cleared regions. A valid level has at most
    /// `MAX_LEVEL_CLEAR_SPANS`.
    #[must_use]
    pub fn clear_span_count(&self) -> usize {
        self.clears().map(Region::span_count).sum()
    }
}

/// The cells in the intersection of a set of rows and a set of columns, in the coordinates of one
/// level.
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
    /// Returns the total number of row spans and column spans.
    #[must_use]
    pub fn span_count(&self) -> usize {
        self.rows.len() + self.columns.len()
    }

    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.rows.cover(&other.rows) && self.columns.cover(&other.columns)
    }

    /// Returns whether the region contains no cell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() || self.columns.is_empty()
    }

    /// Maps the region along one axis. Rows or columns that were inserted inside a span become part
    /// of the region, so that the number of spans never grows. This is harmless, because the
    /// inserted rows or columns contain no older cells.
    pub fn map(&mut self, axis: Axis, map: &AxisMap) {
        match axis {
            Axis::Rows => self.rows = map.covering_spans(&self.rows),
            Axis::Columns => self.columns = map.covering_spans(&self.columns),
        }
    }
}

/// A stripe: adjacent columns whose cells are stored in the same tiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stripe {
    /// Columns of the stripe.
    pub columns: Span,
    /// Disjoint tiles of the stripe, from top to bottom.
    pub tiles: Vec<StripeTile>,
}

/// A tile of a stripe, with its rows and the location of its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StripeTile {
    /// Rows of the tile.
    pub rows: Span,
    /// Number of cells with a value or a format.
    pub cells: u32,
    /// Location of the tile bytes.
    pub stored: StoredTile,
    /// The formulas of the tile, or `None` if they are not known.
    pub formulas: Option<TileFormulas>,
}

impl StripeTile {
    /// Returns whether the tile may have formulas.
    #[must_use]
    pub fn may_have_formulas(&self) -> bool {
        self.formulas.as_ref().is_none_or(|formulas| formulas.count > 0)
    }
}

/// Location of a tile's bytes.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
#[cbor(flat)]
pub enum StoredTile {
    /// In a chunk of its own.
    #[n(0)]
    Chunk(#[n(0)] ChunkRef),
    /// Stored uncompressed in the chunk format, inside the object that references the tile. Small
    /// levels use this, in particular level 0 in the root.
    #[n(1)]
    Inline(#[cbor(n(0), with = "minicbor::bytes")] Vec<u8>),
}
