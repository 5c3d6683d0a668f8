//! The commands that list spreadsheets and follow the feed, on a real cloud.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::catalog_commands::Person;
use crate::journey::Project;

/// Maximum time of the indexer on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Repeats a command until its output contains `wanted`.
fn until(person: &Person, arguments: &[&str], wanted: &str) -> String {
    let begun = Instant::now();
    loop {
        let said = person.does(arguments).stdout;
        if said.contains(wanted) {
            return said;
        }
        assert!(begun.elapsed() < PATIENCE, "{arguments:?} does not print {wanted}: {said}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Returns the lines of a list without the creation times and what follows.
fn without_dates(list: &str) -> Vec<&str> {
    list.lines().map(|line| line.split_once("   created 20").unwrap().0).collect()
}

#[test]
fn people_find_their_spreadsheets_and_what_others_share() {
    let project = Project::new();
    project.deploy();
    let [alice, bob] = ["alice", "bob"].map(|name| Person::of(&project, name));
    assert_eq!(bob.does(&["list"]).stdout, "");
    let nothing = bob.does(&["list"]).stderr;
    assert!(nothing.contains("cellar create NAME"), "{nothing}");
    let plan = alice.does(&["create", "--name", "plan"]).stdout.trim().to_owned();
    let id = alice.does(&["create", "--name", "Budget"]).stdout.trim().to_owned();
    alice.does(&["share", "bob"]);
    until(&alice, &["list"], &plan);
    let listed = until(&alice, &["list"], &id);
    // Sorted by name, ignoring case.
    let [budget, plan_line] =
        [format!("{id}   Budget   owner"), format!("{plan}   plan     owner")];
    assert_eq!(without_dates(&listed), [budget.as_str(), &plan_line]);
    let shared = until(&bob, &["list", "--shared"], &id);
    assert_eq!(without_dates(&shared), [format!("{id}   Budget   viewer")]);
    assert_eq!(bob.does(&["list", "--mine"]).stdout, "");
    assert_eq!(without_dates(&alice.does(&["list", "BUDG"]).stdout), [budget]);
    let json = alice.json(&["list", "plan"]);
    assert_eq!(json["spreadsheets"][0]["id"], plan.as_str());
    assert_eq!(json["spreadsheets"].as_array().unwrap().len(), 1);
    alice.does(&["delete", "-s", &plan]);
    let deleted = until(&alice, &["list", "--status", "deleted"], &plan);
    assert!(deleted.contains("since 20"), "{deleted}");
    assert_eq!(alice.does(&["list", "plan"]).stdout, "");
}

#[test]
fn the_entries_of_logs_come_into_the_feed_when_they_are_wanted() {
    let project = Project::new();
    project.deploy();
    let alice = Person::of(&project, "alice");
    let minted = project.synth(&["token", "create", "--local", "--all", "--role", "owner"]);
    let operator = Person::with(&project, minted.stdout.trim());
    let id = alice.does(&["create", "--name", "Budget"]).stdout.trim().to_owned();
    alice.does(&["set", "B2", "7"]);
    until(&operator, &["feed"], &format!("Spreadsheet-{id}"));
    let without = operator.does(&["feed"]).stdout;
    assert!(!without.contains("Log-"), "{without}");
    let verified = project.synth(&["feed", "verify", "--local"]);
    assert_eq!(verified.code, 0, "nothing is missing: {verified:?}");
    assert_eq!(project.synth(&["destroy", "--local"]).code, 0);

    let yaml = std::fs::read_to_string(project.path("cellar.yaml")).unwrap_or_default();
    std::fs::write(project.path("cellar.yaml"), format!("{yaml}feed: everything\n")).unwrap();
    project.deploy();
    // The cloud was deployed again, at another port.
    let alice = Person::of(&project, "alice");
    let operator = Person::with(&project, minted.stdout.trim());
    let repaired = project.synth(&["feed", "repair", "--local"]);
    assert!(repaired.code == 0 && repaired.stdout.contains("each once."), "{repaired:?}");
    let told = until(&operator, &["feed"], &format!("Log-{id}.0000000"));
    assert!(told.contains("Edits"), "earlier entries are missing: {told}");
    alice.does(&["set", "B3", "8", "-s", &id]);
    until(&operator, &["feed"], "1 event from 2   Edits");
    let verified = project.synth(&["feed", "verify", "--local"]);
    assert_eq!(verified.code, 0, "{verified:?}");
}

#[test]
fn operators_follow_every_change_and_make_the_feed_whole_again() {
    let project = Project::new();
    project.deploy();
    let alice = Person::of(&project, "alice");
    let minted = project.synth(&["token", "create", "--local", "--all", "--role", "owner"]);
    let operator = Person::with(&project, minted.stdout.trim());
    let id = alice.does(&["create", "--name", "Budget"]).stdout.trim().to_owned();
    alice.does(&["rename", "Plan"]);
    alice.does(&["share", "bob"]);
    let told = until(&operator, &["feed", "--payloads"], "shared the spreadsheet with bob: viewer");
    for line in [
        "created the spreadsheet as Budget",
        "renamed the spreadsheet to Plan",
        &format!("Spreadsheet-{id}"),
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    alice.may_not(&["feed"], "operator token", "token");
    // The checkpoint file continues after the last run.
    let follow = ["feed", "--checkpoint", "feed.json"];
    assert!(operator.does(&follow).stdout.contains("Created"));
    assert_eq!(operator.does(&follow).stdout, "");
    alice.does(&["archive"]);
    let archived = until(&operator, &follow, "Archived");
    assert!(!archived.contains("Created"), "{archived}");
    operator.may_not(&["feed", "--after", "77"], "after the end", "");

    // Including the spreadsheet of the smoke test: nothing is missing, and a rebuilt feed is equal.
    let verified = project.synth(&["feed", "verify", "--local"]);
    assert_eq!(verified.code, 0, "{verified:?}");
    assert!(verified.stdout.contains("each once."), "{verified:?}");
    let repaired = project.synth(&["feed", "repair", "--local"]);
    assert!(repaired.code == 0 && repaired.stdout.contains("each once."), "{repaired:?}");
    let asked = project.synth(&["feed", "rebuild", "--local"]);
    assert!(asked.code == 1 && asked.stderr.contains("--yes"), "{asked:?}");
    let rebuilt = project.synth(&["feed", "rebuild", "--local", "--yes"]);
    assert!(rebuilt.code == 0 && rebuilt.stdout.contains("Rebuilt the feed with 5"), "{rebuilt:?}");
    let report = project.synth(&["--json", "feed", "verify", "--local"]);
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!((&report["events"], &report["findings"]), (&5.into(), &Value::Array(vec![])));
    let other = "an earlier generation of the feed";
    operator.may_not(&follow, other, "--checkpoint");
    assert!(operator.does(&["feed", "--json"]).stdout.contains("Archived"));
}
