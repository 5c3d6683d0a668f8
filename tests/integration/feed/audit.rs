//! Lost records of the change stream: `verify` finds the missing events, `repair` indexes exactly
//! these.

use std::collections::BTreeSet;

use cellar_base::limits::FEED_SETTLES;
use cellar_catalog::feed::{Checkpoint, Content};
use cellar_engine::feed::{Audit, Finding};
use cellar_engine::ports::{FeedTable as _, ReadConsistency};
use cellar_tests::cloud::TestCloud;
use serde_json::{Value, json};

use super::{World, names, rename, streams, until};

/// Number of spreadsheets, of which one in twenty loses the record of its last change.
const SPREADSHEETS: usize = 60;
const LOSING: usize = SPREADSHEETS / 20;

/// Filters records of tips with three events from the event source, as if the stream had lost them.
fn loses_third_events(template: &mut Value) {
    let pattern = json!({"dynamodb": {"NewImage": {
        "a": {"N": [{"exists": true}]}, "n": {"N": [{"anything-but": ["3"]}]},
    }}});
    let filters = json!([{ "Pattern": pattern.to_string() }]);
    template["Resources"]["IndexerSource"]["Properties"]["FilterCriteria"]["Filters"] = filters;
}

fn missing(audit: &Audit) -> BTreeSet<(String, u64, u64)> {
    let missing = audit.findings.iter().map(|finding| match finding {
        Finding::Missing { stream, from, to } => (stream.to_string(), *from, *to),
        other => panic!("{other:?}"),
    });
    missing.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_stream_lost_is_found_and_exactly_that_is_mended() {
    let ports = cellar_local::Ports { snapshot_builder: None, ..Default::default() };
    let world = World {
        cloud: TestCloud::start_changed(
            ports,
            |config| config.snapshots.enabled = false,
            loses_third_events,
        )
        .await,
    };
    let (alice, operator) = (world.person("alice"), world.operator());
    let mut lost = BTreeSet::new();
    for number in 0..SPREADSHEETS {
        let id = world.create(&alice, &format!("Budget {number}")).await;
        rename(&alice, id, &format!("Plan {number}")).await;
        if number % 4 == 0 {
            rename(&alice, id, &format!("Report {number}")).await;
            // The next event of an event stream reveals the lost events before it.
            match lost.len() < LOSING {
                true => drop(lost.insert((format!("Spreadsheet-{id}"), 2, 3))),
                false => rename(&alice, id, &format!("Overview {number}")).await,
            }
        }
    }
    let overviews = SPREADSHEETS / 4 - LOSING;
    let all = 2 * SPREADSHEETS + LOSING + 2 * overviews;
    let indexed = async || streams(&operator).await.values().map(Vec::len).sum::<usize>();
    until(all - LOSING, indexed).await;
    let auditor = world.auditor();
    let audit = auditor.verify().await.unwrap();
    assert_eq!(missing(&audit), lost);
    let repaired = auditor.repair(&audit).await.unwrap();
    assert_eq!(repaired.events, LOSING as u64);
    assert_eq!(indexed().await, all);
    let audit = auditor.verify().await.unwrap();
    assert_eq!((&audit.findings, audit.events), (&vec![], all as u64));
    // The lists lacked the same changes as the feed.
    let renamed = names(&alice, &cellar::SpreadsheetsQuery::default()).await;
    let reports = renamed.iter().filter(|(name, _)| name.starts_with("Report")).count();
    assert_eq!(reports, LOSING);
    assert_eq!(auditor.repair(&audit).await.unwrap().events, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_on_its_way_is_not_called_missing() {
    let world = World::new().await;
    let alice = world.person("alice");
    let auditor = world.auditor();
    for round in 0..3 {
        for number in 0..5 {
            world.create(&alice, &format!("Budget {round} {number}")).await;
        }
        // The indexer has not finished, but does so before the comparison gives up.
        let audit = auditor.verify().await.unwrap();
        assert_eq!(audit.findings, [], "after at most {FEED_SETTLES} comparisons");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feed_that_lost_a_place_is_built_anew_and_says_the_same() {
    let world = World::new().await;
    let (alice, operator) = (world.person("alice"), world.operator());
    for number in 0..6 {
        let id = world.create(&alice, &format!("Budget {number}")).await;
        until(number + 1, async || streams(&operator).await.len()).await;
        rename(&alice, id, "Plan").await;
    }
    until(12, async || streams(&operator).await.values().map(Vec::len).sum::<usize>()).await;
    let (before, auditor) = (streams(&operator).await, world.auditor());
    let (_, index) = world.tables();
    let lost = Checkpoint::at(0, 2).unwrap();
    let items = index.items(lost, 1, ReadConsistency::Strong).await.unwrap();
    assert!(matches!(items[0].1.content, Content::Spans(_)));
    let key = cellar_catalog::records::feed::item_key(lost);
    let mut delete = world.cloud.dynamodb_client().delete_item();
    for (name, value) in key {
        let cellar_base::record::Attribute::Text(text) = value else {
            panic!("the key is not a text")
        };
        delete = delete.key(name, aws_sdk_dynamodb::types::AttributeValue::S(text));
    }
    delete.table_name(&world.cloud.settings.feed_table).send().await.unwrap();
    let audit = auditor.verify().await.unwrap();
    assert!(audit.findings.contains(&Finding::Lost { at: lost }), "{audit:?}");
    assert!(audit.findings.iter().any(|finding| !finding.can_be_repaired()));
    let rebuilt = auditor.rebuild(|_| {}).await.unwrap();
    assert_eq!(rebuilt.events, 12);
    assert_eq!(streams(&operator).await, before);
    // Later events are indexed once in the new feed.
    world.create(&alice, "Later").await;
    until(7, async || streams(&operator).await.len()).await;
    assert_eq!(auditor.verify().await.unwrap().findings, []);
}
