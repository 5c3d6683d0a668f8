//! Generates key pairs and signs tokens. This code runs only on operators' machines, because the
//! stack never stores a private key.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header};

use super::Claims;
use crate::settings::PublicKey;

const PEM_TAG: &str = "PRIVATE KEY";
/// Length of a key id in characters. It must be long enough to distinguish the keys of one stack.
const KEY_ID_CHARS: usize = 12;

/// An Ed25519 key pair that signs tokens.
pub struct KeyPair {
    id: String,
    pkcs8: Vec<u8>,
    public_key: Vec<u8>,
}

/// Error while generating or reading a key pair, or while signing a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MintError {
    #[error("cannot generate a key: the system's random number generator failed")]
    Generate,
    #[error("not an Ed25519 private key in PEM (PKCS #8): {why}")]
    NotAKey { why: String },
    #[error("cannot sign the token: {why}")]
    Sign { why: String },
}

impl KeyPair {
    /// Generates a random key pair. Its key id is derived from the public key.
    ///
    /// # Errors
    ///
    /// Returns [`MintError::Generate`] if no random numbers are available.
    pub fn generate() -> Result<Self, MintError> {
        let pkcs8_document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new())
            .map_err(|_| MintError::Generate)?;
        Self::from_pkcs8(pkcs8_document.as_ref().to_vec())
    }

    /// Reads a key pair from PEM text.
    ///
    /// # Errors
    /// Returns [`MintError::NotAKey`] if the text is not an Ed25519 private key.
    pub fn from_pem(pem_text: &str) -> Result<Self, MintError> {
        let pem_block =
            pem::parse(pem_text).map_err(|error| MintError::NotAKey { why: error.to_string() })?;
        if pem_block.tag() != PEM_TAG {
            return Err(MintError::NotAKey {
                why: format!("the file contains a {}", pem_block.tag()),
            });
        }
        Self::from_pkcs8(pem_block.into_contents())
    }

    fn from_pkcs8(pkcs8: Vec<u8>) -> Result<Self, MintError> {
        let key_pair = Ed25519KeyPair::from_pkcs8(&pkcs8)
            .map_err(|error| MintError::NotAKey { why: error.to_string() })?;
        let public_key = key_pair.public_key().as_ref().to_vec();
        let id = derive_key_id(&public_key);
        Ok(Self { id, pkcs8, public_key })
    }

    /// Returns the private key in PEM format. Anyone who has the private key can create any token.
    #[must_use]
    pub fn to_pem(&self) -> String {
        pem::encode(&pem::Pem::new(PEM_TAG, self.pkcs8.as_slice()))
    }

    /// Returns the public key in the format of `cellar.yaml`.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey { id: self.id.clone(), public_key: URL_SAFE_NO_PAD.encode(&self.public_key) }
    }

    /// Signs a token with the given claims.
    ///
    /// # Errors
    /// Returns [`MintError::Sign`] if signing fails.
    pub fn sign(&self, claims: &Claims) -> Result<String, MintError> {
        let header = Header { kid: Some(self.id.clone()), ..Header::new(Algorithm::EdDSA) };
        let encoding_key = EncodingKey::from_ed_der(&self.pkcs8);
        jsonwebtoken::encode(&header, claims, &encoding_key)
            .map_err(|error| MintError::Sign { why: error.to_string() })
    }
}

/// Returns the key id, which is the start of the base64url-encoded public key.
fn derive_key_id(public_key: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(public_key).chars().take(KEY_ID_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_pairs_round_trip_through_pem() {
        let pair = KeyPair::generate().unwrap();
        let read = KeyPair::from_pem(&pair.to_pem()).unwrap();
        assert_eq!(read.public(), pair.public());
        assert_eq!(pair.public().public_key.len(), 43);
        assert_ne!(pair.public(), KeyPair::generate().unwrap().public());
    }

    #[test]
    fn rejects_text_that_is_not_a_private_key() {
        let certificate = pem::encode(&pem::Pem::new("CERTIFICATE", [1, 2, 3]));
        let garbage = pem::encode(&pem::Pem::new(PEM_TAG, [1, 2, 3]));
        for text in ["", "hello", &certificate, &garbage] {
            assert!(matches!(KeyPair::from_pem(text), Err(MintError::NotAKey { .. })));
        }
    }
}
