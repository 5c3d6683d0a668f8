//! The tile index of a level, which maps ranges of rows and columns to tiles. The index itself is
//! stored in one or more objects. `FORMAT-index-and-root.md` specifies the encoding.
//!
//! If a part of the index is small enough, it is stored inside the object that refers to it. From
//! small to large levels, the following layouts result:
//!
//! 1. The index and the tiles are in the root.
//! 2. The index is in the root; each tile is a chunk.
//! 3. The index is one chunk, a single part that the root refers to.
//! 4. The index has many parts, each with the columns and rows of adjacent stripes. The list of
//!    parts is the column index; it is in the root or in a separate chunk.
//! 5. If stripes are very tall, their rows are also divided into parts.
//!
//! Reading a tile takes at most four reads after the root (list of parts, part, rows, tile), but
//! usually only one.

mod axis_index;
mod check;
mod children;
mod chunk;
mod import;
mod indexed;
mod lookup;
mod pack;
#[cfg(test)]
pub(crate) mod tests;

pub use axis_index::{AxisIndex, Pair};
pub(super) use check::{check_chunk, ensure};
pub use children::{ChildIndex, ChildPart, ChildTile, Children};
pub use chunk::IndexChunk;
#[cfg(test)]
pub(crate) use import::pack_import_within;
pub use import::{pack_import, pack_import_as_chunk};
pub use indexed::Indexed;
pub use lookup::{Fetched, Loaded, Places};
pub use pack::pack_level;

use minicbor::{Decode, Encode};

use super::cbor;
use super::level::{ChunkRef, SheetMoves, StoredTile};
use cellar_base::limits::MAX_SHEETS;
use cellar_sheet::operation::SheetId;

/// A value that is stored either inline or in a separate chunk.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
#[cbor(flat)]
pub enum InlineOrChunk<T> {
    /// The value is stored inside the object that refers to it.
    #[n(0)]
    Inline(#[n(0)] T),
    /// Stored in a chunk.
    #[n(1)]
    Chunk(#[n(0)] ChunkRef),
}

/// The tile index and moves of a level, as stored in a root.
#[derive(Debug, Clone, PartialEq, Default, Encode, Decode)]
#[cbor(transparent)]
pub struct PackedLevel {
    /// Changed sheets, sorted by sheet id.
    #[cbor(n(0), decode_with = "cbor::at_most::<_, _, MAX_SHEETS>")]
    pub sheets: Vec<PackedSheet>,
}

/// The tile index and moves of one sheet of a level.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
#[cbor(array)]
pub struct PackedSheet {
    /// Id of the sheet.
    #[cbor(n(0), with = "cbor::sheet_id")]
    pub sheet: SheetId,
    /// How the level moves and hides cells of older levels.
    #[n(1)]
    pub moves: InlineOrChunk<SheetMoves>,
    /// Tile index of the sheet.
    #[n(2)]
    pub stripes: Stripes,
}

/// The tile index of a sheet: the columns of its stripes, then the rows of each stripe.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
#[cbor(flat)]
pub enum Stripes {
    /// The whole index.
    #[n(0)]
    Inline(#[n(0)] Indexed<RowIndex>),
    /// Chunks that each contain one part of the index, for adjacent stripes.
    #[n(1)]
    Parts(#[n(0)] Indexed<ChunkRef>),
    /// A chunk with the list of parts.
    #[n(2)]
    Chunk(#[n(0)] ChunkRef),
}

/// The rows of a stripe.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
#[cbor(flat)]
pub enum RowIndex {
    /// All tiles of the stripe.
    #[n(0)]
    Tiles(#[n(0)] Indexed<IndexedTile>),
    /// Chunks that each contain one part of the tiles, for adjacent rows.
    #[n(1)]
    Parts(#[n(0)] Indexed<ChunkRef>),
}

/// A tile without its rows and columns.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
#[cbor(array)]
pub struct IndexedTile {
    /// Number of cells that have a value or a format.
    #[n(0)]
    pub cells: u32,
    /// Location of the tile's bytes.
    #[n(1)]
    pub stored: StoredTile,
}

impl PackedLevel {
    /// Returns the effect of the level on a sheet; `None` if the level does not change the sheet.
    #[must_use]
    pub fn sheet(&self, sheet: SheetId) -> Option<&PackedSheet> {
        let index = self.sheets.binary_search_by_key(&sheet, |packed| packed.sheet).ok()?;
        self.sheets.get(index)
    }
}
