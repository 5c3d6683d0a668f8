//! The `tokens:` section of `cellar.yaml`: the tokens that the API accepts.

use cellar_catalog::oidc::OidcIssuer;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tokens {
    /// Required issuer (`iss`) of tokens; default `cellar`.
    pub issuer: String,
    /// Required audience (`aud`) of tokens; default `cellar`.
    pub audience: String,
    /// Public keys that verify tokens. During a key rotation, the list contains both the old and
    /// the new key.
    pub keys: Vec<TokenKey>,
    /// `OpenID Connect` issuers whose tokens are also accepted; default none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub oidc: Vec<OidcIssuer>,
    /// Tokens issued before this time, in Unix seconds, are rejected. If `None`, the issue time is
    /// not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before_s: Option<u64>,
}

/// A public key that verifies tokens. Serialized to JSON as an element of the `CELLAR_TOKEN_KEYS`
/// variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenKey {
    /// Key id, which a token contains as `kid` in its header.
    pub id: String,
    /// The 32 bytes of an Ed25519 public key in unpadded base64url.
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
    /// Returns the public keys as compact JSON for an environment variable of the API function.
    pub(crate) fn keys_json(&self) -> String {
        serde_json::json!(self.keys).to_string()
    }

    /// Returns the `OpenID Connect` issuers as compact JSON for an environment variable of the API
    /// function.
    pub(crate) fn oidc_json(&self) -> String {
        serde_json::json!(self.oidc).to_string()
    }
}
