//! Packs parts of the tile index while the sheet is read, so that the server verifies the tiles
//! meanwhile. Otherwise it would verify all of them after the last one.

use std::collections::BTreeMap;

use cellar_snapshot::SnapshotError;
use cellar_snapshot::index::pack_import_part;
use cellar_snapshot::merge::SheetWriter;
use cellar_snapshot::packed::PackedObject;

/// The parts of a sheet that have been packed.
#[derive(Debug, Default)]
pub(super) struct IndexParts {
    /// By the first column of the stripe.
    stripes: BTreeMap<u32, TileCounts>,
}

#[derive(Debug, Clone, Copy, Default)]
struct TileCounts {
    seen: usize,
    /// Tiles in parts.
    packed: usize,
}

impl IndexParts {
    /// Returns the parts that new tiles of the sheet have filled. Tiles of the last part are left to
    /// the end of the sheet.
    pub(super) fn pack_filled(
        &mut self,
        sheet: &SheetWriter,
    ) -> Result<Vec<PackedObject>, SnapshotError> {
        let mut parts = Vec::new();
        for (first_column, tiles) in sheet.written_tiles() {
            let counts = self.stripes.entry(first_column).or_default();
            if tiles.len() == counts.seen {
                continue;
            }
            counts.seen = tiles.len();
            let unpacked_tiles = tiles.get(counts.packed..).unwrap_or_default();
            if let Some((tile_count, part)) = pack_import_part(unpacked_tiles)? {
                counts.packed += tile_count;
                parts.push(part);
            }
        }
        Ok(parts)
    }
}

#[cfg(test)]
mod tests {
    use cellar_snapshot::index::pack_import;
    use cellar_snapshot::level::{ChunkHash, ChunkRef};
    use cellar_snapshot::tile::{Tile, TileColumn, TileValue};

    use super::*;

    #[test]
    fn parts_of_several_stripes_are_those_of_the_finished_sheet() {
        // The cells are so large that a tile has only hundreds of them.
        let encode = |tile: &Tile| {
            let stored = vec![0; tile.cell_count() * 500];
            let hash = ChunkHash::of(format!("{tile:?}").as_bytes());
            let bytes = u32::try_from(stored.len()).ok()?;
            Some(PackedObject { chunk: ChunkRef { hash, bytes }, stored })
        };
        let (mut sheet, mut index_parts, mut parts) =
            (SheetWriter::default(), IndexParts::default(), Vec::new());
        for first_row in (0..120_000).step_by(5_000) {
            let column = |index| {
                let mut column = TileColumn::new(index);
                for row in first_row..first_row + 5_000 {
                    column.values.push(row, TileValue::Number(f64::from(row)));
                }
                column
            };
            let block = Tile { columns: [0, 200].map(column).to_vec() };
            sheet.push(block, &encode).unwrap();
            let filled = index_parts.pack_filled(&sheet).unwrap();
            parts.extend(filled.into_iter().map(|part| part.chunk.hash));
        }
        let (written, _) = sheet.finish(&encode).unwrap();
        let (_, objects) = pack_import(&written.stripes).unwrap();
        let hashes: Vec<ChunkHash> = objects.iter().map(|object| object.chunk.hash).collect();
        assert!(parts.len() > 2, "{parts:?}");
        assert!(parts.iter().all(|part| hashes.contains(part)), "{parts:?} {hashes:?}");
    }
}
