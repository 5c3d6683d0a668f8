//! From a level to the objects that hold its index.

use minicbor::Encode;

use super::check::{check_stripes, check_tiles};
use super::{Indexed, IndexedTile, Kept, PackedLevel, PackedSheet, RowIndex, Stripes};
use crate::cbor::{self, Kind};
use crate::error::SnapshotError;
use crate::level::{ChunkRef, Level, LevelSheet, StoredTile, Stripe};
use crate::packed::PackedObject;
use crate::packer::{PackLimits, Packer, Weight};
use cellar_sheet::operation::Span;

/// Bytes of a pair and the end behind it, at most, or of what surrounds the list.
const PAIR_BYTES: usize = 24;

/// Packs the index of a level: what the root holds, and the chunks to write before it. The same level
/// always gives the same. Stripes without tiles are left out; tiles stay what they are, inline or not.
///
/// A list of parts grows beyond `chunk_bytes` if a sheet has millions of tiles; all else is cut.
///
/// # Errors
/// [`SnapshotError::Shape`] for a level that is not in order or beyond its limits, and
/// [`SnapshotError::TooLong`] for a sheet of more tiles than a list of parts can name.
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
    // What is in chunks is not checked with the level.
    moves.check()?;
    let moves = match packer.reserve_inline(moves) {
        true => Kept::Inline(moves.clone()),
        false => Kept::Chunk(packer.pack_chunk(Kind::Moves, moves)?),
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
    let all = indexed(rows)?;
    check_stripes(&all)?;
    if all.is_empty() || packer.reserve_inline_naming(&all, named_by(&all)) {
        return Ok(Stripes::Inline(all));
    }
    let parts = pack_parts(Kind::Stripes, all, packer)?;
    match packer.reserve_inline_naming(&parts, named_by(&parts)) {
        true => Ok(Stripes::Parts(parts)),
        false => Ok(Stripes::Chunk(packer.pack_chunk(Kind::Parts, &parts)?)),
    }
}

fn pack_rows(stripe: &Stripe, packer: &mut Packer) -> Result<RowIndex, SnapshotError> {
    let tiles = stripe.tiles.iter().map(|place| {
        let tile = IndexedTile { cells: place.cells, stored: place.stored.clone() };
        (place.rows, tile)
    });
    let tiles = indexed(tiles)?;
    check_tiles(&tiles)?;
    // One tile alone, however long it is, is not made shorter by another list around it.
    if tiles.items().len() < 2 || packer.fits_chunk(&tiles, named_by(&tiles)) {
        return Ok(RowIndex::Tiles(tiles));
    }
    Ok(RowIndex::Parts(pack_parts(Kind::Tiles, tiles, packer)?))
}

/// Cuts a list into chunks.
fn pack_parts<T: Encode<()> + Names>(
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
        let part = indexed(part)?;
        let extent = part.index().extent().ok_or(OUT_OF_ORDER)?;
        parts.push((extent, packer.pack_chunk(kind, &part)?));
    }
    indexed(parts)
}

/// Something that names chunks.
trait Names {
    /// Their bytes, as stored.
    fn named_bytes(&self) -> u64;
}

impl Names for ChunkRef {
    fn named_bytes(&self) -> u64 {
        self.bytes.into()
    }
}

impl Names for IndexedTile {
    fn named_bytes(&self) -> u64 {
        match &self.stored {
            StoredTile::Inline(_) => 0,
            StoredTile::Chunk(chunk) => chunk.named_bytes(),
        }
    }
}

impl Names for RowIndex {
    fn named_bytes(&self) -> u64 {
        match self {
            Self::Tiles(tiles) => named_by(tiles),
            Self::Parts(parts) => named_by(parts),
        }
    }
}

fn named_by<T: Names>(list: &Indexed<T>) -> u64 {
    list.items().iter().map(Names::named_bytes).fold(0, u64::saturating_add)
}

const OUT_OF_ORDER: SnapshotError =
    SnapshotError::Shape("stripes or tiles are empty, not in order or not apart");

fn indexed<T>(list: impl IntoIterator<Item = (Span, T)>) -> Result<Indexed<T>, SnapshotError> {
    let mut indexed = Indexed::default();
    for (span, item) in list {
        if !indexed.push(span, item) {
            return Err(OUT_OF_ORDER);
        }
    }
    Ok(indexed)
}
