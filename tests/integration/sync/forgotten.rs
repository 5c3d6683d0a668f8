//! Clients whose entries are before a snapshot, or were lost in a restore.

use cellar_base::position::Position;
use cellar_tests::cloud::TestCloud;
use cellar_tests::snapshots::wait_for_root;
use serde_json::{Value, json};

use super::group::{Group, edit, keys, statuses};

#[tokio::test(flavor = "multi_thread")]
async fn what_a_snapshot_has_swallowed_is_still_known_and_pulled_anew() {
    let cloud = TestCloud::start_configured(cellar_local::Ports::default(), |config| {
        config.snapshots.entries = 10;
    })
    .await;
    let group = Group::start(&cloud).await;
    let begin = group.pull(&Value::Null).await["cookie"].clone();
    for id in 1..=25_u64 {
        let client = if id % 2 == 0 { "even" } else { "odd" };
        let pushed = group.push(&[edit(client, id.div_ceil(2), 0, "x")]).await;
        assert_eq!(statuses(&pushed), ["appended"]);
    }
    let least = Position::new(0, 20).unwrap();
    wait_for_root(&cloud.client("alice"), group.spreadsheet.id, least).await;
    let last = json!({"even": 12, "odd": 13});
    for cookie in [&Value::Null, &begin] {
        let pulled = group.pull(cookie).await;
        assert_eq!(pulled["patch"][0], json!({"op": "clear"}));
        assert_eq!(pulled["lastMutationIDChanges"], last, "names are in the root");
        assert_eq!(keys(&pulled)[0], "root");
        assert_eq!(pulled["cookie"]["snapshot"], pulled["patch"][1]["value"]["position"]);
        // A view that starts with the newest root is not reset.
        let pushed = group.push(&[]).await;
        assert_eq!(pushed["results"], json!([]));
        assert_eq!(group.pull(&pulled["cookie"]).await["patch"], json!([]));
    }
    // A process without cached state, and bases after all entries of the clients.
    let cold = group.at_url(&cloud.another_api(&cloud.database_url).await);
    let head = cloud.client("alice").spreadsheet(group.spreadsheet.id).head().await.unwrap().head;
    let next = [edit("odd", 13, head.pack(), "again"), edit("odd", 14, head.pack(), "next")];
    assert_eq!(statuses(&cold.push(&next).await), ["duplicate", "appended"]);
    assert_eq!(statuses(&cold.push(&[edit("odd", 16, head.pack(), "gap")]).await), ["gap"]);
    let unknown = cold.push(&[edit("new", 2, head.pack(), "unknown")]).await;
    assert_eq!(unknown, json!({"error": "ClientStateNotFound"}));
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restore_clients_begin_anew_and_nothing_is_wedged() {
    let cloud = TestCloud::start_without_snapshots().await;
    let group = Group::start(&cloud).await;
    group.push(&[edit("a", 1, 0, "before")]).await;
    let pulled = group.pull(&Value::Null).await;
    let restored = group.at_url(&cloud.api_at_incarnation(1).await);
    let lost = json!({"error": "ClientStateNotFound"});
    assert_eq!(restored.pull(&pulled["cookie"]).await, lost);
    // Mutations based on the old state are rejected once, and the numbering continues.
    let old = [edit("a", 1, 0, "before"), edit("a", 2, 1, "old")];
    let pushed = restored.push(&old).await;
    assert_eq!(statuses(&pushed), ["duplicate", "rejected"]);
    assert_eq!(pushed["results"][1]["rejection"]["reason"], "baseGone");
    assert_eq!(statuses(&restored.push(&old).await), ["duplicate", "duplicate"]);
    let fresh = restored.pull(&Value::Null).await;
    assert_eq!(fresh["lastMutationIDChanges"], json!({"a": 2}));
    assert!(fresh["cookie"]["order"].as_str() > pulled["cookie"]["order"].as_str());
}
