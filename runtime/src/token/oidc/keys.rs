//! An issuer's public keys (RFC 7517).

use cellar_base::limits::MAX_KEY_SET_KEYS;
use cellar_catalog::oidc::TokenAlgorithm;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The keys that verify tokens of one algorithm.
#[derive(Clone, Default)]
pub(super) struct KeySet {
    keys: Vec<(Option<String>, DecodingKey)>,
}

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    keys: Vec<&'a RawValue>,
}

impl KeySet {
    /// The keys of a set that are for this algorithm. What is not understood is left out, as RFC 7517 §5
    /// asks: an issuer may begin to use something new beside what is there.
    pub(super) fn parse(
        bytes: &[u8],
        algorithm: TokenAlgorithm,
    ) -> Result<Self, serde_json::Error> {
        let document: Document<'_> = serde_json::from_slice(bytes)?;
        let keys = document.keys.into_iter().take(MAX_KEY_SET_KEYS);
        let keys = keys.filter_map(|key| {
            let key: Jwk = serde_json::from_str(key.get()).ok()?;
            let decoding = decoding_key(&key, algorithm)?;
            Some((key.common.key_id, decoding))
        });
        Ok(Self { keys: keys.collect() })
    }

    /// Whether it has none.
    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The key of that name; without a name the only one that there is.
    pub(super) fn find(&self, id: Option<&str>) -> Option<&DecodingKey> {
        match (id, self.keys.as_slice()) {
            (None, [(_, only)]) => Some(only),
            (None, _) => None,
            (Some(id), keys) => {
                let named = keys.iter().find(|(name, _)| name.as_deref() == Some(id));
                named.map(|(_, key)| key)
            }
        }
    }
}

/// The algorithm, as the library calls it.
pub(super) fn algorithm(algorithm: TokenAlgorithm) -> Algorithm {
    match algorithm {
        TokenAlgorithm::Rs256 => Algorithm::RS256,
        TokenAlgorithm::Rs384 => Algorithm::RS384,
        TokenAlgorithm::Rs512 => Algorithm::RS512,
        TokenAlgorithm::Ps256 => Algorithm::PS256,
        TokenAlgorithm::Ps384 => Algorithm::PS384,
        TokenAlgorithm::Ps512 => Algorithm::PS512,
        TokenAlgorithm::Es256 => Algorithm::ES256,
        TokenAlgorithm::Es384 => Algorithm::ES384,
        TokenAlgorithm::EdDsa => Algorithm::EdDSA,
    }
}

/// The key, if it is one that signs by this algorithm, and says nothing else of itself.
fn decoding_key(key: &Jwk, wanted: TokenAlgorithm) -> Option<DecodingKey> {
    let common = &key.common;
    let for_signatures = matches!(common.public_key_use, None | Some(PublicKeyUse::Signature));
    let named = common.key_algorithm.is_none_or(|it| it == KeyAlgorithm::from(algorithm(wanted)));
    let curve = |of: TokenAlgorithm| match of {
        TokenAlgorithm::Es256 => Some(EllipticCurve::P256),
        TokenAlgorithm::Es384 => Some(EllipticCurve::P384),
        TokenAlgorithm::EdDsa => Some(EllipticCurve::Ed25519),
        _ => None,
    };
    let fits = match (&key.algorithm, curve(wanted)) {
        (AlgorithmParameters::RSA(_), None) => true,
        (AlgorithmParameters::EllipticCurve(key), Some(curve)) => key.curve == curve,
        (AlgorithmParameters::OctetKeyPair(key), Some(curve)) => key.curve == curve,
        // A secret that both sides know is none of an issuer's public keys.
        _ => false,
    };
    if for_signatures && named && fits { DecodingKey::from_jwk(key).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn ed25519(id: &str) -> Value {
        json!({"kty": "OKP", "crv": "Ed25519", "kid": id, "x": "A".repeat(43)})
    }

    fn parse(keys: &[Value], algorithm: TokenAlgorithm) -> KeySet {
        KeySet::parse(json!({"keys": keys}).to_string().as_bytes(), algorithm).unwrap()
    }

    #[test]
    fn so_many_keys_are_looked_at_and_no_more() {
        let keys: Vec<Value> = (0..=MAX_KEY_SET_KEYS).map(|it| ed25519(&it.to_string())).collect();
        let set = parse(&keys, TokenAlgorithm::EdDsa);
        assert!(set.find(Some(&(MAX_KEY_SET_KEYS - 1).to_string())).is_some());
        assert!(set.find(Some(&MAX_KEY_SET_KEYS.to_string())).is_none());
    }

    #[test]
    fn what_is_for_something_else_or_not_understood_is_left_out() {
        let with = |name: &str, value: Value| {
            let mut key = ed25519("other");
            key[name] = value;
            key
        };
        for other in [
            with("use", json!("enc")),
            with("alg", json!("ES256")),
            with("alg", json!("something new")),
            with("crv", json!("P-256")),
            with("crv", json!("X25519")),
            with("kty", json!("something new")),
            with("x", json!("!")),
            with("kid", json!(7)),
            json!({"kty": "oct", "kid": "other", "k": "c2VjcmV0"}),
            json!({"kty": "RSA", "kid": "other", "n": "AQAB", "e": "AQAB"}),
            json!({"kty": "EC", "crv": "P-256", "kid": "other", "x": "AA", "y": "AA"}),
            json!("other"),
            json!(null),
        ] {
            let set = parse(&[other.clone(), ed25519("good")], TokenAlgorithm::EdDsa);
            assert!(set.find(Some("good")).is_some(), "{other}");
            assert!(set.find(Some("other")).is_none(), "{other}");
        }
        assert!(parse(&[ed25519("a")], TokenAlgorithm::Rs256).is_empty());
        let signs = with("use", json!("sig"));
        assert!(parse(&[signs], TokenAlgorithm::EdDsa).find(Some("other")).is_some());
        let secret = json!({"kty": "oct", "kid": "secret", "k": "c2VjcmV0"});
        for algorithm in TokenAlgorithm::ALL {
            assert!(parse(std::slice::from_ref(&secret), algorithm).is_empty());
        }
    }

    #[test]
    fn a_token_that_names_no_key_fits_the_only_one() {
        let [one, two] = ["a", "b"].map(ed25519);
        let both = parse(&[one.clone(), two], TokenAlgorithm::EdDsa);
        assert!(both.find(None).is_none() && both.find(Some("")).is_none());
        assert!(parse(&[one], TokenAlgorithm::EdDsa).find(None).is_some());
        assert!(KeySet::default().find(None).is_none());
    }

    #[test]
    fn what_is_no_set_is_refused() {
        for text in ["", "[]", "{}", r#"{"keys":{}}"#, r#"{"keys":[1,]}"#] {
            assert!(KeySet::parse(text.as_bytes(), TokenAlgorithm::Rs256).is_err(), "{text}");
        }
    }
}
