//! Packs a level's tile index into objects.

use minicbor::Encode;

use super::check::{check_stripes, check_tiles};
use super::{IndexedTile, InlineOrChunk, PackedLevel, PackedSheet, RowIndex, SpanMap, StripeIndex};
use crate::cbor::{self, Body, Kind};
use crate::error::SnapshotError;
use crate::level::{ChunkRef, Level, LevelSheet, StoredTile, Stripe, StripeTile};
use crate::packed::PackedObject;
use crate::packer::{PackLimits, Packer, Weight};
use crate::tile_formulas::StoredReads;
use cellar_base::limits::MAX_SHEET_READ_AREAS;
use cellar_formula::ReadAreas;
use cellar_sheet::operation::Span;

/// Maximum CBOR overhead in bytes of a list, and of a run of an axis index. The overhead of the
/// last run includes the end entry.
const RUN_BYTES: usize = 24;

/// Packs a level's tile index. Returns the part to store in the root and the chunks to write before
/// the root. The result is deterministic.
///
/// Stripes without tiles are omitted, and inline tiles remain inline. All lists except the list of
/// index parts are split into chunks of at most `chunk_bytes`. The list of index parts may be
/// longer if a sheet has millions of tiles.
///
/// # Errors
/// Returns [`SnapshotError::Shape`] if the level is invalid, and [`SnapshotError::TooLong`] if a
/// sheet has more tiles than a list of index parts can reference.
pub fn pack_level(
    level: &Level,
    limits: PackLimits,
) -> Result<(PackedLevel, Vec<PackedObject>), SnapshotError> {
    let mut packer = Packer::new(limits);
    let mut packed_level = PackedLevel::default();
    for sheet in &level.sheets {
        packed_level.sheets.push(pack_sheet(sheet, &mut packer)?);
    }
    packed_level.check()?;
    Ok((packed_level, packer.into_objects()))
}

fn pack_sheet(sheet: &LevelSheet, packer: &mut Packer) -> Result<PackedSheet, SnapshotError> {
    // Check axis maps and cleared regions before they are packed, because the check of the packed
    // level does not include the contents of chunks.
    sheet.moves.check()?;
    let packed_moves = if packer.reserve_inline(&sheet.moves) {
        InlineOrChunk::Inline(sheet.moves.clone())
    } else {
        InlineOrChunk::Chunk(packer.pack_chunk(Kind::Moves, &sheet.moves)?)
    };
    let stripes = pack_stripes(&sheet.stripes, packer)?;
    let (formulas, reads) = formulas_of_sheet(&sheet.stripes).unzip();
    let reads = reads.filter(|_| formulas > Some(0));
    let reads = reads.filter(|reads: &ReadAreas| packer.reserve_inline(&StoredReads(reads)));
    Ok(PackedSheet { sheet: sheet.sheet, moves: packed_moves, stripes, formulas, reads })
}

/// Returns the number of formulas and the cells that they read, or `None` if they are not known.
fn formulas_of_sheet(stripes: &[Stripe]) -> Option<(u64, ReadAreas)> {
    let (mut count, mut reads) = (0_u64, ReadAreas::default());
    for tile in stripes.iter().flat_map(|stripe| &stripe.tiles) {
        let formulas = tile.formulas.as_ref()?;
        count = count.saturating_add(formulas.count.into());
        reads.add_all(&formulas.reads, MAX_SHEET_READ_AREAS);
    }
    Some((count, reads))
}

/// Depending on its size, the result contains the index itself, the list of its parts, or a
/// reference to a chunk with this list.
pub(super) fn pack_stripes(
    stripes: &[Stripe],
    packer: &mut Packer,
) -> Result<StripeIndex, SnapshotError> {
    let mut row_indexes = Vec::new();
    for stripe in stripes.iter().filter(|stripe| !stripe.tiles.is_empty()) {
        row_indexes.push((stripe.columns, pack_rows(stripe, packer)?));
    }
    let whole_index = to_span_map(row_indexes)?;
    check_stripes(&whole_index)?;
    let referenced_bytes = total_referenced_bytes(&whole_index);
    if whole_index.is_empty() || packer.reserve_inline_with_chunks(&whole_index, referenced_bytes) {
        return Ok(StripeIndex::Inline(whole_index));
    }
    let part_list = split_into_parts(Kind::Stripes, whole_index, packer)?;
    if packer.reserve_inline_with_chunks(&part_list, total_referenced_bytes(&part_list)) {
        return Ok(StripeIndex::Parts(part_list));
    }
    Ok(StripeIndex::Chunk(packer.pack_chunk(Kind::Parts, &part_list)?))
}

fn pack_rows(stripe: &Stripe, packer: &mut Packer) -> Result<RowIndex, SnapshotError> {
    let tiles = index_tiles(&stripe.tiles)?;
    // A list with only one tile cannot be split.
    if tiles.items().len() < 2 || packer.fits_chunk(&tiles, total_referenced_bytes(&tiles)) {
        return Ok(RowIndex::Tiles(tiles));
    }
    Ok(RowIndex::Parts(split_into_parts(Kind::Tiles, tiles, packer)?))
}

fn index_tiles(tiles: &[StripeTile]) -> Result<SpanMap<IndexedTile>, SnapshotError> {
    let tiles = to_span_map(tiles.iter().map(|tile| {
        let formulas = tile.formulas.clone().filter(|formulas| formulas.count > 0);
        let indexed_tile = IndexedTile { cells: tile.cells, stored: tile.stored.clone(), formulas };
        (tile.rows, indexed_tile)
    }))?;
    check_tiles(&tiles)?;
    Ok(tiles)
}

/// Packs the part of a tile index that contains the first `tiles`, if they fill a part. Returns the
/// number of tiles in it.
pub(super) fn pack_first_part(
    tiles: &[StripeTile],
    packer: &mut Packer,
) -> Result<Option<usize>, SnapshotError> {
    let mut groups = split_into_groups(index_tiles(tiles)?, packer).into_iter();
    let (Some(first_group), Some(_next_group)) = (groups.next(), groups.next()) else {
        return Ok(None);
    };
    let tile_count = first_group.len();
    packer.pack_chunk(Kind::Tiles, &to_span_map(first_group)?)?;
    Ok(Some(tile_count))
}

fn split_into_parts<T: Encode<()> + ReferencesChunks>(
    kind: Kind,
    whole_index: SpanMap<T>,
    packer: &mut Packer,
) -> Result<SpanMap<ChunkRef>, SnapshotError>
where
    SpanMap<T>: Body,
{
    let mut part_chunks = Vec::new();
    for items in split_into_groups(whole_index, packer) {
        let part = to_span_map(items)?;
        let extent = part.spans().extent().ok_or(OUT_OF_ORDER)?;
        part_chunks.push((extent, packer.pack_chunk(kind, &part)?));
    }
    to_span_map(part_chunks)
}

/// Each group is as long as the limits allow, so that items after a group do not change it.
fn split_into_groups<T: Encode<()> + ReferencesChunks>(
    whole_index: SpanMap<T>,
    packer: &Packer,
) -> Vec<Vec<(Span, T)>> {
    let weigh_item = |(_, item): &(Span, T)| Weight {
        bytes: cbor::encoded_byte_length(item),
        referenced_bytes: item.referenced_bytes(),
    };
    packer.split_into_chunks(whole_index.into_vec(), RUN_BYTES, weigh_item)
}

trait ReferencesChunks {
    fn referenced_bytes(&self) -> u64;
}

impl ReferencesChunks for ChunkRef {
    fn referenced_bytes(&self) -> u64 {
        self.bytes.into()
    }
}

impl ReferencesChunks for IndexedTile {
    fn referenced_bytes(&self) -> u64 {
        match &self.stored {
            StoredTile::Inline(_) => 0,
            StoredTile::Chunk(chunk) => chunk.referenced_bytes(),
        }
    }
}

impl ReferencesChunks for RowIndex {
    fn referenced_bytes(&self) -> u64 {
        match self {
            Self::Tiles(tiles) => total_referenced_bytes(tiles),
            Self::Parts(parts) => total_referenced_bytes(parts),
        }
    }
}

fn total_referenced_bytes<T: ReferencesChunks>(span_map: &SpanMap<T>) -> u64 {
    span_map.items().iter().map(ReferencesChunks::referenced_bytes).sum()
}

const OUT_OF_ORDER: SnapshotError =
    SnapshotError::Shape("stripes or tiles are empty, unsorted or overlapping");

fn to_span_map<T>(
    spans_and_items: impl IntoIterator<Item = (Span, T)>,
) -> Result<SpanMap<T>, SnapshotError> {
    let mut span_map = SpanMap::default();
    for (span, item) in spans_and_items {
        if !span_map.push(span, item) {
            return Err(OUT_OF_ORDER);
        }
    }
    Ok(span_map)
}
