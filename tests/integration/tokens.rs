//! Tokens over HTTP (I19): every route gives the same response to any invalid token.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cellar_api::wire::CreateRequest;
use cellar_base::limits::{MAX_TOKEN_BYTES, MAX_TOKEN_S};
use cellar_catalog::access::Role;
use cellar_runtime::token::{Claims, KeyPair};
use cellar_tests::cloud::TestCloud;
use serde_json::json;

use super::routes::{Subject, routes, seen};

fn part(json: &serde_json::Value) -> String {
    URL_SAFE_NO_PAD.encode(json.to_string())
}

/// Returns tokens that are invalid for this stack, each with its fault.
fn refused(cloud: &TestCloud) -> Vec<(&'static str, String)> {
    let claims = cloud.claims("alice", Role::Owner);
    let good = cloud.sign(&claims);
    let parts: Vec<&str> = good.split('.').collect();
    let (header, body, signature) = (parts[0], parts[1], parts[2]);
    let kid = &cloud.settings.tokens.keys[0].id;
    let with_header = |header: serde_json::Value| format!("{}.{body}.{signature}", part(&header));
    let strangers = KeyPair::generate().unwrap();
    let stranger = |claims: &Claims| strangers.sign(claims).unwrap();
    let (issued_s, other) = (claims.iat, "other".to_owned());
    vec![
        ("no token", "x".to_owned()),
        ("two parts", format!("{header}.{body}")),
        ("four parts", format!("{good}.{signature}")),
        ("no signature", format!("{header}.{body}.")),
        ("alg none", format!("{}.{body}.", part(&json!({"alg": "none", "kid": kid})))),
        ("alg None", format!("{}.{body}.", part(&json!({"alg": "None", "kid": kid})))),
        ("alg none, signed", with_header(json!({"alg": "none", "kid": kid}))),
        ("alg HS256", with_header(json!({"alg": "HS256", "kid": kid}))),
        ("alg ES256", with_header(json!({"alg": "ES256", "kid": kid}))),
        ("alg that is no text", with_header(json!({"alg": {"EdDSA": null}, "kid": kid}))),
        ("no alg", with_header(json!({"kid": kid}))),
        ("no kid", with_header(json!({"alg": "EdDSA"}))),
        ("another kid", with_header(json!({"alg": "EdDSA", "kid": "other"}))),
        ("another header", with_header(json!({"alg": "EdDSA", "kid": kid, "x": 1}))),
        ("another body", format!("{header}.{}.{signature}", part(&json!({"role": "owner"})))),
        ("another key", stranger(&claims)),
        ("another key, expired", stranger(&Claims { exp: issued_s - 3_600, ..claims.clone() })),
        ("another issuer", cloud.sign(&Claims { iss: other.clone(), ..claims.clone() })),
        ("another audience", cloud.sign(&Claims { aud: other, ..claims.clone() })),
        ("no subject", cloud.sign(&Claims { sub: String::new(), ..claims })),
        ("as long as may be", "x".repeat(MAX_TOKEN_BYTES)),
        ("too long", "x".repeat(MAX_TOKEN_BYTES + 1)),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn each_refused_token_gets_the_same_bytes_on_every_route() {
    let cloud = TestCloud::start_without_snapshots().await;
    let request = CreateRequest::new("tokens".to_owned());
    let created = cloud.client("alice").create(&request).await.unwrap();
    let (upload, upload_sha256) = (uuid::Uuid::nil().to_string(), "00".repeat(32));
    let (head, incarnation) = (created.head, created.incarnation);
    let fork = created.id;
    let subject = Subject { head, incarnation, fork, upload, upload_bytes: 9, upload_sha256 };
    let http = reqwest::Client::new();
    let claims = cloud.claims("alice", Role::Owner);
    let late = Claims { exp: claims.iat - 3_600, ..claims.clone() };
    let early = Claims { nbf: Some(claims.iat + 3_600), ..claims.clone() };
    let lasting = Claims { exp: claims.iat + MAX_TOKEN_S + 1, ..claims };
    let tokens = refused(&cloud);
    let mut refusal = None;
    for route in routes(&cloud).await {
        let ask = async |token: &str| {
            let id = created.id.to_string();
            seen(route.send((&cloud, &http), token, &id, &subject).await).await
        };
        for (what, token) in &tokens {
            let answer = ask(token).await;
            assert_eq!(answer.0, 401, "{what} {route:?}");
            assert!(answer.1.contains(&"www-authenticate: \"Bearer\"".to_owned()), "{what}");
            assert_eq!(&answer, refusal.get_or_insert(answer.clone()), "{what} {route:?}");
        }
        // Only a token signed with the stack's own key gets a response about its times.
        let times = [(&late, "expired"), (&early, "not valid yet"), (&lasting, "366 days")];
        for (claims, why) in times {
            let (status, _, body) = ask(&cloud.sign(claims)).await;
            let body = String::from_utf8(body).unwrap();
            assert!(status == 401 && body.contains(why), "{route:?}: {body}");
        }
    }
    assert_eq!(
        cloud.client("alice").spreadsheet(created.id).head().await.unwrap().head,
        created.head
    );
}
