//! Checks that decoding accepts any bytes. Used by tests, the fuzz corpus and a fuzzer.

use super::{TileTooLarge, decode, encode};

/// Returns whether `bytes` are rejected, or decode to a valid tile that encodes and decodes to
/// itself. True for any bytes; a fuzzer searches for bytes that make it false or panic.
#[must_use]
pub fn is_read_or_refused(bytes: &[u8]) -> bool {
    let Ok(tile) = decode(bytes) else { return true };
    if !tile.is_valid() {
        return false;
    }
    match encode(&tile) {
        Ok(written) => decode(&written).is_ok_and(|read| read == tile),
        // Another encoder may write texts in a smaller form than this encoder.
        Err(error) => matches!(error, TileTooLarge::Bytes { .. }),
    }
}
