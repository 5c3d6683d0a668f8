//! Damaged and exchanged chunks are errors.

use super::ladder::grid;
use super::*;

/// Returns what a reader can check without the hash: the kind and the extent of a chunk.
fn place(chunk: &IndexChunk) -> (u8, Option<Span>) {
    match chunk {
        IndexChunk::Moves(_) => (0, None),
        IndexChunk::Parts(_) => (1, None),
        IndexChunk::Stripes(stripes) => (2, stripes.spans().extent()),
        IndexChunk::Tiles(tiles) => (3, tiles.spans().extent()),
    }
}

#[test]
fn an_exchanged_chunk_is_an_error() {
    let limits = PackLimits {
        inline_bytes: 0,
        inline_total_bytes: 0,
        chunk_bytes: 300,
        referenced_bytes: u64::MAX,
    };
    let (packed, objects) = pack_level(&grid(3, 20), limits).unwrap();
    let right = store(&objects);
    let mut same_kind = [0; 4];
    for (hash, chunk) in &right {
        for other in right.values().filter(|other| *other != chunk) {
            let mut wrong = right.clone();
            wrong.insert(*hash, other.clone());
            let read = packed.load_all(&|hash| wrong.get(hash));
            let (own, others) = (place(chunk), place(other));
            assert_eq!(read.is_ok(), own == others, "{own:?} {others:?}");
            same_kind[usize::from(own.0)] += usize::from(own.0 == others.0 && own != others);
        }
    }
    assert!(same_kind[2] > 0 && same_kind[3] > 0, "{same_kind:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_bytes_decode_to_a_chunk_or_an_error(bytes in vec(any::<u8>(), 0..60), kind in 0..10_u8) {
        let _ = IndexChunk::decode(&bytes);
        let _ = IndexChunk::decode(&[&[0x83, kind, 1], bytes.as_slice()].concat());
    }

    #[test]
    fn damaged_chunks_decode_to_a_chunk_or_an_error(level in any_level(), at in any::<usize>(), bit in 0..8_u8) {
        let limits = PackLimits { inline_bytes: 0, inline_total_bytes: 0, chunk_bytes: 300, referenced_bytes: u64::MAX };
        let (_, objects) = pack_level(&level, limits).unwrap();
        for object in &objects {
            let mut bytes = unpack(object.chunk.hash, &object.stored, Bounds::CHUNK).unwrap();
            let at = at % bytes.len();
            prop_assert!(IndexChunk::decode(&bytes[..at]).is_err());
            bytes[at] ^= 1 << bit;
            if let Ok(chunk) = IndexChunk::decode(&bytes) {
                prop_assert_eq!(chunk.check(), Ok(()));
            }
        }
    }
}

/// A list that declares far more items than it has, or items with few bytes.
#[test]
fn declared_lengths_reserve_no_memory() {
    let declared = [0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    for kind in [Kind::Moves, Kind::Parts, Kind::Stripes, Kind::Tiles] {
        for before in [&[][..], &[0x82], &[0x82, 0x84, 0, 1, 1, 0]] {
            let bytes = [&[0x83, kind as u8, 1], before, &declared].concat();
            assert!(IndexChunk::decode(&bytes).is_err());
        }
    }
}
