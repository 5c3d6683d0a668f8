//! Tiles as they are stored.

use super::blocks::blocks;
use super::tile::encode;
use crate::packed::{Bounds, PackedObject, pack_blocks};
use crate::tile::Tile;

/// The chunk of a tile; `None` if the tile is too large for one.
#[must_use]
pub fn chunk_of(tile: &Tile) -> Option<PackedObject> {
    let bytes = encode(tile).ok()?;
    // Each kind of bytes has a block.
    pack_blocks(&bytes, &blocks(&bytes), Bounds::CHUNK).ok()
}
