//! Push and pull over real HTTP.

mod forgotten;
pub(crate) mod group;
mod hostile;

use cellar_catalog::access::Role;
use cellar_tests::budgets;
use cellar_tests::cloud::TestCloud;
use serde_json::{Value, json};

use group::{Group, edit, keys, statuses};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_pushed_is_pulled_and_acknowledged_in_one_reply() {
    let cloud = TestCloud::start_without_snapshots().await;
    let group = Group::start(&cloud).await;
    let empty = group.pull(&Value::Null).await;
    assert_eq!(empty["patch"][0], json!({"op": "clear"}));
    assert_eq!(keys(&empty), ["entry/0000000000000000", "head"]);
    assert_eq!(empty["patch"][2]["value"], json!({"position": 0, "incarnation": 0}));

    let pushed = group.push(&[edit("a", 1, 0, "one"), edit("a", 2, 0, "two")]).await;
    assert_eq!(statuses(&pushed), ["appended", "appended"]);
    let pulled = group.pull(&empty["cookie"]).await;
    assert_eq!(pulled["lastMutationIDChanges"], json!({"a": 2}));
    assert_eq!(keys(&pulled), ["entry/0000000000000001", "head"]);
    assert_eq!(pulled["patch"][0]["value"]["mutations"][1]["id"], 2);
    assert!(pulled["cookie"]["order"].as_str() > empty["cookie"]["order"].as_str());

    let nothing = group.pull(&pulled["cookie"]).await;
    assert_eq!(nothing["cookie"], pulled["cookie"]);
    assert_eq!((&nothing["patch"], &nothing["lastMutationIDChanges"]), (&json!([]), &json!({})));
    // A pull without a cookie returns everything.
    let all = group.pull(&Value::Null).await;
    assert_eq!(all["lastMutationIDChanges"], json!({"a": 2}));
    assert_eq!(all["cookie"], pulled["cookie"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_repeated_and_out_of_order_is_in_the_log_once() {
    let cloud = TestCloud::start_without_snapshots().await;
    let group = Group::start(&cloud).await;
    let mutations: Vec<Value> = (1..=4).map(|id| edit("a", id, 0, &format!("m{id}"))).collect();
    group.push(&mutations[..2]).await;
    assert_eq!(statuses(&group.push(&mutations[3..]).await), ["gap"]);
    let mixed = group.push(&mutations).await;
    assert_eq!(statuses(&mixed), ["duplicate", "duplicate", "appended", "appended"]);
    // By a process that has not cached the client.
    let cold = group.at_url(&cloud.another_api(&cloud.database_url).await);
    assert_eq!(statuses(&cold.push(&mutations).await), ["duplicate"; 4]);
    assert_eq!(statuses(&cold.push(&[]).await), [""; 0]);
    let all = group.pull(&Value::Null).await;
    assert_eq!(all["lastMutationIDChanges"], json!({"a": 4}));
    assert_eq!(keys(&all).len(), 1 + 2 + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_client_of_a_group_has_its_own_numbers_and_no_other_group_learns_of_them() {
    let cloud = TestCloud::start_without_snapshots().await;
    let group = Group::start(&cloud).await;
    let start = group.pull(&Value::Null).await["cookie"].clone();
    let both = [edit("a", 1, 0, "1"), edit("b", 1, 0, "2"), edit("a", 2, 0, "3")];
    assert_eq!(statuses(&group.push(&both).await), ["appended"; 3]);
    let gap = [edit("a", 4, 0, "4"), edit("b", 2, 0, "5"), edit("a", 5, 0, "6")];
    assert_eq!(statuses(&group.push(&gap).await), ["gap", "appended", "gap"]);
    assert_eq!(group.pull(&start).await["lastMutationIDChanges"], json!({"a": 2, "b": 2}));
    // Another group of the same person, and a group of the same name of another person.
    let other = group.named("h");
    let bobs = group.with_token(cloud.token("bob", Role::Editor));
    for (entries, another) in [(4, &other), (5, &bobs)] {
        let pulled = another.pull(&start).await;
        assert_eq!(pulled["lastMutationIDChanges"], json!({}));
        assert_eq!(keys(&pulled).len(), entries + 1, "all members see the entries");
        assert_eq!(another.push(&[edit("a", 3, 0, "x")]).await["error"], "ClientStateNotFound");
        assert_eq!(statuses(&another.push(&[edit("a", 1, 0, "mine")]).await), ["appended"]);
    }
    assert_eq!(group.pull(&start).await["lastMutationIDChanges"], json!({"a": 2, "b": 2}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_warm_push_costs_a_write_and_a_pull_of_nothing_a_read() {
    let cloud = TestCloud::start_without_snapshots().await;
    let group = Group::start(&cloud).await;
    group.push(&[edit("a", 1, 0, "first")]).await;
    for id in 2..=4 {
        let (_, cost) = group.push_with_cost(&[edit("a", id, id - 1, "next")]).await;
        assert_eq!((cost.read_units(), cost.write_units), budgets::PUSH.units());
        let (_, again) = group.push_with_cost(&[edit("a", id, id - 1, "next")]).await;
        assert_eq!((again.read_units(), again.write_units), (0.0, 0), "a repeat costs nothing");
    }
    let all = group.pull(&Value::Null).await;
    let (_, nothing) = group.pull_with_cost(&all["cookie"]).await;
    assert_eq!((nothing.read_units(), nothing.write_units), budgets::PULL_WITHOUT_CHANGES.units());
    group.push(&[edit("a", 5, 4, "news")]).await;
    let (_, news) = group.pull_with_cost(&all["cookie"]).await;
    // Reads the entries after the cookie, and checks for a newer snapshot.
    assert_eq!((news.read_units(), news.write_units), budgets::PULL_OF_CHANGES.units());
    // A process without cached state reads from the base on.
    let cold = group.at_url(&cloud.another_api(&cloud.database_url).await);
    let (_, cost) = cold.push_with_cost(&[edit("a", 6, 5, "cold")]).await;
    // The half unit is the read of the listing.
    assert_eq!((cost.read_units(), cost.write_units), (1.0, 1));
    // If no entry of the client is found, it reads again with strong consistency and looks up the
    // client.
    let bobs = group.with_token(cloud.token("bob", Role::Editor));
    bobs.push(&[edit("b", 1, 6, "between")]).await;
    let cold = group.at_url(&cloud.another_api(&cloud.database_url).await);
    let (_, cost) = cold.push_with_cost(&[edit("a", 7, 7, "cold")]).await;
    assert_eq!((cost.read_units(), cost.write_units), (3.5, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_pushes_learns_what_was_missed() {
    let cloud = TestCloud::start_without_snapshots().await;
    let group = Group::start(&cloud).await;
    let bobs = group.with_token(cloud.token("bob", Role::Editor));
    bobs.push(&[edit("b", 1, 0, "hers")]).await;
    let insert =
        json!({"base": 0, "incarnation": 0, "op": {"insertRows": {"before": 0, "count": 2}}});
    bobs.push(&[group::args("b", 2, &insert)]).await;
    let pushed = group.push(&[edit("a", 1, 0, "mine"), edit("a", 2, 0, "again")]).await;
    let entries = pushed["entries"].as_array().unwrap();
    let positions: Vec<u64> = entries.iter().map(|e| e["position"].as_u64().unwrap()).collect();
    assert_eq!((positions, &pushed["head"]), (vec![1, 2], &json!(3)));
    // The row that its author saw has moved down by two.
    let committed = &pushed["results"][0]["committed"][0]["setCells"]["cells"][0];
    assert_eq!(committed["row"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_that_push_the_same_at_once_append_it_once() {
    let cloud = TestCloud::start_without_snapshots().await;
    let group = Group::start(&cloud).await;
    let other = group.at_url(&cloud.another_api(&cloud.database_url).await);
    for round in 0..20_u64 {
        let first = round * 3 + 1;
        let mutations: Vec<Value> =
            (first..first + 3).map(|id| edit("a", id, 0, &format!("m{id}"))).collect();
        let (one, two, three) = tokio::join!(
            group.push(&mutations),
            other.push(&mutations),
            other.push(&mutations[..2])
        );
        let appended = |reply: &Value| statuses(reply).iter().filter(|s| **s == "appended").count();
        let gaps = |reply: &Value| statuses(reply).contains(&"gap");
        assert_eq!(appended(&one) + appended(&two) + appended(&three), 3, "round {round}");
        assert!(!gaps(&one) && !gaps(&two) && !gaps(&three));
    }
    let all = group.pull(&Value::Null).await;
    assert_eq!(all["lastMutationIDChanges"], json!({"a": 60}));
}
