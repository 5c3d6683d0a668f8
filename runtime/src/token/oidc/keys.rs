//! The public keys of an OpenID Connect issuer, which publishes them as a JSON Web Key Set (RFC
//! 7517).

use cellar_base::limits::MAX_KEY_SET_KEYS;
use cellar_catalog::oidc::TokenAlgorithm;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The public keys of an issuer that belong to one signing algorithm.
#[derive(Clone, Default)]
pub(super) struct KeySet {
    keys: Vec<PublishedKey>,
}

#[derive(Clone)]
struct PublishedKey {
    id: Option<String>,
    decoding_key: DecodingKey,
}

#[derive(Deserialize)]
struct KeySetDocument<'a> {
    #[serde(borrow)]
    keys: Vec<&'a RawValue>,
}

impl KeySet {
    /// Skips unknown keys, as RFC 7517 §5 requires, so that issuers can add new types of keys.
    pub(super) fn parse(
        bytes: &[u8],
        algorithm: TokenAlgorithm,
    ) -> Result<Self, serde_json::Error> {
        let document: KeySetDocument<'_> = serde_json::from_slice(bytes)?;
        let mut keys = Vec::new();
        for key_json in document.keys.into_iter().take(MAX_KEY_SET_KEYS) {
            let Ok(jwk) = serde_json::from_str::<Jwk>(key_json.get()) else { continue };
            if let Some(decoding_key) = to_decoding_key(&jwk, algorithm) {
                keys.push(PublishedKey { id: jwk.common.key_id, decoding_key });
            }
        }
        Ok(Self { keys })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// If `id` is `None`, returns the only key, or `None` if there are several keys or no keys.
    pub(super) fn find_key(&self, id: Option<&str>) -> Option<&DecodingKey> {
        let key = match (id, self.keys.as_slice()) {
            (None, [only_key]) => only_key,
            (None, _) => return None,
            (Some(id), keys) => keys.iter().find(|key| key.id.as_deref() == Some(id))?,
        };
        Some(&key.decoding_key)
    }
}

pub(super) fn to_library_algorithm(algorithm: TokenAlgorithm) -> Algorithm {
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

/// Converts a published key. Returns `None` unless it is a key for verifying signatures of the
/// required algorithm.
fn to_decoding_key(jwk: &Jwk, required_algorithm: TokenAlgorithm) -> Option<DecodingKey> {
    let is_signing_key = matches!(jwk.common.public_key_use, None | Some(PublicKeyUse::Signature));
    let required_name = KeyAlgorithm::from(to_library_algorithm(required_algorithm));
    let name_matches = jwk.common.key_algorithm.is_none_or(|name| name == required_name);
    let parameters_match = match (&jwk.algorithm, curve_of(required_algorithm)) {
        (AlgorithmParameters::RSA(_), None) => true,
        (AlgorithmParameters::EllipticCurve(parameters), Some(curve)) => parameters.curve == curve,
        (AlgorithmParameters::OctetKeyPair(parameters), Some(curve)) => parameters.curve == curve,
        // Reject symmetric keys. They are secrets, which an issuer must never publish.
        _ => false,
    };
    if is_signing_key && name_matches && parameters_match {
        DecodingKey::from_jwk(jwk).ok()
    } else {
        None
    }
}

/// Returns the elliptic curve of an algorithm, or `None` for an RSA algorithm.
fn curve_of(algorithm: TokenAlgorithm) -> Option<EllipticCurve> {
    match algorithm {
        TokenAlgorithm::Es256 => Some(EllipticCurve::P256),
        TokenAlgorithm::Es384 => Some(EllipticCurve::P384),
        TokenAlgorithm::EdDsa => Some(EllipticCurve::Ed25519),
        TokenAlgorithm::Rs256
        | TokenAlgorithm::Rs384
        | TokenAlgorithm::Rs512
        | TokenAlgorithm::Ps256
        | TokenAlgorithm::Ps384
        | TokenAlgorithm::Ps512 => None,
    }
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
    fn limits_the_number_of_keys() {
        let keys: Vec<Value> = (0..=MAX_KEY_SET_KEYS).map(|it| ed25519(&it.to_string())).collect();
        let set = parse(&keys, TokenAlgorithm::EdDsa);
        assert!(set.find_key(Some(&(MAX_KEY_SET_KEYS - 1).to_string())).is_some());
        assert!(set.find_key(Some(&MAX_KEY_SET_KEYS.to_string())).is_none());
    }

    #[test]
    fn skips_keys_of_other_uses_and_unknown_keys() {
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
            assert!(set.find_key(Some("good")).is_some(), "{other}");
            assert!(set.find_key(Some("other")).is_none(), "{other}");
        }
        assert!(parse(&[ed25519("a")], TokenAlgorithm::Rs256).is_empty());
        let for_signatures = with("use", json!("sig"));
        assert!(parse(&[for_signatures], TokenAlgorithm::EdDsa).find_key(Some("other")).is_some());
        let secret = json!({"kty": "oct", "kid": "secret", "k": "c2VjcmV0"});
        for algorithm in TokenAlgorithm::ALL {
            assert!(parse(std::slice::from_ref(&secret), algorithm).is_empty());
        }
    }

    #[test]
    fn a_missing_key_id_selects_the_only_key() {
        let [one, two] = ["a", "b"].map(ed25519);
        let both = parse(&[one.clone(), two], TokenAlgorithm::EdDsa);
        assert!(both.find_key(None).is_none() && both.find_key(Some("")).is_none());
        assert!(parse(&[one], TokenAlgorithm::EdDsa).find_key(None).is_some());
        assert!(KeySet::default().find_key(None).is_none());
    }

    #[test]
    fn rejects_documents_that_are_not_key_sets() {
        for text in ["", "[]", "{}", r#"{"keys":{}}"#, r#"{"keys":[1,]}"#] {
            assert!(KeySet::parse(text.as_bytes(), TokenAlgorithm::Rs256).is_err(), "{text}");
        }
    }
}
