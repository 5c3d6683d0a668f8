//! Collects the references between snapshot objects. Objects that are reachable from live roots
//! must not be deleted.

use super::chunk;
use super::index::{
    IndexChunk, IndexedTile, InlineOrChunk, PackedLevel, RowIndex, SpanMap, StripeIndex,
};
use super::level::{ChunkHash, ChunkRef, StoredTile};
use super::packed::{Bounds, unpack};
use super::root::{PackedFormats, Root};
use super::tile::Tile;
use crate::error::SnapshotError;
use cellar_sheet::operation::Operation;

/// References of one object to other objects.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct References {
    /// Tile index chunks, which reference other objects.
    pub index: Vec<ChunkHash>,
    /// Cell chunks, which reference long texts.
    pub tiles: Vec<ChunkHash>,
    /// Objects that reference no other objects: range formats, sheet ids, clients and long texts.
    pub leaves: Vec<ChunkHash>,
}

impl References {
    /// Returns the references of a root.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if a tile that is stored inside the root is invalid.
    pub fn of_root(root: &Root) -> Result<Self, SnapshotError> {
        let mut references = Self::default();
        for root_level in root.all_levels() {
            references.add_level(&root_level.level)?;
        }
        for sheet in &root.sheets {
            if let PackedFormats::Chunks(chunks) = &sheet.formats {
                references.leaves.extend(chunks.iter().map(|chunk| chunk.hash));
            }
        }
        if let InlineOrChunk::Chunk(used_numbers_chunk) = &root.used {
            references.leaves.push(used_numbers_chunk.hash);
        }
        if let Some(clients_chunk) = &root.clients {
            references.leaves.push(clients_chunk.hash);
        }
        Ok(references)
    }

    /// Returns the objects that operations reference through the tile indexes of imported sheets.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if a tile index, or a tile that is stored inside one, is
    /// invalid.
    pub fn of_operations(operations: &[Operation]) -> Result<Self, SnapshotError> {
        let mut references = Self::default();
        for operation in operations {
            if let Operation::ImportSheet(import) = operation {
                references.add_stripe_index(&StripeIndex::of_import(&import.tile_index)?)?;
            }
        }
        Ok(references)
    }

    /// Returns the references of a tile index chunk from its name and stored bytes.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if the bytes are damaged or do not match `hash`.
    pub fn of_index_chunk(hash: ChunkHash, stored: &[u8]) -> Result<Self, SnapshotError> {
        let mut references = Self::default();
        match IndexChunk::decode(&unpack(hash, stored, Bounds::CHUNK)?)? {
            IndexChunk::Moves(_) => {}
            IndexChunk::Parts(part_list) => references.add_parts(&part_list),
            IndexChunk::Stripes(stripes) => references.add_stripes(&stripes)?,
            IndexChunk::Tiles(tiles) => references.add_tiles(&tiles)?,
        }
        Ok(references)
    }

    /// Returns the references of a cell chunk from its name and stored bytes.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if the bytes are damaged or do not match `hash`.
    pub fn of_tile(hash: ChunkHash, stored: &[u8]) -> Result<Self, SnapshotError> {
        let tile = chunk::decode(&unpack(hash, stored, Bounds::CHUNK)?)?;
        let mut references = Self::default();
        references.add_long_texts(&tile);
        Ok(references)
    }

    fn add_level(&mut self, level: &PackedLevel) -> Result<(), SnapshotError> {
        for sheet in &level.sheets {
            if let InlineOrChunk::Chunk(moves_chunk) = &sheet.moves {
                self.index.push(moves_chunk.hash);
            }
            self.add_stripe_index(&sheet.stripes)?;
        }
        Ok(())
    }

    fn add_stripe_index(&mut self, stripe_index: &StripeIndex) -> Result<(), SnapshotError> {
        match stripe_index {
            StripeIndex::Inline(stripes) => self.add_stripes(stripes)?,
            StripeIndex::Parts(part_list) => self.add_parts(part_list),
            StripeIndex::Chunk(chunk) => self.index.push(chunk.hash),
        }
        Ok(())
    }

    fn add_parts(&mut self, part_list: &SpanMap<ChunkRef>) {
        self.index.extend(part_list.items().iter().map(|chunk| chunk.hash));
    }

    fn add_stripes(&mut self, stripes: &SpanMap<RowIndex>) -> Result<(), SnapshotError> {
        for row_index in stripes.items() {
            match row_index {
                RowIndex::Tiles(tiles) => self.add_tiles(tiles)?,
                RowIndex::Parts(part_list) => self.add_parts(part_list),
            }
        }
        Ok(())
    }

    fn add_tiles(&mut self, tiles: &SpanMap<IndexedTile>) -> Result<(), SnapshotError> {
        for tile in tiles.items() {
            match &tile.stored {
                StoredTile::Chunk(chunk) => self.tiles.push(chunk.hash),
                StoredTile::Inline(bytes) => self.add_long_texts(&chunk::decode(bytes)?),
            }
        }
        Ok(())
    }

    fn add_long_texts(&mut self, tile: &Tile) {
        for column in &tile.columns {
            let long_texts = column.values.long_texts().iter();
            self.leaves.extend(long_texts.map(|long_text| ChunkHash(long_text.hash)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::PackLimits;
    use crate::index::pack_level;
    use crate::index::tests::{any_level, chunk_of};
    use crate::level::Level;
    use crate::packed::{PackedObject, pack};
    use crate::root::RootLevel;
    use crate::root::tests::sample;
    use crate::tile::{TileColumn, TileValue};

    fn hash(byte: u8) -> ChunkHash {
        ChunkHash([byte; 32])
    }

    /// Returns a tile that contains a number and a long text.
    fn tile(text: ChunkHash) -> Tile {
        let mut column = TileColumn::new(0);
        column.values.push(1, TileValue::Number(7.0));
        column.values.push_long_text(2, "It begins so", text.0, 5_000);
        Tile { columns: vec![column] }
    }

    /// Returns the names of all objects that are reachable from `objects`. References inside tiles
    /// are not followed.
    fn reached(named: References, objects: &[PackedObject]) -> BTreeSet<ChunkHash> {
        let mut reached: BTreeSet<ChunkHash> =
            named.leaves.into_iter().chain(named.tiles).collect();
        for index in named.index {
            let object = objects.iter().find(|object| object.chunk.hash == index).unwrap();
            let below = References::of_index_chunk(index, &object.stored).unwrap();
            assert!(References::of_index_chunk(hash(0), &object.stored).is_err(), "another object");
            reached.insert(index);
            reached.extend(self::reached(below, objects));
        }
        reached
    }

    #[test]
    fn a_tile_refers_to_its_long_texts() {
        let packed = pack(&chunk::encode(&tile(hash(9))).unwrap(), Bounds::CHUNK).unwrap();
        let named = References::of_tile(packed.chunk.hash, &packed.stored).unwrap();
        assert_eq!(named, References { leaves: vec![hash(9)], ..References::default() });
        assert!(References::of_tile(hash(1), &packed.stored).is_err(), "another object");
        assert!(References::of_index_chunk(packed.chunk.hash, &packed.stored).is_err(), "a tile");
    }

    #[test]
    fn an_unreadable_tile_is_an_error() {
        // Level 0 of the sample root contains three arbitrary bytes instead of a tile.
        assert!(References::of_root(&sample()).is_err());
    }

    proptest! {
        /// With any pack limits, all objects of a level are reachable.
        #[test]
        fn all_objects_of_a_root_are_reachable(
            level in any_level(), bytes in prop::sample::select(vec![0_usize, 60, 400, 1 << 20]),
        ) {
            let Level { mut sheets } = level;
            let mut expected = BTreeSet::new();
            let stripes = sheets.iter_mut().flat_map(|sheet| &mut sheet.stripes);
            for (number, place) in stripes.flat_map(|stripe| &mut stripe.tiles).enumerate() {
                match &mut place.stored {
                    StoredTile::Chunk(chunk) => expected.insert(chunk.hash),
                    StoredTile::Inline(bytes) => {
                        let text = hash(u8::try_from(number % 250).unwrap());
                        *bytes = chunk::encode(&tile(text)).unwrap();
                        expected.insert(text)
                    }
                };
            }
            let limits = PackLimits {
                inline_bytes: bytes,
                inline_total_bytes: bytes,
                chunk_bytes: bytes,
                referenced_bytes: u64::MAX,
            };
            let (packed, objects) = pack_level(&Level { sheets }, limits).unwrap();
            expected.extend(objects.iter().map(|object| object.chunk.hash));
            let mut root = sample();
            let level = RootLevel { level: packed, ..root.level_0.take().unwrap() };
            (root.levels, root.level_0) = (vec![], Some(level));
            // The remaining chunks of the sample root.
            expected.extend(root.clients.map(|clients| clients.hash));
            expected.insert(chunk_of(7).hash);
            if let InlineOrChunk::Chunk(used) = &root.used {
                expected.insert(used.hash);
            }
            prop_assert_eq!(reached(References::of_root(&root).unwrap(), &objects), expected);
        }
    }
}
