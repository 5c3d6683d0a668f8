//! The commands that edit, undo and compare, on a real cloud.

use serde_json::Value;

use crate::catalog_commands::Person;
use crate::journey::{Project, Run};

fn done(project: &Project, arguments: &[&str]) -> Run {
    let run = project.cellar(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
    run
}

fn json(project: &Project, arguments: &[&str]) -> Value {
    let run = done(project, &[arguments, &["--json"]].concat());
    serde_json::from_str(&run.stdout).unwrap()
}

/// Returns another user with their own state.
fn other_user(project: &Project) -> Project {
    let profile = std::fs::read(project.path(".cellar/profile.json")).unwrap();
    let other = Project::new();
    std::fs::create_dir(other.path(".cellar")).unwrap();
    std::fs::write(other.path(".cellar/profile.json"), profile).unwrap();
    other
}

/// Deletes a row of the current spreadsheet as another person.
fn delete_row_as_bob(project: &Project, row: &str) {
    done(project, &["share", "bob", "--role", "editor"]);
    let id = json(project, &["details"])["id"].as_str().unwrap().to_owned();
    Person::of(project, "bob").does(&["-s", &id, "rows", "delete", row]);
}

/// An undone edit is no change: the next undo reverses the edit before it.
#[test]
fn repeated_undos_take_back_one_edit_after_the_other() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create"]);
    done(&project, &["set", "A1", "1"]);
    done(&project, &["sheets", "add", "X"]);
    done(&project, &["set", "X!A1", "5"]);
    done(&project, &["undo"]);
    let sheet = done(&project, &["undo"]);
    assert_eq!(sheet.stdout, "undid 0.2: deleted sheet `X`   at 0.5\ntook back: 1 sheet\n");
    assert!(!sheet.stderr.contains("Skipped"), "{sheet:?}");

    // The same after a redo.
    done(&project, &["undo", "0.5"]);
    done(&project, &["sheets", "add", "Temp2"]);
    done(&project, &["set", "Temp2!A1", "5"]);
    done(&project, &["undo"]);
    let sheet = done(&project, &["undo"]);
    assert!(sheet.stdout.starts_with("undid 0.7: deleted sheet `Temp2`"), "{sheet:?}");

    // A row that was deleted and restored is the row that it was.
    done(&project, &["set", "A3", "three"]);
    done(&project, &["rows", "delete", "3"]);
    done(&project, &["undo"]);
    let cell = done(&project, &["undo"]);
    assert!(cell.stdout.starts_with("undid 0.11: Sheet1!A3 cleared"), "{cell:?}");
    assert_eq!(json(&project, &["get", "A1:A3"])["texts"], serde_json::json!(["1"]));
}

/// Returns an incompressible text.
fn noise(seed: u32, bytes: usize) -> String {
    let mut state = u64::from(seed) + 1;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'0' + u8::try_from((state >> 33) % 64).unwrap())
    };
    (0..bytes).map(|_| next()).collect()
}

#[test]
fn rows_columns_sheets_ranges_undo_history_and_diff() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create"]);
    done(&project, &["set", "A1", "one", "A2", "two", "A3", "3", "B3", "gone"]);
    let inserted = done(&project, &["rows", "insert", "2", "--count", "2"]);
    assert_eq!(inserted.stdout, "inserted 2 rows before row 2   at 0.2\n");
    assert_eq!(done(&project, &["export", "-"]).stdout, "one,\n,\n,\ntwo,\n3,gone\n");
    done(&project, &["rows", "delete", "5"]);
    assert_eq!(done(&project, &["export", "-"]).stdout, "one\n\"\"\n\"\"\ntwo\n");
    let undone = done(&project, &["undo"]);
    assert!(undone.stdout.starts_with("undid 0.3: ") && undone.stdout.contains("at 0.4"));
    let undone = done(&project, &["undo"]);
    assert!(undone.stdout.starts_with("undid 0.2: deleted rows 2:3"), "{undone:?}");
    assert_eq!(done(&project, &["export", "-"]).stdout, "one,\ntwo,\n3,gone\n");
    let again = project.cellar(&["undo", "0.3"]);
    assert!(again.code == 1 && again.stderr.contains("0.3 is already undone"), "{again:?}");

    done(&project, &["format", "A3", "0.00"]);
    assert_eq!(json(&project, &["get", "--range", "A3"])["texts"][0], "3.00");
    done(&project, &["clear", "B:B"]);
    done(&project, &["columns", "insert", "A"]);
    assert_eq!(json(&project, &["get", "--range", "B1:B3"])["texts"][1], "two");

    done(&project, &["sheets", "add", "Costs"]);
    done(&project, &["set", "Costs!A1", "7"]);
    done(&project, &["sheets", "rename", "costs", "Prices"]);
    assert_eq!(json(&project, &["get", "--sheet", "prices"])["cells"][0]["value"], 7.0);
    assert!(done(&project, &["sheets"]).stdout.contains("Prices   1 row, 1 column"));
    done(&project, &["sheets", "delete", "Prices"]);
    assert_eq!(json(&project, &["sheets"])["sheets"].as_array().unwrap().len(), 1);

    // The third row was deleted and restored by an undo, so it is the same row.
    let diff = project.cellar(&["diff", "0.1"]);
    assert_eq!(diff.code, 2, "{diff:?}");
    for part in ["columns inserted: A", "  B3: 3 -> 3.00", "  C3: \"gone\" -> empty"] {
        assert!(diff.stdout.contains(part), "{part}: {diff:?}");
    }
    assert!(!diff.stdout.contains("rows"), "{diff:?}");
    assert_eq!(project.cellar(&["diff", "0.1", "0.1"]).code, 0);
    let history = done(&project, &["history"]);
    for part in ["deleted row 5", "undid 0.3 (as: ", "added sheet `Costs`"] {
        assert!(history.stdout.contains(part), "{part}: {history:?}");
    }
    let two = done(&project, &["history", "--limit", "2"]);
    assert!(two.stdout.lines().count() == 2 && two.stderr.contains("--until"), "{two:?}");
}

#[test]
fn a_restore_takes_back_all_behind_a_position() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create"]);
    done(&project, &["set", "A1", "one", "A2", "two"]);
    done(&project, &["rows", "delete", "1"]);
    done(&project, &["set", "A1", "three"]);
    done(&project, &["sheets", "add", "Costs"]);
    let restored = done(&project, &["revert", "--to", "0.1"]);
    assert!(restored.stdout.starts_with("reverted to 0.1: "), "{restored:?}");
    assert!(restored.stdout.contains("   at 0.5\ntook back: "), "{restored:?}");
    assert_eq!(done(&project, &["export", "-"]).stdout, "one\ntwo\n");
    assert_eq!(project.cellar(&["diff", "0.1", "0.4"]).code, 2);
    let again = done(&project, &["revert", "--to", "0.1"]);
    assert!(again.stdout.starts_with("nothing to revert: no difference from 0.1"), "{again:?}");
    assert_eq!(json(&project, &["revert", "--to", "0.1"])["reverted_to"], Value::Null);
    let beyond = project.cellar(&["revert", "--to", "0.99"]);
    assert!(beyond.code == 1 && beyond.stderr.contains("cannot revert to 0.99"), "{beyond:?}");

    done(&project, &["undo"]);
    assert_eq!(done(&project, &["export", "-"]).stdout, "three\n");
    let restored = json(&project, &["revert", "--to", "0.1"]);
    assert_eq!(restored["reverted_to"], 1);
}

#[test]
fn a_restore_that_one_entry_cannot_hold_names_the_fork() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create"]);
    for row in 1..9 {
        let text = noise(row, 50_000);
        done(&project, &["set", "--text", &format!("A{row}"), &text]);
    }
    done(&project, &["clear", "A:A"]);
    let refused = project.cellar(&["revert", "--to", "0.8"]);
    assert!(refused.code == 1 && refused.stderr.contains("cellar fork --at 0.8"), "{refused:?}");
    assert_eq!(done(&project, &["export", "-"]).stdout, "");
    done(&project, &["fork", "--at", "0.8"]);
    assert_eq!(done(&project, &["export", "-"]).stdout.lines().count(), 8);
}

#[test]
fn an_edit_on_what_another_has_moved_lands_where_it_was_meant() {
    let project = Project::new();
    project.deploy();
    let id = done(&project, &["create"]).stdout.trim().to_owned();
    done(&project, &["set", "A1", "a", "A2", "b", "A3", "c"]);
    let other = other_user(&project);
    done(&other, &["-s", &id, "rows", "insert", "1", "--count", "2"]);
    let deleted = done(&project, &["rows", "delete", "2"]);
    assert!(deleted.stdout.starts_with("deleted row 2 "), "{deleted:?}");
    assert!(deleted.stderr.contains("the edit became: deleted row 4"), "{deleted:?}");
    assert_eq!(done(&project, &["export", "-"]).stdout, "\"\"\n\"\"\na\nc\n");
}

#[test]
fn a_large_text_goes_by_upload_and_reads_back() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create"]);
    let texts: Vec<String> = (0..4).map(|seed| noise(seed, 50_000)).collect();
    let [a, b, c, d] = texts.as_slice() else { panic!() };
    let set =
        done(&project, &["set", "--text", "A1", a, "A2", b, "A3", c, "A4", d, "--cost", "--json"]);
    let cost: Value = serde_json::from_str(set.stderr.lines().last().unwrap()).unwrap();
    let cost = &cost["cost"];
    println!("200 KB by upload: {cost}");
    assert_eq!((cost["writeUnits"].as_u64(), cost["objectPuts"].as_u64()), (Some(1), Some(1)));
    assert_eq!(cost["unknownRequests"], 0);
    assert!(cost["objectBytesSent"].as_u64().unwrap() < 200_000, "{cost}");
    assert_eq!(json(&project, &["get"])["texts"].as_array().unwrap(), &texts);
    let history = done(&project, &["history", "--limit", "1"]);
    assert!(history.stdout.contains("1 large edit, "), "{history:?}");
    done(&project, &["set", "A5", "after"]);
    let undone = done(&project, &["undo", "0.1"]);
    assert!(undone.stdout.starts_with("undid 0.1: 4 cells A1:A4"), "{undone:?}");
    assert_eq!(json(&project, &["get"])["texts"], serde_json::json!(["after"]));
}

#[test]
fn an_import_goes_into_the_sheet_that_is_named_or_else_becomes_one() {
    let project = Project::new();
    project.deploy();
    let id = done(&project, &["create"]).stdout.trim().to_owned();
    done(&project, &["sheets", "add", "B"]);
    done(&project, &["sheets", "delete", "Sheet1"]);
    done(&project, &["sheets", "add", "My costs"]);
    std::fs::write(project.path("s.csv"), "a,b\n1,2\n3,4\n").unwrap();
    done(&project, &["import", "s.csv", "--into", &id]);
    let named = done(&project, &["export", "-", "--sheet", "s"]);
    assert_eq!((named.stdout.as_str(), named.stderr.as_str()), ("a,b\n1,2\n3,4\n", ""));
    let first = done(&project, &["export", "-"]);
    assert!(first.stderr.contains("2 other sheets were not exported"), "{first:?}");
    done(&project, &["export", "all.xlsx"]);
    assert_eq!(json(&project, &["export", "first.csv"])["sheets_left_out"], 2);
    done(&project, &["import", "s.csv", "--into", &id, "--sheet", "my COSTS", "--cell", "B1"]);
    let costs = done(&project, &["export", "-", "--sheet", "My costs"]).stdout;
    assert_eq!(costs, ",a,b\n,1,2\n,3,4\n");
    let run = project.cellar(&["import", "s.csv", "--into", &id, "--sheet", "Nope"]);
    assert!(run.code == 1 && run.stderr.contains("B, My costs, s"), "{run:?}");
}

#[test]
fn an_undo_goes_past_edits_of_which_nothing_is_still_there() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create"]);
    done(&project, &["set", "A1", "one"]);
    done(&project, &["set", "A2", "two"]);
    delete_row_as_bob(&project, "2");
    let undone = done(&project, &["undo"]);
    assert!(undone.stdout.starts_with("undid 0.1: A1 cleared"), "{undone:?}");
    assert!(
        undone.stderr.contains("Skipped newer edits that can no longer be undone: 0.2"),
        "{undone:?}"
    );
    let none = project.cellar(&["undo"]);
    assert!(none.code == 1 && none.stderr.contains("of your newest edits: 0.2\n"), "{none:?}");
    done(&project, &["set", "A1", "three"]);
    let result = json(&project, &["undo"]);
    assert_eq!((&result["undone"], &result["skipped"]), (&5.into(), &serde_json::json!([])));
    done(&project, &["set", "A1", "four"]);

    // An undo of an entry that is not an edit is refused before it is sent.
    let head = done(&project, &["head"]).stdout;
    for (position, why) in [
        ("0.0", "cannot undo 0.0: the spreadsheet was created"),
        ("0.99", "cannot undo 0.99: position 0.99 does not exist; the newest is 0.7"),
    ] {
        let run = project.cellar(&["undo", position]);
        assert!(run.code == 1 && run.stderr.contains(why), "{run:?}");
        assert!(!run.stderr.contains("undid"), "{run:?}");
    }
    let again = project.cellar(&["undo", "0.1"]);
    assert!(again.code == 1 && again.stderr.contains("0.1 is already undone"), "{again:?}");
    assert_eq!(done(&project, &["head"]).stdout, head, "something was appended");
}

#[test]
fn an_undo_tries_ten_edits_and_no_more() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create"]);
    let gone = |edits: u32| {
        done(&project, &["set", "A1", "one"]);
        for value in 0..edits {
            done(&project, &["set", "A2", &value.to_string()]);
        }
        delete_row_as_bob(&project, "2");
        project.cellar(&["undo", "--json"])
    };
    let nine = gone(9);
    let result: Value = serde_json::from_str(&nine.stdout).unwrap();
    assert_eq!((&result["undone"], result["skipped"].as_array().unwrap().len()), (&1.into(), 9));
    let ten = gone(10);
    assert!(ten.code == 1 && ten.stderr.contains("cellar::nothing_to_undo"), "{ten:?}");
    assert_eq!(json(&project, &["get", "--range", "A1"])["texts"][0], "one");
}

#[test]
fn an_edit_of_a_sheet_that_others_deleted_is_not_told_as_done() {
    let project = Project::new();
    project.deploy();
    let id = done(&project, &["create"]).stdout.trim().to_owned();
    done(&project, &["sheets", "add", "B"]);
    done(&project, &["set", "B!A1", "1"]);
    let other = other_user(&project);
    done(&other, &["-s", &id, "sheets", "delete", "B"]);
    let set = project.cellar(&["set", "B!A2", "2"]);
    assert!(set.code == 2 && set.stderr.contains("the edit had no effect"), "{set:?}");
    // The last sheet remains and can be edited.
    done(&project, &["sheets", "add", "C"]);
    done(&other, &["-s", &id, "get"]);
    done(&other, &["-s", &id, "sheets", "delete", "Sheet1"]);
    let last = project.cellar(&["sheets", "delete", "C"]);
    assert!(last.code == 1 && last.stderr.contains("is the last sheet"), "{last:?}");
    let set = done(&other, &["-s", &id, "set", "C!A1", "2"]);
    assert!(!set.stderr.contains("Others have"), "{set:?}");
    assert_eq!(done(&project, &["export", "-"]).stdout, "2\n");
}

#[test]
fn sheets_have_their_names_in_what_is_told_about_them() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create"]);
    done(&project, &["sheets", "add", "B"]);
    done(&project, &["sheets", "rename", "B", "Costs"]);
    done(&project, &["sheets", "delete", "Costs"]);
    let back = done(&project, &["undo"]);
    assert!(back.stderr.contains("The sheet is recovered"), "{back:?}");
    let gone = done(&project, &["undo", "0.4"]);
    assert_eq!(gone.stdout, "undid 0.4: deleted sheet `Costs`   at 0.5\ntook back: 1 sheet\n");
    done(&project, &["sheets", "add", "C"]);
    let undone = done(&project, &["undo"]);
    assert!(!undone.stderr.contains("recovered"), "{undone:?}");
    assert_eq!(undone.stdout, "undid 0.6: deleted sheet `C`   at 0.7\ntook back: 1 sheet\n");
    let history = done(&project, &["history"]).stdout;
    for part in ["renamed sheet `B` to `Costs`", "deleted sheet `Costs`", "(as: deleted sheet `C`)"]
    {
        assert!(history.contains(part), "{part}: {history}");
    }
    let later = done(&project, &["history", "--until", "0.3", "--limit", "1"]);
    assert!(later.stdout.ends_with("deleted sheet `Costs`\n"), "{later:?}");

    // The last possible row: only one more row fits before it.
    let inserted = done(&project, &["rows", "insert", "1073741824", "--count", "5"]);
    assert_eq!(inserted.stdout, "inserted 1 row before row 1073741824   at 0.8\n");
    assert!(inserted.stderr.contains("Not all rows fit"), "{inserted:?}");
}
