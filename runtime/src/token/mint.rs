//! Keys, and tokens signed with them. Operators do this; the cloud never holds a private key.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header};

use super::Claims;
use crate::settings::PublicKey;

const PEM_TAG: &str = "PRIVATE KEY";

/// An Ed25519 key pair that signs tokens.
pub struct KeyPair {
    id: String,
    pkcs8: Vec<u8>,
    public_key: Vec<u8>,
}

/// A key that cannot be made or read, or does not sign.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MintError {
    /// The system gives no random numbers.
    #[error("cannot generate a key: the system's random number generator failed")]
    Generate,
    /// Not a private key.
    #[error("not an Ed25519 private key in PEM (PKCS #8): {why}")]
    NotAKey {
        /// What is wrong.
        why: String,
    },
    /// Signing failed.
    #[error("cannot sign the token: {why}")]
    Sign {
        /// What is wrong.
        why: String,
    },
}

impl KeyPair {
    /// A new key pair, named by its public key.
    ///
    /// # Errors
    /// [`MintError::Generate`].
    pub fn generate() -> Result<Self, MintError> {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new())
            .map_err(|_| MintError::Generate)?;
        Self::from_pkcs8(document.as_ref().to_vec())
    }

    /// The key pair in a PEM file.
    ///
    /// # Errors
    /// [`MintError::NotAKey`].
    pub fn from_pem(text: &str) -> Result<Self, MintError> {
        let parsed =
            pem::parse(text).map_err(|error| MintError::NotAKey { why: error.to_string() })?;
        if parsed.tag() != PEM_TAG {
            return Err(MintError::NotAKey { why: format!("it is a {}", parsed.tag()) });
        }
        Self::from_pkcs8(parsed.into_contents())
    }

    fn from_pkcs8(pkcs8: Vec<u8>) -> Result<Self, MintError> {
        let pair = Ed25519KeyPair::from_pkcs8(&pkcs8)
            .map_err(|error| MintError::NotAKey { why: error.to_string() })?;
        let public_key = pair.public_key().as_ref().to_vec();
        let id = name_of(&public_key);
        Ok(Self { id, pkcs8, public_key })
    }

    /// The private key as a PEM file: whoever has it can mint any token.
    #[must_use]
    pub fn to_pem(&self) -> String {
        pem::encode(&pem::Pem::new(PEM_TAG, self.pkcs8.as_slice()))
    }

    /// The public half, for `cellar.yaml`.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey { id: self.id.clone(), public_key: URL_SAFE_NO_PAD.encode(&self.public_key) }
    }

    /// A token with these claims.
    ///
    /// # Errors
    /// [`MintError::Sign`].
    pub fn sign(&self, claims: &Claims) -> Result<String, MintError> {
        let header = Header { kid: Some(self.id.clone()), ..Header::new(Algorithm::EdDSA) };
        let key = EncodingKey::from_ed_der(&self.pkcs8);
        jsonwebtoken::encode(&header, claims, &key)
            .map_err(|error| MintError::Sign { why: error.to_string() })
    }
}

/// A key's name: the first characters of the key itself, enough to tell keys apart.
fn name_of(public_key: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(public_key).chars().take(12).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_back_from_its_file() {
        let pair = KeyPair::generate().unwrap();
        let read = KeyPair::from_pem(&pair.to_pem()).unwrap();
        assert_eq!(read.public(), pair.public());
        assert_eq!(pair.public().public_key.len(), 43);
        assert_ne!(pair.public(), KeyPair::generate().unwrap().public());
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let certificate = pem::encode(&pem::Pem::new("CERTIFICATE", [1, 2, 3]));
        let garbage = pem::encode(&pem::Pem::new(PEM_TAG, [1, 2, 3]));
        for text in ["", "hello", &certificate, &garbage] {
            assert!(matches!(KeyPair::from_pem(text), Err(MintError::NotAKey { .. })));
        }
    }
}
