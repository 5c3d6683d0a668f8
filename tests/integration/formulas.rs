//! Formulas, as a user works with them.

use cellar_base::limits::MAX_TRACED_FORMULAS;
use serde_json::{Value, json};

use crate::journey::{Project, Run};

pub(crate) fn done(project: &Project, arguments: &[&str]) -> Run {
    let run = project.cellar(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
    run
}

pub(crate) fn json_of(project: &Project, arguments: &[&str]) -> Value {
    let run = done(project, &[arguments, &["--json"]].concat());
    serde_json::from_str(&run.stdout).unwrap()
}

/// Returns cells and what they display. The client and the server calculate the same.
pub(crate) fn shown(project: &Project, arguments: &[&str]) -> Vec<(String, String)> {
    let read = json_of(project, &[&["get"], arguments].concat());
    let remote = json_of(project, &[&["get", "--remote"], arguments].concat());
    assert_eq!(read["cells"], remote["cells"], "{arguments:?}");
    let cells = read["cells"].as_array().unwrap().iter().zip(read["texts"].as_array().unwrap());
    cells
        .map(|(cell, text)| {
            let column = char::from(b'A' + u8::try_from(cell["column"].as_u64().unwrap()).unwrap());
            let name = format!("{column}{}", cell["row"].as_u64().unwrap() + 1);
            (name, text.as_str().unwrap().to_owned())
        })
        .collect()
}

pub(crate) fn text_of(project: &Project, cell: &str) -> String {
    let cells = shown(project, &["--range", cell]);
    cells.into_iter().next().map(|(_, text)| text).unwrap_or_default()
}

fn formula_of(project: &Project, cell: &str) -> String {
    let read = json_of(project, &["get", "--range", cell]);
    read["cells"][0]["formula"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn formulas_calculate_follow_edits_and_keep_their_history() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create"]);
    done(&project, &["set", "A1", "1", "A2", "2", "A3", "=sum(a1:A2)", "B1", "=A3*10"]);
    assert_eq!((text_of(&project, "A3"), text_of(&project, "B1")), ("3".into(), "30".into()));
    assert_eq!(formula_of(&project, "A3"), "=SUM(A1:A2)");

    done(&project, &["rows", "insert", "2"]);
    assert_eq!(
        (formula_of(&project, "A4"), formula_of(&project, "B1")),
        ("=SUM(A1:A3)".into(), "=A4*10".into())
    );
    done(&project, &["set", "A2", "4"]);
    assert_eq!((text_of(&project, "A4"), text_of(&project, "B1")), ("7".into(), "70".into()));
    done(&project, &["rows", "delete", "1"]);
    assert_eq!(
        (formula_of(&project, "A3"), text_of(&project, "A3")),
        ("=SUM(A1:A2)".into(), "6".into())
    );
    // The first row had B1.
    assert_eq!(text_of(&project, "B1"), "");
    let then = json_of(&project, &["get", "--at", "0.1"]);
    assert_eq!(then["texts"], json!(["1", "30", "2", "3"]));

    done(&project, &["undo"]);
    assert_eq!(
        (text_of(&project, "A1"), formula_of(&project, "B1")),
        ("1".into(), "=A4*10".into())
    );
    assert_eq!(
        (formula_of(&project, "A4"), text_of(&project, "A4")),
        ("=SUM(A1:A3)".into(), "7".into())
    );

    let traced = done(&project, &["trace", "A4"]).stdout;
    assert!(traced.contains("reads") && traced.contains("Sheet1!A1:A3"), "{traced}");
    assert!(
        traced.contains("is read by  Sheet1!B1  =A4*10") || traced.contains("Sheet1!B1"),
        "{traced}"
    );
}

/// Returns the position in the output of an edit.
fn position_in(run: &Run) -> String {
    let first_line = run.stdout.lines().next().unwrap();
    first_line.rsplit(" at ").next().unwrap().to_owned()
}

/// Deploys a stack that starts a snapshot after every ten edits.
pub(crate) fn project_with_snapshots() -> Project {
    let project = Project::new();
    std::fs::write(project.path("cellar.yaml"), "snapshots:\n  entries: 10\n").unwrap();
    project.deploy();
    done(&project, &["create"]);
    project
}

/// Appends edits until there is a new snapshot.
pub(crate) fn fill_up(project: &Project) {
    for number in 0..12 {
        done(project, &["set", "Z99", &number.to_string()]);
    }
}

#[test]
fn an_undo_of_deleted_rows_restores_references_to_them() {
    let project = project_with_snapshots();
    done(&project, &["sheets", "add", "Other"]);
    done(
        &project,
        &["set", "A4", "4", "A5", "5", "B5", "=A4+A5", "C1", "=A5*2", "C2", "=SUM(A1:A5)"],
    );
    done(&project, &["set", "C3", "=A5*3"]);
    done(&project, &["set", "--sheet", "Other", "A1", "=SUM(Sheet1!A5:B5)"]);
    fill_up(&project);
    let deleted = position_in(&done(&project, &["rows", "delete", "5"]));
    assert_eq!(
        (formula_of(&project, "C1"), formula_of(&project, "C2")),
        ("=#REF!*2".into(), "=SUM(A1:A4)".into())
    );
    // Another formula is changed, and a row is inserted above.
    done(&project, &["set", "C3", "7"]);
    done(&project, &["rows", "insert", "1"]);
    fill_up(&project);
    let undone = done(&project, &["undo", &deleted]);
    let report =
        "took back: 2 cells, 1 row, 3 formulas\nleft, because they were changed since: 1 formula\n";
    assert!(undone.stdout.ends_with(report), "{undone:?}");
    assert_eq!(
        (formula_of(&project, "C2"), formula_of(&project, "C3"), formula_of(&project, "B6")),
        ("=A6*2".into(), "=SUM(A2:A6)".into(), "=A5+A6".into())
    );
    assert_eq!((text_of(&project, "C3"), text_of(&project, "C4")), ("9".into(), "7".into()));
    assert_eq!(text_of(&project, "C2"), "10");
    let other = json_of(&project, &["get", "--sheet", "Other", "--range", "A1"]);
    assert_eq!(
        (&other["cells"][0]["formula"], &other["texts"][0]),
        (&json!("=SUM(Sheet1!A6:B6)"), &json!("14"))
    );

    // A redo deletes the row and the references again, and can be undone.
    let redone = done(&project, &["undo", &position_in(&undone)]);
    assert_eq!(
        (formula_of(&project, "C2"), formula_of(&project, "C3"), text_of(&project, "C4")),
        ("=#REF!*2".into(), "=SUM(A2:A5)".into(), "7".into())
    );
    done(&project, &["undo", &position_in(&redone)]);
    assert_eq!(formula_of(&project, "C2"), "=A6*2");
}

#[test]
fn an_undo_and_a_revert_restore_references_to_a_deleted_sheet() {
    let project = project_with_snapshots();
    done(&project, &["sheets", "add", "Costs"]);
    done(&project, &["set", "--sheet", "Costs", "A1", "5", "A2", "=A1*2"]);
    done(&project, &["set", "A1", "=SUM(Costs!A:A)", "A2", "=Costs!A2+1"]);
    let shows = |first: &str, second: &str| {
        assert_eq!(
            (text_of(&project, "A1"), text_of(&project, "A2")),
            (first.into(), second.into())
        );
    };
    shows("15", "11");
    done(&project, &["sheets", "delete", "Costs"]);
    shows("#REF!", "#REF!");
    let undone = done(&project, &["undo"]);
    assert!(undone.stdout.ends_with("\ntook back: 2 cells, 1 sheet, 2 formulas\n"), "{undone:?}");
    shows("15", "11");
    let before = position_in(&done(&project, &["set", "--sheet", "Costs", "A1", "6"]));
    shows("18", "13");
    fill_up(&project);
    done(&project, &["rows", "delete", "2", "--sheet", "Costs"]);
    done(&project, &["sheets", "delete", "Costs"]);
    shows("#REF!", "#REF!");
    done(&project, &["revert", "--to", &before]);
    assert_eq!(formula_of(&project, "A2"), "=Costs!A2+1");
    shows("18", "13");
}

#[test]
fn formulas_name_other_sheets_and_names() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create"]);
    done(&project, &["sheets", "add", "Costs"]);
    done(&project, &["set", "--sheet", "Costs", "A1", "5", "A2", "7"]);
    done(&project, &["names", "set", "PRICES", "A1:A2", "--sheet", "Costs"]);
    done(&project, &["set", "A1", "=SUM(Costs!A:A)", "A2", "=MAX(prices)"]);
    assert_eq!((text_of(&project, "A1"), text_of(&project, "A2")), ("12".into(), "7".into()));
    done(&project, &["sheets", "rename", "Costs", "My costs"]);
    assert_eq!(
        (formula_of(&project, "A1"), text_of(&project, "A1")),
        ("=SUM('My costs'!A:A)".into(), "12".into())
    );
    done(&project, &["rows", "insert", "1", "--sheet", "My costs"]);
    done(&project, &["set", "--sheet", "My costs", "A1", "100"]);
    assert_eq!((text_of(&project, "A1"), text_of(&project, "A2")), ("112".into(), "7".into()));
    done(&project, &["sheets", "delete", "My costs"]);
    assert_eq!(
        (text_of(&project, "A1"), text_of(&project, "A2")),
        ("#REF!".into(), "#REF!".into())
    );
}

#[test]
fn a_syntax_error_is_refused_with_its_place_and_a_cycle_is_named() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create"]);
    let refused = project.cellar(&["set", "A1", "=SUM(B1"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("A1: =SUM(B1 is not a formula: character 8"), "{refused:?}");
    done(&project, &["set", "A1", "=B1", "B1", "=A1"]);
    let cyclic = done(&project, &["get"]);
    assert!(cyclic.stdout.contains("#REF!"), "{cyclic:?}");
    assert!(
        cyclic.stderr.contains("A1: the formula depends on itself: A1 → B1 → A1"),
        "{cyclic:?}"
    );
    let formulas = done(&project, &["get", "--formulas"]);
    assert!(formulas.stdout.contains("=B1") && !formulas.stdout.contains("#REF!"), "{formulas:?}");
}

#[test]
fn xlsx_files_keep_formulas_and_recalculate_them() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create"]);
    done(
        &project,
        &[
            "set",
            "A1",
            "2026-11-26",
            "A2",
            "=A1+7",
            "B1",
            "1.5",
            "B2",
            "=B1*2",
            "C2",
            "=XLOOKUP(3,B1:B2,A1:A2)",
        ],
    );
    let before = shown(&project, &[]);
    assert_eq!(
        before[2..],
        [
            ("A2".into(), "2026-12-03".into()),
            ("B2".into(), "3".into()),
            ("C2".into(), "2026-12-03".into())
        ]
    );
    done(&project, &["export", "out.xlsx"]);
    done(&project, &["import", "out.xlsx"]);
    assert_eq!(shown(&project, &[]), before);
    assert_eq!(formula_of(&project, "C2"), "=XLOOKUP(3,B1:B2,A1:A2)");
    done(&project, &["set", "B1", "5"]);
    assert_eq!(text_of(&project, "B2"), "10");
    let csv = done(&project, &["export", "-"]).stdout;
    assert_eq!(csv.lines().nth(1).unwrap(), "2026-12-03,10,#N/A");
}

#[test]
fn a_trace_lists_a_bounded_number_of_formulas() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create"]);
    let pairs: Vec<String> = (0..MAX_TRACED_FORMULAS)
        .flat_map(|row| [format!("B{}", row + 1), "=$A$1".to_owned()])
        .collect();
    let set: Vec<&str> = ["set"].into_iter().chain(pairs.iter().map(String::as_str)).collect();
    done(&project, &set);
    let trace = json_of(&project, &["trace", "A1"]);
    assert_eq!(
        (trace["readBy"].as_array().unwrap().len(), &trace["complete"]),
        (MAX_TRACED_FORMULAS, &json!(true))
    );
    done(&project, &["set", "C1", "=SUM(A:A)"]);
    let trace = json_of(&project, &["trace", "A1"]);
    assert_eq!(
        (trace["readBy"].as_array().unwrap().len(), &trace["complete"]),
        (MAX_TRACED_FORMULAS, &json!(false))
    );
}
