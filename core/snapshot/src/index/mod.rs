//! The tile index of a level, which maps ranges of rows and columns to tiles (blocks of cells). The
//! index itself is stored in one or more objects. `docs/reference/index-and-root-format.md`
//! specifies the encoding.
//!
//! A small part of the index is stored inline, in the object that references the part. Depending on
//! the size of the level, this results in the following layouts, from small to large:
//!
//! 1. The root contains the index and the tiles.
//! 2. The root contains the index; each tile is a chunk.
//! 3. The index is a single part, stored in one chunk that the root references.
//! 4. The index has many parts. Each part contains the columns and rows of adjacent stripes. The
//!    list of parts, also called the column index, is stored in the root or in a separate chunk.
//! 5. If stripes are very tall, their rows are also divided into parts.
//!
//! Reading a tile takes at most four reads after the root (part list, part, rows, tile), but
//! usually only one.

mod axis_index;
mod check;
mod children;
mod chunk;
mod import;
mod lookup;
mod pack;
mod span_map;
#[cfg(test)]
pub(crate) mod tests;
mod version;

pub use axis_index::{AxisIndex, RunStart};
pub(super) use check::{check_chunk, ensure};
pub use children::{ChildIndex, ChildPart, ChildTile, Children};
pub use chunk::IndexChunk;
#[cfg(test)]
pub(crate) use import::pack_import_within;
pub use import::{pack_import, pack_import_as_chunk, pack_import_part};
pub use lookup::{LoadedChunks, LocatedTile, Lookup};
pub use pack::pack_level;
pub use span_map::SpanMap;

use minicbor::{Decode, Encode};

use super::cbor;
use super::level::{ChunkRef, SheetMoves, StoredTile};
use super::tile_formulas::{TileFormulas, optional_read_areas};
use cellar_base::limits::MAX_SHEETS;
use cellar_formula::ReadAreas;
use cellar_sheet::operation::SheetId;

/// A value stored either inline or in a separate chunk.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
#[cbor(flat)]
pub enum InlineOrChunk<T> {
    /// Stored inside the referencing object.
    #[n(0)]
    Inline(#[n(0)] T),
    /// Stored in a chunk.
    #[n(1)]
    Chunk(#[n(0)] ChunkRef),
}

/// Tile indexes, axis maps and cleared regions of a level, as stored in a root.
#[derive(Debug, Clone, PartialEq, Default, Encode, Decode)]
#[cbor(transparent)]
pub struct PackedLevel {
    /// Changed sheets, in ascending order of their ids.
    #[cbor(n(0), decode_with = "cbor::at_most::<_, _, MAX_SHEETS>")]
    pub sheets: Vec<PackedSheet>,
}

/// Tile index, axis maps and cleared regions of one sheet in a level.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
#[cbor(array)]
pub struct PackedSheet {
    /// Id of the sheet.
    #[cbor(n(0), with = "cbor::sheet_id")]
    pub sheet: SheetId,
    /// Effect of the level on older cells: how rows and columns move, and which cells are hidden.
    #[n(1)]
    pub moves: InlineOrChunk<SheetMoves>,
    /// Tile index of the sheet.
    #[n(2)]
    pub stripes: StripeIndex,
    /// Number of formulas in the sheet's tiles, or `None` if it is not known, because a tile was
    /// written by an older release or imported. If it is known, each tile with formulas has its
    /// formulas in the index.
    #[n(3)]
    pub formulas: Option<u64>,
    /// The cells that the formulas of all tiles read. `None` if there are no formulas, if they are
    /// not known, or if the root has no space.
    #[cbor(n(4), with = "optional_read_areas", has_nil)]
    pub reads: Option<ReadAreas>,
}

/// Tile index of a sheet, which contains the columns of all stripes and the rows of each stripe.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
#[cbor(flat)]
pub enum StripeIndex {
    /// The whole index.
    #[n(0)]
    Inline(#[n(0)] SpanMap<RowIndex>),
    /// Chunks that each contain an index part, which consists of adjacent stripes.
    #[n(1)]
    Parts(#[n(0)] SpanMap<ChunkRef>),
    /// Chunk that contains the list of index parts.
    #[n(2)]
    Chunk(#[n(0)] ChunkRef),
}

/// The rows of a stripe.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
#[cbor(flat)]
pub enum RowIndex {
    /// All tiles of the stripe.
    #[n(0)]
    Tiles(#[n(0)] SpanMap<IndexedTile>),
    /// Chunks that each contain the tiles of adjacent rows.
    #[n(1)]
    Parts(#[n(0)] SpanMap<ChunkRef>),
}

/// A tile in a tile index, which stores the rows and columns of its tiles separately.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
#[cbor(array)]
pub struct IndexedTile {
    /// Number of cells with a value or a format.
    #[n(0)]
    pub cells: u32,
    /// Location of the tile bytes.
    #[n(1)]
    pub stored: StoredTile,
    /// The formulas of the tile, at least one. `None` if there are none or if they are not known.
    #[n(2)]
    pub formulas: Option<TileFormulas>,
}

impl PackedLevel {
    /// Returns the level's effect on a sheet, or `None` if the level does not change the sheet.
    #[must_use]
    pub fn sheet(&self, sheet: SheetId) -> Option<&PackedSheet> {
        let index = self.sheets.binary_search_by_key(&sheet, |packed| packed.sheet).ok()?;
        self.sheets.get(index)
    }
}
