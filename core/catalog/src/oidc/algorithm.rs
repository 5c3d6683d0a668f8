//! Signature algorithms of token issuers.

use serde::{Deserialize, Serialize};

/// Signature algorithm of tokens (RFC 7518 §3.1, RFC 8037). Only asymmetric algorithms are
/// supported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum TokenAlgorithm {
    /// RSA (PKCS #1) with SHA-256. Most issuers use this algorithm.
    #[default]
    Rs256,
    /// RSA (PKCS #1) with SHA-384.
    Rs384,
    /// RSA (PKCS #1) with SHA-512.
    Rs512,
    /// RSA (PSS) with SHA-256.
    Ps256,
    /// RSA (PSS) with SHA-384.
    Ps384,
    /// RSA (PSS) with SHA-512.
    Ps512,
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// ECDSA on P-384 with SHA-384.
    Es384,
    /// Ed25519.
    #[serde(rename = "EdDSA")]
    EdDsa,
}

impl TokenAlgorithm {
    /// All algorithms.
    pub const ALL: [Self; 9] = [
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
        Self::Es256,
        Self::Es384,
        Self::EdDsa,
    ];
}
