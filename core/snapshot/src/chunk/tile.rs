//! Encodes and decodes tiles.

use super::bytes::write_count;
use super::column::{self, ColumnContext};
use super::error::{TileTooLarge, UnreadableChunk};
use super::format_dictionary::{FormatDictionary, StoredFormats};
use super::header::{ChunkKind, header, open_chunk};
use crate::tile::{Tile, TileColumn};
use cellar_base::limits::{
    MAX_CHUNK_BYTES, MAX_EXPANDED_TEXT_BYTES, MAX_TILE_CELLS, MAX_TILE_COLUMNS,
};

/// Encodes a tile as an uncompressed chunk. Equal tiles yield equal bytes on every machine.
///
/// # Errors
/// [`TileTooLarge`] if the tile exceeds the limits of a chunk or is invalid.
pub fn encode(tile: &Tile) -> Result<Vec<u8>, TileTooLarge> {
    let columns = tile.columns.len();
    if columns > MAX_TILE_COLUMNS {
        return Err(TileTooLarge::Columns { columns });
    }
    let cells = tile.columns.iter().map(count_entries).fold(0, usize::saturating_add);
    if cells > MAX_TILE_CELLS {
        return Err(TileTooLarge::Cells { cells });
    }
    let mut expansion_budget = MAX_EXPANDED_TEXT_BYTES;
    let mut bytes = header(ChunkKind::Tile).to_vec();
    let formats = FormatDictionary::new(tile)?;
    formats.write(&mut bytes, &mut expansion_budget);
    write_count(&mut bytes, columns);
    let mut context = ColumnContext::default();
    for column in &tile.columns {
        column::write(&mut bytes, column, &mut context, &formats, &mut expansion_budget)?;
        if bytes.len() > MAX_CHUNK_BYTES {
            return Err(TileTooLarge::Bytes { bytes: bytes.len() });
        }
    }
    Ok(bytes)
}

/// Returns the number of values, formulas and formats in a column, which count toward
/// `MAX_TILE_CELLS`.
fn count_entries(column: &TileColumn) -> usize {
    column.values.len() + column.formulas.len() + column.formats.len()
}

/// Decodes an uncompressed chunk. Accepts arbitrary input; tile limits bound the memory use, even
/// if the chunk declares large lengths.
///
/// # Errors
/// [`UnreadableChunk`] if the bytes are not a valid tile chunk.
pub fn decode(bytes: &[u8]) -> Result<Tile, UnreadableChunk> {
    let mut reader = open_chunk(bytes, ChunkKind::Tile)?;
    let formats = StoredFormats::read(&mut reader)?;
    let columns = reader.count(MAX_TILE_COLUMNS)?;
    let mut tile = Tile::default();
    let mut context = ColumnContext::default();
    for _ in 0..columns {
        tile.columns.push(column::read(&mut reader, &mut context, &formats)?);
    }
    if reader.len() > 0 {
        return Err(UnreadableChunk::Malformed("the chunk has trailing bytes"));
    }
    Ok(tile)
}
