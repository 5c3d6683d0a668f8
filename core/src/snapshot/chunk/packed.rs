//! Chunks as they are stored: compressed, and named by what they are before.

use zstd::zstd_safe;

use super::blocks::blocks;
use super::error::{UnpackableChunk, UnreadableStoredChunk};
use super::tile::encode;
use crate::limits::{MAX_CHUNK_BYTES, MAX_STORED_CHUNK_BYTES};
use crate::snapshot::level::{ChunkHash, ChunkRef};
use crate::snapshot::tile::Tile;
use crate::snapshot::zstd_frames;

/// A chunk to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Its name and how many bytes are stored.
    pub reference: ChunkRef,
    /// What is stored: one frame of zstd.
    pub stored: Vec<u8>,
}

impl Chunk {
    /// Packs the bytes of a chunk. Its name depends on these only, not on how they are compressed.
    ///
    /// # Errors
    /// [`UnpackableChunk`] beyond `MAX_CHUNK_BYTES`, or `MAX_STORED_CHUNK_BYTES` compressed.
    pub fn pack(bytes: &[u8]) -> Result<Self, UnpackableChunk> {
        if bytes.len() > MAX_CHUNK_BYTES {
            return Err(UnpackableChunk::Bytes { bytes: bytes.len() });
        }
        // Each kind of bytes has a block.
        let stored = zstd_frames::compress(&blocks(bytes));
        let stored = stored.map_err(|_| UnpackableChunk::Compressor)?;
        if stored.len() > MAX_STORED_CHUNK_BYTES {
            return Err(UnpackableChunk::Stored { bytes: stored.len() });
        }
        let length = u32::try_from(stored.len()).unwrap_or(u32::MAX);
        let reference = ChunkRef { hash: ChunkHash::of(bytes), bytes: length };
        Ok(Self { reference, stored })
    }
}

/// The chunk of a tile; `None` if the tile is too large for one.
#[must_use]
pub fn chunk_of(tile: &Tile) -> Option<Chunk> {
    Chunk::pack(&encode(tile).ok()?).ok()
}

/// The bytes of a stored chunk, checked against its name. Total: takes at most `MAX_CHUNK_BYTES`.
///
/// # Errors
/// [`UnreadableStoredChunk`] with what is wrong.
pub fn unpack(stored: &[u8], name: &ChunkHash) -> Result<Vec<u8>, UnreadableStoredChunk> {
    if stored.len() > MAX_STORED_CHUNK_BYTES {
        return Err(UnreadableStoredChunk::TooLarge);
    }
    let bytes = zstd_frames::decompress(stored, MAX_CHUNK_BYTES);
    let bytes = bytes.ok_or_else(|| match zstd_safe::get_frame_content_size(stored) {
        Ok(Some(bytes)) if usize::try_from(bytes).is_ok_and(|bytes| bytes > MAX_CHUNK_BYTES) => {
            UnreadableStoredChunk::TooLarge
        }
        _ => UnreadableStoredChunk::NoFrame,
    })?;
    if ChunkHash::of(&bytes) != *name {
        return Err(UnreadableStoredChunk::OtherHash);
    }
    Ok(bytes)
}
