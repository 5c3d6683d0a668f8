//! The `tokens:` section of `cellar.yaml`: the tokens accepted by the API.

use cellar_catalog::oidc::OidcIssuer;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tokens {
    /// Required token issuer (`iss`). Defaults to `cellar`.
    pub issuer: String,
    /// Required token audience (`aud`). Defaults to `cellar`.
    pub audience: String,
    /// Public keys for token verification. During key rotation, both the old and the new key are
    /// listed.
    pub keys: Vec<TokenKey>,
    /// `OpenID Connect` issuers whose tokens are accepted too. Defaults to none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub oidc: Vec<OidcIssuer>,
    /// Earliest accepted issue time of tokens, in seconds since the Unix epoch. If `None`, the
    /// issue time is not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before_s: Option<u64>,
}

/// A public key for token verification, serialized to JSON as an element of the `CELLAR_TOKEN_KEYS`
/// variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenKey {
    /// Key id, which tokens specify as `kid` in their header.
    pub id: String,
    /// Ed25519 public key: 32 bytes in unpadded base64url.
    pub public_key: String,
}

impl Default for Tokens {
    fn default() -> Self {
        Self {
            issuer: "cellar".to_owned(),
            audience: "cellar".to_owned(),
            keys: Vec::new(),
            oidc: Vec::new(),
            not_before_s: None,
        }
    }
}

impl Tokens {
    /// Returns the public keys as compact JSON for an API environment variable.
    pub(crate) fn keys_json(&self) -> String {
        serde_json::json!(self.keys).to_string()
    }

    /// Returns the `OpenID Connect` issuers as compact JSON for an API environment variable.
    pub(crate) fn oidc_json(&self) -> String {
        serde_json::json!(self.oidc).to_string()
    }
}
