//! People of other issuers over real HTTP: what they may do, and what happens when the issuer does not answer
//! (design `4-sync.md` §2b).

use std::fs;

use cellar::Client;
use cellar_core::access::Role;
use cellar_core::api::{CreateRequest, ProblemKind, ShareRequest};
use cellar_core::limits::MAX_KEY_SET_BYTES;
use cellar_core::oidc::{OidcIssuer, TokenAlgorithm};
use cellar_local::Ports;
use cellar_tests::cloud::TestCloud;
use cellar_tests::issuer::{Answer, TestIssuer};
use serde_json::{Value, json};

use crate::journey::Project;

/// A cloud that believes them.
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

/// The status of an answer to a holder of that token, and whether it says when to come again.
async fn status(cloud: &TestCloud, token: &str) -> (u16, bool) {
    let url = format!("{}v1/spreadsheets", cloud.url);
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
        let hidden = bob.details(created.id).await.unwrap_err();
        assert_eq!(hidden.problem_kind(), Some(ProblemKind::NotFound));
        // Who shares means somebody of their own issuer, unless they name another.
        let share = ShareRequest { subject: "bob".to_owned(), issuer: None, role: Role::Viewer };
        ann.share(created.id, &share, None).await.unwrap();
        let details = bob.details(created.id).await.unwrap();
        assert_eq!((details.name.as_str(), details.role), ("Budget", Some(Role::Viewer)));
        let of_ann = ann.details(created.id).await.unwrap().members.unwrap();
        assert!(of_ann.iter().all(|member| member.person.issuer == issuer.url()), "{of_ann:?}");
        // A namesake with a token of the stack's own is somebody else.
        let namesake = client(&cloud.token_of("bob")).details(created.id).await.unwrap_err();
        assert_eq!(namesake.problem_kind(), Some(ProblemKind::NotFound));
        let share = ShareRequest { issuer: Some("cellar".to_owned()), ..share };
        ann.share(created.id, &share, None).await.unwrap();
        assert!(client(&cloud.token_of("bob")).details(created.id).await.is_ok());
        assert_eq!(issuer.asked(), 2, "its description and its keys, once");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_caps_an_issuers_people_and_an_address_names_them() {
    let issuer = TestIssuer::start(TokenAlgorithm::Es256).await;
    let config = OidcIssuer {
        role: Role::Viewer,
        person_claim: "email".to_owned(),
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
    owner.share(created.id, &share, None).await.unwrap();
    assert_eq!(ann.details(created.id).await.unwrap().role, Some(Role::Viewer));
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
    // Its keys were fetched a moment ago: nobody looks for another one so soon.
    assert_eq!(status(&cloud, &issuer.token("ann")).await, (401, false));
    assert_eq!(status(&cloud, &former).await, (200, false));
    assert_eq!(issuer.asked(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_that_does_not_answer_keeps_only_its_own_people_waiting() {
    for answer in [Answer::Fault, Answer::Redirect, Answer::Never] {
        let issuer = TestIssuer::start(TokenAlgorithm::Es256).await;
        issuer.answers(answer.clone());
        let cloud = cloud(&[issuer.config()]).await;
        assert_eq!(status(&cloud, &issuer.token("ann")).await, (503, true), "{answer:?}");
        let asked = issuer.asked();
        assert_eq!(status(&cloud, &issuer.token("bob")).await, (503, true), "{answer:?}");
        assert_eq!(issuer.asked(), asked, "it is not asked by each request");
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
