//! Checks that decoding handles arbitrary bytes. Used by tests, the fuzz corpus and a fuzzer.

use super::{TileTooLarge, decode, encode};

/// Returns whether `bytes` are either rejected, or decode to a valid tile that survives encoding
/// and decoding unchanged. This must be true for any bytes; a fuzzer searches for bytes that make
/// it false or panic.
#[must_use]
pub fn is_read_or_refused(bytes: &[u8]) -> bool {
    let Ok(tile) = decode(bytes) else { return true };
    if !tile.is_valid() {
        return false;
    }
    match encode(&tile) {
        Ok(written) => decode(&written).is_ok_and(|read| read == tile),
        // Another encoder may choose smaller forms for texts than this encoder.
        Err(error) => matches!(error, TileTooLarge::Bytes { .. }),
    }
}
