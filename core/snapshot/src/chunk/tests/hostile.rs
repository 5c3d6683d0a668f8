//! Bytes that nobody wrote: an error or a sound tile, never a panic, never much memory.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;

use super::support::{sample, tile};
use crate::chunk::bytes::write_count;
use crate::chunk::{UnreadableChunk, decode, encode, is_read_or_refused};
use cellar_base::limits::MAX_TILE_CELLS;

/// A chunk with this behind its header.
fn chunk(rest: &[u8]) -> Vec<u8> {
    [b"Cc\x01\x01".as_slice(), rest].concat()
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(is_read_or_refused(&bytes));
        prop_assert!(is_read_or_refused(&chunk(&bytes)));
        // No formats, one column: more of these get somewhere.
        prop_assert!(is_read_or_refused(&chunk(&[&[0, 1, 0], bytes.as_slice()].concat())));
    }

    #[test]
    fn a_chunk_that_was_changed_is_read_or_refused(
        tile in tile(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = encode(&tile).unwrap();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        prop_assert!(is_read_or_refused(&bytes));
    }
}

#[test]
fn every_flipped_bit_and_every_cut() {
    let bytes = encode(&sample()).unwrap();
    for index in 0..bytes.len() {
        assert!(decode(&bytes[..index]).is_err(), "cut at {index}");
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[index] ^= 1 << bit;
            assert!(is_read_or_refused(&flipped), "bit {bit} of byte {index}");
        }
    }
    let longer = [bytes.as_slice(), &[0]].concat();
    assert_eq!(decode(&longer), Err(UnreadableChunk::Malformed("the chunk has trailing bytes")));
}

#[test]
fn a_few_bytes_that_declare_much_are_refused() {
    let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    let with = |before: &[u8], behind: &[u8]| chunk(&[before, &huge, behind].concat());
    let million = [0xc0, 0x84, 0x3d];
    for bytes in [
        // Formats, columns, a column's distance, rows of a run, of a bitmap and of gaps.
        with(&[], &[]),
        with(&[0], &[]),
        with(&[0, 1], &[]),
        with(&[0, 1, 0, 0x09, 0], &[]),
        with(&[0, 1, 0, 0x11, 0], &[]),
        with(&[0, 1, 0, 0x19, 0], &[]),
        // A run of 200,000 rows is allowed, with a text of 4 KB for each it is not.
        chunk(
            &[&[0, 1, 0, 0x0d, 0, 0xc0, 0x9a, 0x0c, 2, 0, 0, 0], [0x80, 0x40].as_slice()].concat(),
        ),
        // 1,000,000 formats, and words.
        chunk(&[&million, [2, 0, 0].as_slice()].concat()),
        chunk(&[&[0, 1, 0, 0x0d, 0, 2, 3], million.as_slice(), &[0, 0, 0]].concat()),
    ] {
        assert!(decode(&bytes).is_err(), "{bytes:02x?}");
    }
}

#[test]
fn cells_are_counted_over_all_layers_and_columns() {
    let count = |number: usize| {
        let mut bytes = Vec::new();
        write_count(&mut bytes, number);
        bytes
    };
    // Two columns of empty values in runs of rows; the second with a formula and a format in each.
    let read = |first: usize, second: usize| {
        let rows = [count(first), count(second)];
        let layers = [4, 0, 0, 0, 4, 0, 0];
        let rest =
            [[1, 0, 0, 2, 0, 0x09, 0].as_slice(), &rows[0], &[0, 0x69, 0], &rows[1], &layers];
        decode(&chunk(&rest.concat())).map(|tile| tile.cells())
    };
    assert_eq!(read(MAX_TILE_CELLS - 300, 100), Ok(MAX_TILE_CELLS - 200));
    assert!(matches!(read(MAX_TILE_CELLS - 299, 100), Err(UnreadableChunk::TooLarge(_))));
}

#[test]
fn the_corpus_is_read_or_refused() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz-corpus/chunk");
    let (mut read, mut refused) = (0, 0);
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        assert!(is_read_or_refused(&bytes), "{}", path.display());
        *(if decode(&bytes).is_ok() { &mut read } else { &mut refused }) += 1;
    }
    assert!(read >= 10 && refused >= 10, "{read} read, {refused} refused");
}
