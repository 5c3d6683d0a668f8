//! The secrets of links.

use cellar_catalog::spreadsheet::LinkSecret;

/// 16 random bytes of the system's: a UUID of version 4 has 122 random bits, two of them more than enough.
pub(super) fn secret() -> LinkSecret {
    let mut hasher = blake3::Hasher::new_derive_key("cellar 2026 link secret");
    for _ in 0..2 {
        hasher.update(uuid::Uuid::new_v4().as_bytes());
    }
    let mut bytes = [0; 16];
    hasher.finalize_xof().fill(&mut bytes);
    LinkSecret(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_secrets_are_the_same() {
        assert_ne!(secret(), secret());
    }
}
