//! Encodes tiles as compressed chunks.

use super::blocks::split_into_blocks;
use super::tile::encode;
use crate::packed::{Bounds, PackedObject, pack_blocks};
use crate::tile::Tile;

/// Encodes and compresses a tile. Returns `None` if the tile is too large for a chunk.
#[must_use]
pub fn chunk_of(tile: &Tile) -> Option<PackedObject> {
    let chunk_bytes = encode(tile).ok()?;
    // Split the bytes into zstd blocks in which the byte statistics are uniform.
    pack_blocks(&chunk_bytes, &split_into_blocks(&chunk_bytes), Bounds::CHUNK).ok()
}
