//! Packs a level's tile index into objects.

use minicbor::Encode;

use super::check::{check_stripes, check_tiles};
use super::{Indexed, IndexedTile, InlineOrChunk, PackedLevel, PackedSheet, RowIndex, Stripes};
use crate::cbor::{self, Kind};
use crate::error::SnapshotError;
use crate::level::{ChunkRef, Level, LevelSheet, StoredTile, Stripe};
use crate::packed::PackedObject;
use crate::packer::{PackLimits, Packer, Weight};
use cellar_sheet::operation::Span;

/// Maximum CBOR overhead in bytes, either of a list or of an axis index pair including the end
/// pair.
const PAIR_BYTES: usize = 24;

/// Packs a level's tile index. Returns the part to store in the root and the chunks to write before
/// the root. The result is deterministic. Stripes without tiles are omitted; inline tiles stay
/// inline.
///
/// All lists are split into chunks of at most `chunk_bytes`, except for the part list, which may be
/// longer if a sheet has millions of tiles.
///
/// # Errors
/// [`SnapshotError::Shape`] if the level is invalid, [`SnapshotError::TooLong`] if a sheet has more
/// tiles than a part list can reference.
pub fn pack_level(
    level: &Level,
    limits: PackLimits,
) -> Result<(PackedLevel, Vec<PackedObject>), SnapshotError> {
    let mut packer = Packer::new(limits);
    let sheets = level.sheets.iter().map(|sheet| pack_sheet(sheet, &mut packer));
    let packed = PackedLevel { sheets: sheets.collect::<Result<_, _>>()? };
    packed.check()?;
    Ok((packed, packer.into_objects()))
}

fn pack_sheet(sheet: &LevelSheet, packer: &mut Packer) -> Result<PackedSheet, SnapshotError> {
    let moves = &sheet.moves;
    // Validating the packed level does not include its chunks.
    moves.check()?;
    let moves = if packer.reserve_inline(moves) {
        InlineOrChunk::Inline(moves.clone())
    } else {
        InlineOrChunk::Chunk(packer.pack_chunk(Kind::Moves, moves)?)
    };
    Ok(PackedSheet { sheet: sheet.sheet, moves, stripes: pack_stripes(&sheet.stripes, packer)? })
}

pub(super) fn pack_stripes(
    stripes: &[Stripe],
    packer: &mut Packer,
) -> Result<Stripes, SnapshotError> {
    let mut rows = Vec::new();
    for stripe in stripes.iter().filter(|stripe| !stripe.tiles.is_empty()) {
        rows.push((stripe.columns, pack_rows(stripe, packer)?));
    }
    let all = collect_indexed(rows)?;
    check_stripes(&all)?;
    if all.is_empty() || packer.reserve_inline_naming(&all, total_named_bytes(&all)) {
        return Ok(Stripes::Inline(all));
    }
    let parts = pack_parts(Kind::Stripes, all, packer)?;
    if packer.reserve_inline_naming(&parts, total_named_bytes(&parts)) {
        return Ok(Stripes::Parts(parts));
    }
    Ok(Stripes::Chunk(packer.pack_chunk(Kind::Parts, &parts)?))
}

fn pack_rows(stripe: &Stripe, packer: &mut Packer) -> Result<RowIndex, SnapshotError> {
    let tiles = stripe.tiles.iter().map(|place| {
        let tile = IndexedTile { cells: place.cells, stored: place.stored.clone() };
        (place.rows, tile)
    });
    let tiles = collect_indexed(tiles)?;
    check_tiles(&tiles)?;
    // A list with a single tile cannot be split.
    if tiles.items().len() < 2 || packer.fits_chunk(&tiles, total_named_bytes(&tiles)) {
        return Ok(RowIndex::Tiles(tiles));
    }
    Ok(RowIndex::Parts(pack_parts(Kind::Tiles, tiles, packer)?))
}

/// Splits a list into chunks and returns the chunk list.
fn pack_parts<T: Encode<()> + NamesChunks>(
    kind: Kind,
    list: Indexed<T>,
    packer: &mut Packer,
) -> Result<Indexed<ChunkRef>, SnapshotError> {
    let mut parts = Vec::new();
    let weight = |(_, item): &(Span, T)| Weight {
        bytes: cbor::encoded_bytes(item),
        named_bytes: item.named_bytes(),
    };
    for part in packer.split_into_chunks(list.into_items(), PAIR_BYTES, weight) {
        let part = collect_indexed(part)?;
        let extent = part.index().extent().ok_or(OUT_OF_ORDER)?;
        parts.push((extent, packer.pack_chunk(kind, &part)?));
    }
    collect_indexed(parts)
}

/// A tile index item that references chunks.
trait NamesChunks {
    /// Returns the total stored length of the chunks that the item references.
    fn named_bytes(&self) -> u64;
}

impl NamesChunks for ChunkRef {
    fn named_bytes(&self) -> u64 {
        self.bytes.into()
    }
}

impl NamesChunks for IndexedTile {
    fn named_bytes(&self) -> u64 {
        match &self.stored {
            StoredTile::Inline(_) => 0,
            StoredTile::Chunk(chunk) => chunk.named_bytes(),
        }
    }
}

impl NamesChunks for RowIndex {
    fn named_bytes(&self) -> u64 {
        match self {
            Self::Tiles(tiles) => total_named_bytes(tiles),
            Self::Parts(parts) => total_named_bytes(parts),
        }
    }
}

fn total_named_bytes<T: NamesChunks>(list: &Indexed<T>) -> u64 {
    list.items().iter().map(NamesChunks::named_bytes).fold(0, u64::saturating_add)
}

const OUT_OF_ORDER: SnapshotError =
    SnapshotError::Shape("stripes or tiles are empty, unsorted or overlapping");

fn collect_indexed<T>(
    list: impl IntoIterator<Item = (Span, T)>,
) -> Result<Indexed<T>, SnapshotError> {
    let mut indexed = Indexed::default();
    for (span, item) in list {
        if !indexed.push(span, item) {
            return Err(OUT_OF_ORDER);
        }
    }
    Ok(indexed)
}
