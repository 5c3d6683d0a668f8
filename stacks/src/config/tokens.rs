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
    /// Public keys for token verification. Contains both the old and the new key during key
    /// rotation.
    pub keys: Vec<TokenKey>,
    /// OpenID Connect issuers whose tokens are also accepted. Defaults to none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub oidc: Vec<OidcIssuer>,
    /// Earliest accepted issue time of tokens, in seconds since the Unix epoch. If `None`, the
    /// issue time is not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before_s: Option<u64>,
}

/// A public key for token verification. The `CELLAR_TOKEN_KEYS` variable contains a JSON array of
/// these keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenKey {
    /// Key id. A token's header refers to the key by this id (`kid`).
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
    /// Returns the public keys as compact JSON, for an environment variable of the API.
    pub(crate) fn keys_json(&self) -> String {
        serde_json::json!(self.keys).to_string()
    }

    /// Returns the OpenID Connect issuers as compact JSON, for an environment variable of the API.
    pub(crate) fn oidc_json(&self) -> String {
        serde_json::json!(self.oidc).to_string()
    }
}
