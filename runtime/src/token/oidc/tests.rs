//! Issuers that answer, that do not, and that are not who they say.

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

/// What is published, and what was asked for.
struct Published {
    documents: Mutex<HashMap<String, Value>>,
    asked: Mutex<Vec<String>>,
    /// How many answers are given.
    answers: Semaphore,
}

#[async_trait::async_trait]
impl KeySource for Published {
    async fn get(&self, url: &str) -> Result<Vec<u8>, KeySourceFault> {
        self.asked.lock().unwrap().push(url.to_owned());
        self.answers.acquire().await.unwrap().forget();
        let document = self.documents.lock().unwrap().get(url).map(Value::to_string);
        let status = || KeySourceFault::Status { url: url.to_owned(), status: 503 };
        document.map(String::into_bytes).ok_or_else(status)
    }
}

impl Published {
    fn put(&self, url: &str, document: Value) {
        self.documents.lock().unwrap().insert(url.to_owned(), document);
    }

    fn publish(&self, pairs: &[&KeyPair]) {
        let keys: Vec<Value> = pairs.iter().map(|pair| jwk(pair)).collect();
        self.put(KEYS, json!({"keys": keys}));
    }

    fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
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

/// A stack with a key of its own, and an issuer that publishes `pair`.
struct World {
    own: KeyPair,
    pair: KeyPair,
    published: Arc<Published>,
    issuers: Arc<Issuers>,
}

impl World {
    fn new() -> Self {
        Self::with(issuer(), 0)
    }

    fn with(issuer: OidcIssuer, not_before_s: u64) -> Self {
        let (own, pair) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
        let published = Published {
            documents: Mutex::default(),
            asked: Mutex::default(),
            answers: Semaphore::new(1_000),
        };
        published.put(DISCOVERY, json!({"issuer": ISSUER, "jwks_uri": KEYS, "other": [1]}));
        published.publish(&[&pair]);
        let published = Arc::new(published);
        let mut settings = TokenSettings::own("cellar", "test", vec![own.public()]);
        settings.oidc.push(issuer);
        settings.not_before_s = not_before_s;
        let source: Arc<dyn KeySource> = published.clone();
        let issuers = Arc::new(Issuers::new(&settings, &source).unwrap());
        Self { own, pair, published, issuers }
    }

    async fn verify(&self, token: &str, now_s: u64) -> Result<String, TokenError> {
        self.issuers.verify(token, now_s).await.map(|principal| principal.author)
    }

    fn token(&self) -> String {
        token(&self.pair, &ann())
    }
}

/// What the issuer says of Ann.
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
async fn whoever_an_issuer_names_gets_what_the_catalog_gives_them() {
    let world = World::new();
    let ann = world.issuers.verify(&world.token(), NOW_S).await.unwrap();
    assert_eq!((ann.author.as_str(), ann.issuer.as_str()), ("auth0|7", ISSUER));
    assert_eq!((ann.scope, ann.role), (Scope::Shared, Role::Editor));
    let named = World::with(OidcIssuer { subject_claim: "email".into(), ..issuer() }, 0);
    let by_address = named.issuers.verify(&named.token(), NOW_S).await.unwrap();
    assert_eq!(by_address.author, "ann@example.com");
    assert_eq!(by_address.subject, ann.subject, "an address may be somebody else's one day");
    // Tokens of our own are what they were, and need nobody.
    let own = world.own.sign(&claims()).unwrap();
    assert_eq!(world.verify(&own, NOW_S).await.as_deref(), Ok("alice"));
    assert_eq!(world.published.asked(), 2);
}

#[tokio::test]
async fn every_token_that_is_not_right_is_refused() {
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
        ("nobody", changed("sub", json!(null)), TokenError::Invalid),
        ("a long name", changed("sub", json!(long)), TokenError::Invalid),
        ("a line break", changed("sub", json!("a\nb")), TokenError::Invalid),
        ("over", changed("exp", json!(NOW_S - 60)), TokenError::Expired),
        ("no end", changed("exp", json!(null)), TokenError::Invalid),
        ("not begun", changed("nbf", json!(NOW_S + 60)), TokenError::NotYetValid),
        (
            "another algorithm",
            with_header(json!({"alg": "RS256", "kid": kid})),
            TokenError::Invalid,
        ),
        ("a secret", with_header(json!({"alg": "HS256", "kid": kid})), TokenError::Invalid),
        ("no algorithm", with_header(json!({"alg": "none", "kid": kid})), TokenError::Invalid),
        (
            "crit",
            with_header(json!({"alg": "EdDSA", "kid": kid, "crit": ["b64"]})),
            TokenError::Invalid,
        ),
        (
            "a key of its own",
            with_header(json!({"alg": "EdDSA", "jwk": jwk(&other), "kid": "k"})),
            TokenError::UnknownKey,
        ),
        ("a stranger's key", token(&other, &ann()), TokenError::UnknownKey),
        ("the stack's key", token(&world.own, &ann()), TokenError::UnknownKey),
    ] {
        assert_eq!(world.verify(&token, NOW_S).await, Err(why), "{what}");
    }
    // Under the name of a key that is there.
    let forged = signed(&other, &json!({"alg": "EdDSA", "kid": kid}), &ann().to_string());
    assert_eq!(world.verify(&forged, NOW_S).await, Err(TokenError::Invalid));
    // What the issuer says of the stack's own people is not the issuer's to say.
    let own = serde_json::to_value(claims()).unwrap();
    assert_eq!(world.verify(&token(&world.pair, &own), NOW_S).await, Err(TokenError::UnknownKey));
    assert!(world.verify(&world.token(), NOW_S).await.is_ok());
    assert_eq!(world.published.asked(), 2, "strangers' keys are not looked for again");
}

#[tokio::test]
async fn a_token_without_a_key_name_is_taken_while_there_is_one_key() {
    let world = World::new();
    let nameless = signed(&world.pair, &json!({"alg": "EdDSA"}), &ann().to_string());
    assert!(world.verify(&nameless, NOW_S).await.is_ok());
    world.published.publish(&[&world.pair, &world.own]);
    let later_s = NOW_S + KEY_SET_FRESH_S;
    assert_eq!(world.verify(&nameless, later_s).await, Err(TokenError::UnknownKey));
}

#[tokio::test]
async fn a_new_key_is_found_within_a_minute_and_a_former_one_ends_within_an_hour() {
    let world = World::new();
    assert!(world.verify(&world.token(), NOW_S).await.is_ok());
    let new = KeyPair::generate().unwrap();
    world.published.publish(&[&new]);
    let (former, fresh) = (world.token(), token(&new, &ann()));
    let soon_s = NOW_S + KEY_SET_REFRESH_S;
    assert_eq!(world.verify(&fresh, soon_s - 1).await, Err(TokenError::UnknownKey));
    assert!(world.verify(&former, soon_s - 1).await.is_ok());
    assert!(world.verify(&fresh, soon_s).await.is_ok());
    assert_eq!(world.verify(&former, soon_s).await, Err(TokenError::UnknownKey));
    assert_eq!(world.published.asked(), 4);
    // Whoever never meets a new key asks once an hour.
    assert!(world.verify(&fresh, soon_s + KEY_SET_FRESH_S - 1).await.is_ok());
    assert_eq!(world.published.asked(), 4);
    assert!(world.verify(&fresh, soon_s + KEY_SET_FRESH_S).await.is_ok());
    assert_eq!(world.published.asked(), 6);
}

#[tokio::test]
async fn an_issuer_that_is_down_is_asked_now_and_then_and_keys_are_used_for_a_day() {
    let world = World::new();
    world.published.documents.lock().unwrap().remove(KEYS);
    let verify = |now_s| {
        let token = world.token();
        let world = &world;
        async move { world.verify(&token, now_s).await }
    };
    assert_eq!(verify(NOW_S).await, Err(TokenError::KeysUnavailable));
    assert_eq!(verify(NOW_S + KEY_SET_RETRY_S - 1).await, Err(TokenError::KeysUnavailable));
    assert_eq!(world.published.asked(), 2, "not by each request");
    world.published.publish(&[&world.pair]);
    let up_s = NOW_S + KEY_SET_RETRY_S;
    assert!(verify(up_s).await.is_ok());
    world.published.documents.lock().unwrap().clear();
    for after_s in [KEY_SET_FRESH_S, KEY_SET_FRESH_S + KEY_SET_RETRY_S - 1, KEY_SET_STALE_S - 1] {
        assert!(verify(up_s + after_s).await.is_ok(), "{after_s}");
    }
    assert_eq!(world.published.asked(), 6);
    assert_eq!(verify(up_s + KEY_SET_STALE_S).await, Err(TokenError::KeysUnavailable));
    let own = world.own.sign(&claims()).unwrap();
    assert!(world.verify(&own, NOW_S).await.is_ok(), "the stack's own tokens need nobody");
}

#[tokio::test(start_paused = true)]
async fn the_pause_after_a_fetch_that_took_long_begins_at_its_end() {
    let world = World::new();
    let took_s = KEY_SET_TIMEOUT_MS.div_ceil(1_000);
    world.published.answers.forget_permits(1_000);
    let token = world.token();
    let answer = timeout(Duration::from_secs(took_s), world.verify(&token, NOW_S)).await;
    assert!(answer.is_err(), "the request gives up");
    assert_eq!(world.published.asked(), 1);
    let pause_ends_s = NOW_S + took_s + KEY_SET_RETRY_S;
    for now_s in [NOW_S + took_s, pause_ends_s - 1] {
        assert_eq!(world.verify(&world.token(), now_s).await, Err(TokenError::KeysUnavailable));
    }
    assert_eq!(world.published.asked(), 1);
    world.published.answers.add_permits(1_000);
    assert!(world.verify(&world.token(), pause_ends_s).await.is_ok());
}

#[tokio::test]
async fn whoever_comes_at_once_asks_once() {
    let world = Arc::new(World::new());
    world.published.answers.forget_permits(1_000);
    let all: Vec<_> = (0..20)
        .map(|_| {
            let world = Arc::clone(&world);
            tokio::spawn(async move { world.verify(&world.token(), NOW_S).await })
        })
        .collect();
    while world.published.asked() == 0 {
        tokio::task::yield_now().await;
    }
    world.published.answers.add_permits(1_000);
    for one in all {
        assert!(one.await.unwrap().is_ok());
    }
    assert_eq!(world.published.asked(), 2);
    // While somebody asks for newer keys, the others use what is there.
    world.published.answers.forget_permits(1_000);
    let late_s = NOW_S + KEY_SET_FRESH_S;
    let asking = {
        let world = Arc::clone(&world);
        tokio::spawn(async move { world.verify(&world.token(), late_s).await })
    };
    while world.published.asked() == 2 {
        tokio::task::yield_now().await;
    }
    assert!(world.verify(&world.token(), late_s).await.is_ok());
    assert_eq!(world.published.asked(), 3);
    // Whoever asks is cut off: that counts as a failure.
    asking.abort();
    assert!(asking.await.is_err());
    assert!(world.verify(&world.token(), late_s).await.is_ok());
    assert_eq!(world.published.asked(), 3);
}

#[tokio::test]
async fn what_an_issuer_publishes_is_believed_only_of_itself() {
    for description in [
        json!({"issuer": "https://login.example.com/", "jwks_uri": KEYS}),
        json!({"issuer": "https://evil.example.com", "jwks_uri": KEYS}),
        json!({"issuer": ISSUER, "jwks_uri": "http://keys.example.com/keys"}),
        json!({"issuer": ISSUER, "jwks_uri": "file:///etc/passwd"}),
        json!({"issuer": ISSUER}),
        json!([]),
    ] {
        let world = World::new();
        world.published.put("http://keys.example.com/keys", json!({"keys": [jwk(&world.pair)]}));
        world.published.put(DISCOVERY, description.clone());
        let verified = world.verify(&world.token(), NOW_S).await;
        assert_eq!(verified, Err(TokenError::KeysUnavailable), "{description}");
    }
    for keys in [json!({"keys": []}), json!({"keys": [{"kty": "RSA"}]}), json!("keys"), json!({})] {
        let world = World::new();
        world.published.put(KEYS, keys.clone());
        let verified = world.verify(&world.token(), NOW_S).await;
        assert_eq!(verified, Err(TokenError::KeysUnavailable), "{keys}");
    }
    let direct = World::with(OidcIssuer { keys_url: Some(KEYS.into()), ..issuer() }, 0);
    direct.published.documents.lock().unwrap().remove(DISCOVERY);
    assert!(direct.verify(&direct.token(), NOW_S).await.is_ok());
}

#[tokio::test]
async fn tokens_from_before_a_moment_are_refused_whoever_made_them() {
    let world = World::with(issuer(), NOW_S - 10);
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
async fn an_issuer_is_named_once_and_a_token_that_names_none_is_ours_to_refuse() {
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
    assert_eq!(world.published.asked(), 0);
}
