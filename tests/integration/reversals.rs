//! Undo and revert as a user sees them: what they take back, what they leave, and when they refuse.

use cellar_api::wire::{CreateRequest, Problem, ProblemKind};
use cellar_base::position::Position;
use cellar_catalog::access::Role;
use cellar_sheet::operation::{Operation, Revert, SheetId};
use cellar_tests::cloud::TestCloud;
use cellar_tests::edits::set_numbers;
use serde_json::{Value, json};

use crate::journey::{Project, Run, data};

fn done(project: &Project, arguments: &[&str]) -> Run {
    let run = project.cellar(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
    run
}

fn json_of(project: &Project, arguments: &[&str]) -> Value {
    let run = done(project, &[arguments, &["--json"]].concat());
    serde_json::from_str(&run.stdout).unwrap()
}

/// Returns the names of the sheets in tab order.
fn sheets(project: &Project) -> Vec<String> {
    let sheets = json_of(project, &["sheets"])["sheets"].clone();
    let name = |sheet: &Value| sheet["name"].as_str().unwrap().to_owned();
    sheets.as_array().unwrap().iter().map(name).collect()
}

fn text(project: &Project, cell: &str) -> String {
    let cells = json_of(project, &["get", "--remote", "--range", cell]);
    cells["texts"][0].as_str().unwrap_or_default().to_owned()
}

#[test]
fn an_import_is_undone_with_all_its_cells_after_later_edits_are_undone() {
    let project = Project::new();
    project.deploy();
    let airports = data("airports.csv");
    done(&project, &["import", airports.to_str().unwrap()]);
    done(&project, &["set", "B2", "new"]);

    // While the edit is in effect, an undo of the import says why it does nothing.
    let refused = project.cellar(&["undo", "0.1"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    for part in ["sheet `airports`", "changed since (1 cell)", "as a whole"] {
        assert!(refused.stderr.contains(part), "{part}: {refused:?}");
    }
    assert_eq!(sheets(&project), ["airports"]);
    assert_eq!(text(&project, "B2"), "new");

    let edit = done(&project, &["undo"]);
    assert!(edit.stdout.starts_with("undid 0.2: B2 = \"Thigpen\"   at 0.4\n"), "{edit:?}");
    assert!(edit.stdout.ends_with("\ntook back: 1 cell\n"), "{edit:?}");
    let import = done(&project, &["undo"]);
    assert!(import.stdout.starts_with("undid 0.1: "), "{import:?}");
    assert!(
        import.stdout.ends_with("\ntook back: 23,639 cells; sheets removed: 1, recovered: 1\n"),
        "{import:?}"
    );
    assert_eq!(sheets(&project), ["Sheet1"]);
    assert_eq!(done(&project, &["export", "-"]).stdout, "");
    assert_eq!(json_of(&project, &["get", "--at", "0.4", "--range", "B2"])["texts"][0], "Thigpen");
}

#[test]
fn an_undo_counts_what_it_left_because_others_changed_it() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create"]);
    done(&project, &["set", "A1", "one", "A2", "two", "A3", "three"]);
    done(&project, &["set", "A2", "theirs"]);
    let undone = done(&project, &["undo", "0.1"]);
    let expected = "took back: 2 cells\nleft, because they were changed since: 1 cell\n";
    assert!(undone.stdout.ends_with(expected), "{undone:?}");
    done(&project, &["rows", "insert", "2", "--count", "3"]);
    done(&project, &["set", "B3", "mine"]);
    let undone = json_of(&project, &["undo", "0.4"]);
    assert_eq!(
        (&undone["reversal"]["restored"]["rows"], &undone["reversal"]["left"]["rows"]),
        (&2.into(), &1.into())
    );
    let refused = project.cellar(&["undo", "0.2"]);
    assert_eq!(refused.code, 0, "the cell still has its value: {refused:?}");
    let again = project.cellar(&["undo", "0.2"]);
    assert!(again.code == 1 && again.stderr.contains("0.2 is already undone"), "{again:?}");
}

#[test]
fn one_sheet_is_reverted_and_keeps_its_place() {
    let project = Project::new();
    project.deploy();
    let id = done(&project, &["create"]).stdout.trim().to_owned();
    for arguments in [
        ["sheets", "add", "Costs"],
        ["sheets", "add", "Last"],
        ["set", "Costs!A1", "rent"],
        ["set", "Last!A1", "before"],
    ] {
        done(&project, &arguments);
    }
    std::fs::write(project.path("wrong.csv"), "wrong,file\n").unwrap();
    done(&project, &["import", "wrong.csv", "--into", &id, "--replace", "Costs"]);
    done(&project, &["set", "Last!A1", "after"]);
    let diff = project.cellar(&["diff", "0.4"]);
    assert!(diff.code == 2 && diff.stdout.contains("A1: \"rent\" -> \"wrong\""), "{diff:?}");
    assert!(!diff.stdout.contains("sheet deleted"), "{diff:?}");

    let reverted = done(&project, &["revert", "--to", "0.4", "--sheet", "costs"]);
    assert!(reverted.stdout.starts_with("reverted sheet `costs` to 0.4: "), "{reverted:?}");
    assert!(
        reverted.stdout.ends_with("\ntook back: 3 cells; sheets removed: 1, recovered: 1\n"),
        "{reverted:?}"
    );
    assert_eq!(sheets(&project), ["Sheet1", "Costs", "Last"]);
    assert_eq!(
        (text(&project, "Costs!A1"), text(&project, "Last!A1")),
        ("rent".into(), "after".into())
    );
    let diff = done_or_different(&project, &["diff", "0.4"]);
    assert!(!diff.stdout.contains("Costs") && diff.stdout.contains("Last"), "{diff:?}");

    // A revert that changes nothing leaves no entry.
    let head = done(&project, &["head"]).stdout;
    let again = done(&project, &["revert", "--to", "0.4", "--sheet", "Costs"]);
    let nothing = "nothing to revert: sheet `Costs` does not differ from 0.4\n";
    assert_eq!(again.stdout, nothing);
    let same = json_of(&project, &["revert", "--to", "0.4", "--sheet", "Sheet1"]);
    assert_eq!((&same["reverted_to"], &same["sheet"]), (&Value::Null, &"Sheet1".into()));
    assert_eq!(done(&project, &["head"]).stdout, head);
    // The id of the refused revert is free: the next edit is appended.
    done(&project, &["set", "A1", "next"]);
    let missing = project.cellar(&["revert", "--to", "0.4", "--sheet", "Nope"]);
    assert!(missing.code == 64 && missing.stderr.contains("Sheet1, Costs, Last"), "{missing:?}");
}

fn done_or_different(project: &Project, arguments: &[&str]) -> Run {
    let run = project.cellar(arguments);
    assert!(run.code == 0 || run.code == 2, "{arguments:?}: {run:?}");
    run
}

#[test]
fn a_range_is_reverted_and_the_rest_stays() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create"]);
    done(&project, &["set", "A1", "a", "A2", "b", "B1", "c"]);
    done(&project, &["set", "A1", "x", "A2", "y", "B1", "z"]);
    done(&project, &["format", "A1:B2", "0.00"]);
    let reverted = done(&project, &["revert", "--to", "0.1", "--range", "A1:A2"]);
    assert!(
        reverted.stdout.starts_with("reverted A1:A2 of sheet `Sheet1` to 0.1: "),
        "{reverted:?}"
    );
    assert!(
        reverted.stdout.contains("\ntook back: 2 cells, 1 format of a range\n"),
        "{reverted:?}"
    );
    assert_eq!(done(&project, &["export", "-"]).stdout, "a,z\nb,\n");
    let head = done(&project, &["head"]).stdout;
    let again = done(&project, &["revert", "--to", "0.1", "--range", "Sheet1!A1:A2"]);
    assert!(again.stdout.starts_with("nothing to revert: A1:A2 of sheet"), "{again:?}");
    let whole = done(&project, &["revert", "--to", "0.4"]);
    assert!(whole.stdout.starts_with("nothing to revert: no difference from 0.4"), "{whole:?}");
    assert_eq!(done(&project, &["head"]).stdout, head);
    done(&project, &["undo"]);
    assert_eq!(done(&project, &["export", "-"]).stdout, "x,z\ny,\n");
    let history = done(&project, &["history", "--limit", "2"]).stdout;
    assert!(history.contains("reverted A1:A2 of sheet `Sheet1` to 0.1"), "{history}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_api_reports_a_reversal_and_refuses_one_that_changes_nothing() {
    let cloud = TestCloud::start().await;
    let created = cloud.client("alice").create(&CreateRequest::new("r".to_owned())).await.unwrap();
    let url = format!("{}/v1/spreadsheets/{}/entries", cloud.url, created.id);
    let token = cloud.token("alice", Role::Editor);
    let post = async |id: u64, base: u64, op: Value, refuse: bool| {
        let body = json!({
            "client_id": "c", "incarnation": created.incarnation, "acked_id": id - 1,
            "refuse_unchanged": refuse, "mutations": [{"id": id, "base": base, "op": op}],
        });
        let request = reqwest::Client::new().post(&url).bearer_auth(&token).json(&body);
        request.send().await.unwrap()
    };
    let set = |text: &str| json!({"setCells": {"cells": [{"row": 0, "column": 0, "value": text}]}});
    post(1, 0, set("one"), false).await;
    post(2, 1, set("two"), true).await;
    let rows = json!({"first": 0, "count": 1});
    let revert = json!({"revert": {"position": 1, "sheet": 0, "rows": rows}});
    let reply: Value = post(3, 2, revert.clone(), true).await.json().await.unwrap();
    let result = &reply["results"][0];
    assert_eq!((&result["status"], &result["position"]), (&"appended".into(), &3.into()));
    assert_eq!(result["reversal"]["restored"]["cells"], 1);
    assert_eq!(result["reversal"]["left"]["cells"], 0);

    let refused = post(4, 3, revert.clone(), true).await;
    assert_eq!(refused.status(), 409);
    let problem: Problem = refused.json().await.unwrap();
    assert_eq!(problem.kind, ProblemKind::NothingToReverse);
    assert!(problem.detail.contains("the range does not differ from position 0.1"), "{problem}");
    // Its id is free. Without the property, the revert is recorded as rejected.
    let recorded: Value = post(4, 3, revert, false).await.json().await.unwrap();
    let result = &recorded["results"][0];
    assert_eq!((&result["status"], &result["position"]), (&"rejected".into(), &4.into()));
    assert_eq!(result["rejection"]["reason"], "nothingToRevert");
    let invalid = json!({"revert": {"position": 1, "rows": {"first": 0, "count": 1}}});
    let rejected: Value = post(5, 4, invalid, true).await.json().await.unwrap();
    assert_eq!(rejected["results"][0]["rejection"]["reason"], "invalid");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_library_reports_a_reversal_and_refuses_a_revert_that_changes_nothing() {
    let cloud = TestCloud::start().await;
    let spreadsheet = cloud.client("alice").create_spreadsheet("r").await.unwrap();
    let editor = spreadsheet.editor().unwrap();
    editor.apply(set_numbers(&[1.0, 2.0])).await.unwrap();
    let edited = editor.apply(set_numbers(&[3.0, 2.0])).await.unwrap();
    assert_eq!(edited.reversal, None);
    let to = Position::new(0, 1).unwrap();
    let revert = || Operation::Revert(Revert { sheet: Some(SheetId::FIRST), ..Revert::whole(to) });
    let reverted = editor.apply(revert()).await.unwrap();
    assert_eq!(reverted.reversal.unwrap().restored.cells, 1);
    let refused = editor.apply(revert()).await.unwrap_err();
    assert!(
        refused.to_string().contains("the sheet does not differ from position 0.1"),
        "{refused}"
    );
    assert!(matches!(refused, cellar::editor::EditorError::NothingToReverse { .. }));
    assert_eq!(spreadsheet.head().await.unwrap().head, reverted.position);
    let next = editor.apply(set_numbers(&[4.0])).await.unwrap();
    assert_eq!(next.position, Position::new(0, 4).unwrap());
}

#[test]
fn a_large_import_that_was_replaced_comes_back_as_it_was() {
    let project = Project::new();
    project.deploy();
    let airports = data("airports.csv");
    done(&project, &["import", airports.to_str().unwrap()]);
    done(&project, &["set", "B2", "edited"]);
    let export = done(&project, &["export", "-"]).stdout;
    std::fs::write(project.path("wrong.csv"), "wrong,file\n").unwrap();
    let id = json_of(&project, &["details"])["id"].as_str().unwrap().to_owned();
    done(&project, &["import", "wrong.csv", "--into", &id, "--replace", "airports"]);
    assert_eq!(done(&project, &["export", "-"]).stdout, "wrong,file\n");
    // 23,639 cells do not fit one entry, but a reference to the imported chunks does.
    let reverted = done(&project, &["revert", "--to", "0.2", "--sheet", "airports"]);
    assert!(
        reverted.stdout.ends_with("\ntook back: 23,641 cells; sheets removed: 1, recovered: 1\n"),
        "{reverted:?}"
    );
    assert_eq!(done(&project, &["export", "-"]).stdout, export);
    assert_eq!(project.cellar(&["diff", "0.2"]).code, 0);
    // The revert is an entry like any other: it can be undone, and the undo too.
    done(&project, &["undo"]);
    assert_eq!(done(&project, &["export", "-"]).stdout, "wrong,file\n");
    done(&project, &["undo", "0.5"]);
    assert_eq!(done(&project, &["export", "-"]).stdout, export);
}

#[test]
fn deleted_sheets_come_back_in_their_order() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create", "tabs"]);
    for arguments in [
        &["sheets", "add", "B"][..],
        &["sheets", "add", "C"],
        &["set", "A1", "first"],
        &["sheets", "delete", "B"],
        &["sheets", "delete", "Sheet1"],
        &["undo"],
        &["undo"],
    ] {
        done(&project, arguments);
    }
    assert_eq!(sheets(&project), ["Sheet1", "B", "C"]);
    assert_eq!(text(&project, "A1"), "first", "the first sheet is the one that it was");
    let diff = project.cellar(&["diff", "0.3"]);
    assert!(diff.code == 0 && diff.stdout.is_empty(), "{diff:?}");
    assert_eq!(json_of(&project, &["diff", "0.3"]).get("order"), None);
}

#[test]
fn a_diff_shows_another_order_of_sheets() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create"]);
    for arguments in
        [&["sheets", "add", "B"][..], &["sheets", "delete", "Sheet1"], &["sheets", "add", "Sheet1"]]
    {
        done(&project, arguments);
    }
    let diff = project.cellar(&["diff", "0.1"]);
    assert_eq!((diff.code, diff.stdout.as_str()), (2, "order of sheets: Sheet1, B -> B, Sheet1\n"));
    let reply = project.cellar(&["diff", "0.1", "--json"]);
    let reply: Value = serde_json::from_str(&reply.stdout).unwrap();
    let order = json!({"before": ["Sheet1", "B"], "after": ["B", "Sheet1"]});
    assert_eq!((&reply["order"], &reply["sheets"]), (&order, &json!([])));
}

#[test]
fn the_history_of_a_recovered_import_continues_before_its_deletion() {
    let project = Project::new();
    project.deploy();
    std::fs::write(project.path("costs.csv"), "rent,1\n").unwrap();
    done(&project, &["import", "costs.csv"]);
    for arguments in [
        &["sheets", "add", "Other"][..],
        &["set", "costs!B1", "2"],
        &["set", "costs!B1", "3"],
        &["sheets", "delete", "costs"],
        &["revert", "--to", "0.3", "--sheet", "costs"],
    ] {
        done(&project, arguments);
    }
    let history = done(&project, &["history", "costs!B1"]).stdout;
    let changes: Vec<&str> =
        history.lines().map(|line| line.rsplit("   ").next().unwrap()).collect();
    let expected = [
        "costs: recovered the sheet (revert to 0.3)",
        "costs!B1: 2 -> 3",
        "costs!B1: 1 -> 2",
        "costs: imported the sheet",
    ];
    assert_eq!(changes, expected, "{history}");
    let all = done(&project, &["history"]).stdout;
    assert!(all.contains("reverted sheet `costs` to 0.3"), "{all}");
}
