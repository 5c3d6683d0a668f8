//! Sharing with people.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cellar_api::{wire::LinkReply, wire::SpreadsheetStatus};
use cellar_base::limits::LISTING_AGE_MS;
use cellar_catalog::access::Role;
use cellar_catalog::spreadsheet::LinkSecret;
use cellar_engine::memory::ManualClock;
use cellar_engine::ports::Clock as _;
use cellar_engine::system::SystemClock;

use super::*;
use cellar_tests::budgets;

#[tokio::test(flavor = "multi_thread")]
async fn people_see_what_is_shared_with_them_and_do_what_their_role_allows() {
    let world = World::new().await;
    let [alice, eve, vera] = ["alice", "eve", "vera"].map(|name| world.person(name));
    for caller in [&eve, &vera] {
        assert_eq!(kind(caller.reads().await), ProblemKind::NotFound);
        assert_eq!(kind(caller.details().await), ProblemKind::NotFound);
        assert_eq!(kind(caller.writes("x").await), ProblemKind::NotFound);
    }
    alice.share("eve", "editor").await.unwrap();
    let shared = alice.share("vera", "viewer").await.unwrap();
    let members: Vec<_> = shared.members.unwrap().into_iter().map(|it| it.person.subject).collect();
    assert_eq!(members, ["alice", "eve", "vera"]);
    assert!(eve.reads().await.is_ok() && vera.reads().await.is_ok());
    assert!(eve.writes("eve").await.is_ok());
    assert_eq!(kind(vera.writes("vera").await), ProblemKind::Forbidden);
    assert_eq!(kind(vera.update(json!({"name": "Mine"})).await), ProblemKind::Forbidden);
    assert_eq!(kind(eve.share("mallory", "viewer").await), ProblemKind::Forbidden);
    assert_eq!(eve.update(json!({"name": " Plan "})).await.unwrap().name, "Plan");
    alice.unshare("vera").await.unwrap();
    assert_eq!(kind(vera.reads().await), ProblemKind::NotFound);
    assert_eq!(eve.unshare("eve").await.unwrap().role, None);
    assert_eq!(kind(eve.reads().await), ProblemKind::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_is_told_of_a_spreadsheet_what_their_role_may_know() {
    let world = World::new().await;
    let alice = world.person("alice");
    alice.share("eve", "editor").await.unwrap();
    alice.share("vera", "viewer").await.unwrap();
    for (name, role, members, links) in [
        ("alice", Role::Owner, true, true),
        ("eve", Role::Editor, true, false),
        ("vera", Role::Viewer, false, false),
    ] {
        let told = world.person(name).details().await.unwrap();
        assert_eq!((told.id, told.name.as_str(), told.role), (world.id(), "Budget", Some(role)));
        assert_eq!(told.status, SpreadsheetStatus::Active);
        assert!(told.created_s.is_some());
        assert_eq!((told.members.is_some(), told.links.is_some()), (members, links), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_done_again_changes_nothing_and_what_is_known_costs_nothing() {
    let world = World::new().await;
    let alice = world.person("alice");
    let change = budgets::LISTING_CHANGE.cost;
    let change_units = (change.read_half_units, change.write_units);
    for (expected, again) in [(change_units, false), ((2, 0), true)] {
        let body = json!({"subject": "eve", "role": "editor"});
        let response = alice.about(Method::POST, "/members", Some(body)).await;
        // A change without effect is confirmed by a strongly consistent read.
        assert_eq!(units(&response), expected, "again: {again}");
        assert_eq!(answer::<DetailsReply>(response).await.unwrap().members.unwrap().len(), 2);
    }
    let head = |response: Response| units(&response);
    let eve = world.person("eve");
    // The half unit is the read of the log's head.
    assert_eq!(head(eve.about(Method::GET, "/head", None).await), (1, 0));
    let elsewhere = world.cloud.another_api(&world.cloud.database_url).await;
    let ask = async || {
        let url = format!("{elsewhere}/v1/spreadsheets/{}/head", world.id());
        units(&world.http.get(url).bearer_auth(&eve.token).send().await.unwrap())
    };
    // A further half unit is the read of the listing, which is then cached.
    let (cold, warm) = (ask().await, ask().await);
    assert_eq!((cold, warm), ((3, 0), (2, 0)));
    assert_eq!(cold.0 - warm.0, budgets::ACCESS_CHECK.cost.read_half_units);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_belongs_to_whoever_made_it() {
    let world = World::new().await;
    let [alice, vera, eve] = ["alice", "vera", "eve"].map(|name| world.person(name));
    alice.share("vera", "viewer").await.unwrap();
    alice.share("eve", "viewer").await.unwrap();
    let forked = vera.about(Method::POST, "/forks", Some(json!({"nonce": "mine"}))).await;
    let fork: Value = answer(forked).await.unwrap();
    let path = format!("/{}/details", fork["id"].as_str().unwrap());
    let told: DetailsReply = answer(vera.ask(Method::GET, &path, None).await).await.unwrap();
    assert_eq!((told.name.as_str(), told.role), ("Fork of Budget", Some(Role::Owner)));
    assert_eq!(told.source, Some(world.id()));
    for caller in [&alice, &eve] {
        let refused = answer::<Value>(caller.ask(Method::GET, &path, None).await).await;
        assert_eq!(kind(refused), ProblemKind::NotFound);
        let listed: Value = answer(caller.about(Method::GET, "/forks", None).await).await.unwrap();
        assert_eq!(listed["forks"], json!([]));
    }
    let listed: Value = answer(vera.about(Method::GET, "/forks", None).await).await.unwrap();
    assert_eq!(listed["forks"][0]["id"], fork["id"]);
    // A person who loses access to the source keeps the fork, which no longer reveals its source.
    alice.unshare("vera").await.unwrap();
    let told: DetailsReply = answer(vera.ask(Method::GET, &path, None).await).await.unwrap();
    assert_eq!((told.role, told.source), (Some(Role::Owner), None));
    let loaded = vera.ask(Method::GET, &path.replace("/details", ""), None).await;
    assert_eq!(answer::<Value>(loaded).await.unwrap()["source"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn operators_see_and_list_what_is_from_before_the_catalog() {
    let world = World::new().await;
    let operator = world.holder(&world.cloud.token("root", Role::Owner));
    let told = operator.details().await.unwrap();
    assert_eq!((told.name.as_str(), told.role), ("Budget", Some(Role::Owner)));
    // A log without a listing.
    let (tables, _) = world.cloud.tables_at(&world.cloud.database_url);
    let log = LogId::from_uuid(uuid::Uuid::new_v4());
    TestCloud::logs(&tables).create(log, None).await.unwrap();
    let details = format!("/{log}/details");
    let told: DetailsReply = answer(operator.ask(Method::GET, &details, None).await).await.unwrap();
    assert_eq!((told.name.as_str(), told.members, told.created_s), ("", None, None));
    let alice = world.person("alice");
    let refused = answer::<Value>(alice.ask(Method::GET, &details, None).await).await;
    assert_eq!(kind(refused), ProblemKind::NotFound);
    let body = json!({"subject": "alice", "role": "owner"});
    let members = format!("/{log}/members");
    let shared = operator.ask(Method::POST, &members, Some(body.clone())).await;
    assert_eq!(answer::<DetailsReply>(shared).await.unwrap().members.unwrap().len(), 2);
    assert!(alice.ask(Method::GET, &details, None).await.status().is_success());
    // A missing spreadsheet cannot be listed by any caller.
    let nothing = format!("/{}/members", uuid::Uuid::new_v4());
    let refused = answer::<Value>(operator.ask(Method::POST, &nothing, Some(body)).await).await;
    assert_eq!(kind(refused), ProblemKind::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_changed_what_is_told_to_whoever_may_know() {
    let world = World::new().await;
    let [alice, eve, vera] = ["alice", "eve", "vera"].map(|name| world.person(name));
    alice.share("eve", "editor").await.unwrap();
    alice.share("vera", "viewer").await.unwrap();
    eve.update(json!({"name": "Plan"})).await.unwrap();
    let link = json!({"secret": "AAAAAAAAAAAAAAAAAAAAAA", "role": "viewer"});
    assert!(alice.about(Method::POST, "/links", Some(link)).await.status().is_success());
    alice.update(json!({"status": "archived"})).await.unwrap();
    let changes = async |caller: &Caller<'_>, query: &str| {
        let end = format!("/details/changes{query}");
        answer::<Value>(caller.about(Method::GET, &end, None).await).await
    };
    let all = changes(&alice, "").await.unwrap();
    let told = |all: &Value| -> Vec<String> {
        let changes = all["changes"].as_array().unwrap();
        let line = |it: &Value| format!("{} {} {}", it["index"], it["by"]["subject"], it["kind"]);
        changes.iter().map(|it| line(it).replace('"', "")).collect()
    };
    let expected =
        ["5 alice Archived", "4 alice Shared", "3 eve Renamed", "2 alice Shared", "1 alice Shared"];
    assert_eq!(told(&all)[..5], expected);
    assert_eq!((told(&all)[5].as_str(), &all["next"]), ("0 alice Created", &Value::Null));
    assert_eq!(all["changes"][3]["person"]["subject"], "vera");
    assert_eq!(
        (&all["changes"][2]["name"], &all["changes"][3]["role"]),
        (&json!("Plan"), &json!("viewer"))
    );
    assert!(!all.to_string().contains("hash"), "{all}");
    assert_eq!(changes(&eve, "").await.unwrap(), all);
    let viewers = told(&changes(&vera, "").await.unwrap());
    assert_eq!(viewers, ["5 alice Archived", "3 eve Renamed", "0 alice Created"]);
    assert_eq!(
        told(&changes(&alice, "?cursor=2").await.unwrap()),
        ["1 alice Shared", "0 alice Created"]
    );
    assert_eq!(kind(changes(&alice, "?cursor=x").await), ProblemKind::BadRequest);
    assert_eq!(kind(changes(&world.person("mallory"), "").await), ProblemKind::NotFound);
    alice.update(json!({"status": "deleted"})).await.unwrap();
    assert_eq!(kind(changes(&alice, "").await), ProblemKind::Deleted);
}

/// Two API processes over the same tables: one makes the change, the other uses its cached listing
/// until it expires.
#[tokio::test(flavor = "multi_thread")]
async fn another_process_serves_whoever_was_taken_out_for_so_long_and_no_longer() {
    let world = World::new().await;
    let alice = world.person("alice");
    alice.share("bob", "viewer").await.unwrap();
    let secret = LinkSecret([5; 16]);
    let body = json!({"secret": URL_SAFE_NO_PAD.encode(secret.0), "role": "viewer"});
    let link: LinkReply =
        answer(alice.about(Method::POST, "/links", Some(body)).await).await.unwrap();
    let clock = Arc::new(ManualClock::at(SystemClock.now_ms()));
    let elsewhere = world.cloud.api_at(clock.clone()).await;
    let reads = async |token: &str| {
        let url = format!("{elsewhere}/v1/spreadsheets/{}/head", world.id());
        world.http.get(url).bearer_auth(token).send().await.unwrap().status().as_u16()
    };
    let bob = world.cloud.token_of("bob");
    assert_eq!((reads(&bob).await, reads(&link.token).await), (200, 200));
    assert!(alice.unshare("bob").await.is_ok());
    let end = format!("/links/{}", link.id);
    assert_eq!(alice.about(Method::DELETE, &end, None).await.status(), 200);
    clock.advance_ms(LISTING_AGE_MS - 1_000);
    assert_eq!((reads(&bob).await, reads(&link.token).await), (200, 200));
    clock.advance_ms(1_001);
    assert_eq!((reads(&bob).await, reads(&link.token).await), (404, 401));
}
