//! The index of an imported sheet, which stands in a log entry instead of a root (design
//! `3-snapshots.md` §8).

use super::check::{check_chunk, check_stripes};
use super::pack::pack_stripes;
use super::{IndexChunk, Kept, PackedSheet, SheetMoves, Stripes};
use crate::operation::{ImportIndex, ImportSheet};
use crate::snapshot::SnapshotError;
use crate::snapshot::cbor::{self, Kind};
use crate::snapshot::level::Stripe;
use crate::snapshot::packed::PackedObject;
use crate::snapshot::packer::{PackLimits, Packer};

/// Packs the index of a sheet whose tiles are chunks: what its log entry holds, and the chunks to
/// store before it, those first that others refer to. The same stripes always give the same.
///
/// # Errors
/// [`SnapshotError::Shape`] for stripes that are not in order or have a tile that is no chunk, and
/// [`SnapshotError::TooLong`] for a sheet of more tiles than a list of parts can name.
pub fn pack_import(stripes: &[Stripe]) -> Result<(ImportIndex, Vec<PackedObject>), SnapshotError> {
    pack_import_within(stripes, PackLimits::IMPORT)
}

/// As [`pack_import`], with one chunk in the entry, whatever the sheet's size: for all but the first
/// sheets of an import of many, whose indexes are checked in one request.
///
/// # Errors
/// As [`pack_import`].
pub fn pack_import_apart(
    stripes: &[Stripe],
) -> Result<(ImportIndex, Vec<PackedObject>), SnapshotError> {
    let limits = PackLimits { inline_bytes: 0, inline_total_bytes: 0, ..PackLimits::IMPORT };
    pack_import_within(stripes, limits)
}

/// The same, with other limits: tests make deep indexes of few tiles.
pub(crate) fn pack_import_within(
    stripes: &[Stripe],
    limits: PackLimits,
) -> Result<(ImportIndex, Vec<PackedObject>), SnapshotError> {
    let mut packer = Packer::new(limits);
    let packed = pack_stripes(stripes, &mut packer)?;
    let index = ImportIndex::new(packed);
    let index = index.map_err(|_| SnapshotError::Shape("an import has a tile that is no chunk"))?;
    Ok((index, packer.into_objects()))
}

impl PackedSheet {
    /// An imported sheet, as a level has it: nothing is below it.
    #[must_use]
    pub fn imported(import: &ImportSheet) -> Self {
        let moves = Kept::Inline(SheetMoves::default());
        Self { sheet: import.sheet, moves, stripes: import.index.stripes().clone() }
    }
}

impl Stripes {
    /// As an entry of the log holds it.
    pub(crate) fn to_import_bytes(&self) -> Vec<u8> {
        cbor::encode(Kind::Import, self)
    }

    /// Reads what [`Stripes::to_import_bytes`] wrote; total. Every tile is a chunk.
    pub(crate) fn from_import_bytes(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let stripes: Self = cbor::decode(Kind::Import, bytes)?;
        stripes.check()?;
        stripes.children()?;
        Ok(stripes)
    }

    fn check(&self) -> Result<(), SnapshotError> {
        match self {
            Self::Inline(stripes) => check_stripes(stripes),
            Self::Parts(parts) => IndexChunk::Parts(parts.clone()).check(),
            Self::Chunk(chunk) => check_chunk(chunk),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Children;
    use super::super::tests::{chunk_of, span};
    use super::*;
    use crate::limits::{IMPORT_NAMED_BYTES, MAX_STORED_CHUNK_BYTES};
    use crate::operation::Span;
    use crate::snapshot::level::{StoredTile, TilePlace};
    use crate::snapshot::packed::{Bounds, unpack};

    fn stripes(tiles: u32) -> Vec<Stripe> {
        let place = |number| TilePlace {
            rows: span(number, number + 1),
            cells: 1,
            stored: StoredTile::Chunk(chunk_of(number)),
        };
        let tiles = (0..tiles).map(place).collect();
        vec![Stripe { columns: Span { first: 0, count: 128 }, tiles }]
    }

    #[test]
    fn an_index_apart_is_one_chunk_in_its_entry_and_names_the_same_tiles() {
        for tiles in [0, 1, 30, 400] {
            let stripes = stripes(tiles);
            let (index, _) = pack_import(&stripes).unwrap();
            let (apart, objects) = pack_import_apart(&stripes).unwrap();
            assert_eq!(apart.stripes().children().unwrap().count(), usize::from(tiles > 0));
            assert!(index.to_bytes().len() >= apart.to_bytes().len());
            let mut named = 0;
            for object in &objects {
                let bytes = unpack(object.chunk.hash, &object.stored, Bounds::CHUNK).unwrap();
                let children = IndexChunk::decode(&bytes).unwrap().children().unwrap().unwrap();
                named += children.tiles.len();
            }
            assert_eq!(named, usize::try_from(tiles).unwrap());
        }
    }

    #[test]
    fn no_chunk_names_more_bytes_than_one_request_may() {
        let (longest, mut stripes) =
            (u64::from(u32::try_from(MAX_STORED_CHUNK_BYTES).unwrap()), stripes(500));
        for place in &mut stripes[0].tiles {
            let StoredTile::Chunk(chunk) = &mut place.stored else { panic!("{place:?}") };
            chunk.bytes = u32::try_from(longest).unwrap();
        }
        for few in [1, 40, 85, 500] {
            let stripe = Stripe { tiles: stripes[0].tiles[..few].to_vec(), ..stripes[0].clone() };
            let (index, objects) = pack_import(&[stripe]).unwrap();
            let mut named = vec![index.stripes().children().unwrap()];
            named.extend(objects.iter().map(|object| {
                let bytes = unpack(object.chunk.hash, &object.stored, Bounds::CHUNK).unwrap();
                IndexChunk::decode(&bytes).unwrap().children().unwrap().unwrap()
            }));
            let tiles: usize = named.iter().map(|children| children.tiles.len()).sum();
            assert_eq!(tiles, few);
            let most = named.iter().map(Children::bytes).max().unwrap();
            assert!(most <= IMPORT_NAMED_BYTES, "{most}");
            // As many as fit.
            let full = IMPORT_NAMED_BYTES / longest;
            assert!(u64::try_from(few).unwrap() < full || most == full * longest, "{most}");
        }
    }
}
