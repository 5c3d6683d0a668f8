//! Changes that were made outside CloudFormation.

use serde_json::Value;

use super::account::{Account, faked};
use super::fake::{Fake, ManualChange};

async fn changed_by_hand() -> (Fake, Account) {
    let (fake, account) = faked().await;
    {
        let mut world = fake.world();
        world.deployed("UPDATE_COMPLETE");
        world.manual_changes.push(ManualChange {
            logical_id: "SnapshotQueue",
            resource_type: "AWS::SQS::Queue",
            property: "VisibilityTimeout",
            live: "60",
            wanted: "1800",
        });
    }
    // The deployed template is the configured one.
    let deployed = account.deploy().await;
    assert_eq!(deployed.code, 0, "{deployed:?}");
    (fake, account)
}

const APPLY: [&str; 4] = ["deploy", "--plan", "plan.json", "--no-smoke"];

#[tokio::test]
async fn a_plan_shows_what_was_changed_by_hand_and_undoes_it() {
    let (fake, account) = changed_by_hand().await;
    let planned = account.run(&["plan"]).await;
    assert_eq!(planned.code, 2, "{planned:?}");
    let shown = "Changed by hand since the last deployment\n  \
                 ~ SnapshotQueue (AWS::SQS::Queue)\n      \
                 /Properties/VisibilityTimeout: 60 -> 1800\n";
    assert!(planned.stderr.contains(shown), "{planned:?}");
    assert_eq!(planned.stderr.matches("SnapshotQueue").count(), 1, "{planned:?}");
    assert_eq!(fake.world().manual_changes.len(), 1, "a plan changes nothing");
    let applied = account.run(&APPLY).await;
    assert_eq!(applied.code, 0, "{applied:?}");
    assert!(fake.world().manual_changes.is_empty());
}

#[tokio::test]
async fn a_plan_as_json_lists_what_was_changed_by_hand() {
    let (_fake, account) = changed_by_hand().await;
    let planned = account.run(&["plan", "--json"]).await;
    let report: Value = serde_json::from_str(&planned.stdout).unwrap();
    let changed = &report["changed_by_hand"];
    assert_eq!(changed.as_array().unwrap().len(), 1, "{planned:?}");
    assert_eq!(changed[0]["logical_id"], "SnapshotQueue");
    let difference = &changed[0]["differences"][0];
    assert_eq!((&difference["actual"], &difference["expected"]), (&"60".into(), &"1800".into()));
}

#[tokio::test]
async fn a_plan_can_keep_what_was_changed_by_hand() {
    let (fake, account) = changed_by_hand().await;
    let planned = account.run(&["plan", "--keep-drift"]).await;
    assert_eq!(planned.code, 2, "{planned:?}");
    assert!(!planned.stderr.contains("Changed by hand"), "{planned:?}");
    let applied = account.run(&APPLY).await;
    assert_eq!(applied.code, 0, "{applied:?}");
    assert_eq!(fake.world().manual_changes.len(), 1);
}

/// The fake accepts a drift-aware change set only for an existing stack.
#[tokio::test]
async fn a_plan_for_a_new_stack_has_nothing_to_compare() {
    let (_fake, account) = faked().await;
    let planned = account.run(&["plan"]).await;
    assert_eq!(planned.code, 2, "{planned:?}");
    assert!(!planned.stderr.contains("Changed by hand"), "{planned:?}");
}
