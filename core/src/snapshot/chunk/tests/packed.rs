//! Chunks as they are stored.

use super::support::sample;
use crate::limits::{MAX_CHUNK_BYTES, MAX_STORED_CHUNK_BYTES};
use crate::snapshot::chunk::{Chunk, UnpackableChunk, UnreadableStoredChunk, encode, unpack};
use crate::snapshot::level::ChunkHash;

fn random(bytes: usize) -> Vec<u8> {
    let mut random = vec![0; bytes];
    blake3::Hasher::new().finalize_xof().fill(&mut random);
    random
}

#[test]
fn what_is_packed_unpacks() {
    for bytes in [vec![], encode(&sample()).unwrap(), random(300_000), vec![0; MAX_CHUNK_BYTES]] {
        let chunk = Chunk::pack(&bytes).unwrap();
        assert_eq!(usize::try_from(chunk.reference.bytes).unwrap(), chunk.stored.len());
        assert_eq!(chunk.reference.hash, ChunkHash::of(&bytes));
        assert_eq!(unpack(&chunk.stored, &chunk.reference.hash).unwrap(), bytes);
        assert_eq!(Chunk::pack(&bytes).unwrap(), chunk);
    }
}

#[test]
fn chunks_end_at_their_limits() {
    let bytes = MAX_CHUNK_BYTES + 1;
    assert_eq!(Chunk::pack(&vec![0; bytes]), Err(UnpackableChunk::Bytes { bytes }));
    // Random bytes are stored as they are, in a frame around them.
    let frame = Chunk::pack(&random(MAX_STORED_CHUNK_BYTES - 1_000)).unwrap().stored.len();
    let room = MAX_STORED_CHUNK_BYTES - frame;
    let full = random(MAX_STORED_CHUNK_BYTES - 1_000 + room);
    let chunk = Chunk::pack(&full).unwrap();
    assert_eq!(chunk.stored.len(), MAX_STORED_CHUNK_BYTES);
    assert_eq!(unpack(&chunk.stored, &chunk.reference.hash).unwrap(), full);
    let more = random(full.len() + 1);
    let bytes = MAX_STORED_CHUNK_BYTES + 1;
    assert_eq!(Chunk::pack(&more), Err(UnpackableChunk::Stored { bytes }));
    // However it is packed.
    let more = random(MAX_STORED_CHUNK_BYTES + 1);
    let stored = zstd::bulk::compress(&more, 3).unwrap();
    assert!(unpack(&stored, &ChunkHash::of(&more)) == Err(UnreadableStoredChunk::TooLarge));
    // A small object that would be too large.
    let zeros = vec![0; MAX_CHUNK_BYTES + 1];
    let bomb = zstd::bulk::compress(&zeros, 3).unwrap();
    assert_eq!(unpack(&bomb, &ChunkHash::of(&zeros)), Err(UnreadableStoredChunk::TooLarge));
}

#[test]
fn what_is_not_one_whole_frame_is_refused() {
    let bytes = encode(&sample()).unwrap();
    let chunk = Chunk::pack(&bytes).unwrap();
    let name = chunk.reference.hash;
    let stored = chunk.stored;
    for length in 0..stored.len() {
        assert_eq!(unpack(&stored[..length], &name), Err(UnreadableStoredChunk::NoFrame));
    }
    let empty = zstd::bulk::compress(&[], 3).unwrap();
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0];
    for tail in [[0].as_slice(), &stored, &empty, &skippable] {
        let longer = [stored.as_slice(), tail].concat();
        assert_eq!(unpack(&longer, &name), Err(UnreadableStoredChunk::NoFrame));
    }
    assert!(unpack(&skippable, &ChunkHash::of(&[])).is_err());
    // A frame that does not say how long it is.
    let streamed = zstd::stream::encode_all(bytes.as_slice(), 3).unwrap();
    assert_eq!(unpack(&streamed, &name), Err(UnreadableStoredChunk::NoFrame));
    for index in 0..stored.len() {
        for bit in 0..8 {
            let mut flipped = stored.clone();
            flipped[index] ^= 1 << bit;
            // A bit of the frame that changes nothing of its content may be another frame.
            assert!(
                unpack(&flipped, &name).is_ok_and(|read| read == bytes)
                    || unpack(&flipped, &name).is_err()
            );
        }
    }
    let mut other = bytes;
    other[5] ^= 1;
    let other = Chunk::pack(&other).unwrap();
    assert_eq!(unpack(&other.stored, &name), Err(UnreadableStoredChunk::OtherHash));
}
