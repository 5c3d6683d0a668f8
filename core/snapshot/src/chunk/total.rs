//! Checks that decoding handles arbitrary bytes. Used by tests, the fuzzer and its corpus.

use super::{TileTooLarge, decode, encode};

/// Returns whether decoding either rejects `bytes` or returns a valid tile that is equal after
/// encoding and decoding again. Must be true for any bytes. The fuzzer searches for bytes for which
/// it is false or that cause a panic.
#[must_use]
pub fn is_read_or_refused(bytes: &[u8]) -> bool {
    let Ok(tile) = decode(bytes) else { return true };
    if !tile.is_valid() {
        return false;
    }
    match encode(&tile) {
        Ok(reencoded_bytes) => {
            decode(&reencoded_bytes).is_ok_and(|decoded_tile| decoded_tile == tile)
        }
        // Another encoder may have chosen smaller text encodings, so encoding may fail.
        Err(error) => matches!(error, TileTooLarge::Bytes { .. }),
    }
}
