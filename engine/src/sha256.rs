//! Computes SHA-256 checksums of objects.

use sha2::{Digest as _, Sha256};

#[must_use]
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}
