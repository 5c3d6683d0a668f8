//! The index of a level: which tile is where, and in how many objects that is written down. Byte by byte in `FORMAT-index-and-root.md`.
//!
//! Packaging, from small to large; whatever is small enough stays in what refers to it:
//! 1. the index and the tiles themselves in the root,
//! 2. the index in the root, each tile a chunk,
//! 3. the index a chunk of its own: one part, which the root names,
//! 4. many parts, each with the columns and rows of some stripes; the list of parts, which is the
//!    column index, in the root or a chunk of its own,
//! 5. stripes so tall that their rows are in parts, too.
//!
//! So a tile is at most four reads from the root: list of parts, part, rows, tile; most often one.

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
pub use import::{pack_import, pack_import_apart};
pub use indexed::Indexed;
pub use lookup::{Fetched, Loaded, Places};
pub use pack::pack_level;

use minicbor::{Decode, Encode};

use super::cbor;
use super::level::{ChunkRef, SheetMoves, StoredTile};
use cellar_base::limits::MAX_SHEETS;
use cellar_sheet::operation::SheetId;

/// Inside of what refers to it, or a chunk of its own.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
#[cbor(flat)]
pub enum Kept<T> {
    /// Here.
    #[n(0)]
    Inline(#[n(0)] T),
    /// In a chunk.
    #[n(1)]
    Chunk(#[n(0)] ChunkRef),
}

/// A level as a root has it.
#[derive(Debug, Clone, PartialEq, Default, Encode, Decode)]
#[cbor(transparent)]
pub struct PackedLevel {
    /// The sheets that it changes, by number, ascending.
    #[cbor(n(0), decode_with = "cbor::at_most::<_, _, MAX_SHEETS>")]
    pub sheets: Vec<PackedSheet>,
}

/// What a level did to one sheet.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
#[cbor(array)]
pub struct PackedSheet {
    /// The sheet.
    #[cbor(n(0), with = "cbor::sheet_id")]
    pub sheet: SheetId,
    /// What it did to older cells.
    #[n(1)]
    pub moves: Kept<SheetMoves>,
    /// Its own cells.
    #[n(2)]
    pub stripes: Stripes,
}

/// The index of a sheet's tiles: first of its columns, then of the rows of each stripe.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
#[cbor(flat)]
pub enum Stripes {
    /// All of it, here.
    #[n(0)]
    Inline(#[n(0)] Indexed<RowIndex>),
    /// In parts, each the index of neighbouring stripes.
    #[n(1)]
    Parts(#[n(0)] Indexed<ChunkRef>),
    /// In parts, whose list is a chunk of its own.
    #[n(2)]
    Chunk(#[n(0)] ChunkRef),
}

/// The index of a stripe's rows.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
#[cbor(flat)]
pub enum RowIndex {
    /// The tiles.
    #[n(0)]
    Tiles(#[n(0)] Indexed<IndexedTile>),
    /// In parts, each the tiles of neighbouring rows.
    #[n(1)]
    Parts(#[n(0)] Indexed<ChunkRef>),
}

/// A tile, without its place.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
#[cbor(array)]
pub struct IndexedTile {
    /// Its cells that have a value or a format.
    #[n(0)]
    pub cells: u32,
    /// Its bytes.
    #[n(1)]
    pub stored: StoredTile,
}

impl PackedLevel {
    /// What the level did to a sheet, if anything.
    #[must_use]
    pub fn sheet(&self, sheet: SheetId) -> Option<&PackedSheet> {
        let at = self.sheets.binary_search_by_key(&sheet, |packed| packed.sheet).ok()?;
        self.sheets.get(at)
    }
}
