//! The object of an offloaded segment: stable encoding, limits and invalid bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::log;
use crate::entry::{Content, Entry};
use crate::retention::offloaded::check_object_size;
use crate::{
    retention::OffloadedFault, retention::decode_offloaded, retention::encode_offloaded,
    retention::offloaded_key,
};
use cellar_base::limits::{MAX_OFFLOADED_BYTES, MAX_OFFLOADED_OBJECT_BYTES};
use cellar_base::position::Position;

fn entries() -> Vec<Entry> {
    let first = Entry::first(log(), Some("alice".into()), 7);
    let position = Position::new(0, 1).unwrap();
    let end = Entry { position, content: Content::EndSegment, ..first.clone() };
    vec![first, end]
}

/// Returns an object of version 1 with these uncompressed bytes.
fn packed(plain: &[u8]) -> Vec<u8> {
    [&[1], zstd::bulk::compress(plain, 1).unwrap().as_slice()].concat()
}

fn decoded(object: &[u8]) -> Result<Vec<Entry>, OffloadedFault> {
    decode_offloaded(&offloaded_key(log(), 0, object), object)
}

#[test]
fn an_offload_round_trips_and_is_deterministic() {
    let object = encode_offloaded(&entries()).unwrap();
    assert_eq!(decoded(&object).unwrap(), entries());
    assert_eq!(encode_offloaded(&entries()).unwrap(), object);
    assert_eq!(decoded(&encode_offloaded(&[]).unwrap()), Ok(vec![]));
}

/// The uncompressed bytes of version 1, which must stay decodable. The compressed bytes may change
/// with the version of zstd.
const GOLDEN_PLAIN: &str = "020601430207014e020001530014070707070707070707070707070707070000000001540101530155\
    0105616c696365016800000601430207014e0201015300140707070707070707070707070707070700000000015401\
    015801550105616c69636501680000";

/// [`GOLDEN_PLAIN`] with older headers, which have no summaries.
const OLD_GOLDEN_PLAIN: &str = "02060143020701480000014e0200015300140707070707070707070707070707070700000000015401\
    01530155\
    0105616c696365060143020701480000014e0201015300140707070707070707070707070707070700000000015401\
    015801550105616c696365";

#[test]
fn the_released_encoding_does_not_change() {
    let object = encode_offloaded(&entries()).unwrap();
    let plain = zstd::bulk::decompress(&object[1..], 10_000).unwrap();
    let hexadecimal = cellar_base::hexadecimal::hexadecimal(&plain);
    assert_eq!((object[0], hexadecimal.as_str()), (1, GOLDEN_PLAIN));
    assert_eq!(decoded(&packed(&plain)).unwrap(), entries());
}

#[test]
fn reads_an_offload_whose_headers_have_no_summaries() {
    let pairs = OLD_GOLDEN_PLAIN.as_bytes().chunks(2).map(|pair| str::from_utf8(pair).unwrap());
    let plain: Vec<u8> = pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect();
    let mut old = entries();
    old.iter_mut().for_each(|entry| entry.header.summary = None);
    assert_eq!(decoded(&packed(&plain)).unwrap(), old);
}

#[test]
fn rejects_changed_or_truncated_objects() {
    let object = encode_offloaded(&entries()).unwrap();
    let key = offloaded_key(log(), 0, &object);
    for index in 0..object.len() {
        let mut changed = object.clone();
        changed[index] ^= 1;
        assert_eq!(decode_offloaded(&key, &changed), Err(OffloadedFault::HashMismatch), "{index}");
        // With a matching key, decoding must not panic.
        let _ = decoded(&changed);
    }
    for cut in 0..object.len() {
        assert_eq!(
            decode_offloaded(&key, &object[..cut]),
            Err(OffloadedFault::HashMismatch),
            "{cut}"
        );
        assert!(decoded(&object[..cut]).is_err(), "{cut}");
    }
}

#[test]
fn rejects_bytes_that_are_not_an_offload() {
    let object = encode_offloaded(&entries()).unwrap();
    let other = [&[9], &object[1..]].concat();
    assert_eq!(decoded(&other), Err(OffloadedFault::UnknownVersion(9)));
    let plain = zstd::bulk::decompress(&object[1..], 10_000).unwrap();
    for cut in 0..plain.len() {
        assert!(decoded(&packed(&plain[..cut])).is_err(), "{cut}");
    }
    assert!(decoded(&packed(&[plain.as_slice(), &[0]].concat())).is_err(), "bytes after the end");
    // One record without attributes; a count of more records than bytes.
    assert!(matches!(decoded(&packed(&[1, 0])), Err(OffloadedFault::Record(_))));
    assert!(decoded(&packed(&[0xff, 0xff, 0xff, 0xff, 0x0f])).is_err());
}

#[test]
fn rejects_a_decompression_bomb_before_it_takes_memory() {
    let fault = |bytes| decoded(&packed(&vec![0_u8; bytes])).unwrap_err();
    // Zeros up to the limit are decompressed: no record, and bytes after the end.
    let behind = OffloadedFault::Malformed("there are bytes after its records");
    assert_eq!(fault(MAX_OFFLOADED_BYTES), behind);
    let bomb = OffloadedFault::Malformed("the object cannot be decompressed within the size limit");
    assert_eq!(fault(MAX_OFFLOADED_BYTES + 1), bomb);
}

/// Returns entries with exactly `plain_bytes` uncompressed bytes.
fn entries_of(plain_bytes: usize, text: impl Fn(usize) -> String) -> Vec<Entry> {
    let with = |author: String| vec![Entry { author: Some(author), ..entries().remove(0) }];
    let frame = |entries: &[Entry]| {
        let object = encode_offloaded(entries).unwrap();
        zstd::bulk::decompress(&object[1..], MAX_OFFLOADED_BYTES).unwrap().len()
    };
    // A text of almost the final length, so that its encoded length takes the same number of bytes.
    let near = plain_bytes - 1_000;
    let rest = frame(&with(text(near))) - near;
    with(text(plain_bytes - rest))
}

#[test]
fn rejects_entries_above_the_uncompressed_limit() {
    let zeros = |length| "0".repeat(length);
    assert!(encode_offloaded(&entries_of(MAX_OFFLOADED_BYTES, zeros)).is_ok());
    let above = encode_offloaded(&entries_of(MAX_OFFLOADED_BYTES + 1, zeros));
    assert_eq!(above, Err(OffloadedFault::TooLarge));
    const { assert!(MAX_OFFLOADED_OBJECT_BYTES < MAX_OFFLOADED_BYTES) };
}

#[test]
fn rejects_objects_above_the_compressed_limit() {
    // Base64 text compresses to three quarters.
    let packed = |part: usize| {
        let mut noise = vec![0; MAX_OFFLOADED_OBJECT_BYTES / 100 * part];
        blake3::Hasher::new().finalize_xof().fill(&mut noise);
        let author = Some(STANDARD.encode(noise));
        encode_offloaded(&[Entry { author, ..entries().remove(0) }])
    };
    let fits = packed(97).unwrap();
    assert!(
        fits.len() <= MAX_OFFLOADED_OBJECT_BYTES
            && fits.len() > MAX_OFFLOADED_OBJECT_BYTES / 100 * 96
    );
    assert_eq!(packed(101), Err(OffloadedFault::TooLarge));
    assert!(check_object_size(MAX_OFFLOADED_OBJECT_BYTES).is_ok());
    assert_eq!(check_object_size(MAX_OFFLOADED_OBJECT_BYTES + 1), Err(OffloadedFault::TooLarge));
}
