//! Tiles as chunks.

use super::bytes::write_count;
use super::column::{self, Before};
use super::error::{TileTooLarge, UnreadableChunk};
use super::format_dictionary::{FormatDictionary, StoredFormats};
use super::header::{ChunkKind, header, open};
use crate::tile::{Tile, TileColumn};
use cellar_base::limits::{
    MAX_CHUNK_BYTES, MAX_EXPANDED_TEXT_BYTES, MAX_TILE_CELLS, MAX_TILE_COLUMNS,
};

/// The bytes of a tile's chunk, not compressed. Equal tiles have equal bytes, on every machine.
///
/// # Errors
/// [`TileTooLarge`] for more than a chunk may have, and for what no tile may have.
pub fn encode(tile: &Tile) -> Result<Vec<u8>, TileTooLarge> {
    let columns = tile.columns.len();
    if columns > MAX_TILE_COLUMNS {
        return Err(TileTooLarge::Columns { columns });
    }
    let cells = tile.columns.iter().map(entries).fold(0, usize::saturating_add);
    if cells > MAX_TILE_CELLS {
        return Err(TileTooLarge::Cells { cells });
    }
    let mut room = MAX_EXPANDED_TEXT_BYTES;
    let mut bytes = header(ChunkKind::Tile).to_vec();
    let formats = FormatDictionary::new(tile)?;
    formats.write(&mut bytes, &mut room);
    write_count(&mut bytes, columns);
    let mut before = Before::default();
    for column in &tile.columns {
        column::write(&mut bytes, column, &mut before, &formats, &mut room)?;
        if bytes.len() > MAX_CHUNK_BYTES {
            return Err(TileTooLarge::Bytes { bytes: bytes.len() });
        }
    }
    Ok(bytes)
}

/// What counts towards `MAX_TILE_CELLS`.
fn entries(column: &TileColumn) -> usize {
    column.values.len() + column.formulas.len() + column.formats.len()
}

/// Reads the bytes of a tile's chunk, not compressed. Total: any bytes give a tile or an error, in
/// memory that the limits of tiles bound, whatever they declare.
///
/// # Errors
/// [`UnreadableChunk`] with what is wrong.
pub fn decode(bytes: &[u8]) -> Result<Tile, UnreadableChunk> {
    let mut reader = open(bytes, ChunkKind::Tile)?;
    let formats = StoredFormats::read(&mut reader)?;
    let columns = reader.count(MAX_TILE_COLUMNS)?;
    let mut tile = Tile::default();
    let mut before = Before::default();
    for _ in 0..columns {
        tile.columns.push(column::read(&mut reader, &mut before, &formats)?);
    }
    if reader.len() > 0 {
        return Err(UnreadableChunk::Malformed("there are bytes behind it"));
    }
    Ok(tile)
}
