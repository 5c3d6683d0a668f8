//! The word that the decoder gives, as a predicate: for the tests, the
//! corpus and a fuzzer.

use super::{TileTooLarge, decode, encode};

/// Whether `bytes` are refused, or read as a sound tile that would be written and read again as the
/// same. True for any bytes: a fuzzer looks for some for which it is not, or that panic.
#[must_use]
pub fn is_read_or_refused(bytes: &[u8]) -> bool {
    let Ok(tile) = decode(bytes) else { return true };
    if !tile.is_valid() {
        return false;
    }
    match encode(&tile) {
        Ok(written) => decode(&written).is_ok_and(|read| read == tile),
        // Another may write texts more cleverly than we do.
        Err(error) => matches!(error, TileTooLarge::Bytes { .. }),
    }
}
