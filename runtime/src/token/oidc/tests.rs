//! Tests with issuers that respond, issuers that fail, and issuers whose documents name another
//! issuer.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use cellar_base::limits::{
    KEY_SET_FRESH_S, KEY_SET_REFRESH_S, KEY_SET_RETRY_S, KEY_SET_STALE_S, KEY_SET_TIMEOUT_MS,
    MAX_AUTHOR_BYTES,
};
use cellar_catalog::access::Role;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::*;
use crate::settings::TokenSettings;
use crate::token::tests::{NOW_S, claims, encoded, signed};
use crate::token::{Issuers, KeyPair};

const ISSUER: &str = "https://login.example.com";
const DISCOVERY: &str = "https://login.example.com/.well-known/openid-configuration";
const KEYS: &str = "https://keys.example.com/keys";

/// A fake issuer. Stores the published documents and the received requests.
struct FakeIssuer {
    documents: Mutex<HashMap<String, Value>>,
    requested: Mutex<Vec<String>>,
    /// Semaphore with one permit per response: a request waits until a permit is available.
    responses: Semaphore,
}

#[async_trait::async_trait]
impl KeySource for FakeIssuer {
    async fn get(&self, url: &str) -> Result<Vec<u8>, KeySourceFault> {
        self.requested.lock().unwrap().push(url.to_owned());
        self.responses.acquire().await.unwrap().forget();
        let document = self.documents.lock().unwrap().get(url).map(Value::to_string);
        let status = || KeySourceFault::Status { url: url.to_owned(), status: 503 };
        document.map(String::into_bytes).ok_or_else(status)
    }
}

impl FakeIssuer {
    fn put(&self, url: &str, document: Value) {
        self.documents.lock().unwrap().insert(url.to_owned(), document);
    }

    fn publish(&self, pairs: &[&KeyPair]) {
        let keys: Vec<Value> = pairs.iter().map(|pair| jwk(pair)).collect();
        self.put(KEYS, json!({"keys": keys}));
    }

    fn request_count(&self) -> usize {
        self.requested.lock().unwrap().len()
    }
}

fn jwk(pair: &KeyPair) -> Value {
    let public = pair.public();
    json!({"kty": "OKP", "crv": "Ed25519", "use": "sig", "kid": public.id, "x": public.public_key})
}

fn issuer() -> OidcIssuer {
    let text =
        json!({"issuer": ISSUER, "audience": "app", "algorithm": "EdDSA", "max_role": "editor"});
    serde_json::from_value(text).unwrap()
}

/// A stack with its own key pair, and a trusted issuer that publishes the key of `pair`.
struct World {
    own: KeyPair,
    pair: KeyPair,
    issuer: Arc<FakeIssuer>,
    issuers: Arc<Issuers>,
}

impl World {
    fn new() -> Self {
        Self::with_issuer(issuer(), 0)
    }

    fn with_issuer(issuer: OidcIssuer, not_before_s: u64) -> Self {
        let (own, pair) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
        let fake = FakeIssuer {
            documents: Mutex::default(),
            requested: Mutex::default(),
            responses: Semaphore::new(1_000),
        };
        fake.put(DISCOVERY, json!({"issuer": ISSUER, "jwks_uri": KEYS, "other": [1]}));
        fake.publish(&[&pair]);
        let fake = Arc::new(fake);
        let mut settings = TokenSettings::own("cellar", "test", vec![own.public()]);
        settings.oidc.push(issuer);
        settings.not_before_s = not_before_s;
        let source: Arc<dyn KeySource> = fake.clone();
        let issuers = Arc::new(Issuers::new(&settings, &source).unwrap());
        Self { own, pair, issuer: fake, issuers }
    }

    async fn verify(&self, token: &str, now_s: u64) -> Result<String, TokenError> {
        self.issuers.verify(token, now_s).await.map(|principal| principal.author)
    }

    fn token(&self) -> String {
        token(&self.pair, &ann())
    }
}

/// Claims that identify the user Ann.
fn ann() -> Value {
    json!({
        "iss": ISSUER, "aud": ["userinfo", "app"], "sub": "auth0|7", "exp": NOW_S + KEY_SET_STALE_S * 3,
        "iat": NOW_S - 10, "email": "ann@example.com", "email_verified": true,
    })
}

fn token(pair: &KeyPair, claims: &Value) -> String {
    signed(pair, &json!({"alg": "EdDSA", "kid": pair.public().id}), &claims.to_string())
}

#[tokio::test]
async fn people_of_an_issuer_get_the_shared_scope() {
    let world = World::new();
    let ann = world.issuers.verify(&world.token(), NOW_S).await.unwrap();
    assert_eq!((ann.author.as_str(), ann.issuer.as_str()), ("auth0|7", ISSUER));
    assert_eq!((ann.scope, ann.role), (Scope::Shared, Role::Editor));
    let named = World::with_issuer(OidcIssuer { subject_claim: "email".into(), ..issuer() }, 0);
    let by_address = named.issuers.verify(&named.token(), NOW_S).await.unwrap();
    assert_eq!(by_address.author, "ann@example.com");
    assert_eq!(by_address.subject, ann.subject, "an address may later belong to another person");
    // The stack's own tokens are still accepted without any request to the issuer.
    let own = world.own.sign(&claims()).unwrap();
    assert_eq!(world.verify(&own, NOW_S).await.as_deref(), Ok("alice"));
    assert_eq!(world.issuer.request_count(), 2);
}

#[tokio::test]
async fn rejects_every_invalid_oidc_token() {
    let world = World::new();
    let other = KeyPair::generate().unwrap();
    let changed = |name: &str, value: Value| {
        let mut claims = ann();
        claims[name] = value;
        token(&world.pair, &claims)
    };
    let with_header = |header: Value| signed(&world.pair, &header, &ann().to_string());
    let kid = world.pair.public().id;
    let long = "x".repeat(MAX_AUTHOR_BYTES + 1);
    for (what, token, why) in [
        ("another audience", changed("aud", json!("other")), TokenError::Invalid),
        ("other audiences", changed("aud", json!(["userinfo", "other"])), TokenError::Invalid),
        ("no subject", changed("sub", json!(null)), TokenError::Invalid),
        ("a long subject", changed("sub", json!(long)), TokenError::Invalid),
        ("a line break", changed("sub", json!("a\nb")), TokenError::Invalid),
        ("expired", changed("exp", json!(NOW_S - 60)), TokenError::Expired),
        ("no expiry", changed("exp", json!(null)), TokenError::Invalid),
        ("not valid yet", changed("nbf", json!(NOW_S + 60)), TokenError::NotYetValid),
        (
            "another algorithm",
            with_header(json!({"alg": "RS256", "kid": kid})),
            TokenError::Invalid,
        ),
        (
            "a symmetric algorithm",
            with_header(json!({"alg": "HS256", "kid": kid})),
            TokenError::Invalid,
        ),
        ("no algorithm", with_header(json!({"alg": "none", "kid": kid})), TokenError::Invalid),
        (
            "crit",
            with_header(json!({"alg": "EdDSA", "kid": kid, "crit": ["b64"]})),
            TokenError::Invalid,
        ),
        (
            "an embedded key",
            with_header(json!({"alg": "EdDSA", "jwk": jwk(&other), "kid": "k"})),
            TokenError::UnknownKey,
        ),
        ("an unknown key", token(&other, &ann()), TokenError::UnknownKey),
        ("the stack's key", token(&world.own, &ann()), TokenError::UnknownKey),
    ] {
        assert_eq!(world.verify(&token, NOW_S).await, Err(why), "{what}");
    }
    // A forged token that uses a published key id.
    let forged = signed(&other, &json!({"alg": "EdDSA", "kid": kid}), &ann().to_string());
    assert_eq!(world.verify(&forged, NOW_S).await, Err(TokenError::Invalid));
    // An issuer cannot sign tokens in the name of the stack.
    let own = serde_json::to_value(claims()).unwrap();
    assert_eq!(world.verify(&token(&world.pair, &own), NOW_S).await, Err(TokenError::UnknownKey));
    assert!(world.verify(&world.token(), NOW_S).await.is_ok());
    assert_eq!(world.issuer.request_count(), 2, "unknown keys cause no further requests");
}

#[tokio::test]
async fn accepts_a_token_without_key_id_while_the_issuer_has_one_key() {
    let world = World::new();
    let nameless = signed(&world.pair, &json!({"alg": "EdDSA"}), &ann().to_string());
    assert!(world.verify(&nameless, NOW_S).await.is_ok());
    world.issuer.publish(&[&world.pair, &world.own]);
    let later_s = NOW_S + KEY_SET_FRESH_S;
    assert_eq!(world.verify(&nameless, later_s).await, Err(TokenError::UnknownKey));
}

#[tokio::test]
async fn finds_new_keys_and_drops_removed_keys_in_time() {
    let world = World::new();
    assert!(world.verify(&world.token(), NOW_S).await.is_ok());
    let new = KeyPair::generate().unwrap();
    world.issuer.publish(&[&new]);
    let (former, fresh) = (world.token(), token(&new, &ann()));
    let soon_s = NOW_S + KEY_SET_REFRESH_S;
    assert_eq!(world.verify(&fresh, soon_s - 1).await, Err(TokenError::UnknownKey));
    assert!(world.verify(&former, soon_s - 1).await.is_ok());
    assert!(world.verify(&fresh, soon_s).await.is_ok());
    assert_eq!(world.verify(&former, soon_s).await, Err(TokenError::UnknownKey));
    assert_eq!(world.issuer.request_count(), 4);
    // The keys are fetched once an hour, as long as no unknown key is requested.
    assert!(world.verify(&fresh, soon_s + KEY_SET_FRESH_S - 1).await.is_ok());
    assert_eq!(world.issuer.request_count(), 4);
    assert!(world.verify(&fresh, soon_s + KEY_SET_FRESH_S).await.is_ok());
    assert_eq!(world.issuer.request_count(), 6);
}

#[tokio::test]
async fn retries_an_issuer_that_is_down_and_uses_its_keys_for_a_day() {
    let world = World::new();
    world.issuer.documents.lock().unwrap().remove(KEYS);
    let verify = |now_s| {
        let token = world.token();
        let world = &world;
        async move { world.verify(&token, now_s).await }
    };
    assert_eq!(verify(NOW_S).await, Err(TokenError::KeysUnavailable));
    assert_eq!(verify(NOW_S + KEY_SET_RETRY_S - 1).await, Err(TokenError::KeysUnavailable));
    assert_eq!(world.issuer.request_count(), 2, "most requests do not fetch");
    world.issuer.publish(&[&world.pair]);
    let up_s = NOW_S + KEY_SET_RETRY_S;
    assert!(verify(up_s).await.is_ok());
    world.issuer.documents.lock().unwrap().clear();
    for after_s in [KEY_SET_FRESH_S, KEY_SET_FRESH_S + KEY_SET_RETRY_S - 1, KEY_SET_STALE_S - 1] {
        assert!(verify(up_s + after_s).await.is_ok(), "{after_s}");
    }
    assert_eq!(world.issuer.request_count(), 6);
    assert_eq!(verify(up_s + KEY_SET_STALE_S).await, Err(TokenError::KeysUnavailable));
    let own = world.own.sign(&claims()).unwrap();
    assert!(world.verify(&own, NOW_S).await.is_ok(), "the stack's own tokens need no issuer");
}

#[tokio::test(start_paused = true)]
async fn the_pause_after_a_slow_fetch_begins_at_its_end() {
    let world = World::new();
    let took_s = KEY_SET_TIMEOUT_MS.div_ceil(1_000);
    world.issuer.responses.forget_permits(1_000);
    let token = world.token();
    let answer = timeout(Duration::from_secs(took_s), world.verify(&token, NOW_S)).await;
    assert!(answer.is_err(), "the request gives up");
    assert_eq!(world.issuer.request_count(), 1);
    let pause_ends_s = NOW_S + took_s + KEY_SET_RETRY_S;
    for now_s in [NOW_S + took_s, pause_ends_s - 1] {
        assert_eq!(world.verify(&world.token(), now_s).await, Err(TokenError::KeysUnavailable));
    }
    assert_eq!(world.issuer.request_count(), 1);
    world.issuer.responses.add_permits(1_000);
    assert!(world.verify(&world.token(), pause_ends_s).await.is_ok());
}

#[tokio::test]
async fn concurrent_requests_fetch_once() {
    let world = Arc::new(World::new());
    world.issuer.responses.forget_permits(1_000);
    let all: Vec<_> = (0..20)
        .map(|_| {
            let world = Arc::clone(&world);
            tokio::spawn(async move { world.verify(&world.token(), NOW_S).await })
        })
        .collect();
    while world.issuer.request_count() == 0 {
        tokio::task::yield_now().await;
    }
    world.issuer.responses.add_permits(1_000);
    for one in all {
        assert!(one.await.unwrap().is_ok());
    }
    assert_eq!(world.issuer.request_count(), 2);
    // While one request fetches newer keys, the others use the cached keys.
    world.issuer.responses.forget_permits(1_000);
    let late_s = NOW_S + KEY_SET_FRESH_S;
    let asking = {
        let world = Arc::clone(&world);
        tokio::spawn(async move { world.verify(&world.token(), late_s).await })
    };
    while world.issuer.request_count() == 2 {
        tokio::task::yield_now().await;
    }
    assert!(world.verify(&world.token(), late_s).await.is_ok());
    assert_eq!(world.issuer.request_count(), 3);
    // A cancelled fetch counts as a failure.
    asking.abort();
    assert!(asking.await.is_err());
    assert!(world.verify(&world.token(), late_s).await.is_ok());
    assert_eq!(world.issuer.request_count(), 3);
}

#[tokio::test]
async fn rejects_documents_of_another_issuer() {
    for description in [
        json!({"issuer": "https://login.example.com/", "jwks_uri": KEYS}),
        json!({"issuer": "https://evil.example.com", "jwks_uri": KEYS}),
        json!({"issuer": ISSUER, "jwks_uri": "http://keys.example.com/keys"}),
        json!({"issuer": ISSUER, "jwks_uri": "file:///etc/passwd"}),
        json!({"issuer": ISSUER}),
        json!([]),
    ] {
        let world = World::new();
        world.issuer.put("http://keys.example.com/keys", json!({"keys": [jwk(&world.pair)]}));
        world.issuer.put(DISCOVERY, description.clone());
        let verified = world.verify(&world.token(), NOW_S).await;
        assert_eq!(verified, Err(TokenError::KeysUnavailable), "{description}");
    }
    for keys in [json!({"keys": []}), json!({"keys": [{"kty": "RSA"}]}), json!("keys"), json!({})] {
        let world = World::new();
        world.issuer.put(KEYS, keys.clone());
        let verified = world.verify(&world.token(), NOW_S).await;
        assert_eq!(verified, Err(TokenError::KeysUnavailable), "{keys}");
    }
    let direct = World::with_issuer(OidcIssuer { keys_url: Some(KEYS.into()), ..issuer() }, 0);
    direct.issuer.documents.lock().unwrap().remove(DISCOVERY);
    assert!(direct.verify(&direct.token(), NOW_S).await.is_ok());
}

#[tokio::test]
async fn rejects_tokens_issued_before_a_time() {
    let world = World::with_issuer(issuer(), NOW_S - 10);
    let own = |iat| world.own.sign(&crate::token::Claims { iat, ..claims() }).unwrap();
    let of_issuer = |iat: Value| {
        let mut claims = ann();
        claims["iat"] = iat;
        token(&world.pair, &claims)
    };
    for good in [own(NOW_S - 10), of_issuer(json!(NOW_S - 10))] {
        assert!(world.verify(&good, NOW_S).await.is_ok());
    }
    for former in [own(NOW_S - 11), of_issuer(json!(NOW_S - 11))] {
        assert_eq!(world.verify(&former, NOW_S).await, Err(TokenError::Expired));
    }
}

#[tokio::test]
async fn rejects_duplicate_issuers_and_tokens_without_issuer() {
    let source: Arc<dyn KeySource> = Arc::new(NoKeySource);
    let mut settings = TokenSettings::own(ISSUER, "test", vec![]);
    settings.oidc.push(issuer());
    assert!(Issuers::new(&settings, &source).is_err());
    settings.issuer = "cellar".into();
    assert!(Issuers::new(&settings, &source).is_ok());
    settings.oidc.push(issuer());
    assert!(Issuers::new(&settings, &source).is_err());
    let world = World::new();
    let garbage = format!("{}.{}.x", encoded("{}"), encoded("{\"iss\":7}"));
    for token in ["", "a.b", "a.b.c", &garbage] {
        assert_eq!(world.verify(token, NOW_S).await, Err(TokenError::Invalid), "{token}");
    }
    assert_eq!(world.issuer.request_count(), 0);
}
