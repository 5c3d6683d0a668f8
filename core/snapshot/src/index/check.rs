//! What an index must be, whoever wrote it.

use super::{IndexChunk, Indexed};
use super::{IndexedTile, Kept, PackedLevel, PackedSheet, RowIndex, SheetMoves, Stripes};
use crate::error::SnapshotError;
use crate::level::{ChunkRef, Region, StoredTile};
use cellar_base::limits::{
    MAX_AXIS_RUNS, MAX_CHUNK_BYTES, MAX_LEVEL_CLEAR_SPANS, MAX_SHEETS, MAX_STORED_CHUNK_BYTES,
};
use cellar_sheet::axis_map::{Axis, AxisMap};

type Checked = Result<(), SnapshotError>;

pub(crate) fn ensure(sound: bool, what: &'static str) -> Checked {
    if sound { Ok(()) } else { Err(SnapshotError::Shape(what)) }
}

impl PackedLevel {
    /// Checks the order and the limits of all that is in the root.
    pub(crate) fn check(&self) -> Checked {
        ensure(self.sheets.len() <= MAX_SHEETS, "a level has too many sheets")?;
        let ascending = self.sheets.is_sorted_by(|one, next| one.sheet < next.sheet);
        ensure(ascending, "the sheets of a level are not in order")?;
        self.sheets.iter().try_for_each(PackedSheet::check)
    }
}

impl PackedSheet {
    fn check(&self) -> Checked {
        match &self.moves {
            Kept::Inline(moves) => moves.check()?,
            Kept::Chunk(chunk) => check_chunk(chunk)?,
        }
        match &self.stripes {
            Stripes::Inline(stripes) => check_stripes(stripes),
            Stripes::Parts(parts) => check_parts(parts, Axis::Columns),
            Stripes::Chunk(chunk) => check_chunk(chunk),
        }
    }
}

impl IndexChunk {
    /// Checks what stands in a chunk of an index. Lists there are not empty: a level refers to
    /// nothing that has no tiles.
    pub(super) fn check(&self) -> Checked {
        match self {
            Self::Moves(moves) => moves.check(),
            Self::Parts(parts) => {
                ensure(!parts.is_empty(), "a list of parts is empty")?;
                check_parts(parts, Axis::Columns)
            }
            Self::Stripes(stripes) => {
                ensure(!stripes.is_empty(), "a part of an index has no stripes")?;
                check_stripes(stripes)
            }
            Self::Tiles(tiles) => check_tiles(tiles),
        }
    }
}

impl SheetMoves {
    pub(super) fn check(&self) -> Checked {
        let fits = |map: &AxisMap| map.keeps_order() && map.runs().len() <= MAX_AXIS_RUNS;
        ensure(fits(&self.rows) && fits(&self.columns), "an axis map has too many runs")?;
        let few = self.clear_spans() <= MAX_LEVEL_CLEAR_SPANS;
        ensure(few, "a level clears too many spans of a sheet")?;
        let whole = |region: &Region| {
            let ends = |spans: &cellar_sheet::operation::Spans, axis: Axis| {
                spans.iter().next_back().is_some_and(|last| last.end() <= axis.limit())
            };
            ends(&region.rows, Axis::Rows) && ends(&region.columns, Axis::Columns)
        };
        ensure(self.clears().all(whole), "a cleared region is empty or beyond the end of the sheet")
    }
}

pub(super) fn check_stripes(stripes: &Indexed<RowIndex>) -> Checked {
    ensure(stripes.is_sound(Axis::Columns), "stripes are beyond the end or not all there")?;
    stripes.items().iter().try_for_each(|rows| match rows {
        RowIndex::Tiles(tiles) => check_tiles(tiles),
        RowIndex::Parts(parts) => {
            ensure(!parts.is_empty(), "a list of parts is empty")?;
            check_parts(parts, Axis::Rows)
        }
    })
}

fn check_parts(parts: &Indexed<ChunkRef>, axis: Axis) -> Checked {
    ensure(parts.is_sound(axis), "parts of an index are beyond the end or not all there")?;
    parts.items().iter().try_for_each(check_chunk)
}

pub(super) fn check_tiles(tiles: &Indexed<IndexedTile>) -> Checked {
    ensure(tiles.is_sound(Axis::Rows), "tiles are beyond the end or not all there")?;
    ensure(!tiles.is_empty(), "a stripe has no tiles")?;
    tiles.items().iter().try_for_each(|tile| match &tile.stored {
        StoredTile::Chunk(chunk) => check_chunk(chunk),
        StoredTile::Inline(bytes) => {
            let sound = !bytes.is_empty() && bytes.len() <= MAX_CHUNK_BYTES;
            ensure(sound, "the bytes of a tile are none or too many")
        }
    })
}

pub(crate) fn check_chunk(chunk: &ChunkRef) -> Checked {
    let fits = usize::try_from(chunk.bytes).is_ok_and(|bytes| bytes <= MAX_STORED_CHUNK_BYTES);
    ensure(fits && chunk.bytes > 0, "a chunk is longer than any may be")
}
