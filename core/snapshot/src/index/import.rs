//! Tile indexes of imported sheets. They are stored in log entries instead of roots.

use super::check::{check_chunk, check_stripes};
use super::pack::{pack_first_part, pack_stripes};
use super::{IndexChunk, InlineOrChunk, PackedSheet, SheetMoves, StripeIndex};
use crate::cbor::{self, Kind};
use crate::error::SnapshotError;
use crate::level::{Stripe, StripeTile};
use crate::packed::PackedObject;
use crate::packer::{PackLimits, Packer};
use cellar_base::limits::MAX_IMPORT_INDEX_BYTES;
use cellar_sheet::operation::{ImportSheet, TileIndex};

/// Packs the tile index of a sheet whose tiles are chunks. Returns the index to store in the log
/// entry, and the chunks to store before the entry. Each chunk follows the chunks that it
/// references. The result depends only on the stripes.
///
/// # Errors
/// Returns [`SnapshotError::Shape`] if a stripe is invalid or a tile is inline, and
/// [`SnapshotError::TooLong`] if the sheet has more tiles than a list of index parts can reference.
pub fn pack_import(stripes: &[Stripe]) -> Result<(TileIndex, Vec<PackedObject>), SnapshotError> {
    pack_import_within(stripes, PackLimits::IMPORT)
}

/// Like [`pack_import`], but the index in the entry references a single chunk, regardless of the
/// size of the sheet. In an import of several sheets, all sheets except the first are packed this
/// way, because a single request verifies the indexes of all sheets.
///
/// # Errors
/// Returns [`SnapshotError::Shape`] if a stripe is invalid or a tile is inline, and
/// [`SnapshotError::TooLong`] if the sheet has more tiles than a list of index parts can reference.
pub fn pack_import_as_chunk(
    stripes: &[Stripe],
) -> Result<(TileIndex, Vec<PackedObject>), SnapshotError> {
    let limits = PackLimits { inline_bytes: 0, inline_total_bytes: 0, ..PackLimits::IMPORT };
    pack_import_within(stripes, limits)
}

/// Packs the first tiles of a stripe that fill a part of a tile index, while later tiles are not known
/// yet. Returns the number of tiles in the part, and its chunk, or `None` if there are too few tiles.
///
/// [`pack_import`] and [`pack_import_as_chunk`] return the same chunk for the whole sheet, unless all
/// its tiles just fit into a single part.
///
/// # Errors
/// Returns [`SnapshotError::Shape`] if the tiles are invalid.
pub fn pack_import_part(
    tiles: &[StripeTile],
) -> Result<Option<(usize, PackedObject)>, SnapshotError> {
    let mut packer = Packer::new(PackLimits::IMPORT);
    let tile_count = pack_first_part(tiles, &mut packer)?;
    Ok(tile_count.zip(packer.into_objects().pop()))
}

/// Like [`pack_import`], but with the given limits, so that tests can build deep indexes from few
/// tiles.
pub(crate) fn pack_import_within(
    stripes: &[Stripe],
    limits: PackLimits,
) -> Result<(TileIndex, Vec<PackedObject>), SnapshotError> {
    let mut packer = Packer::new(limits);
    let stripe_index = pack_stripes(stripes, &mut packer)?;
    Ok((stripe_index.to_import()?, packer.into_objects()))
}

impl PackedSheet {
    /// Returns the tile index of an imported sheet as part of a level. No other level contains
    /// cells of the sheet.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if the stored index is invalid.
    pub fn of_import(import: &ImportSheet) -> Result<Self, SnapshotError> {
        let moves = InlineOrChunk::Inline(SheetMoves::default());
        Ok(Self {
            sheet: import.sheet,
            moves,
            stripes: StripeIndex::of_import(&import.tile_index)?,
            formulas: import.formulas,
            reads: None,
        })
    }
}

impl StripeIndex {
    /// Encodes the index for a log entry.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if a stripe is invalid, a tile is inline, or the index is too
    /// long.
    pub fn to_import(&self) -> Result<TileIndex, SnapshotError> {
        let encoded_index = cbor::encode(Kind::Import, self);
        let too_long =
            SnapshotError::TooLong { bytes: encoded_index.len(), max: MAX_IMPORT_INDEX_BYTES };
        let tile_index = TileIndex::new(encoded_index).map_err(|_| too_long)?;
        Self::of_import(&tile_index)?;
        Ok(tile_index)
    }

    /// Decodes an index that [`StripeIndex::to_import`] encoded. Never panics on malformed bytes.
    /// All tiles of a decoded index are chunks.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if the index is invalid.
    pub fn of_import(tile_index: &TileIndex) -> Result<Self, SnapshotError> {
        let stripe_index: Self = cbor::decode(Kind::Import, tile_index.bytes())?;
        stripe_index.check()?;
        // Returns an error if a tile is inline.
        stripe_index.children()?;
        Ok(stripe_index)
    }

    fn check(&self) -> Result<(), SnapshotError> {
        match self {
            Self::Inline(stripes) => check_stripes(stripes),
            Self::Parts(part_list) => IndexChunk::Parts(part_list.clone()).check(),
            Self::Chunk(chunk) => check_chunk(chunk),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Children;
    use super::super::tests::{chunk_of, span};
    use super::*;
    use crate::level::{ChunkRef, StoredTile};
    use crate::packed::{Bounds, unpack};
    use cellar_base::limits::{IMPORT_NAMED_BYTES, MAX_STORED_CHUNK_BYTES};
    use cellar_sheet::operation::Span;

    fn stripes(tiles: u32) -> Vec<Stripe> {
        let place = |number| StripeTile {
            rows: span(number, number + 1),
            cells: 1,
            stored: StoredTile::Chunk(chunk_of(number)),
            formulas: None,
        };
        let tiles = (0..tiles).map(place).collect();
        vec![Stripe { columns: Span { first: 0, count: 128 }, tiles }]
    }

    #[test]
    fn a_separate_index_is_one_reference_with_the_same_tiles() {
        for tiles in [0, 1, 30, 400] {
            let stripes = stripes(tiles);
            let (index, _) = pack_import(&stripes).unwrap();
            let (apart, objects) = pack_import_as_chunk(&stripes).unwrap();
            assert_eq!(
                StripeIndex::of_import(&apart).unwrap().children().unwrap().count(),
                usize::from(tiles > 0)
            );
            assert!(index.bytes().len() >= apart.bytes().len());
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
    fn parts_that_are_packed_early_are_those_of_the_whole_sheet() {
        let stripes = stripes(2_000);
        let tiles = &stripes[0].tiles;
        let whole: Vec<ChunkRef> =
            pack_import(&stripes).unwrap().1.iter().map(|object| object.chunk).collect();
        let (mut packed_tiles, mut parts) = (0, Vec::new());
        for end in 1..=tiles.len() {
            if let Some((count, part)) = pack_import_part(&tiles[packed_tiles..end]).unwrap() {
                assert_eq!(packed_tiles + count + 1, end, "the next tile does not fit");
                packed_tiles += count;
                parts.push(part.chunk);
            }
        }
        assert!(parts.len() > 10 && whole.starts_with(&parts), "{parts:?} {whole:?}");
    }

    #[test]
    fn no_chunk_refers_to_more_bytes_than_one_request_may_verify() {
        let (longest, mut stripes) =
            (u64::from(u32::try_from(MAX_STORED_CHUNK_BYTES).unwrap()), stripes(500));
        for place in &mut stripes[0].tiles {
            let StoredTile::Chunk(chunk) = &mut place.stored else { panic!("{place:?}") };
            chunk.bytes = u32::try_from(longest).unwrap();
        }
        for few in [1, 40, 85, 500] {
            let stripe = Stripe { tiles: stripes[0].tiles[..few].to_vec(), ..stripes[0].clone() };
            let (index, objects) = pack_import(&[stripe]).unwrap();
            let mut named = vec![StripeIndex::of_import(&index).unwrap().children().unwrap()];
            named.extend(objects.iter().map(|object| {
                let bytes = unpack(object.chunk.hash, &object.stored, Bounds::CHUNK).unwrap();
                IndexChunk::decode(&bytes).unwrap().children().unwrap().unwrap()
            }));
            let tiles: usize = named.iter().map(|children| children.tiles.len()).sum();
            assert_eq!(tiles, few);
            let most = named.iter().map(Children::bytes).max().unwrap();
            assert!(most <= IMPORT_NAMED_BYTES, "{most}");
            // The list contains the maximum number of references.
            let full = IMPORT_NAMED_BYTES / longest;
            assert!(u64::try_from(few).unwrap() < full || most == full * longest, "{most}");
        }
    }

    #[test]
    fn an_index_in_an_entry_is_bounded_and_has_no_inline_tile() {
        let whole = PackLimits {
            inline_bytes: 99_999,
            inline_total_bytes: 99_999,
            chunk_bytes: 99_999,
            referenced_bytes: u64::MAX,
        };
        let fits = |tiles| pack_import_within(&stripes(tiles), whole).is_ok();
        let most = (1..1_000).take_while(|tiles| fits(*tiles)).last().unwrap();
        let longest = pack_import_within(&stripes(most), whole).unwrap().0.bytes().len();
        let per_tile = longest / usize::try_from(most).unwrap();
        assert!((MAX_IMPORT_INDEX_BYTES - longest) <= per_tile, "{longest}");
        let mut inline = stripes(1);
        inline[0].tiles[0].stored = StoredTile::Inline(vec![1]);
        assert!(pack_import(&inline).is_err());
        assert!(StripeIndex::of_import(&TileIndex::new(Vec::new()).unwrap()).is_err());
    }

    #[test]
    fn the_empty_index_of_other_crates_tests_is_what_is_packed() {
        let (index, objects) = pack_import(&[]).unwrap();
        assert!(objects.is_empty());
        assert_eq!(index.bytes(), cellar_sheet::operation::random::EMPTY_TILE_INDEX);
    }
}
