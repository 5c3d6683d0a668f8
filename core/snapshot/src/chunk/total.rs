//! Checks that decoding handles arbitrary bytes, for the tests, the fuzz corpus and the fuzzer.

use super::{TileTooLarge, decode, encode};

/// Returns whether `bytes` are either rejected, or decode to a valid tile that round-trips through
/// the encoder. Must hold for any bytes; the fuzzer searches for a counterexample or a panic.
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
        // A different encoder may have chosen smaller text encodings.
        Err(error) => matches!(error, TileTooLarge::Bytes { .. }),
    }
}
