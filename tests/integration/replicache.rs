//! The unmodified Replicache client from npm against push and pull. Its licence permits use but no
//! redistribution, so it is installed for this test and never shipped.

use std::path::PathBuf;
use std::process::Command;

use cellar::CellsQuery;
use cellar_api::wire::CreateRequest;
use cellar_catalog::access::Role;
use cellar_peer::node::{Files, install};
use cellar_stacks::cellar::REQUEST_HEADERS;
use cellar_tests::cloud::TestCloud;
use serde_json::json;

const PACKAGE: Files<'static> = &[
    ("package.json", include_str!("../replicache/package.json")),
    ("client.mjs", include_str!("../replicache/client.mjs")),
    ("scenarios.mjs", include_str!("../replicache/scenarios.mjs")),
];
const LOCK_FILE: &str = include_str!("../replicache/package-lock.json");

/// Runs a scenario in a new spreadsheet. Returns the texts of its first column.
async fn play(folder: &PathBuf, scenario: &str) -> Vec<String> {
    let cloud = TestCloud::start_without_snapshots().await;
    let request = CreateRequest::new(scenario.to_owned());
    let alice = cloud.client("alice");
    let created = alice.create(&request).await.unwrap();
    let config = json!({
        "url": cloud.url,
        "restored": cloud.api_at_incarnation(1).await,
        "headers": REQUEST_HEADERS,
        "token": cloud.token("alice", Role::Editor),
        "spreadsheet": created.id,
    });
    let mut command = Command::new("node");
    command.arg("scenarios.mjs").arg(scenario).arg(config.to_string()).current_dir(folder);
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let (out, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{scenario}: {out}{errors}");
    let cells = alice.spreadsheet(created.id).cells_page(&CellsQuery::default()).await.unwrap();
    cells.cells.iter().map(|placed| placed.cell.text()).collect()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it installs a package from npm"]
async fn the_client_from_npm_works_unchanged() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("replicache");
    install(&folder, PACKAGE, LOCK_FILE);
    let numbers = |numbers: std::ops::Range<u32>| numbers.map(|number| number.to_string());
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let happy = [texts(&["first", "second", "third"]), numbers(3..23).collect()].concat();
    let offline = [texts(&["online"]), numbers(1..2_501).collect()].concat();
    for (scenario, cells) in [
        ("happyPath", happy),
        ("poisonMutation", texts(&["before", "behind"])),
        ("lostReplies", numbers(0..30).collect()),
        ("serverStateLost", texts(&["before", "after"])),
        ("schemaBump", texts(&["online", "offline", "also offline", "after"])),
        ("offlineRecovery", offline),
    ] {
        assert_eq!(play(&folder, scenario).await, cells, "{scenario}");
    }
}
