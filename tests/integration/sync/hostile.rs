//! Hostile pushes and pulls: each gets a specific response, no data is lost, and no client is
//! blocked.

use cellar_api::{wire::CreateRequest, wire::ProblemKind};
use cellar_base::limits::{
    MAX_CLIENT_ID_BYTES, MAX_MUTATION_BYTES, MAX_MUTATION_ID, MAX_PUSH_BYTES,
};
use cellar_catalog::access::Role;
use cellar_tests::cloud::TestCloud;
use serde_json::{Value, json};

use super::group::{Group, args, edit, statuses};

/// Returns the problem of a call's response.
async fn problem(group: &Group, call: &str, body: String) -> ProblemKind {
    let response = group.post(call, body).await;
    let problem: cellar_api::wire::Problem =
        serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
    problem.kind
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_mutation_says_its_client_goes_on() {
    let cloud = TestCloud::start_without_snapshots().await;
    let group = Group::start(&cloud).await;
    let deep: Value = (0..100).fold(json!(1), |inner, _| json!([inner]));
    let long = "x".repeat(MAX_MUTATION_BYTES);
    let set = json!({"setCells": {"cells": [{"row": 0, "column": 0, "value": 1}]}});
    let poison = [
        json!(null),
        json!({"base": "x"}),
        json!({"base": 0, "incarnation": 0, "op": {"setCells": {"cells": []}}}),
        json!({"base": 0, "incarnation": 0, "op": {"launchMissiles": {}}}),
        json!({"base": 0, "incarnation": 0, "op": {"rejected": {"reason": "invalid", "detail": "x"}}}),
        json!({"base": 0, "incarnation": 0, "op": {"undo": {"position": 77}}}),
        json!({"base": 0, "incarnation": 0, "op": {"insertRows": {"before": 0, "count": u32::MAX}}}),
        json!({"base": 999, "incarnation": 0, "op": set}),
        json!({"base": (1_u64 << 53) - 1, "incarnation": 0, "op": set}),
        json!({"base": 0, "incarnation": 9, "op": set}),
        json!({"base": 0, "incarnation": 0, "op": {"setCells": {"cells": deep}}}),
        json!({"base": 0, "incarnation": 0, "op": long}),
    ];
    let mut pushed: Vec<Value> = poison.iter().zip(1..).map(|(a, id)| args("a", id, a)).collect();
    let last = u64::try_from(pushed.len()).unwrap() + 1;
    pushed.push(edit("a", last, 0, "sound"));
    let reply = group.push(&pushed).await;
    let mut expected = vec!["rejected"; poison.len()];
    expected.push("appended");
    assert_eq!(statuses(&reply), expected, "{reply}");
    let detail = |number: usize| reply["results"][number]["rejection"]["detail"].as_str().unwrap();
    assert!(detail(0).contains("the fields `base`, `incarnation` and `op`"), "{}", detail(0));
    assert!(detail(7).contains("base 0.999 is not in the log"), "{}", detail(7));
    let again = group.push(&pushed).await;
    assert_eq!(statuses(&again), vec!["duplicate"; pushed.len()]);
    let pulled = group.pull(&Value::Null).await;
    assert_eq!(pulled["lastMutationIDChanges"], json!({"a": last}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_that_nests_without_end_is_answered() {
    let cloud = TestCloud::start_without_snapshots().await;
    let group = Group::start(&cloud).await;
    let nested = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let body = group.push_body(&[args("a", 1, &json!("NESTED"))]).to_string();
    let response = group.post("push", body.replace("\"NESTED\"", &nested)).await;
    let reply: Value = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
    assert_eq!(statuses(&reply), ["rejected"]);
    assert_eq!(problem(&group, "push", nested.clone()).await, ProblemKind::InvalidRequest);
    assert_eq!(problem(&group, "pull", nested).await, ProblemKind::InvalidRequest);
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_and_names_are_bounded() {
    let cloud = TestCloud::start_without_snapshots().await;
    let group = Group::start(&cloud).await;
    for id in
        [json!(0), json!(-1), json!(1.5), json!(MAX_MUTATION_ID + 1), json!("1"), json!(1e300)]
    {
        let mut mutation = edit("a", 1, 0, "x");
        mutation["id"] = id.clone();
        let body = group.push_body(&[mutation]).to_string();
        assert_eq!(problem(&group, "push", body).await, ProblemKind::InvalidRequest, "{id}");
    }
    let most = group.push(&[edit("a", MAX_MUTATION_ID, 0, "x")]).await;
    assert_eq!(most["error"], "ClientStateNotFound");
    let longest = "n".repeat(MAX_CLIENT_ID_BYTES);
    let sound = group.named(&longest);
    assert_eq!(statuses(&sound.push(&[edit(&longest, 1, 0, "x")]).await), ["appended"]);
    assert_eq!(sound.pull(&Value::Null).await["lastMutationIDChanges"][&longest], 1);
    let longer = format!("{longest}n");
    for (name, client) in [(longer.as_str(), "a"), ("", "a"), ("g", longer.as_str()), ("g", "")] {
        let body = group.named(name).push_body(&[edit(client, 1, 0, "x")]).to_string();
        assert_eq!(problem(&group, "push", body).await, ProblemKind::InvalidRequest);
    }
    let pull = json!({"pullVersion": 1, "clientGroupID": longer, "cookie": null}).to_string();
    assert_eq!(problem(&group, "pull", pull).await, ProblemKind::InvalidRequest);
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_mutations_go_through_in_one_push() {
    let cloud = TestCloud::start_without_snapshots().await;
    let group = Group::start(&cloud).await;
    let mutations: Vec<Value> = (1..=10_000).map(|id| edit("a", id, 0, "x")).collect();
    let reply = group.push(&mutations).await;
    assert_eq!(statuses(&reply), vec!["appended"; 10_000]);
    let pulled = group.pull(&Value::Null).await;
    assert_eq!(pulled["lastMutationIDChanges"], json!({"a": 10_000}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_is_as_long_as_a_reply_and_no_longer() {
    let cloud = TestCloud::start_without_snapshots().await;
    let group = Group::start(&cloud).await;
    let body = group.push_body(&[edit("a", 1, 0, "x")]).to_string();
    let padded = |bytes: usize| format!("{body}{}", " ".repeat(bytes - body.len()));
    assert_eq!(group.post("push", padded(MAX_PUSH_BYTES)).await.status(), 200);
    let longer = padded(MAX_PUSH_BYTES + 1);
    assert_eq!(problem(&group, "push", longer.clone()).await, ProblemKind::TooLarge);
    assert_eq!(problem(&group, "pull", longer).await, ProblemKind::TooLarge);
}

#[tokio::test(flavor = "multi_thread")]
async fn cookies_of_elsewhere_begin_anew() {
    let cloud = TestCloud::start_without_snapshots().await;
    let group = Group::start(&cloud).await;
    let own = group.pull(&Value::Null).await["cookie"].clone();
    let other = CreateRequest::new("another".to_owned());
    let other = cloud.client("alice").create(&other).await.unwrap();
    let elsewhere = group.in_another(other);
    let lost = json!({"error": "ClientStateNotFound"});
    assert_eq!(elsewhere.pull(&own).await, lost, "another sheet's");
    let with = |name: &str, value: Value| {
        let mut cookie = own.clone();
        cookie[name] = value;
        cookie
    };
    for bad in [
        json!(7),
        json!("x"),
        json!({}),
        json!([]),
        with("order", json!("00000000000000000000ffff")),
        with("order", json!("00000000ffffffffffffffff")),
        with("order", json!(7)),
        with("snapshot", json!(5)),
        with("more", json!(1)),
    ] {
        assert_eq!(group.pull(&bad).await, lost, "{bad}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_are_refused_as_the_protocol_says() {
    let cloud = TestCloud::start_without_snapshots().await;
    let group = Group::start(&cloud).await;
    for (call, name, version, schema, kind) in [
        ("push", "pushVersion", 0, "", "push"),
        ("push", "pushVersion", 1, "2", "schema"),
        ("pull", "pullVersion", 2, "", "pull"),
        ("pull", "pullVersion", 1, "later", "schema"),
    ] {
        let body = json!({
            name: version, "clientGroupID": "g", "schemaVersion": schema, "cookie": null,
            "mutations": [],
        });
        let response = group.post(call, body.to_string()).await;
        let reply: Value = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
        assert_eq!(reply, json!({"error": "VersionNotSupported", "versionType": kind}));
    }
    let known = json!({"pushVersion": 1, "clientGroupID": "g", "schemaVersion": "1",
        "mutations": [edit("a", 1, 0, "x")]});
    assert_eq!(group.post("push", known.to_string()).await.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_write_pushes_nothing_and_who_may_not_see_learns_nothing() {
    let cloud = TestCloud::start_without_snapshots().await;
    let group = Group::start(&cloud).await;
    let push = group.push_body(&[edit("a", 1, 0, "x")]).to_string();
    let viewer = group.with_token(cloud.token("alice", Role::Viewer));
    assert_eq!(problem(&viewer, "push", push.clone()).await, ProblemKind::Forbidden);
    assert!(viewer.pull(&Value::Null).await["cookie"].is_object());
    let elsewhere = cellar_base::identity::LogId::from_uuid(uuid::Uuid::from_u128(7));
    let blind = group.with_token(cloud.token_for("alice", Role::Editor, vec![elsewhere]));
    let pull = json!({"pullVersion": 1, "clientGroupID": "g", "cookie": null}).to_string();
    assert_eq!(problem(&blind, "push", push).await, ProblemKind::NotFound);
    assert_eq!(problem(&blind, "pull", pull).await, ProblemKind::NotFound);
    assert_eq!(group.pull(&Value::Null).await["patch"].as_array().unwrap().len(), 3);
}
