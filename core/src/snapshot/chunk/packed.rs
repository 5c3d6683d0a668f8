//! Chunks as they are stored: compressed, and named by what they are before.

use std::io::Write;

use zstd::stream::write::Encoder;
use zstd::zstd_safe;

use super::blocks::blocks;
use super::error::{UnpackableChunk, UnreadableStoredChunk};
use super::tile::encode;
use crate::limits::{MAX_CHUNK_BYTES, MAX_STORED_CHUNK_BYTES};
use crate::snapshot::level::{ChunkHash, ChunkRef};
use crate::snapshot::tile::Tile;

/// Quick enough to write a tile at once, and what every browser unpacks.
const COMPRESSION_LEVEL: i32 = 3;
/// How a frame begins that has content: others are to be skipped.
const FRAME_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

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
        let stored = compress(bytes).map_err(|_| UnpackableChunk::Compressor)?;
        if stored.len() > MAX_STORED_CHUNK_BYTES {
            return Err(UnpackableChunk::Stored { bytes: stored.len() });
        }
        let length = u32::try_from(stored.len()).unwrap_or(u32::MAX);
        let reference = ChunkRef { hash: hash(bytes), bytes: length };
        Ok(Self { reference, stored })
    }
}

/// One frame, which says how long its content is, with a block for each kind of bytes.
fn compress(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = Encoder::new(Vec::new(), COMPRESSION_LEVEL)?;
    encoder.set_pledged_src_size(u64::try_from(bytes.len()).ok())?;
    encoder.include_contentsize(true)?;
    let blocks = blocks(bytes);
    let last = blocks.len() - 1;
    for (number, block) in blocks.into_iter().enumerate() {
        encoder.write_all(block)?;
        if number < last {
            encoder.flush()?;
        }
    }
    encoder.finish()
}

/// The chunk of a tile; `None` if the tile is too large for one.
#[must_use]
pub fn chunk_of(tile: &Tile) -> Option<Chunk> {
    Chunk::pack(&encode(tile).ok()?).ok()
}

/// The name of a chunk with these bytes.
#[must_use]
pub fn hash(bytes: &[u8]) -> ChunkHash {
    ChunkHash(*blake3::hash(bytes).as_bytes())
}

/// The bytes of a stored chunk, checked against its name. Total: takes at most `MAX_CHUNK_BYTES`.
///
/// # Errors
/// [`UnreadableStoredChunk`] with what is wrong.
pub fn unpack(stored: &[u8], name: &ChunkHash) -> Result<Vec<u8>, UnreadableStoredChunk> {
    if stored.len() > MAX_STORED_CHUNK_BYTES {
        return Err(UnreadableStoredChunk::TooLarge);
    }
    // Several frames would be read one behind the other.
    let one_frame = stored.starts_with(&FRAME_MAGIC)
        && zstd_safe::find_frame_compressed_size(stored) == Ok(stored.len());
    if !one_frame {
        return Err(UnreadableStoredChunk::NoFrame);
    }
    let length = zstd_safe::get_frame_content_size(stored).ok().flatten();
    let length = length.ok_or(UnreadableStoredChunk::NoFrame)?;
    let length = usize::try_from(length).ok().filter(|length| *length <= MAX_CHUNK_BYTES);
    let length = length.ok_or(UnreadableStoredChunk::TooLarge)?;
    let bytes =
        zstd::bulk::decompress(stored, length).map_err(|_| UnreadableStoredChunk::NoFrame)?;
    if hash(&bytes) != *name {
        return Err(UnreadableStoredChunk::OtherHash);
    }
    Ok(bytes)
}
