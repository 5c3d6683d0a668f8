//! Tests of stored chunks.

use super::super::blocks::split_into_blocks;
use super::support::sample;
use crate::chunk::encode;
use crate::error::SnapshotError;
use crate::level::ChunkHash;
use crate::packed::{Bounds, PackedObject, pack_blocks};
use cellar_base::limits::{MAX_CHUNK_BYTES, MAX_STORED_CHUNK_BYTES};

fn pack(bytes: &[u8]) -> Result<PackedObject, SnapshotError> {
    pack_blocks(bytes, &split_into_blocks(bytes), Bounds::CHUNK)
}

fn unpack(stored: &[u8], name: &ChunkHash) -> Result<Vec<u8>, SnapshotError> {
    crate::packed::unpack(*name, stored, Bounds::CHUNK)
}

fn too_long(bytes: usize, max: usize) -> SnapshotError {
    SnapshotError::TooLong { bytes, max }
}

fn random(bytes: usize) -> Vec<u8> {
    let mut random = vec![0; bytes];
    blake3::Hasher::new().finalize_xof().fill(&mut random);
    random
}

#[test]
fn packed_chunks_unpack() {
    for bytes in [vec![], encode(&sample()).unwrap(), random(300_000), vec![0; MAX_CHUNK_BYTES]] {
        let chunk = pack(&bytes).unwrap();
        assert_eq!(usize::try_from(chunk.chunk.bytes).unwrap(), chunk.stored.len());
        assert_eq!(chunk.chunk.hash, ChunkHash::of(&bytes));
        assert_eq!(unpack(&chunk.stored, &chunk.chunk.hash).unwrap(), bytes);
        assert_eq!(pack(&bytes).unwrap(), chunk);
    }
}

#[test]
fn chunks_end_at_their_limits() {
    let bytes = MAX_CHUNK_BYTES + 1;
    assert_eq!(pack(&vec![0; bytes]), Err(too_long(bytes, MAX_CHUNK_BYTES)));
    // Random bytes are stored uncompressed inside a frame.
    let frame = pack(&random(MAX_STORED_CHUNK_BYTES - 1_000)).unwrap().stored.len();
    let expansion_budget = MAX_STORED_CHUNK_BYTES - frame;
    let full = random(MAX_STORED_CHUNK_BYTES - 1_000 + expansion_budget);
    let chunk = pack(&full).unwrap();
    assert_eq!(chunk.stored.len(), MAX_STORED_CHUNK_BYTES);
    assert_eq!(unpack(&chunk.stored, &chunk.chunk.hash).unwrap(), full);
    let more = random(full.len() + 1);
    let bytes = MAX_STORED_CHUNK_BYTES + 1;
    assert_eq!(pack(&more), Err(too_long(bytes, MAX_STORED_CHUNK_BYTES)));
    // Independent of the compression.
    let more = random(MAX_STORED_CHUNK_BYTES + 1);
    let stored = zstd::bulk::compress(&more, 3).unwrap();
    let refused = Err(too_long(stored.len(), MAX_STORED_CHUNK_BYTES));
    assert_eq!(unpack(&stored, &ChunkHash::of(&more)), refused);
    // A small stored object that would decompress to a large one.
    let zeros = vec![0; MAX_CHUNK_BYTES + 1];
    let bomb = zstd::bulk::compress(&zeros, 3).unwrap();
    assert_eq!(unpack(&bomb, &ChunkHash::of(&zeros)), Err(too_long(zeros.len(), MAX_CHUNK_BYTES)));
}

#[test]
fn anything_but_one_whole_frame_is_rejected() {
    let bytes = encode(&sample()).unwrap();
    let chunk = pack(&bytes).unwrap();
    let name = chunk.chunk.hash;
    let stored = chunk.stored;
    for length in 0..stored.len() {
        assert_eq!(unpack(&stored[..length], &name), Err(SnapshotError::Compression));
    }
    let empty = zstd::bulk::compress(&[], 3).unwrap();
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0];
    for tail in [[0].as_slice(), &stored, &empty, &skippable] {
        let longer = [stored.as_slice(), tail].concat();
        assert_eq!(unpack(&longer, &name), Err(SnapshotError::Compression));
    }
    assert!(unpack(&skippable, &ChunkHash::of(&[])).is_err());
    // A frame without a declared content size.
    let streamed = zstd::stream::encode_all(bytes.as_slice(), 3).unwrap();
    assert_eq!(unpack(&streamed, &name), Err(SnapshotError::Compression));
    for index in 0..stored.len() {
        for bit in 0..8 {
            let mut flipped = stored.clone();
            flipped[index] ^= 1 << bit;
            // Flipping some bits of a frame changes neither its content nor its validity.
            assert!(
                unpack(&flipped, &name).is_ok_and(|read| read == bytes)
                    || unpack(&flipped, &name).is_err()
            );
        }
    }
    let mut other = bytes;
    other[5] ^= 1;
    let other = pack(&other).unwrap();
    assert_eq!(unpack(&other.stored, &name), Err(SnapshotError::WrongHash { expected: name }));
}
