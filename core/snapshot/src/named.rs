//! Which objects an object names: whoever follows all names from the roots that are in use has found every
//! object that must stay.

use super::SnapshotError;
use super::chunk::{self, UnreadableChunk};
use super::index::{IndexChunk, Indexed, IndexedTile, Kept, PackedLevel, RowIndex, Stripes};
use super::level::{ChunkHash, ChunkRef, StoredTile};
use super::packed::{Bounds, unpack};
use super::root::{PackedFormats, Root};
use super::tile::Tile;
use cellar_sheet::operation::{ImportSheet, Operation};

/// What an object names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Named {
    /// Chunks of an index, which name others.
    pub index: Vec<ChunkHash>,
    /// Chunks of cells, which name the long texts among them.
    pub tiles: Vec<ChunkHash>,
    /// Objects that name nothing: formats, numbers of sheets, clients, long texts.
    pub leaves: Vec<ChunkHash>,
}

/// An object of which cannot be said what it names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfollowable {
    /// It is damaged, or no chunk of an index.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// It is no chunk of cells.
    #[error(transparent)]
    Tile(#[from] UnreadableChunk),
}

impl Named {
    /// What a root names.
    ///
    /// # Errors
    /// [`Unfollowable`] if cells that are inside of it cannot be read.
    pub fn by_root(root: &Root) -> Result<Self, Unfollowable> {
        let mut named = Self::default();
        root.all_levels().try_for_each(|level| named.add_level(&level.level))?;
        for sheet in &root.sheets {
            if let PackedFormats::Chunks(chunks) = &sheet.formats {
                named.leaves.extend(chunks.iter().map(|chunk| chunk.hash));
            }
        }
        if let Kept::Chunk(used) = &root.used {
            named.leaves.push(used.hash);
        }
        named.leaves.extend(root.clients.iter().map(|clients| clients.hash));
        Ok(named)
    }

    /// What operations name: the indexes of imported sheets.
    ///
    /// # Errors
    /// As [`Named::by_root`].
    pub fn by_operations(operations: &[Operation]) -> Result<Self, Unfollowable> {
        let mut named = Self::default();
        for operation in operations {
            if let Operation::ImportSheet(ImportSheet { tile_index: index, .. }) = operation {
                named.add_stripes(&Stripes::of_import(index)?)?;
            }
        }
        Ok(named)
    }

    /// What a chunk of an index names, from its bytes as stored.
    ///
    /// # Errors
    /// [`Unfollowable`] if it is damaged or another.
    pub fn by_index(hash: ChunkHash, stored: &[u8]) -> Result<Self, Unfollowable> {
        let mut named = Self::default();
        match IndexChunk::decode(&unpack(hash, stored, Bounds::CHUNK)?)? {
            IndexChunk::Moves(_) => {}
            IndexChunk::Parts(parts) => named.add_parts(&parts),
            IndexChunk::Stripes(stripes) => named.add_rows(&stripes)?,
            IndexChunk::Tiles(tiles) => named.add_tiles(&tiles)?,
        }
        Ok(named)
    }

    /// What a chunk of cells names, from its bytes as stored.
    ///
    /// # Errors
    /// As [`Named::by_index`].
    pub fn by_tile(hash: ChunkHash, stored: &[u8]) -> Result<Self, Unfollowable> {
        let tile = chunk::decode(&unpack(hash, stored, Bounds::CHUNK)?)?;
        let mut named = Self::default();
        named.add_texts(&tile);
        Ok(named)
    }

    fn add_level(&mut self, level: &PackedLevel) -> Result<(), Unfollowable> {
        level.sheets.iter().try_for_each(|sheet| {
            if let Kept::Chunk(moves) = &sheet.moves {
                self.index.push(moves.hash);
            }
            self.add_stripes(&sheet.stripes)
        })
    }

    fn add_stripes(&mut self, stripes: &Stripes) -> Result<(), Unfollowable> {
        match stripes {
            Stripes::Inline(stripes) => return self.add_rows(stripes),
            Stripes::Parts(parts) => self.add_parts(parts),
            Stripes::Chunk(chunk) => self.index.push(chunk.hash),
        }
        Ok(())
    }

    fn add_parts(&mut self, parts: &Indexed<ChunkRef>) {
        self.index.extend(parts.items().iter().map(|chunk| chunk.hash));
    }

    fn add_rows(&mut self, stripes: &Indexed<RowIndex>) -> Result<(), Unfollowable> {
        stripes.items().iter().try_for_each(|rows| match rows {
            RowIndex::Tiles(tiles) => self.add_tiles(tiles),
            RowIndex::Parts(parts) => {
                self.add_parts(parts);
                Ok(())
            }
        })
    }

    fn add_tiles(&mut self, tiles: &Indexed<IndexedTile>) -> Result<(), Unfollowable> {
        tiles.items().iter().try_for_each(|tile| {
            match &tile.stored {
                StoredTile::Chunk(chunk) => self.tiles.push(chunk.hash),
                StoredTile::Inline(bytes) => self.add_texts(&chunk::decode(bytes)?),
            }
            Ok(())
        })
    }

    fn add_texts(&mut self, tile: &Tile) {
        let texts = tile.columns.iter().flat_map(|column| column.values.long());
        self.leaves.extend(texts.map(|text| ChunkHash(text.hash)));
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

    /// A tile of a number and a long text.
    fn tile(text: ChunkHash) -> Tile {
        let mut column = TileColumn::new(0);
        column.values.push(1, TileValue::Number(7.0));
        column.values.push_long(2, "It begins so", text.0, 5_000);
        Tile { columns: vec![column] }
    }

    /// Everything that can be reached, in objects that were packed; tiles are not looked into.
    fn reached(named: Named, objects: &[PackedObject]) -> BTreeSet<ChunkHash> {
        let mut reached: BTreeSet<ChunkHash> =
            named.leaves.into_iter().chain(named.tiles).collect();
        for index in named.index {
            let object = objects.iter().find(|object| object.chunk.hash == index).unwrap();
            let below = Named::by_index(index, &object.stored).unwrap();
            assert!(Named::by_index(hash(0), &object.stored).is_err(), "another object");
            reached.insert(index);
            reached.extend(self::reached(below, objects));
        }
        reached
    }

    #[test]
    fn a_tile_names_its_long_texts() {
        let packed = pack(&chunk::encode(&tile(hash(9))).unwrap(), Bounds::CHUNK).unwrap();
        let named = Named::by_tile(packed.chunk.hash, &packed.stored).unwrap();
        assert_eq!(named, Named { leaves: vec![hash(9)], ..Named::default() });
        assert!(Named::by_tile(hash(1), &packed.stored).is_err(), "another object");
        assert!(Named::by_index(packed.chunk.hash, &packed.stored).is_err(), "a tile");
    }

    #[test]
    fn what_cannot_be_read_is_not_passed_over() {
        // Its level 0 has three bytes in the place of a tile.
        assert!(Named::by_root(&sample()).is_err());
    }

    proptest! {
        /// Whatever a level is packed into, and wherever a root has it: all of it can be reached.
        #[test]
        fn everything_that_a_root_is_made_of_is_named(
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
                named_bytes: u64::MAX,
            };
            let (packed, objects) = pack_level(&Level { sheets }, limits).unwrap();
            expected.extend(objects.iter().map(|object| object.chunk.hash));
            let mut root = sample();
            let level = RootLevel { level: packed, ..root.level_0.take().unwrap() };
            (root.levels, root.level_0) = (vec![], Some(level));
            // What else the sample has in chunks.
            expected.extend(root.clients.map(|clients| clients.hash));
            expected.insert(chunk_of(7).hash);
            if let Kept::Chunk(used) = &root.used {
                expected.insert(used.hash);
            }
            prop_assert_eq!(reached(Named::by_root(&root).unwrap(), &objects), expected);
        }
    }
}
