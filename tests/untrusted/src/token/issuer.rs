//! Key sets that a token issuer publishes.

use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use cellar_base::limits::MAX_KEY_SET_KEYS;
use cellar_catalog::oidc::OidcIssuer;
use cellar_runtime::settings::TokenSettings;
use cellar_runtime::token::{Issuers, KeySource, KeySourceFault};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use super::{KEYS, NOW_S, public_key, signed};

const ISSUER: &str = "https://issuer.example";

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().build().unwrap());

/// A key source that returns the same document for every URL.
struct Document(Vec<u8>);

#[async_trait]
impl KeySource for Document {
    async fn get(&self, _url: &str) -> Result<Vec<u8>, KeySourceFault> {
        Ok(self.0.clone())
    }
}

/// Reads a key set. A token is accepted if and only if its key is among the first keys of the set.
pub(super) fn read(document: &[u8]) -> bool {
    let issuer: OidcIssuer = serde_json::from_value(json!({
        "issuer": ISSUER, "audience": "app", "algorithm": "EdDSA",
        "keys_url": "https://issuer.example/keys",
    }))
    .unwrap();
    let mut settings = TokenSettings::own("cellar", "test", vec![]);
    settings.oidc.push(issuer);
    let source: Arc<dyn KeySource> = Arc::new(Document(document.to_vec()));
    let issuers = Issuers::new(&settings, &source).unwrap();
    let [(id, _), _] = KEYS;
    let header = json!({"alg": "EdDSA", "kid": id}).to_string();
    let claims = json!({"iss": ISSUER, "aud": "app", "sub": "ann", "exp": NOW_S}).to_string();
    let token = signed(header.as_bytes(), claims.as_bytes());
    let accepted = RUNTIME.block_on(issuers.verify(&token, NOW_S)).is_ok();
    assert!(!accepted || names_the_key(document), "accepted with keys of others");
    accepted
}

fn names_the_key(document: &[u8]) -> bool {
    let document: Value = serde_json::from_slice(document).unwrap();
    let [(id, seed), _] = KEYS;
    let keys = document.get("keys").and_then(Value::as_array).unwrap();
    let field = |key: &Value, name: &str| key.get(name).and_then(Value::as_str).map(str::to_owned);
    keys.iter().take(MAX_KEY_SET_KEYS).any(|key| {
        field(key, "kid").as_deref() == Some(id) && field(key, "x") == Some(public_key(seed))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_the_set_decides() {
        let set = |seed: u8, id: &str| {
            let key = json!({"kty": "OKP", "crv": "Ed25519", "kid": id, "x": public_key(seed)});
            json!({"keys": [key]}).to_string()
        };
        let [(first, seed), (second, other)] = KEYS;
        assert!(read(set(seed, first).as_bytes()));
        assert!(!read(set(other, first).as_bytes()));
        assert!(!read(set(seed, second).as_bytes()));
    }
}
