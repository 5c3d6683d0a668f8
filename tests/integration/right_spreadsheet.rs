//! Commands find the spreadsheet that the user means, and say which one they have changed.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::catalog_commands::Person;
use crate::journey::{Project, Run};

/// A change appears in the spreadsheet list after a moment.
const LIST_TIMEOUT: Duration = Duration::from_secs(30);

fn done(project: &Project, arguments: &[&str]) -> Run {
    let run = project.cellar(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
    run
}

fn created(project: &Project, name: &str) -> String {
    done(project, &["create", name]).stdout.trim().to_owned()
}

fn listed(project: &Project, arguments: &[&str]) -> Vec<Value> {
    let arguments = [&["list", "--json"], arguments].concat();
    let list: Value = serde_json::from_str(&done(project, &arguments).stdout).unwrap();
    list["spreadsheets"].as_array().unwrap().clone()
}

/// Waits until the list has this number of spreadsheets.
fn wait_until_listed(project: &Project, count: usize) -> Vec<Value> {
    let started = Instant::now();
    loop {
        let spreadsheets = listed(project, &[]);
        if spreadsheets.len() == count {
            return spreadsheets;
        }
        assert!(started.elapsed() < LIST_TIMEOUT, "{count} are expected: {spreadsheets:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_deployment_leaves_nothing_of_its_smoke_test_in_the_list() {
    let project = Project::new();
    project.deploy();
    let empty = done(&project, &["list"]);
    assert!(empty.stderr.contains("cellar create NAME"), "{empty:?}");
    created(&project, "Budget");
    // The spreadsheet of the smoke test is older, so it would be listed as well by now.
    let names: Vec<_> =
        wait_until_listed(&project, 1).iter().map(|listed| listed["name"].clone()).collect();
    assert_eq!(names, ["Budget"]);
    for status in ["archived", "deleted"] {
        assert!(listed(&project, &["--status", status]).is_empty(), "{status}");
    }
}

#[test]
fn a_name_or_the_beginning_of_an_id_selects_a_spreadsheet() {
    let project = Project::new();
    project.deploy();
    let budget = created(&project, "Budget");
    let plan = created(&project, "Plan 2026");
    // A new spreadsheet is found, although the list may not have it yet.
    done(&project, &["set", "A1", "goal", "-s", "plan 2026"]);
    done(&project, &["set", "A1", "rent", "-s", budget.split_at(8).0]);
    let selected = done(&project, &["use", "BUDGET"]);
    assert_eq!(selected.stdout, format!("selected {budget} at 0.1\n"));
    assert!(done(&project, &["get"]).stdout.contains("rent"));
    assert!(done(&project, &["get", "-s", plan.split_at(8).0]).stdout.contains("goal"));
    done(&project, &["stats", "Plan 2026"]);
    std::fs::write(project.path("more.csv"), "1,2\n").unwrap();
    done(&project, &["import", "more.csv", "--into", "Plan 2026"]);
    assert_eq!(done(&project, &["sheets", "-s", "Plan 2026"]).stdout.lines().count(), 2);

    let namesake = created(&project, "budget");
    wait_until_listed(&project, 3);
    for arguments in [&["set", "A1", "lost", "-s", "Budget"][..], &["use", "Budget"]] {
        let refused = project.cellar(arguments);
        assert_eq!(refused.code, 64, "{refused:?}");
        for part in ["2 spreadsheets match `Budget`", &budget, &namesake, "owner"] {
            assert!(refused.stderr.contains(part), "{part}: {refused:?}");
        }
        assert!(!refused.stderr.contains(&plan), "{refused:?}");
    }
    assert!(done(&project, &["get", "-s", &budget]).stdout.contains("rent"), "nothing was lost");
    let unknown = project.cellar(&["get", "-s", "udge"]);
    assert_eq!(unknown.code, 1, "{unknown:?}");
    for part in ["no spreadsheet is named `udge`", "similar: Budget, budget", "cellar list"] {
        assert!(unknown.stderr.contains(part), "{part}: {unknown:?}");
    }

    done(&project, &["archive", "-s", "Plan 2026"]);
    done(&project, &["unarchive", "-s", "Plan 2026"]);
    done(&project, &["delete", "-s", "Plan 2026"]);
    done(&project, &["undelete", "-s", "Plan 2026"]);
    assert!(done(&project, &["get", "-s", &plan]).stdout.contains("goal"));
}

#[test]
fn the_environment_names_a_spreadsheet_too() {
    let project = Project::new();
    project.deploy();
    let budget = created(&project, "Budget");
    created(&project, "Plan");
    let with_variable = |value: &str, arguments: &[&str]| {
        let mut command = project.command(env!("CARGO_BIN_EXE_test-cellar"));
        let output = command.args(arguments).env("CELLAR_SPREADSHEET", value).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, details) = with_variable("budget", &["details", "--json"]);
    let details: Value = serde_json::from_str(&details).unwrap();
    assert_eq!((code, &details["id"]), (Some(0), &json!(budget)));
    // Commands that use no spreadsheet ignore a name that does not exist.
    assert_eq!(with_variable("gone", &["list"]).0, Some(0));
    assert_eq!(with_variable("gone", &["create"]).0, Some(0));
    assert_eq!(with_variable("gone", &["get"]).0, Some(1));
}

#[test]
fn every_change_says_where_it_went_and_stdout_stays_clean() {
    let project = Project::new();
    let url = project.deploy()["url"].as_str().unwrap().to_owned();
    assert!(!url.ends_with('/'), "{url}");
    let id = created(&project, "Budget");
    std::fs::write(project.path("more.csv"), "1,2\n").unwrap();
    let link = format!("{url}/#/s/{id}");
    let note = format!("In Budget, stack cellar (local): {link}");
    for arguments in [
        &["set", "A1", "1", "B2", "2"][..],
        &["clear", "A1"],
        &["format", "A1:B2", "0.00"],
        &["rows", "insert", "1"],
        &["columns", "insert", "A"],
        &["sheets", "add", "Costs"],
        &["undo"],
        &["revert", "--to", "0.1"],
        &["import", "more.csv", "--into", "Budget"],
        &["import", "more.csv", "--into", "Budget", "--sheet", "more", "--cell", "A3"],
        &["share", " bob "],
        &["unshare", "bob"],
        &["archive"],
        &["unarchive"],
        &["delete"],
        &["undelete"],
    ] {
        let run = done(&project, arguments);
        assert!(run.stderr.lines().any(|line| line == note), "{arguments:?}: {run:?}");
        assert!(!run.stdout.contains("/#/s/"), "{arguments:?}: {run:?}");
    }
    let people = done(&project, &["details", "--changes"]).stdout;
    assert!(people.contains("shared the spreadsheet with bob: viewer\n"), "trimmed: {people}");

    for arguments in [&["set", "A1", "1"][..], &["rename", "Plan"], &["use", "plan"]] {
        let run = done(&project, &[arguments, &["--json"]].concat());
        let fields: Value = serde_json::from_str(&run.stdout).unwrap();
        let name = if arguments[0] == "set" { "Budget" } else { "Plan" };
        let expected = (&json!(name), &json!("cellar (local)"), &json!(link));
        assert_eq!((&fields["name"], &fields["stack"], &fields["url"]), expected, "{fields}");
        assert_eq!(run.stderr, "", "{run:?}");
    }
    let renamed = done(&project, &["set", "A1", "2"]);
    assert!(renamed.stderr.contains(&format!("In Plan, stack cellar (local): {link}")));
    let fork = done(&project, &["fork", "--name", "What if"]);
    assert!(fork.stderr.contains(&format!("In What if, stack cellar (local): {url}/#/s/")));
    let details = done(&project, &["details", "-s", &id]).stdout;
    assert!(details.contains(&format!("  url         {link}\n")), "{details}");
}

#[test]
fn the_list_marks_the_current_spreadsheet_and_forks() {
    let project = Project::new();
    project.deploy();
    let budget = created(&project, "Budget");
    let fork = done(&project, &["fork", "--name", "What if"]).stdout.trim().to_owned();
    wait_until_listed(&project, 2);
    let list = done(&project, &["list"]);
    let lines: Vec<&str> = list.stdout.lines().collect();
    assert!(lines[0].starts_with(&format!("{budget}   Budget    owner   created 20")), "{list:?}");
    assert!(lines[0].ends_with('Z'), "{list:?}");
    assert!(lines[1].ends_with(&format!("   current, fork of Budget {budget}")), "{list:?}");
    assert!(list.stderr.contains("2 active spreadsheets. Select one with"), "{list:?}");
    let forks = listed(&project, &["--forks"]);
    let (marked, source) = (&forks[0]["current"], &forks[0]["source"]);
    assert_eq!((forks.len(), marked, source), (1, &json!(true), &json!(budget)));
    assert_eq!(forks[0]["id"], json!(fork));
    let none = done(&project, &["list", "nothing", "--mine"]);
    let filters = "No active spreadsheet whose name contains `nothing` and that you own.";
    assert!(none.stderr.contains(filters), "{none:?}");
}

#[test]
fn a_shared_name_never_takes_the_edits_of_another_spreadsheet() {
    let project = Project::new();
    project.deploy();
    let [alice, mallory] = ["alice", "mallory"].map(|name| Person::of(&project, name));
    let id = alice.does(&["create", "Budget"]).stdout.trim().to_owned();
    // A name that is the beginning of the other id.
    let trap = mallory.does(&["create", id.split_at(8).0]).stdout.trim().to_owned();
    mallory.does(&["share", "alice", "--role", "editor"]);
    let started = Instant::now();
    while !alice.does(&["list"]).stdout.contains(&trap) {
        assert!(started.elapsed() < LIST_TIMEOUT);
        std::thread::sleep(Duration::from_millis(50));
    }
    let refused = alice.tries(&["set", "A1", "secret", "-s", id.split_at(8).0]);
    assert!(refused.code == 64 && refused.stderr.contains(&trap), "{refused:?}");
}
