//! Arbitrary bytes decode to an error or a valid tile, without panics or large allocations.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;

use super::support::{sample, tile, with_templates};
use crate::chunk::bytes::write_count;
use crate::chunk::{UnreadableChunk, decode, encode, is_read_or_refused};
use cellar_base::limits::MAX_TILE_CELLS;

/// Returns a chunk with this content after its header.
fn chunk(rest: &[u8]) -> Vec<u8> {
    [b"Cc\x01\x01".as_slice(), rest].concat()
}

proptest! {
    #[test]
    fn any_bytes_decode_or_are_rejected(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(is_read_or_refused(&bytes));
        prop_assert!(is_read_or_refused(&chunk(&bytes)));
        // Prepends no formats and one column, so that more inputs pass the first checks.
        prop_assert!(is_read_or_refused(&chunk(&[&[0, 1, 0], bytes.as_slice()].concat())));
    }

    #[test]
    fn a_changed_chunk_decodes_or_is_rejected(
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
    for tile in [sample(), with_templates()] {
        let bytes = encode(&tile).unwrap();
        for index in 0..bytes.len() {
            assert!(decode(&bytes[..index]).is_err(), "cut at {index}");
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[index] ^= 1 << bit;
                assert!(is_read_or_refused(&flipped), "bit {bit} of byte {index}");
            }
        }
        let longer = [bytes.as_slice(), &[0]].concat();
        let trailing = UnreadableChunk::Malformed("the chunk has trailing bytes");
        assert_eq!(decode(&longer), Err(trailing));
    }
}

#[test]
fn templates_need_version_2_and_must_be_valid() {
    // A blank with a template in row 0 of column 0.
    let with = |version: u8, flags: u8, layers: &[u8]| {
        let header = [b'C', b'c', version, 1, 0, 1, 0, flags, 0];
        decode(&[header.as_slice(), layers].concat())
    };
    let template = [0, 0, 0, 4, b'=', b'1'];
    assert!(with(2, 0x81, &template).is_ok());
    assert!(with(1, 0x81, &template).is_err(), "a reader of version 1 refuses it");
    let unclosed = [0, 0, 0, 4, b'=', 1];
    assert!(with(2, 0x81, &unclosed).is_err());
    assert!(with(2, 0x81, &[0, 0, 0, 2, b'1']).is_err(), "it does not start with =");
    let both = [template.as_slice(), &template].concat();
    assert!(with(2, 0xa1, &both).is_err(), "two formulas in a cell");
    assert!(with(2, 0x80, &template).is_err(), "there is no value");
}

#[test]
fn small_inputs_that_declare_large_contents_are_rejected() {
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
        // A run of 200,000 rows is allowed, but not with a text of 4 KB in each row.
        chunk(
            &[&[0, 1, 0, 0x0d, 0, 0xc0, 0x9a, 0x0c, 2, 0, 0, 0], [0x80, 0x40].as_slice()].concat(),
        ),
        // 1,000,000 formats and words.
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
    // Two columns of blanks in runs of rows, the second with formulas and formats.
    let read = |first: usize, second: usize| {
        let rows = [count(first), count(second)];
        let layers = [4, 0, 0, 0, 4, 0, 0];
        let rest =
            [[1, 0, 0, 2, 0, 0x09, 0].as_slice(), &rows[0], &[0, 0x69, 0], &rows[1], &layers];
        decode(&chunk(&rest.concat())).map(|tile| tile.cell_count())
    };
    assert_eq!(read(MAX_TILE_CELLS - 300, 100), Ok(MAX_TILE_CELLS - 200));
    assert!(matches!(read(MAX_TILE_CELLS - 299, 100), Err(UnreadableChunk::TooLarge(_))));
}

#[test]
fn the_corpus_decodes_or_is_rejected() {
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
