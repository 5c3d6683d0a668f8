//! Faults that an independent emulator can produce. Ignored by default; `.ci/run` runs these tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use aws_sdk_cloudformation::types::{StackStatus, Tag};
use cellar_tests::emulator::Emulator;
use serde_json::{Map, Value, json};

use super::account::{Account, DEPLOY};

/// A template with a resource whose creation fails.
const UNMADE: &str = r#"{"Resources":{
    "Queue":{"Type":"AWS::SQS::Queue"},
    "Url":{"Type":"AWS::Lambda::Url","DependsOn":"Queue","Properties":{
        "AuthType":"NONE",
        "TargetFunctionArn":"arn:aws:lambda:us-east-1:000000000000:function:none"}}}}"#;
const ROLLBACK_TIMEOUT: Duration = Duration::from_secs(30);
/// A template of another application.
const FOREIGN: &str = r#"{"Resources":{"Queue":{"Type":"AWS::SQS::Queue"}}}"#;

async fn emulated() -> (Emulator, Account) {
    let emulator = Emulator::start(Path::new(env!("CARGO_TARGET_TMPDIR"))).await;
    let account = Account::at(&emulator.url).with("AWS_ACCESS_KEY_ID", "test");
    let account = account.with("AWS_REGION", "us-east-1");
    (emulator, account)
}

async fn rolled_back(cloudformation: &aws_sdk_cloudformation::Client) {
    let started = Instant::now();
    loop {
        let stacks = cloudformation.describe_stacks().stack_name("cellar").send().await.unwrap();
        match stacks.stacks()[0].stack_status().unwrap() {
            StackStatus::RollbackComplete => return,
            other => assert!(started.elapsed() < ROLLBACK_TIMEOUT, "{other}"),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn configure(account: &Account, more: &str) {
    let path = account.path("cellar.yaml");
    let before = fs::read_to_string(&path).unwrap_or_default();
    fs::write(&path, before + more).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs an emulator"]
async fn a_first_deployment_that_failed_is_made_anew_by_the_next() {
    let (emulator, account) = emulated().await;
    let cloudformation = crate::aws_upgrade::cloudformation(&emulator.url, "us-east-1");
    let tag = Tag::builder().key("cellar:stack").value("cellar").build();
    let create = cloudformation.create_stack().stack_name("cellar").template_body(UNMADE).tags(tag);
    create.send().await.unwrap();
    rolled_back(&cloudformation).await;
    let deployed = account.deploy().await;
    assert_eq!(deployed.code, 0, "{deployed:?}");
    assert!(deployed.stderr.contains("was never created completely"), "{deployed:?}");
}

/// Deploys a stack whose creation fails after its data resources are created. Returns the final
/// status of each data resource.
async fn failed_first_deployment(configuration: &str) -> BTreeMap<String, String> {
    const DATA: [&str; 7] = [
        "Bucket",
        "BucketPolicy",
        "EntryTable",
        "FeedTable",
        "PendingSnapshotsTable",
        "SegmentTable",
        "EventStreamTable",
    ];
    let (emulator, account) = emulated().await;
    configure(&account, configuration);
    let template = account.run(&["template", "--json"]).await;
    let mut template: Value = serde_json::from_str(&template.stdout).unwrap();
    let mut fault = serde_json::from_str::<Value>(UNMADE).unwrap()["Resources"]["Url"].take();
    fault["DependsOn"] = json!(DATA);
    // Only data resources exist, because the functions have no bundle.
    let of_data = |(id, _): &(&String, &Value)| DATA.contains(&id.as_str());
    let resources = template["Resources"].as_object().unwrap().iter().filter(of_data);
    let mut resources: Map<String, Value> =
        resources.map(|(id, resource)| (id.clone(), resource.clone())).collect();
    resources.insert("Fault".to_owned(), fault);
    template = json!({ "Resources": resources });
    let cloudformation = crate::aws_upgrade::cloudformation(&emulator.url, "us-east-1");
    let create = cloudformation.create_stack().stack_name("cellar");
    create.template_body(template.to_string()).send().await.unwrap();
    rolled_back(&cloudformation).await;
    let events = cloudformation.describe_stack_events().stack_name("cellar").send().await.unwrap();
    // The newest event is first.
    let mut last = BTreeMap::new();
    for event in events.stack_events() {
        let id = event.logical_resource_id().unwrap();
        if DATA.contains(&id) {
            let status = event.resource_status().unwrap().as_str();
            last.entry(id.to_owned()).or_insert_with(|| status.to_owned());
        }
    }
    last
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs an emulator"]
async fn a_first_deployment_that_fails_leaves_nothing_behind_but_protected_tables() {
    let (gone, stays) = ("DELETE_COMPLETE", "DELETE_SKIPPED");
    for (configuration, tables) in [("", stays), ("deletion_protection: false\n", gone)] {
        let expected = [
            ("Bucket", gone),
            ("BucketPolicy", gone),
            ("EntryTable", tables),
            ("FeedTable", tables),
            ("PendingSnapshotsTable", tables),
            ("SegmentTable", tables),
            ("EventStreamTable", tables),
        ];
        let expected = expected.map(|(id, status)| (id.to_owned(), status.to_owned()));
        assert_eq!(failed_first_deployment(configuration).await, expected.into());
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs an emulator"]
async fn a_stack_of_somebody_else_is_neither_changed_nor_deleted() {
    let (emulator, account) = emulated().await;
    let cloudformation = crate::aws_upgrade::cloudformation(&emulator.url, "us-east-1");
    let created = cloudformation.create_stack().stack_name("cellar").template_body(FOREIGN);
    created.send().await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    for arguments in [&DEPLOY[..], &["destroy", "--yes"]] {
        let refused = account.run(arguments).await;
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(refused.stderr.contains("does not belong to Cellar"), "{refused:?}");
    }
    let template = cloudformation.get_template().stack_name("cellar").send().await.unwrap();
    assert!(template.template_body().unwrap().contains("AWS::SQS::Queue"));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs an emulator"]
async fn after_an_interruption_and_of_two_at_once_the_stack_becomes_as_it_was_wanted() {
    let (_emulator, account) = emulated().await;
    let first = account.begin(&DEPLOY);
    // Interrupt before the bundle is packed, which takes longest. Later, the emulator may finish
    // before the interrupt.
    first.says("Check the artifact bucket").await;
    first.interrupt();
    let first = first.ended().await;
    assert_eq!(first.code, 1, "{first:?}");
    assert!(first.stderr.contains("stack cellar was not changed"), "{first:?}");
    let second = account.deploy().await;
    assert_eq!(second.code, 0, "{second:?}");

    configure(&account, "api:\n  memory_mb: 1024\n");
    let running = [account.begin(&DEPLOY), account.begin(&DEPLOY)];
    let mut done = 0;
    for run in running {
        let run = run.ended().await;
        let is_told = run.stderr.contains("another operation changed the stack");
        assert!(run.code == 0 || is_told, "{run:?}");
        done += usize::from(run.code == 0);
    }
    assert!(done > 0, "no deployment succeeded");
    let last = account.deploy().await;
    assert!(last.code == 0 && last.stderr.contains("Compute the changes: none"), "{last:?}");
}
