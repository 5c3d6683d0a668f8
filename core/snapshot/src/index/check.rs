//! Validates stored tile indexes, which may be damaged or hostile.

use super::{IndexChunk, SpanMap};
use super::{
    IndexedTile, InlineOrChunk, PackedLevel, PackedSheet, RowIndex, SheetMoves, StripeIndex,
};
use crate::error::SnapshotError;
use crate::level::{ChunkRef, Region, StoredTile};
use crate::saturate::to_usize;
use crate::tile_formulas::TileFormulas;
use cellar_base::limits::{
    MAX_AXIS_RUNS, MAX_CHUNK_BYTES, MAX_LEVEL_CLEAR_SPANS, MAX_LINE_ENDS, MAX_SHEETS,
    MAX_STORED_CHUNK_BYTES, MAX_TILE_READ_AREAS,
};
use cellar_formula::DeletedLines;
use cellar_sheet::axis_map::{Axis, AxisMap};
use cellar_sheet::operation::Spans;

type CheckResult = Result<(), SnapshotError>;

pub(crate) fn ensure(condition: bool, message: &'static str) -> CheckResult {
    if condition { Ok(()) } else { Err(SnapshotError::Shape(message)) }
}

impl PackedLevel {
    pub(crate) fn check(&self) -> CheckResult {
        ensure(self.sheets.len() <= MAX_SHEETS, "a level has too many sheets")?;
        let are_in_order =
            self.sheets.is_sorted_by(|sheet, next_sheet| sheet.sheet < next_sheet.sheet);
        ensure(are_in_order, "the sheets of a level are not in order")?;
        self.sheets.iter().try_for_each(PackedSheet::check)
    }
}

impl PackedSheet {
    fn check(&self) -> CheckResult {
        match &self.moves {
            InlineOrChunk::Inline(moves) => moves.check()?,
            InlineOrChunk::Chunk(chunk) => check_chunk(chunk)?,
        }
        let has_formulas = self.formulas.is_some_and(|count| count > 0);
        let has_reads_of_formulas = has_formulas || self.reads.is_none();
        ensure(has_reads_of_formulas, "a sheet without formulas has areas that they read")?;
        match &self.stripes {
            StripeIndex::Inline(stripes) => check_stripes(stripes),
            StripeIndex::Parts(part_list) => check_part_list(part_list, Axis::Columns),
            StripeIndex::Chunk(chunk) => check_chunk(chunk),
        }
    }
}

impl IndexChunk {
    /// Empty lists are rejected, because a level never references an index without tiles.
    pub(super) fn check(&self) -> CheckResult {
        match self {
            Self::Moves(moves) => moves.check(),
            Self::Parts(part_list) => {
                ensure(!part_list.is_empty(), "a list of parts is empty")?;
                check_part_list(part_list, Axis::Columns)
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
        let are_valid_maps = is_valid_map(&self.rows) && is_valid_map(&self.columns);
        ensure(are_valid_maps, "an axis map has too many runs")?;
        let are_valid_ends = are_deleted(&self.row_ends, &self.rows, Axis::Rows)
            && are_deleted(&self.column_ends, &self.columns, Axis::Columns);
        ensure(are_valid_ends, "ends of ranges are too many, unsorted or not of deleted rows")?;
        let has_few_spans = self.clear_span_count() <= MAX_LEVEL_CLEAR_SPANS;
        ensure(has_few_spans, "the cleared regions of a level have too many spans in one sheet")?;
        let are_valid_regions = self.clears().all(is_valid_region);
        ensure(are_valid_regions, "a cleared region is empty or beyond the end of the sheet")
    }
}

/// Returns whether the ends are sorted, not too many, and only those of deleted rows or columns.
fn are_deleted(ends: &[DeletedLines], map: &AxisMap, axis: Axis) -> bool {
    let is_within_axis = |lines: &DeletedLines| {
        lines.span.count > 0 && lines.span.end().max(lines.start).max(lines.end) <= axis.limit()
    };
    let is_deleted = |lines: &DeletedLines| {
        map.kept_spans(&Spans::one(lines.span.first, lines.span.count)).is_empty()
    };
    ends.len() <= MAX_LINE_ENDS
        && ends.is_sorted_by(|lines, next| lines.span.end() <= next.span.first)
        && ends.iter().all(|lines| is_within_axis(lines) && is_deleted(lines))
}

fn is_valid_map(map: &AxisMap) -> bool {
    map.keeps_order() && map.runs().len() <= MAX_AXIS_RUNS
}

fn is_valid_region(region: &Region) -> bool {
    is_within_axis(&region.rows, Axis::Rows) && is_within_axis(&region.columns, Axis::Columns)
}

/// Returns whether at least one span exists and all spans end within the axis.
fn is_within_axis(spans: &Spans, axis: Axis) -> bool {
    spans.iter().next_back().is_some_and(|last_span| last_span.end() <= axis.limit())
}

pub(super) fn check_stripes(stripes: &SpanMap<RowIndex>) -> CheckResult {
    let message = "a stripe is beyond the end of the sheet, or has no tile list";
    ensure(stripes.is_valid(Axis::Columns), message)?;
    for row_index in stripes.items() {
        match row_index {
            RowIndex::Tiles(tiles) => check_tiles(tiles)?,
            RowIndex::Parts(part_list) => {
                ensure(!part_list.is_empty(), "a list of parts is empty")?;
                check_part_list(part_list, Axis::Rows)?;
            }
        }
    }
    Ok(())
}

fn check_part_list(part_list: &SpanMap<ChunkRef>, axis: Axis) -> CheckResult {
    let message = "a part of an index is beyond the end of the sheet, or has no chunk";
    ensure(part_list.is_valid(axis), message)?;
    part_list.items().iter().try_for_each(check_chunk)
}

pub(super) fn check_tiles(tiles: &SpanMap<IndexedTile>) -> CheckResult {
    let message = "a tile is beyond the end of the sheet, or has no contents";
    ensure(tiles.is_valid(Axis::Rows), message)?;
    ensure(!tiles.is_empty(), "a stripe has no tiles")?;
    for tile in tiles.items() {
        tile.formulas.iter().try_for_each(check_formulas)?;
        match &tile.stored {
            StoredTile::Chunk(chunk) => check_chunk(chunk)?,
            StoredTile::Inline(bytes) => {
                let has_valid_length = !bytes.is_empty() && bytes.len() <= MAX_CHUNK_BYTES;
                ensure(has_valid_length, "an inline tile is empty or too long")?;
            }
        }
    }
    Ok(())
}

fn check_formulas(formulas: &TileFormulas) -> CheckResult {
    ensure(formulas.count > 0, "a tile without formulas has a number of formulas")?;
    let has_few_areas = formulas.reads.areas().len() <= MAX_TILE_READ_AREAS;
    ensure(has_few_areas, "the formulas of a tile read too many areas")
}

/// Checks that the declared length of a referenced chunk is nonzero and within the limit.
pub(crate) fn check_chunk(chunk: &ChunkRef) -> CheckResult {
    let is_within_limit = to_usize(chunk.bytes) <= MAX_STORED_CHUNK_BYTES;
    ensure(is_within_limit && chunk.bytes > 0, "a chunk is empty or too long")
}
