//! Tests with valid tokens and with tokens that are invalid in one respect.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_AUTHOR_BYTES, MAX_TOKEN_BYTES, MAX_TOKEN_S, MAX_TOKEN_SPREADSHEETS};
use cellar_catalog::access::{Principal, Role};
use jsonwebtoken::{Algorithm, EncodingKey};
use serde_json::{Value, json};

use super::verify::LEEWAY_S;
use super::*;
use crate::settings::TokenSettings;

/// Current time in the tests, in Unix seconds.
pub(super) const NOW_S: u64 = 1_800_000_000;

fn settings(pairs: &[&KeyPair]) -> TokenSettings {
    let keys = pairs.iter().map(|pair| pair.public()).collect();
    TokenSettings::own("cellar", "test", keys)
}

pub(super) fn claims() -> Claims {
    Claims {
        iss: "cellar".into(),
        aud: "test".into(),
        sub: "alice".into(),
        exp: NOW_S + 600,
        nbf: None,
        iat: NOW_S,
        jti: "1".into(),
        role: Role::Editor,
        spreadsheets: Spreadsheets::all(),
    }
}

fn verify(pair: &KeyPair, claims: &Claims) -> Result<Principal, TokenError> {
    Verifier::new(&settings(&[pair])).unwrap().verify(&pair.sign(claims).unwrap(), NOW_S)
}

pub(super) fn encoded(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(text)
}

/// Builds a token with the given header and claims, validly signed by `pair`.
pub(super) fn signed(pair: &KeyPair, header: &Value, claims: &str) -> String {
    let message = format!("{}.{}", encoded(&header.to_string()), encoded(claims));
    let key = EncodingKey::from_ed_der(pem::parse(pair.to_pem()).unwrap().contents());
    let signature = jsonwebtoken::crypto::sign(message.as_bytes(), &key, Algorithm::EdDSA).unwrap();
    format!("{message}.{signature}")
}

/// Forges a token: signs it with HMAC, using the public key as the secret.
fn signed_with_the_public_key(pair: &KeyPair, secret: &[u8], claims: &str) -> String {
    let header = json!({"alg": "HS256", "kid": pair.public().id});
    let message = format!("{}.{}", encoded(&header.to_string()), encoded(claims));
    let key = EncodingKey::from_secret(secret);
    let signature = jsonwebtoken::crypto::sign(message.as_bytes(), &key, Algorithm::HS256).unwrap();
    format!("{message}.{signature}")
}

#[test]
fn accepts_a_valid_token() {
    let pair = KeyPair::generate().unwrap();
    let principal = verify(&pair, &claims()).unwrap();
    assert_eq!((principal.author.as_str(), principal.role), ("alice", Role::Editor));
    assert!(principal.may_create());
}

/// Rejected headers, each with the expected error.
fn wrong_headers(pair: &KeyPair) -> Vec<(&'static str, Value, TokenError)> {
    use TokenError::{Invalid, UnknownKey};
    let kid = pair.public().id;
    let own = json!({"kty": "OKP", "crv": "Ed25519", "x": KeyPair::generate().unwrap().public().public_key});
    vec![
        ("alg none", json!({"alg": "none", "kid": kid}), Invalid),
        ("alg None", json!({"alg": "None", "kid": kid}), Invalid),
        ("alg NONE", json!({"alg": "NONE", "kid": kid}), Invalid),
        ("a null alg", json!({"alg": null, "kid": kid}), Invalid),
        ("alg HS256", json!({"alg": "HS256", "kid": kid}), Invalid),
        ("alg HS512", json!({"alg": "HS512", "kid": kid}), Invalid),
        ("alg ES256", json!({"alg": "ES256", "kid": kid}), Invalid),
        ("alg RS256", json!({"alg": "RS256", "kid": kid}), Invalid),
        ("alg PS512", json!({"alg": "PS512", "kid": kid}), Invalid),
        ("alg eddsa", json!({"alg": "eddsa", "kid": kid}), Invalid),
        ("an object as alg", json!({"alg": {"EdDSA": null}, "kid": kid}), Invalid),
        ("a list as alg", json!({"alg": ["EdDSA"], "kid": kid}), Invalid),
        ("no alg", json!({"kid": kid}), Invalid),
        ("no kid", json!({"alg": "EdDSA"}), UnknownKey),
        ("an empty kid", json!({"alg": "EdDSA", "kid": ""}), UnknownKey),
        ("another kid", json!({"alg": "EdDSA", "kid": "other"}), UnknownKey),
        ("a number as kid", json!({"alg": "EdDSA", "kid": 1}), Invalid),
        ("an embedded key", json!({"alg": "EdDSA", "jwk": own}), UnknownKey),
        ("a critical extension", json!({"alg": "EdDSA", "kid": kid, "crit": ["exp"]}), Invalid),
        ("a string instead of an object", json!("EdDSA"), Invalid),
    ]
}

/// Invalid claim values with the expected errors. `None` removes the claim.
fn wrong_claims() -> Vec<(&'static str, &'static str, Option<Value>, TokenError)> {
    use TokenError::{Expired, Invalid, NotYetValid, ValidTooLong};
    let mut all = vec![
        ("another issuer", "iss", Some(json!("other")), Invalid),
        ("several issuers", "iss", Some(json!(["cellar"])), Invalid),
        ("another audience", "aud", Some(json!("other")), Invalid),
        ("several audiences", "aud", Some(json!(["test"])), Invalid),
        ("an audience with the same prefix", "aud", Some(json!("test2")), Invalid),
        ("no name", "sub", Some(json!("")), Invalid),
        ("a number as name", "sub", Some(json!(7)), Invalid),
        ("an unknown role", "role", Some(json!("admin")), Invalid),
        ("a role in capitals", "role", Some(json!("OWNER")), Invalid),
        ("an object as role", "role", Some(json!({"owner": null})), Invalid),
        ("an object with a star", "spreadsheets", Some(json!({"*": null})), Invalid),
        ("a star among ids", "spreadsheets", Some(json!(["*"])), Invalid),
        ("two stars", "spreadsheets", Some(json!("**")), Invalid),
        ("null", "spreadsheets", Some(json!(null)), Invalid),
        ("expired", "exp", Some(json!(NOW_S - LEEWAY_S - 1)), Expired),
        ("valid for too long", "exp", Some(json!(NOW_S + MAX_TOKEN_S + 1)), ValidTooLong),
        ("valid forever", "exp", Some(json!(u64::MAX)), ValidTooLong),
        ("a negative expiry", "exp", Some(json!(-1)), Invalid),
        ("a string as expiry", "exp", Some(json!("9999999999")), Invalid),
        ("not valid yet", "nbf", Some(json!(NOW_S + LEEWAY_S + 1)), NotYetValid),
        ("issued in the future", "iat", Some(json!(NOW_S + LEEWAY_S + 1)), NotYetValid),
        ("a string as issue time", "iat", Some(json!("0")), Invalid),
    ];
    for claim in ["iss", "aud", "sub", "exp", "iat", "jti", "role", "spreadsheets"] {
        all.push(("missing", claim, None, Invalid));
    }
    all
}

#[test]
fn rejects_every_invalid_token() {
    let (pair, other) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let verifier = Verifier::new(&settings(&[&pair, &other])).unwrap();
    let right = serde_json::to_string(&claims()).unwrap();
    let header = json!({"alg": "EdDSA", "kid": pair.public().id});
    let good = signed(&pair, &header, &right);
    assert!(verifier.verify(&good, NOW_S).is_ok(), "the unmodified token is valid");
    let assert_refused = |what: &str, token: &str, why: TokenError| {
        assert_eq!(verifier.verify(token, NOW_S), Err(why), "{what}");
    };
    for (what, header, why) in wrong_headers(&pair) {
        assert_refused(what, &signed(&pair, &header, &right), why);
    }
    for (what, claim, value, why) in wrong_claims() {
        let mut claims: Value = serde_json::from_str(&right).unwrap();
        match value {
            Some(value) => claims[claim] = value,
            None => drop(claims.as_object_mut().unwrap().remove(claim)),
        }
        let what = format!("{claim}: {what}");
        assert_refused(&what, &signed(&pair, &header, &claims.to_string()), why);
    }
    for twice in ["iss", "aud", "sub", "exp", "iat", "jti", "role", "spreadsheets"] {
        let claims: Value = serde_json::from_str(&right).unwrap();
        let again = right.replacen('{', &format!("{{\"{twice}\":{},", claims[twice]), 1);
        assert_refused(twice, &signed(&pair, &header, &again), TokenError::Invalid);
    }
    assert_refused("signed by another key", &signed(&other, &header, &right), TokenError::Invalid);
    let public = pair.public().public_key;
    for secret in [public.clone().into_bytes(), URL_SAFE_NO_PAD.decode(&public).unwrap()] {
        let token = signed_with_the_public_key(&pair, &secret, &right);
        assert_refused("the public key as a secret", &token, TokenError::Invalid);
    }
    for (what, token) in mangled_tokens(&good) {
        assert_refused(what, &token, TokenError::Invalid);
    }
}

/// Variants of a valid token with changed, missing or reordered parts.
fn mangled_tokens(good: &str) -> Vec<(&'static str, String)> {
    let parts: Vec<&str> = good.split('.').collect();
    let (header, body, signature) = (parts[0], parts[1], parts[2]);
    let bytes = URL_SAFE_NO_PAD.decode(signature).unwrap();
    let mut flipped = bytes.clone();
    flipped[0] ^= 1;
    let with = |signature: &[u8]| format!("{header}.{body}.{}", URL_SAFE_NO_PAD.encode(signature));
    let owner = encoded(&json!({"role": "owner"}).to_string());
    let plain = STANDARD_NO_PAD.encode([0xff; 64]);
    vec![
        ("nothing", String::new()),
        ("dots", "..".to_owned()),
        ("letters", "a.b.c".to_owned()),
        ("no signature", format!("{header}.{body}.")),
        ("two parts", format!("{header}.{body}")),
        ("four parts", format!("{good}.{signature}")),
        ("parts in another order", format!("{body}.{header}.{signature}")),
        ("other claims", format!("{header}.{owner}.{signature}")),
        ("another signature", with(&flipped)),
        ("a short signature", with(&bytes[..63])),
        ("a long signature", with(&[bytes.as_slice(), &[0]].concat())),
        ("a signature of zeros", with(&[0; 64])),
        ("base64 of another alphabet", format!("{header}.{body}.{plain}")),
        ("a leading space", format!(" {good}")),
        ("a trailing space", format!("{good} ")),
        ("padding", format!("{good}==")),
    ]
}

#[test]
fn public_errors_hide_why_a_signature_is_invalid() {
    use TokenError::{Expired, Invalid, NotYetValid, TooLong, UnknownKey, ValidTooLong};
    for (error, public) in [
        (TooLong, Invalid),
        (UnknownKey, Invalid),
        (Invalid, Invalid),
        (Expired, Expired),
        (NotYetValid, NotYetValid),
        (ValidTooLong, ValidTooLong),
    ] {
        assert_eq!(error.public(), public);
    }
    // A token's times are checked only if its signature is valid.
    let (pair, other) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let late = Claims { exp: NOW_S - 600, ..claims() };
    let header = json!({"alg": "EdDSA", "kid": pair.public().id});
    let forged = signed(&other, &header, &serde_json::to_string(&late).unwrap());
    let verifier = Verifier::new(&settings(&[&pair])).unwrap();
    assert_eq!(verifier.verify(&forged, NOW_S), Err(Invalid));
}

#[test]
fn keys_can_be_rotated() {
    let (old, new) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let both = Verifier::new(&settings(&[&old, &new])).unwrap();
    for pair in [&old, &new] {
        assert!(both.verify(&pair.sign(&claims()).unwrap(), NOW_S).is_ok());
    }
    let only_new = Verifier::new(&settings(&[&new])).unwrap();
    let token = old.sign(&claims()).unwrap();
    assert_eq!(only_new.verify(&token, NOW_S), Err(TokenError::UnknownKey));
    assert!(only_new.verify(&new.sign(&claims()).unwrap(), NOW_S).is_ok());
}

#[test]
fn tolerates_small_clock_differences() {
    let pair = KeyPair::generate().unwrap();
    for (exp, nbf, iat) in [
        (NOW_S - LEEWAY_S, None, NOW_S - 60),
        (NOW_S + 60, Some(NOW_S + LEEWAY_S), NOW_S),
        (NOW_S + 90, None, NOW_S + LEEWAY_S),
    ] {
        let result = verify(&pair, &Claims { exp, nbf, iat, ..claims() });
        assert!(result.is_ok(), "{exp} {nbf:?} {iat}: {result:?}");
    }
}

/// Builds a valid token whose length is exactly `bytes`.
fn long_token(pair: &KeyPair, bytes: usize) -> String {
    let mut claims: Value = serde_json::to_value(claims()).unwrap();
    // Not every length is a possible length of Base64 text, so pad the header.
    for in_header in 0..4 {
        let typ = "x".repeat(in_header);
        let header = json!({"alg": "EdDSA", "kid": pair.public().id, "typ": typ});
        claims["pad"] = json!("");
        let short = signed(pair, &header, &claims.to_string()).len();
        for pad in (bytes - short) * 3 / 4 - 3..(bytes - short) * 3 / 4 + 3 {
            claims["pad"] = json!("x".repeat(pad));
            let token = signed(pair, &header, &claims.to_string());
            if token.len() == bytes {
                return token;
            }
        }
    }
    panic!("no token has {bytes} bytes");
}

#[test]
fn a_remembered_token_expires_and_may_not_change() {
    let pair = KeyPair::generate().unwrap();
    let verifier = Verifier::new(&settings(&[&pair])).unwrap();
    let token = pair.sign(&claims()).unwrap();
    let expires_s = claims().exp + LEEWAY_S;
    for now_s in [NOW_S, NOW_S + 1, expires_s] {
        assert_eq!(verifier.verify(&token, now_s), Ok(claims().into()));
    }
    assert_eq!(verifier.verify(&token, expires_s + 1), Err(TokenError::Expired));
    assert_eq!(verifier.verify(&token, NOW_S - LEEWAY_S - 1), Err(TokenError::NotYetValid));
    let other = pair.sign(&Claims { sub: "bob".into(), ..claims() }).unwrap();
    let (signed_part, _) = token.rsplit_once('.').unwrap();
    let (_, other_signature) = other.rsplit_once('.').unwrap();
    let forged = format!("{signed_part}.{other_signature}");
    assert_eq!(verifier.verify(&forged, NOW_S), Err(TokenError::Invalid));
}

#[test]
fn enforces_token_bounds_exactly() {
    let pair = KeyPair::generate().unwrap();
    let logs = |count: usize| Spreadsheets::Only(vec![LogId::from_uuid(uuid::Uuid::nil()); count]);
    for (claims, good) in [
        (Claims { sub: "x".repeat(MAX_AUTHOR_BYTES), ..claims() }, true),
        (Claims { sub: "x".repeat(MAX_AUTHOR_BYTES + 1), ..claims() }, false),
        (Claims { spreadsheets: logs(MAX_TOKEN_SPREADSHEETS), ..claims() }, true),
        (Claims { spreadsheets: logs(MAX_TOKEN_SPREADSHEETS + 1), ..claims() }, false),
    ] {
        let expected = if good { None } else { Some(TokenError::Invalid) };
        assert_eq!(verify(&pair, &claims).err(), expected, "{claims:?}");
    }
    let lasting = |seconds: u64| Claims { exp: NOW_S + seconds, ..claims() };
    assert!(verify(&pair, &lasting(MAX_TOKEN_S)).is_ok());
    assert_eq!(verify(&pair, &lasting(MAX_TOKEN_S + 1)), Err(TokenError::ValidTooLong));
    let verifier = Verifier::new(&settings(&[&pair])).unwrap();
    assert!(verifier.verify(&long_token(&pair, MAX_TOKEN_BYTES), NOW_S).is_ok());
    let longer = long_token(&pair, MAX_TOKEN_BYTES + 1);
    assert_eq!(verifier.verify(&longer, NOW_S), Err(TokenError::TooLong));
}

#[test]
fn rejects_all_tokens_without_keys_and_names_invalid_keys() {
    let pair = KeyPair::generate().unwrap();
    let nobody = Verifier::new(&settings(&[])).unwrap();
    assert_eq!(nobody.verify(&pair.sign(&claims()).unwrap(), NOW_S), Err(TokenError::UnknownKey));
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
