//! Tokens of other issuers over HTTP: the access of their subjects, and the behavior when the
//! issuer does not reply.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cellar::Client;
use cellar_api::{wire::CreateRequest, wire::ProblemKind, wire::ShareRequest};
use cellar_base::limits::{MAX_KEY_SET_BYTES, MAX_TOKEN_S};
use cellar_catalog::access::Role;
use cellar_catalog::oidc::{OidcIssuer, TokenAlgorithm};
use cellar_local::Ports;
use cellar_tests::cloud::TestCloud;
use cellar_tests::issuer::{Answer, TestIssuer};
use serde_json::{Value, json};

use crate::journey::Project;

/// Starts a cloud that accepts tokens of these issuers.
async fn cloud(issuers: &[OidcIssuer]) -> TestCloud {
    let ports = Ports { snapshot_builder: None, ..Ports::default() };
    TestCloud::start_configured(ports, |config| {
        config.snapshots.enabled = false;
        config.tokens.oidc = issuers.to_vec();
    })
    .await
}

fn request() -> CreateRequest {
    CreateRequest { nonce: "oidc".to_owned(), name: Some("Budget".to_owned()) }
}

/// Returns the status of a response to a token, and whether the response has `Retry-After`.
async fn status(cloud: &TestCloud, token: &str) -> (u16, bool) {
    let url = format!("{}/v1/spreadsheets", cloud.url);
    let answer = reqwest::Client::new().get(url).bearer_auth(token).send().await.unwrap();
    (answer.status().as_u16(), answer.headers().contains_key("retry-after"))
}

#[tokio::test(flavor = "multi_thread")]
async fn people_of_an_issuer_create_and_share_and_see_no_more_than_that() {
    for algorithm in [TokenAlgorithm::Rs256, TokenAlgorithm::Es256] {
        let issuer = TestIssuer::start(algorithm).await;
        let cloud = cloud(&[issuer.config()]).await;
        let client = |token: &str| Client::new(&cloud.url, Some(token)).unwrap();
        let [ann, bob] = ["ann", "bob"].map(|name| client(&issuer.token(name)));
        let created = ann.create(&request()).await.unwrap();
        let hidden = bob.spreadsheet(created.id).details().await.unwrap_err();
        assert_eq!(hidden.problem_kind(), Some(ProblemKind::NotFound));
        // A share is for a subject of the caller's issuer, unless the request names another issuer.
        let share = ShareRequest { subject: "bob".to_owned(), issuer: None, role: Role::Viewer };
        ann.spreadsheet(created.id).share(&share, None).await.unwrap();
        let details = bob.spreadsheet(created.id).details().await.unwrap();
        assert_eq!((details.name.as_str(), details.role), ("Budget", Some(Role::Viewer)));
        let of_ann = ann.spreadsheet(created.id).details().await.unwrap().members.unwrap();
        assert!(of_ann.iter().all(|member| member.person.issuer == issuer.url()), "{of_ann:?}");
        // The same subject with a token of the stack is a different person.
        let namesake =
            client(&cloud.token_of("bob")).spreadsheet(created.id).details().await.unwrap_err();
        assert_eq!(namesake.problem_kind(), Some(ProblemKind::NotFound));
        let share = ShareRequest { issuer: Some("cellar".to_owned()), ..share };
        ann.spreadsheet(created.id).share(&share, None).await.unwrap();
        assert!(client(&cloud.token_of("bob")).spreadsheet(created.id).details().await.is_ok());
        assert_eq!(issuer.asked(), 2, "the discovery document and the keys are fetched once");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_caps_an_issuers_people_and_an_address_names_them() {
    let issuer = TestIssuer::start(TokenAlgorithm::Es256).await;
    let config = OidcIssuer {
        max_role: Role::Viewer,
        subject_claim: "email".to_owned(),
        keys_url: Some(format!("{}/keys", issuer.url())),
        ..issuer.config()
    };
    let cloud = cloud(&[config]).await;
    let ann = Client::new(&cloud.url, Some(&issuer.token("ann"))).unwrap();
    let refused = ann.create(&request()).await.unwrap_err();
    assert_eq!(refused.problem_kind(), Some(ProblemKind::Forbidden));
    let owner = cloud.client("owner");
    let created = owner.create(&request()).await.unwrap();
    let subject = "ann@example.com".to_owned();
    let share = ShareRequest { subject, issuer: Some(issuer.url().to_owned()), role: Role::Owner };
    owner.spreadsheet(created.id).share(&share, None).await.unwrap();
    assert_eq!(ann.spreadsheet(created.id).details().await.unwrap().role, Some(Role::Viewer));
    let mut unverified = issuer.claims("ann");
    unverified["email_verified"] = json!(false);
    assert_eq!(status(&cloud, &issuer.sign(&unverified)).await, (401, false));
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_of_an_issuer_are_told_what_all_strangers_are_told() {
    let mut issuer = TestIssuer::start(TokenAlgorithm::Rs256).await;
    let other = TestIssuer::start(TokenAlgorithm::Rs256).await;
    let cloud = cloud(&[issuer.config()]).await;
    let with = |name: &str, value: Value| {
        let mut claims = issuer.claims("ann");
        claims[name] = value;
        claims
    };
    let forged = [
        other.token("ann"),
        other.sign(&issuer.claims("ann")),
        issuer.sign(&with("aud", json!("another-app"))),
        issuer.sign(&with("iss", json!("cellar"))),
        issuer.sign(&with("sub", json!(""))),
        format!("{}x", issuer.token("ann")),
    ];
    for token in &forged {
        assert_eq!(status(&cloud, token).await, (401, false), "{token}");
    }
    let former = issuer.token("ann");
    assert_eq!(status(&cloud, &former).await, (200, false));
    issuer.rotate();
    // The keys were fetched a moment ago, so an unknown key causes no fetch yet.
    assert_eq!(status(&cloud, &issuer.token("ann")).await, (401, false));
    assert_eq!(status(&cloud, &former).await, (200, false));
    assert_eq!(issuer.asked(), 2);
}

/// Returns token headers that are refused although the issuer's key signed them, each with its
/// fault.
fn wrong_headers(issuer: &TestIssuer, other: &TestIssuer) -> Vec<(&'static str, Value)> {
    let with = |name: &str, value: Value| {
        let mut header = issuer.header();
        header[name] = value;
        header
    };
    let algorithm = issuer.header()["alg"].as_str().unwrap().to_owned();
    vec![
        ("alg none", with("alg", json!("none"))),
        ("alg HS256", with("alg", json!("HS256"))),
        ("another alg", with("alg", json!("EdDSA"))),
        ("alg that is no text", with("alg", json!({algorithm: null}))),
        ("no alg", json!({"kid": "first"})),
        ("crit", with("crit", json!(["b64"]))),
        ("another key's name", with("kid", json!("other"))),
        ("a name that is a path", with("kid", json!("../../keys/first"))),
        ("a name that is a URL", with("kid", json!(format!("{}/keys", other.url())))),
        ("a name that is no text", with("kid", json!(["first"]))),
    ]
}

/// Returns claims that are refused although the issuer signed them, each with its fault.
fn wrong_claims(issuer: &TestIssuer) -> Vec<(&'static str, String)> {
    let claims = issuer.claims("ann");
    let now_s = claims["iat"].as_u64().unwrap();
    let with = |name: &str, value: Value| {
        let mut claims = claims.clone();
        claims[name] = value;
        claims.to_string()
    };
    let mut all = vec![
        ("another audience", with("aud", json!("another-app"))),
        ("an audience that begins so", with("aud", json!("cellar-app2"))),
        ("no audience", with("aud", json!(null))),
        ("the stack as issuer", with("iss", json!("cellar"))),
        ("an issuer that begins so", with("iss", json!(format!("{}/", issuer.url())))),
        ("several issuers", with("iss", json!([issuer.url()]))),
        ("expired", with("exp", json!(now_s - 3_600))),
        ("no end", with("exp", json!(null))),
        ("an end that is a text", with("exp", json!("9999999999"))),
        ("an end too far away", with("exp", json!(now_s + MAX_TOKEN_S + 1))),
        ("not valid yet", with("nbf", json!(now_s + 3_600))),
        ("made later", with("iat", json!(now_s + 3_600))),
        ("nobody", with("sub", json!(""))),
    ];
    for twice in ["iss", "aud", "sub", "exp"] {
        let again = format!("{{\"{twice}\":{},", claims[twice]);
        all.push(("a claim that comes twice", claims.to_string().replacen('{', &again, 1)));
    }
    all
}

/// Returns a token signed with the public key as an HMAC secret.
fn signed_with_the_public_key(issuer: &TestIssuer, secret: &[u8]) -> String {
    let header = json!({"alg": "HS256", "kid": "first"}).to_string();
    let claims = issuer.claims("ann").to_string();
    let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let key = aws_lc_rs::hmac::Key::new(aws_lc_rs::hmac::HMAC_SHA256, secret);
    let signature = aws_lc_rs::hmac::sign(&key, message.as_bytes());
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
}

#[tokio::test(flavor = "multi_thread")]
async fn each_forged_token_of_an_issuer_is_refused() {
    for algorithm in [TokenAlgorithm::Rs256, TokenAlgorithm::Es256] {
        let (issuer, other) =
            (TestIssuer::start(algorithm).await, TestIssuer::start(algorithm).await);
        let cloud = cloud(&[issuer.config()]).await;
        let good = issuer.token("ann");
        assert_eq!(status(&cloud, &good).await, (200, false), "the forged token has another fault");
        let claims = issuer.claims("ann").to_string();
        let mut forged: Vec<(String, String)> = vec![];
        for (what, header) in wrong_headers(&issuer, &other) {
            forged.push((what.to_owned(), issuer.sign_text(&header, &claims)));
        }
        for (what, claims) in wrong_claims(&issuer) {
            forged.push((format!("{what}: {claims}"), issuer.sign_text(&issuer.header(), &claims)));
        }
        // Headers that contain a key or a URL of a key.
        for (name, value) in [
            ("jwk", other.published()),
            ("jku", json!(format!("{}/keys", other.url()))),
            ("x5u", json!(format!("{}/keys", other.url()))),
        ] {
            let mut header = issuer.header();
            header[name] = value;
            forged.push((name.to_owned(), other.sign_text(&header, &claims)));
        }
        let parts: Vec<&str> = good.split('.').collect();
        forged.push(("no signature".to_owned(), format!("{}.{}.", parts[0], parts[1])));
        let none = URL_SAFE_NO_PAD.encode(r#"{"alg":"none","kid":"first"}"#);
        forged.push(("none, unsigned".to_owned(), format!("{none}.{}.", parts[1])));
        for member in ["n", "x"] {
            let published = issuer.published();
            let Some(public) = published[member].as_str() else { continue };
            let bytes = URL_SAFE_NO_PAD.decode(public).unwrap();
            for secret in [public.as_bytes(), &bytes, published.to_string().as_bytes()] {
                let token = signed_with_the_public_key(&issuer, secret);
                forged.push(("the public key as a secret".to_owned(), token));
            }
        }
        for (what, token) in &forged {
            assert_eq!(status(&cloud, token).await, (401, false), "{what}");
        }
        assert_eq!(other.asked(), 0, "a key was fetched from a URL in a token");
        assert_eq!(issuer.asked(), 2);
    }
}

/// Returns whether a request right after a failed one causes no fetch. Makes several attempts,
/// because on a busy machine the second request may come too late.
async fn second_request_causes_no_fetch(cloud: &TestCloud, issuer: &TestIssuer) -> bool {
    for _ in 0..5 {
        let asked = issuer.asked();
        assert_eq!(status(cloud, &issuer.token("bob")).await, (503, true));
        if issuer.asked() == asked {
            return true;
        }
    }
    false
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_that_does_not_answer_keeps_only_its_own_people_waiting() {
    for answer in [Answer::Fault, Answer::Redirect, Answer::Never] {
        let issuer = TestIssuer::start(TokenAlgorithm::Es256).await;
        issuer.answers(answer.clone());
        let cloud = cloud(&[issuer.config()]).await;
        assert_eq!(status(&cloud, &issuer.token("ann")).await, (503, true), "{answer:?}");
        assert!(second_request_causes_no_fetch(&cloud, &issuer).await, "{answer:?}");
        assert_eq!(status(&cloud, &cloud.token_of("carol")).await, (200, false));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_set_of_keys_has_so_many_bytes_and_no_more() {
    for (bytes, expected) in [(MAX_KEY_SET_BYTES, 200), (MAX_KEY_SET_BYTES + 1, 503)] {
        let issuer = TestIssuer::start(TokenAlgorithm::Es256).await;
        issuer.answers(Answer::Padded(bytes));
        let cloud = cloud(&[issuer.config()]).await;
        assert_eq!(status(&cloud, &issuer.token("ann")).await.0, expected, "{bytes}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_in_the_configuration_is_all_that_its_people_need() {
    let issuer = TestIssuer::start(TokenAlgorithm::Rs256).await;
    let project = Project::new();
    let config = json!({"tokens": {"oidc": [issuer.config()]}});
    fs::write(project.path("cellar.yaml"), config.to_string()).unwrap();
    let deployed = tokio::task::block_in_place(|| project.deploy());
    let project = project
        .with_variable("CELLAR_URL", deployed["url"].as_str().unwrap().to_owned())
        .with_variable("CELLAR_TOKEN", issuer.token("ann"));
    let run = |arguments: &[&str]| {
        let run = tokio::task::block_in_place(|| project.cellar(arguments));
        assert_eq!(run.code, 0, "{run:?}");
        run.stdout
    };
    run(&["create", "--name", "Budget"]);
    run(&["share", "bob", "--role", "editor"]);
    let details = run(&["details"]);
    assert!(details.contains("ann") && details.contains("bob"), "{details}");
    assert!(details.contains(issuer.url()), "{details}");
    run(&["set", "A1", "of an issuer"]);
    assert!(run(&["history"]).contains("ann"));
}
