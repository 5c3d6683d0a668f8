//! Generates share link secrets.

use cellar_catalog::spreadsheet::LinkSecret;

/// Returns the hash of two random UUIDs, because a single UUID has only 122 random bits.
pub(super) fn generate_secret() -> LinkSecret {
    let mut hasher = blake3::Hasher::new_derive_key("cellar 2026 link secret");
    hasher.update(uuid::Uuid::new_v4().as_bytes());
    hasher.update(uuid::Uuid::new_v4().as_bytes());
    let mut secret = LinkSecret([0; 16]);
    hasher.finalize_xof().fill(&mut secret.0);
    secret
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generates_different_secrets() {
        assert_ne!(generate_secret(), generate_secret());
    }
}
