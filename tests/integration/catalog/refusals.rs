//! Invalid requests: each returns a clear problem, changes nothing and reveals nothing.

use cellar_base::limits::MAX_SPREADSHEET_NAME_BYTES;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn bad_requests_are_told_what_is_wrong_and_change_nothing() {
    let world = World::new().await;
    let alice = world.person("alice");
    let before = alice.details().await.unwrap();
    let long = "x".repeat(10_000);
    let secret = "AAAAAAAAAAAAAAAAAAAAAA";
    for (method, end, body, said) in [
        (Method::PATCH, "/details", json!({"name": long}), "has 10000 bytes; at most 256"),
        (Method::PATCH, "/details", json!({"name": "  "}), "at least one visible character"),
        (Method::PATCH, "/details", json!({"name": "a\nb"}), "one line"),
        (Method::PATCH, "/details", json!({"status": "lost"}), "lost"),
        (Method::PATCH, "/details", json!({"owner": "bob"}), "owner"),
        (Method::POST, "/members", json!({"subject": "bob", "role": "admin"}), "admin"),
        (Method::POST, "/members", json!({"subject": "", "role": "viewer"}), "1 to 64 bytes"),
        (Method::POST, "/members", json!({"subject": long, "role": "viewer"}), "1 to 64 bytes"),
        (
            Method::POST,
            "/members",
            json!({"subject": "bob", "issuer": "", "role": "viewer"}),
            "1 to 256 bytes",
        ),
        (Method::POST, "/links", json!({"secret": "short", "role": "viewer"}), "16 random bytes"),
        (Method::POST, "/links", json!({"secret": secret, "role": "owner"}), "owner"),
        (
            Method::POST,
            "/links",
            json!({"secret": secret, "role": "viewer", "label": long}),
            "at most 128 bytes",
        ),
        (Method::DELETE, "/links/none", Value::Null, "16 hexadecimal digits"),
    ] {
        let response = alice.about(method.clone(), end, Some(body.clone())).await;
        let problem = answer::<Value>(response).await.unwrap_err();
        assert_eq!(problem.kind, ProblemKind::InvalidRequest, "{method} {end} {body}");
        assert!(problem.detail.contains(said), "{problem}");
    }
    assert_eq!(alice.details().await.unwrap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn sharing_that_cannot_be_is_told_apart() {
    let world = World::new().await;
    let alice = world.person("alice");
    let refused = alice.share("alice", "viewer").await.unwrap_err();
    assert_eq!(refused.kind, ProblemKind::InvalidSharing);
    assert!(refused.detail.contains("your own role"), "{refused}");
    let refused = alice.unshare("alice").await.unwrap_err();
    assert_eq!(refused.kind, ProblemKind::InvalidSharing);
    assert!(refused.detail.contains("the last owner"), "{refused}");
    assert_eq!(alice.details().await.unwrap().members.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_name_creates_and_forks_nothing() {
    let world = World::new().await;
    let alice = world.person("alice");
    let name = "x".repeat(MAX_SPREADSHEET_NAME_BYTES + 1);
    let body = json!({"nonce": "other", "name": name});
    let refused = answer::<Value>(alice.ask(Method::POST, "", Some(body.clone())).await).await;
    assert_eq!(kind(refused), ProblemKind::InvalidRequest);
    let refused = answer::<Value>(alice.about(Method::POST, "/forks", Some(body)).await).await;
    assert_eq!(kind(refused), ProblemKind::InvalidRequest);
    let created = alice.ask(Method::POST, "", Some(json!({"nonce": "other"}))).await;
    assert_eq!(created.status(), 201, "the spreadsheet is created");
    let listed: Value = answer(alice.about(Method::GET, "/forks", None).await).await.unwrap();
    assert_eq!(listed["forks"], json!([]));
    let name = "x".repeat(MAX_SPREADSHEET_NAME_BYTES);
    assert_eq!(alice.update(json!({"name": name})).await.unwrap().name, name);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_creates_again_finds_their_own_and_names_it_once() {
    let world = World::new().await;
    let alice = world.person("alice");
    let body = json!({"nonce": "catalog", "name": "Other"});
    let again = alice.ask(Method::POST, "", Some(body.clone())).await;
    assert_eq!(again.status(), 200);
    let again: CreateReply = answer(again).await.unwrap();
    assert_eq!((again.id, alice.details().await.unwrap().name.as_str()), (world.id(), "Budget"));
    // Bob's request with the same nonce creates another spreadsheet.
    let bobs = world.person("bob").ask(Method::POST, "", Some(body)).await;
    assert_eq!(bobs.status(), 201);
    assert_ne!(answer::<CreateReply>(bobs).await.unwrap().id, world.id());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_names_what_they_have_seen_changes_nothing_that_they_have_not() {
    let world = World::new().await;
    let alice = world.person("alice");
    let update = async |etag: &str, name: &str| {
        let url = format!("{}/v1/spreadsheets/{}/details", world.cloud.url, world.id());
        let request = world.http.patch(url).bearer_auth(&alice.token).header("if-match", etag);
        request.json(&json!({"name": name})).send().await.unwrap()
    };
    let first = alice.about(Method::GET, "/details", None).await.headers()["etag"].clone();
    let first = first.to_str().unwrap();
    let renamed = update(first, "Plan").await;
    assert_eq!(renamed.status(), 200);
    let second = renamed.headers()["etag"].to_str().unwrap().to_owned();
    assert_eq!(
        update(first, "Plan").await.headers()["etag"],
        *second,
        "a repetition returns the same result"
    );
    assert_eq!(alice.update(json!({"name": "Other"})).await.unwrap().version, 3);
    // Send the first request again, late.
    let late = answer::<Value>(update(first, "Plan").await).await;
    assert_eq!(kind(late), ProblemKind::PreconditionFailed);
    assert_eq!(alice.details().await.unwrap().name, "Other");
    for bad in ["3", "\"x\"", "*", "\"3\", \"4\"", "\"-1\"", "\"99999999999999999999\""] {
        assert_eq!(kind(answer::<Value>(update(bad, "x").await).await), ProblemKind::BadRequest);
    }
}
