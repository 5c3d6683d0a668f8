//! Validates stored tile indexes, which may be damaged or hostile.

use super::{IndexChunk, Indexed};
use super::{IndexedTile, InlineOrChunk, PackedLevel, PackedSheet, RowIndex, SheetMoves, Stripes};
use crate::error::SnapshotError;
use crate::level::{ChunkRef, Region, StoredTile};
use cellar_base::limits::{
    MAX_AXIS_RUNS, MAX_CHUNK_BYTES, MAX_LEVEL_CLEAR_SPANS, MAX_SHEETS, MAX_STORED_CHUNK_BYTES,
};
use cellar_sheet::axis_map::{Axis, AxisMap};
use cellar_sheet::operation::Spans;

type CheckResult = Result<(), SnapshotError>;

/// Returns [`SnapshotError::Shape`] with `message` unless `condition` is true.
pub(crate) fn ensure(condition: bool, message: &'static str) -> CheckResult {
    if condition { Ok(()) } else { Err(SnapshotError::Shape(message)) }
}

impl PackedLevel {
    /// Checks the order and limits of the parts stored in the root.
    pub(crate) fn check(&self) -> CheckResult {
        ensure(self.sheets.len() <= MAX_SHEETS, "a level has too many sheets")?;
        let ascending = self.sheets.is_sorted_by(|one, next| one.sheet < next.sheet);
        ensure(ascending, "the sheets of a level are not in order")?;
        self.sheets.iter().try_for_each(PackedSheet::check)
    }
}

impl PackedSheet {
    fn check(&self) -> CheckResult {
        match &self.moves {
            InlineOrChunk::Inline(moves) => moves.check()?,
            InlineOrChunk::Chunk(chunk) => check_chunk(chunk)?,
        }
        match &self.stripes {
            Stripes::Inline(stripes) => check_stripes(stripes),
            Stripes::Parts(parts) => check_parts(parts, Axis::Columns),
            Stripes::Chunk(chunk) => check_chunk(chunk),
        }
    }
}

impl IndexChunk {
    /// Checks the contents of a chunk. Empty lists are rejected, because a level never references
    /// an index without tiles.
    pub(super) fn check(&self) -> CheckResult {
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
    pub(super) fn check(&self) -> CheckResult {
        let is_valid_map = |map: &AxisMap| map.keeps_order() && map.runs().len() <= MAX_AXIS_RUNS;
        ensure(
            is_valid_map(&self.rows) && is_valid_map(&self.columns),
            "an axis map has too many runs",
        )?;
        let has_few_spans = self.clear_spans() <= MAX_LEVEL_CLEAR_SPANS;
        ensure(has_few_spans, "a level clears too many spans of a sheet")?;
        let ends_within = |spans: &Spans, axis: Axis| {
            spans.iter().next_back().is_some_and(|last| last.end() <= axis.limit())
        };
        let is_valid_region = |region: &Region| {
            ends_within(&region.rows, Axis::Rows) && ends_within(&region.columns, Axis::Columns)
        };
        ensure(
            self.clears().all(is_valid_region),
            "a cleared region is empty or beyond the end of the sheet",
        )
    }
}

pub(super) fn check_stripes(stripes: &Indexed<RowIndex>) -> CheckResult {
    ensure(
        stripes.is_valid(Axis::Columns),
        "stripes are beyond the end of the sheet, or items are missing",
    )?;
    stripes.items().iter().try_for_each(|rows| match rows {
        RowIndex::Tiles(tiles) => check_tiles(tiles),
        RowIndex::Parts(parts) => {
            ensure(!parts.is_empty(), "a list of parts is empty")?;
            check_parts(parts, Axis::Rows)
        }
    })
}

fn check_parts(parts: &Indexed<ChunkRef>, axis: Axis) -> CheckResult {
    ensure(
        parts.is_valid(axis),
        "parts of an index are beyond the end of the sheet, or items are missing",
    )?;
    parts.items().iter().try_for_each(check_chunk)
}

pub(super) fn check_tiles(tiles: &Indexed<IndexedTile>) -> CheckResult {
    ensure(
        tiles.is_valid(Axis::Rows),
        "tiles are beyond the end of the sheet, or items are missing",
    )?;
    ensure(!tiles.is_empty(), "a stripe has no tiles")?;
    tiles.items().iter().try_for_each(|tile| match &tile.stored {
        StoredTile::Chunk(chunk) => check_chunk(chunk),
        StoredTile::Inline(bytes) => {
            let has_valid_length = !bytes.is_empty() && bytes.len() <= MAX_CHUNK_BYTES;
            ensure(has_valid_length, "an inline tile is empty or too long")
        }
    })
}

/// Checks that the declared length of a referenced chunk is within bounds and not zero.
pub(crate) fn check_chunk(chunk: &ChunkRef) -> CheckResult {
    let fits = usize::try_from(chunk.bytes).is_ok_and(|bytes| bytes <= MAX_STORED_CHUNK_BYTES);
    ensure(fits && chunk.bytes > 0, "a chunk is empty or too long")
}
