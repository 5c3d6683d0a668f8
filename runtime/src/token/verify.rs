//! Verifies tokens.

use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cellar_core::access::Principal;
use cellar_core::limits::{MAX_AUTHOR_BYTES, MAX_TOKEN_BYTES, MAX_TOKEN_SPREADSHEETS};
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};

use super::{Claims, Spreadsheets};
use crate::settings::{SettingsError, TokenSettings};

/// Seconds by which clocks may differ.
const LEEWAY_S: u64 = 30;

/// Bytes of an Ed25519 public key.
const PUBLIC_KEY_BYTES: usize = 32;

/// Verifies tokens of the stack's own keys.
pub struct Verifier {
    keys: HashMap<String, DecodingKey>,
    validation: Validation,
}

/// Why a token is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Longer than any token of this stack.
    #[error("the token is longer than {MAX_TOKEN_BYTES} bytes")]
    TooLong,
    /// Past its `exp`.
    #[error("the token has expired: mint a new one with `synth token`")]
    Expired,
    /// Before its `nbf` or `iat`.
    #[error("the token is not valid yet: check the clocks")]
    NotYetValid,
    /// Signed with a key that the stack does not list.
    #[error("the token is signed with a key that this stack does not know")]
    UnknownKey,
    /// Anything else: not a token, wrong algorithm, wrong signature, wrong issuer or audience.
    #[error("the token is not valid for this stack")]
    Invalid,
}

impl Verifier {
    /// A verifier for these keys.
    ///
    /// # Errors
    /// [`SettingsError::Keys`] if one is no key.
    pub fn new(settings: &TokenSettings) -> Result<Self, SettingsError> {
        let mut keys = HashMap::new();
        for key in &settings.keys {
            let fault = |why: String| SettingsError::Keys { why: format!("`{}`: {why}", key.id) };
            let bytes = URL_SAFE_NO_PAD
                .decode(&key.public_key)
                .map_err(|error| fault(error.to_string()))?;
            if bytes.len() != PUBLIC_KEY_BYTES {
                return Err(fault(format!("{} bytes instead of {PUBLIC_KEY_BYTES}", bytes.len())));
            }
            let decoding = DecodingKey::from_ed_der(&bytes);
            if keys.insert(key.id.clone(), decoding).is_some() {
                return Err(fault("it is listed twice".to_owned()));
            }
        }
        // The algorithm is pinned: a token cannot choose how it is verified.
        let mut validation = Validation::new(Algorithm::EdDSA);
        validation.set_issuer(&[&settings.issuer]);
        validation.set_audience(&[&settings.audience]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        validation.validate_nbf = true;
        validation.leeway = LEEWAY_S;
        Ok(Self { keys, validation })
    }

    /// Who the holder of this token is.
    ///
    /// # Errors
    /// [`TokenError`] with as much as a stranger may know.
    pub fn verify(&self, token: &str) -> Result<Principal, TokenError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(TokenError::TooLong);
        }
        let header = decode_header(token).map_err(|_| TokenError::Invalid)?;
        if header.alg != Algorithm::EdDSA {
            return Err(TokenError::Invalid);
        }
        let key = header.kid.and_then(|id| self.keys.get(&id)).ok_or(TokenError::UnknownKey)?;
        let token =
            decode::<Claims>(token, key, &self.validation).map_err(|error| match error.kind() {
                ErrorKind::ExpiredSignature => TokenError::Expired,
                ErrorKind::ImmatureSignature => TokenError::NotYetValid,
                _ => TokenError::Invalid,
            })?;
        check_claims(&token.claims)?;
        Ok(token.claims.into())
    }
}

fn check_claims(claims: &Claims) -> Result<(), TokenError> {
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    if claims.iat > now_s.saturating_add(LEEWAY_S) {
        return Err(TokenError::NotYetValid);
    }
    let named = !claims.sub.is_empty() && claims.sub.len() <= MAX_AUTHOR_BYTES;
    let bounded = match &claims.spreadsheets {
        Spreadsheets::Only(logs) => logs.len() <= MAX_TOKEN_SPREADSHEETS,
        Spreadsheets::All(_) => true,
    };
    if named && bounded { Ok(()) } else { Err(TokenError::Invalid) }
}

#[cfg(test)]
mod tests {
    use cellar_core::access::Role;
    use cellar_core::identity::LogId;
    use serde_json::{Value, json};

    use super::*;
    use crate::token::KeyPair;

    fn now_s() -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
    }

    fn settings(pairs: &[&KeyPair]) -> TokenSettings {
        let keys = pairs.iter().map(|pair| pair.public()).collect();
        TokenSettings { issuer: "cellar".into(), audience: "test".into(), keys }
    }

    fn claims() -> Claims {
        Claims {
            iss: "cellar".into(),
            aud: "test".into(),
            sub: "alice".into(),
            exp: now_s() + 600,
            nbf: None,
            iat: now_s(),
            jti: "1".into(),
            role: Role::Editor,
            spreadsheets: Spreadsheets::all(),
        }
    }

    fn verify(pair: &KeyPair, claims: &Claims) -> Result<Principal, TokenError> {
        Verifier::new(&settings(&[pair])).unwrap().verify(&pair.sign(claims).unwrap())
    }

    #[test]
    fn a_good_token_names_its_holder() {
        let pair = KeyPair::generate().unwrap();
        let principal = verify(&pair, &claims()).unwrap();
        assert_eq!((principal.author.as_str(), principal.role), ("alice", Role::Editor));
        assert!(principal.may_create());
    }

    #[test]
    fn keys_can_be_rotated() {
        let (old, new) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
        let both = Verifier::new(&settings(&[&old, &new])).unwrap();
        for pair in [&old, &new] {
            assert!(both.verify(&pair.sign(&claims()).unwrap()).is_ok());
        }
        let only_new = Verifier::new(&settings(&[&new])).unwrap();
        let token = old.sign(&claims()).unwrap();
        assert_eq!(only_new.verify(&token), Err(TokenError::UnknownKey));
    }

    #[test]
    fn times_are_checked_with_a_little_leeway() {
        let pair = KeyPair::generate().unwrap();
        let now = now_s();
        for (exp, nbf, iat, expected) in [
            (now - LEEWAY_S - 5, None, now - 60, Some(TokenError::Expired)),
            (now - LEEWAY_S + 10, None, now - 60, None),
            (now + 60, Some(now + LEEWAY_S + 5), now, Some(TokenError::NotYetValid)),
            (now + 60, Some(now + LEEWAY_S - 10), now, None),
            (now + 90, None, now + LEEWAY_S + 5, Some(TokenError::NotYetValid)),
        ] {
            let result = verify(&pair, &Claims { exp, nbf, iat, ..claims() });
            assert_eq!(result.err(), expected, "{exp} {nbf:?} {iat}");
        }
    }

    #[test]
    fn claims_of_another_stack_are_refused() {
        let pair = KeyPair::generate().unwrap();
        let logs =
            |count: usize| Spreadsheets::Only(vec![LogId::from_uuid(uuid::Uuid::nil()); count]);
        for (claims, good) in [
            (Claims { iss: "other".into(), ..claims() }, false),
            (Claims { aud: "other".into(), ..claims() }, false),
            (Claims { sub: String::new(), ..claims() }, false),
            (Claims { sub: "x".repeat(MAX_AUTHOR_BYTES), ..claims() }, true),
            (Claims { sub: "x".repeat(MAX_AUTHOR_BYTES + 1), ..claims() }, false),
            (Claims { spreadsheets: logs(MAX_TOKEN_SPREADSHEETS), ..claims() }, true),
            (Claims { spreadsheets: logs(MAX_TOKEN_SPREADSHEETS + 1), ..claims() }, false),
        ] {
            assert_eq!(verify(&pair, &claims).is_ok(), good, "{claims:?}");
        }
    }

    /// A token with any header and claims, signed properly by somebody who has the key.
    fn forged(pair: &KeyPair, header: &Value, claims: &str) -> String {
        let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
        let message = format!("{}.{}", part(&header.to_string()), part(claims));
        let key =
            jsonwebtoken::EncodingKey::from_ed_der(pem::parse(pair.to_pem()).unwrap().contents());
        let signature =
            jsonwebtoken::crypto::sign(message.as_bytes(), &key, Algorithm::EdDSA).unwrap();
        format!("{message}.{signature}")
    }

    #[test]
    fn forgeries_are_refused() {
        let pair = KeyPair::generate().unwrap();
        let verifier = Verifier::new(&settings(&[&pair])).unwrap();
        let kid = pair.public().id;
        let json = serde_json::to_string(&claims()).unwrap();
        let header = json!({"alg": "EdDSA", "kid": kid});
        assert!(verifier.verify(&forged(&pair, &header, &json)).is_ok(), "the forge works");

        let twice = json.replacen('{', "{\"role\":\"owner\",", 1);
        assert_eq!(verifier.verify(&forged(&pair, &header, &twice)), Err(TokenError::Invalid));
        for header in [
            json!({"alg": "none", "kid": kid}),
            json!({"alg": "HS256", "kid": kid}),
            json!({"alg": "ES256", "kid": kid}),
            json!({"kid": kid}),
            json!({"alg": "EdDSA"}),
            json!({"alg": "EdDSA", "kid": "other"}),
        ] {
            assert!(verifier.verify(&forged(&pair, &header, &json)).is_err(), "{header}");
        }
        for missing in ["iss", "aud", "sub", "exp", "iat", "jti", "role", "spreadsheets"] {
            let mut claims: Value = serde_json::from_str(&json).unwrap();
            claims.as_object_mut().unwrap().remove(missing);
            let token = forged(&pair, &header, &claims.to_string());
            assert_eq!(verifier.verify(&token), Err(TokenError::Invalid), "{missing}");
        }
    }

    #[test]
    fn tampered_and_oversize_tokens_are_refused() {
        let pair = KeyPair::generate().unwrap();
        let verifier = Verifier::new(&settings(&[&pair])).unwrap();
        let token = pair.sign(&claims()).unwrap();
        let tampered = token.replacen('.', ".A", 1);
        let cut = token.strip_suffix(|_: char| true).unwrap();
        for bad in ["", "a.b.c", "..", &tampered, cut] {
            assert!(verifier.verify(bad).is_err(), "{bad}");
        }
        let oversize = "x".repeat(MAX_TOKEN_BYTES + 1);
        assert_eq!(verifier.verify(&oversize), Err(TokenError::TooLong));
        let largest = "x".repeat(MAX_TOKEN_BYTES);
        assert_eq!(verifier.verify(&largest), Err(TokenError::Invalid));
    }

    #[test]
    fn without_keys_nobody_gets_in_and_bad_keys_are_named() {
        let pair = KeyPair::generate().unwrap();
        let nobody = Verifier::new(&settings(&[])).unwrap();
        assert_eq!(nobody.verify(&pair.sign(&claims()).unwrap()), Err(TokenError::UnknownKey));
        assert!(Verifier::new(&settings(&[&pair, &pair])).is_err());
        for (bytes, good) in [(31, false), (32, true), (33, false)] {
            let mut settings = settings(&[&pair]);
            settings.keys[0].public_key = URL_SAFE_NO_PAD.encode(vec![7; bytes]);
            assert_eq!(Verifier::new(&settings).is_ok(), good, "{bytes}");
        }
        let mut bad = settings(&[&pair]);
        bad.keys[0].public_key = "!".into();
        let error = Verifier::new(&bad).err().unwrap().to_string();
        assert!(error.contains(&pair.public().id), "{error}");
    }
}
