//! `cellar fork`, `diff`, `merge` and `replay` as a user runs them.

use serde_json::Value;

use crate::journey::{Project, Run, json};

fn done(project: &Project, arguments: &[&str]) -> Run {
    let run = project.cellar(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
    run
}

/// Creates a spreadsheet with the cells A1 and A2, and a fork of it. Returns their ids.
fn forked(project: &Project) -> (String, String) {
    project.deploy();
    let source = done(project, &["create", "Budget"]).stdout.trim().to_owned();
    done(project, &["set", "A1", "rent"]);
    done(project, &["set", "A2", "food"]);
    let fork = done(project, &["fork", "--name", "What if"]).stdout.trim().to_owned();
    (source, fork)
}

#[test]
fn a_fork_is_compared_with_its_source() {
    let project = Project::new();
    let (source, fork) = forked(&project);
    let same = done(&project, &["diff", &fork, &source]);
    assert!(same.stdout.is_empty() && same.stderr.contains("No differences"), "{same:?}");
    done(&project, &["set", "A1", "higher rent"]);
    done(&project, &["rows", "insert", "2", "-s", &source]);
    let differs = project.cellar(&["diff", &fork, &source]);
    assert_eq!(differs.code, 2, "{differs:?}");
    assert!(differs.stdout.contains("A1: \"higher rent\" -> \"rent\""), "{differs:?}");
    assert!(differs.stdout.contains("rows inserted: 2\n"), "{differs:?}");
    let shown = project.cellar(&["diff", &source, &fork, "--json"]);
    assert_eq!(json(&shown)["from_spreadsheet"], source.as_str());
    assert_eq!(json(&shown)["sheets"][0]["cells"][0]["after"]["value"], "higher rent");

    let other = done(&project, &["create", "Other"]).stdout.trim().to_owned();
    let unrelated = project.cellar(&["diff", &other, &source]);
    assert!(unrelated.code == 1 && unrelated.stderr.contains("share no history"), "{unrelated:?}");
    let mixed = project.cellar(&["diff", "0.1", &source]);
    assert!(mixed.code == 64 && mixed.stderr.contains("or two spreadsheets"), "{mixed:?}");
}

#[test]
fn a_replay_keeps_the_name_and_the_members_and_says_what_it_leaves() {
    let project = Project::new();
    let (source, fork) = forked(&project);
    done(&project, &["set", "A1", "higher rent"]);
    done(&project, &["share", "bob", "--role", "editor"]);
    done(&project, &["links", "create", "--role", "viewer"]);
    done(&project, &["set", "A2", "more food", "-s", &source]);

    let preview = done(&project, &["replay", "--onto", "latest", "--dry-run"]);
    let kept = "The new fork has the name What if and 2 members. 1 share link does not open it";
    assert!(preview.stderr.contains(kept), "{preview:?}");
    let replayed = done(&project, &["replay", "--onto", "latest", "--json"]);
    let new_fork = json(&replayed)["id"].as_str().unwrap().to_owned();
    assert!(new_fork != fork, "{replayed:?}");
    let details = |id: &str| json(&done(&project, &["details", "-s", id, "--json"]));
    let (old, new) = (details(&fork), details(&new_fork));
    assert_eq!((&new["name"], &new["members"]), (&old["name"], &old["members"]));
    assert_eq!(old["members"].as_array().unwrap().len(), 2);
    assert_eq!((&new["links"], old["links"].as_array().unwrap().len()), (&Value::Array(vec![]), 1));
    // A repetition gives nothing twice, and keeps a role that was changed since.
    done(&project, &["share", "bob", "--role", "viewer", "-s", &new_fork]);
    let again = done(&project, &["replay", &fork, "--onto", "latest", "--json"]);
    assert_eq!(json(&again)["id"], new_fork.as_str());
    let roles = details(&new_fork)["members"].to_string();
    assert!(roles.contains("viewer") && !roles.contains("editor"), "{roles}");
}

#[test]
fn a_fork_is_merged_with_its_authors_and_undone_in_one_step() {
    let project = Project::new();
    let (source, fork) = forked(&project);
    done(&project, &["set", "A1", "higher rent"]);
    done(&project, &["rows", "insert", "2"]);
    done(&project, &["set", "A2", "travel"]);
    done(&project, &["set", "A1", "lower rent", "-s", &source]);

    let preview = project.cellar(&["merge", &fork, "--dry-run"]);
    assert_eq!(preview.code, 2, "{preview:?}");
    for part in
        ["A1 = \"higher rent\": the source changed Sheet1!A1 to \"lower rent\"", "the fork wins"]
    {
        assert!(preview.stdout.contains(part), "{part}: {preview:?}");
    }
    assert_eq!(preview.stdout.lines().filter(|line| line.contains("unchanged")).count(), 2);
    assert!(
        preview.stderr.contains("Would merge 3 edits") && preview.stderr.contains("1 in conflict")
    );
    let texts = || done(&project, &["get", "-s", &source, "--json"]).stdout;
    assert!(texts().contains("lower rent") && !texts().contains("travel"));

    let merged = project.cellar(&["merge", &fork, "--json"]);
    assert_eq!(merged.code, 2, "{merged:?}");
    let reply = json(&merged);
    assert_eq!(reply["counts"]["unchanged"], 3, "{reply}");
    assert_eq!((&reply["spreadsheet"], &reply["remaining"]), (&source.as_str().into(), &0.into()));
    assert!(texts().contains("higher rent") && texts().contains("travel"));
    let same = done(&project, &["diff", &fork, &source]);
    assert!(same.stderr.contains("No differences"), "{same:?}");
    let history = done(&project, &["history", "-s", &source]);
    let note = format!("of fork {fork}, merged by");
    assert_eq!(history.stdout.matches(&note).count(), 3, "{history:?}");

    let again = done(&project, &["merge", &fork]);
    assert!(again.stderr.contains("Nothing to merge: the source already has"), "{again:?}");
    done(&project, &["undo", "-s", &source]);
    assert!(texts().contains("lower rent") && !texts().contains("travel"), "{}", texts());
    let not_a_fork = project.cellar(&["merge", &source]);
    assert!(not_a_fork.code == 64 && not_a_fork.stderr.contains("is not a fork"), "{not_a_fork:?}");
}
