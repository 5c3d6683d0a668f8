//! Stored form of objects. Each object is a single zstd frame, and its name is the hash of its
//! contents.

use super::chunk_ref::{ChunkHash, ChunkRef};
use crate::error::SnapshotError;
use crate::saturate::saturate_u32;
use cellar_base::limits::{
    MAX_CHUNK_BYTES, MAX_ROOT_BYTES, MAX_STORED_CHUNK_BYTES, MAX_STORED_ROOT_BYTES,
    MAX_STORED_TEXT_BYTES, MAX_TEXT_BYTES,
};
use cellar_base::zstd_frames;

/// Length limits of one kind of object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Maximum uncompressed length in bytes.
    pub plain_bytes: usize,
    /// Maximum stored length in bytes.
    pub stored_bytes: usize,
}

impl Bounds {
    /// Length limits of chunks.
    pub const CHUNK: Self =
        Self { plain_bytes: MAX_CHUNK_BYTES, stored_bytes: MAX_STORED_CHUNK_BYTES };
    /// Length limits of long texts, which are stored as separate objects.
    pub const TEXT: Self =
        Self { plain_bytes: MAX_TEXT_BYTES, stored_bytes: MAX_STORED_TEXT_BYTES };
    /// Length limits of roots.
    pub const ROOT: Self =
        Self { plain_bytes: MAX_ROOT_BYTES, stored_bytes: MAX_STORED_ROOT_BYTES };
}

/// A compressed object that is ready to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedObject {
    /// Name and stored length of the object.
    pub chunk: ChunkRef,
    /// Bytes to store with `Content-Encoding: zstd`.
    pub stored: Vec<u8>,
}

impl ChunkHash {
    /// Returns the name of an object with these contents.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }
}

/// Compresses an object and computes its name. The name depends only on `bytes`, not on the
/// compression.
///
/// # Errors
/// Returns [`SnapshotError::TooLong`] if the object exceeds `bounds`.
pub fn pack(bytes: &[u8], bounds: Bounds) -> Result<PackedObject, SnapshotError> {
    pack_blocks(bytes, &[bytes], bounds)
}

/// Like [`pack`], but compresses each block separately. `bytes` must be the concatenation of
/// `blocks`.
pub(super) fn pack_blocks(
    bytes: &[u8],
    blocks: &[&[u8]],
    bounds: Bounds,
) -> Result<PackedObject, SnapshotError> {
    check_length(bytes.len(), bounds.plain_bytes)?;
    let stored = zstd_frames::compress(blocks).map_err(|_| SnapshotError::Compression)?;
    check_length(stored.len(), bounds.stored_bytes)?;
    let chunk = ChunkRef { hash: ChunkHash::of(bytes), bytes: saturate_u32(stored.len()) };
    Ok(PackedObject { chunk, stored })
}

/// Decompresses an object and verifies its name. Never panics on malformed bytes. `bounds` limits
/// the memory use.
///
/// # Errors
/// Returns a [`SnapshotError`] if the object exceeds `bounds`, does not match `hash`, or is not
/// exactly one zstd frame with a declared content size.
pub fn unpack(hash: ChunkHash, stored: &[u8], bounds: Bounds) -> Result<Vec<u8>, SnapshotError> {
    check_length(stored.len(), bounds.stored_bytes)?;
    if let Some(declared_bytes) = zstd_frames::declared_bytes(stored) {
        check_length(declared_bytes, bounds.plain_bytes)?;
    }
    let decompressed = zstd_frames::decompress(stored, bounds.plain_bytes);
    let bytes = decompressed.ok_or(SnapshotError::Compression)?;
    if ChunkHash::of(&bytes) != hash {
        return Err(SnapshotError::WrongHash { expected: hash });
    }
    Ok(bytes)
}

fn check_length(byte_length: usize, max_bytes: usize) -> Result<(), SnapshotError> {
    if byte_length > max_bytes {
        return Err(SnapshotError::TooLong { bytes: byte_length, max: max_bytes });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_base::zstd_frames::COMPRESSION_LEVEL;

    const SMALL: Bounds = Bounds { plain_bytes: 1_000, stored_bytes: 100 };

    /// Returns incompressible bytes.
    fn noise(count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        blake3::Hasher::new().finalize_xof().fill(&mut bytes);
        bytes
    }

    #[test]
    fn packed_objects_unpack() {
        for bytes in [Vec::new(), vec![7; 1_000], noise(50)] {
            let packed = pack(&bytes, SMALL).unwrap();
            assert_eq!(packed.chunk.bytes as usize, packed.stored.len());
            assert_eq!(unpack(packed.chunk.hash, &packed.stored, SMALL), Ok(bytes));
        }
    }

    #[test]
    fn the_longest_text_fits_without_compression() {
        let longest = pack(&noise(MAX_TEXT_BYTES), Bounds::TEXT).unwrap();
        assert!(longest.stored.len() > MAX_TEXT_BYTES);
        assert!(unpack(longest.chunk.hash, &longest.stored, Bounds::TEXT).is_ok());
    }

    #[test]
    fn bounds_are_met_at_n_and_not_at_one_more() {
        assert!(pack(&[0; 1_001], SMALL).is_err());
        let longer = Bounds { plain_bytes: 1_001, ..SMALL };
        let packed = pack(&[0; 1_001], longer).unwrap();
        assert!(unpack(packed.chunk.hash, &packed.stored, longer).is_ok());
        let too_long = SnapshotError::TooLong { bytes: 1_001, max: 1_000 };
        assert_eq!(unpack(packed.chunk.hash, &packed.stored, SMALL), Err(too_long));

        let wide = Bounds { stored_bytes: 1_000, ..SMALL };
        let packed = pack(&noise(300), wide).unwrap();
        let stored_bytes = packed.stored.len();
        for (stored_bytes, fits) in [(stored_bytes, true), (stored_bytes - 1, false)] {
            let bounds = Bounds { stored_bytes, ..SMALL };
            assert_eq!(pack(&noise(300), bounds).is_ok(), fits);
            assert_eq!(unpack(packed.chunk.hash, &packed.stored, bounds).is_ok(), fits);
        }
    }

    #[test]
    fn damaged_objects_are_rejected() {
        let packed = pack(&noise(80), SMALL).unwrap();
        let hash = packed.chunk.hash;
        for cut in 0..packed.stored.len() {
            assert!(unpack(hash, &packed.stored[..cut], SMALL).is_err(), "{cut}");
            let mut flipped = packed.stored.clone();
            flipped[cut] ^= 1;
            // Flipping unused bits of the frame header has no effect.
            let read = unpack(hash, &flipped, SMALL);
            assert!(read.is_err() || read == Ok(noise(80)), "{cut}");
        }
        let behind = [packed.stored.as_slice(), &[0]].concat();
        assert_eq!(unpack(hash, &behind, SMALL), Err(SnapshotError::Compression));
        let twice = [packed.stored.as_slice(), packed.stored.as_slice()].concat();
        assert!(unpack(hash, &twice, Bounds::CHUNK).is_err());
        let other = ChunkHash([0; 32]);
        let wrong = SnapshotError::WrongHash { expected: other };
        assert_eq!(unpack(other, &packed.stored, SMALL), Err(wrong));
    }

    #[test]
    fn a_decompression_bomb_is_not_unpacked() {
        let bomb = zstd::bulk::compress(&vec![0; 64 << 20], COMPRESSION_LEVEL).unwrap();
        assert!(bomb.len() < 10_000);
        let too_long = SnapshotError::TooLong { bytes: 64 << 20, max: MAX_ROOT_BYTES };
        assert_eq!(unpack(ChunkHash([0; 32]), &bomb, Bounds::ROOT), Err(too_long));
    }

    #[test]
    fn a_frame_must_declare_its_content_size() {
        let streamed = zstd::stream::encode_all(b"cells".as_slice(), COMPRESSION_LEVEL).unwrap();
        let read = unpack(ChunkHash::of(b"cells"), &streamed, Bounds::CHUNK);
        assert_eq!(read, Err(SnapshotError::Compression));
        let skippable = [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0];
        assert!(unpack(ChunkHash::of(&[]), &skippable, Bounds::CHUNK).is_err());
        let packed = pack(b"cells", Bounds::CHUNK).unwrap();
        let behind = [packed.stored.as_slice(), &skippable].concat();
        assert!(unpack(packed.chunk.hash, &behind, Bounds::CHUNK).is_err());
    }

    #[test]
    fn stored_lengths_are_bounded() {
        for (bounds, max) in [
            (Bounds::CHUNK, MAX_STORED_CHUNK_BYTES),
            (Bounds::TEXT, MAX_STORED_TEXT_BYTES),
            (Bounds::ROOT, MAX_STORED_ROOT_BYTES),
        ] {
            let read = |bytes: usize| unpack(ChunkHash([0; 32]), &vec![0; bytes], bounds);
            assert_eq!(read(max), Err(SnapshotError::Compression), "it is looked at");
            let too_long = SnapshotError::TooLong { bytes: max + 1, max };
            assert_eq!(read(max + 1), Err(too_long), "it is not");
        }
    }
}
