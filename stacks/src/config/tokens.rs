//! The `tokens:` section of `cellar.yaml`. It configures which tokens the API accepts.

use cellar_catalog::oidc::OidcIssuer;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tokens {
    /// The issuer (`iss` claim) that a token must have. Defaults to `cellar`.
    pub issuer: String,
    /// The audience (`aud` claim) that a token must have. Defaults to `cellar`.
    pub audience: String,
    /// The public keys that verify tokens. During a key rotation, both the old and the new key are
    /// listed.
    pub keys: Vec<TokenKey>,
    /// The OpenID Connect issuers whose tokens the API also accepts. Defaults to none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub oidc: Vec<OidcIssuer>,
    /// The earliest issue time that a token may have, in seconds since the Unix epoch. If `None`,
    /// the issue time is not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before_s: Option<u64>,
}

/// A public key that verifies tokens. The environment variable `CELLAR_TOKEN_KEYS` contains a JSON
/// array of these keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenKey {
    /// The id of the key. The header of a token contains this id in its `kid` field.
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
    pub(crate) fn keys_json(&self) -> String {
        serde_json::json!(self.keys).to_string()
    }

    pub(crate) fn oidc_json(&self) -> String {
        serde_json::json!(self.oidc).to_string()
    }
}
