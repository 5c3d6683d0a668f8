//! An OpenID Connect issuer that uses real HTTP and real keys.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cellar_catalog::oidc::{DISCOVERY_PATH, OidcIssuer, TokenAlgorithm};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

/// The identifier under which the issuer knows this application.
pub const AUDIENCE: &str = "cellar-app";
/// URL path of the issuer's public keys.
const KEYS_PATH: &str = "/keys";

enum Pair {
    Rsa(RsaKeyPair),
    Ecdsa(EcdsaKeyPair),
}

/// The issuer's response to a request for its keys.
#[derive(Debug, Clone)]
pub enum Answer {
    /// The keys.
    Keys,
    /// The keys, in a document padded to the given number of bytes.
    Padded(usize),
    /// A redirect to another path, which returns the keys.
    Redirect,
    /// No answer, forever.
    Never,
    /// A server error.
    Fault,
}

struct Published {
    url: String,
    keys: Mutex<Vec<Value>>,
    answer: Mutex<Answer>,
    asked: AtomicU64,
}

/// A running issuer.
pub struct TestIssuer {
    published: Arc<Published>,
    pair: Pair,
    id: String,
    served: JoinHandle<()>,
}

impl Drop for TestIssuer {
    fn drop(&mut self) {
        self.served.abort();
    }
}

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Pair {
    fn generate(algorithm: TokenAlgorithm) -> Self {
        match algorithm {
            TokenAlgorithm::Rs256 => Self::Rsa(RsaKeyPair::generate(KeySize::Rsa2048).unwrap()),
            TokenAlgorithm::Es256 => {
                Self::Ecdsa(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap())
            }
            other => panic!("{other:?}"),
        }
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).unwrap();
                signature
            }
            Self::Ecdsa(pair) => pair.sign(&random, message).unwrap().as_ref().to_vec(),
        }
    }

    fn algorithm(&self) -> TokenAlgorithm {
        match self {
            Self::Rsa(_) => TokenAlgorithm::Rs256,
            Self::Ecdsa(_) => TokenAlgorithm::Es256,
        }
    }

    fn jwk(&self, id: &str) -> Value {
        match self {
            Self::Rsa(pair) => {
                let public = pair.public_key();
                let n = encoded(public.modulus().big_endian_without_leading_zero());
                let e = encoded(public.exponent().big_endian_without_leading_zero());
                json!({"kty": "RSA", "use": "sig", "alg": "RS256", "kid": id, "n": n, "e": e})
            }
            Self::Ecdsa(pair) => {
                // An uncompressed point is a prefix byte followed by both coordinates.
                let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
                let (x, y) = (encoded(x), encoded(y));
                json!({"kty": "EC", "crv": "P-256", "use": "sig", "kid": id, "x": x, "y": y})
            }
        }
    }
}

async fn answer(State(published): State<Arc<Published>>, request: Request) -> Response {
    published.asked.fetch_add(1, Ordering::SeqCst);
    let keys = || json!({"keys": *published.keys.lock().unwrap()}).to_string();
    if request.uri().path() == DISCOVERY_PATH {
        let (issuer, keys) = (&published.url, format!("{}{KEYS_PATH}", published.url));
        return json!({"issuer": issuer, "jwks_uri": keys}).to_string().into_response();
    }
    if request.uri().path() != KEYS_PATH {
        return keys().into_response();
    }
    let wanted = published.answer.lock().unwrap().clone();
    match wanted {
        Answer::Keys => keys().into_response(),
        Answer::Padded(bytes) => {
            let keys = keys();
            let spaces = " ".repeat(bytes - keys.len());
            (keys + &spaces).into_response()
        }
        Answer::Redirect => (StatusCode::FOUND, [(header::LOCATION, "/moved")]).into_response(),
        Answer::Never => std::future::pending().await,
        Answer::Fault => StatusCode::BAD_GATEWAY.into_response(),
    }
}

impl TestIssuer {
    /// Starts an issuer with one key on a free port. The algorithm must be RS256 or ES256.
    pub async fn start(algorithm: TokenAlgorithm) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (pair, id) = (Pair::generate(algorithm), "first".to_owned());
        let published = Arc::new(Published {
            url,
            keys: Mutex::new(vec![pair.jwk(&id)]),
            answer: Mutex::new(Answer::Keys),
            asked: AtomicU64::new(0),
        });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&published));
        let served = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { published, pair, id, served }
    }

    /// Returns the issuer's URL, which is also the issuer's name.
    pub fn url(&self) -> &str {
        &self.published.url
    }

    /// Returns the configuration section for the issuer.
    pub fn config(&self) -> OidcIssuer {
        let algorithm = self.pair.algorithm();
        let all = json!({"issuer": self.url(), "audience": AUDIENCE, "algorithm": algorithm});
        serde_json::from_value(all).unwrap()
    }

    /// Sets the response to requests for the keys.
    pub fn answers(&self, answer: Answer) {
        *self.published.answer.lock().unwrap() = answer;
    }

    /// Returns the number of requests received so far.
    pub fn asked(&self) -> u64 {
        self.published.asked.load(Ordering::SeqCst)
    }

    /// Replaces the signing key. Only the new key is published.
    pub fn rotate(&mut self) {
        self.pair = Pair::generate(self.pair.algorithm());
        self.id += "-next";
        *self.published.keys.lock().unwrap() = vec![self.pair.jwk(&self.id)];
    }

    /// Returns the token claims of a user.
    pub fn claims(&self, subject: &str) -> Value {
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        json!({
            "iss": self.url(), "aud": AUDIENCE, "sub": subject, "exp": now_s + 3_600, "iat": now_s,
            "email": format!("{subject}@example.com"), "email_verified": true,
        })
    }

    /// Returns a token of a user.
    pub fn token(&self, subject: &str) -> String {
        self.sign(&self.claims(subject))
    }

    /// Returns the public key that the issuer publishes.
    pub fn published(&self) -> Value {
        self.pair.jwk(&self.id)
    }

    /// Returns the header of the tokens that the issuer signs.
    pub fn header(&self) -> Value {
        json!({"alg": self.pair.algorithm(), "kid": self.id, "typ": "JWT"})
    }

    /// Returns a token with the given claims.
    pub fn sign(&self, claims: &Value) -> String {
        self.sign_text(&self.header(), &claims.to_string())
    }

    /// Returns a token with the given header and claims, which may be invalid.
    pub fn sign_text(&self, header: &Value, claims: &str) -> String {
        let message = format!("{}.{}", encoded(header.to_string()), encoded(claims));
        let signature = encoded(self.pair.sign(message.as_bytes()));
        format!("{message}.{signature}")
    }
}
