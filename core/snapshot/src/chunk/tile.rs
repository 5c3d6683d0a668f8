//! Encodes and decodes tiles.

use super::bytes::write_count;
use super::column::{self, ColumnContext};
use super::error::{UnencodableTile, UnreadableChunk};
use super::format_dictionary::{FormatDictionary, StoredFormats};
use super::header::{ChunkKind, ChunkVersion, chunk_header, open_chunk};
use crate::tile::{Tile, TileColumn};
use cellar_base::limits::{
    MAX_CHUNK_BYTES, MAX_EXPANDED_TEXT_BYTES, MAX_TILE_CELLS, MAX_TILE_COLUMNS,
};

/// Encodes a tile as an uncompressed chunk. The same tile yields the same bytes on every machine.
///
/// # Errors
/// Returns an [`UnencodableTile`] if the tile is invalid or exceeds the limits of a chunk.
pub fn encode(tile: &Tile) -> Result<Vec<u8>, UnencodableTile> {
    check_tile_size(tile)?;
    let mut chunk_bytes = chunk_header(ChunkKind::Tile, needed_version(tile)).to_vec();
    let mut expansion_budget = MAX_EXPANDED_TEXT_BYTES;
    let formats = FormatDictionary::of_tile(tile)?;
    formats.write(&mut chunk_bytes, &mut expansion_budget);
    write_count(&mut chunk_bytes, tile.columns.len());
    let mut context = ColumnContext::default();
    for column in &tile.columns {
        column::write_column(
            &mut chunk_bytes,
            column,
            &mut context,
            &formats,
            &mut expansion_budget,
        )?;
        if chunk_bytes.len() > MAX_CHUNK_BYTES {
            return Err(UnencodableTile::Bytes { bytes: chunk_bytes.len() });
        }
    }
    Ok(chunk_bytes)
}

/// Returns the oldest version that can represent the tile, so that older releases can read tiles
/// without formulas.
fn needed_version(tile: &Tile) -> ChunkVersion {
    if tile.columns.iter().all(|column| column.templates.is_empty()) {
        ChunkVersion::Texts
    } else {
        ChunkVersion::Templates
    }
}

fn check_tile_size(tile: &Tile) -> Result<(), UnencodableTile> {
    let column_count = tile.columns.len();
    if column_count > MAX_TILE_COLUMNS {
        return Err(UnencodableTile::Columns { columns: column_count });
    }
    let cell_count = tile.columns.iter().map(count_column_entries).sum();
    if cell_count > MAX_TILE_CELLS {
        return Err(UnencodableTile::Cells { cells: cell_count });
    }
    Ok(())
}

/// Returns the total number of values, formulas and formats in a column, all of which count toward
/// `MAX_TILE_CELLS`.
fn count_column_entries(column: &TileColumn) -> usize {
    column.values.len() + column.formula_count() + column.formats.len()
}

/// Decodes an uncompressed chunk. Never panics on malformed bytes. The limits of a tile also limit
/// the memory use, even if the chunk declares greater lengths.
///
/// # Errors
/// Returns an [`UnreadableChunk`] if the bytes are not a valid tile chunk.
pub fn decode(bytes: &[u8]) -> Result<Tile, UnreadableChunk> {
    let (mut reader, version) = open_chunk(bytes, ChunkKind::Tile)?;
    let formats = StoredFormats::read(&mut reader)?;
    let column_count = reader.read_count(MAX_TILE_COLUMNS)?;
    let mut tile = Tile::default();
    let mut context = ColumnContext::default();
    for _ in 0..column_count {
        tile.columns.push(column::read_column(&mut reader, version, &mut context, &formats)?);
    }
    if reader.unread_byte_count() > 0 {
        return Err(UnreadableChunk::Malformed("the chunk has trailing bytes"));
    }
    Ok(tile)
}
