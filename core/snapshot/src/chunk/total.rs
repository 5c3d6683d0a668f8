//! Checks that decoding handles arbitrary bytes. Used by tests, the fuzzer and its corpus.

use super::{UnencodableTile, decode, encode};

/// Decodes arbitrary bytes and checks the result. Returns `false` only if the decoder or the
/// encoder has a bug. Returns `true` if the bytes are rejected. Also returns `true` if they yield a
/// valid tile that is too long to be encoded again, or that encoding and decoding again does not
/// change. The fuzzer searches for bytes that yield `false` or cause a panic.
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
        // The bytes may come from an encoder that chose smaller string encodings. Encoding the tile
        // may therefore fail.
        Err(error) => matches!(error, UnencodableTile::Bytes { .. }),
    }
}
