//! Results of several cells, as a user works with them.

use serde_json::{Value, json};

use crate::formulas::{done, fill_up, json_of, project_with_snapshots, shown, text_of};
use crate::journey::Project;

fn cells(shown: Vec<(String, String)>) -> Vec<String> {
    shown.into_iter().map(|(cell, text)| format!("{cell}={text}")).collect()
}

fn note_of(project: &Project, cell: &str) -> String {
    let read = json_of(project, &["get", cell]);
    read["cells"][0]["note"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn results_fill_blank_cells_which_searches_and_other_formulas_read() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create"]);
    done(&project, &["set", "A1", "=SEQUENCE(3)", "B1", "=A1#*10", "C1", "=SUM(B1#)"]);
    let expected = ["A1=1", "B1=10", "C1=60", "A2=2", "B2=20", "A3=3", "B3=30"];
    assert_eq!(cells(shown(&project, &[])), expected);
    let read = json_of(&project, &["get"]);
    assert_eq!(read["extent"], json!({"rows": 3, "columns": 3}));
    assert_eq!(read["cells"][0]["fills"], "A1:A3");
    assert_eq!(read["cells"][4]["filled_by"], "B1");

    assert!(done(&project, &["find", "20"]).stdout.contains("B2"));
    let rows = json_of(&project, &["get", "--where", "B>=20", "--sum", "B"]);
    assert_eq!((&rows["rows"], &rows["sum"]["sum"]), (&json!(2), &json!(50.0)), "{rows}");
    let traced = json_of(&project, &["trace", "B3"]);
    assert_eq!(traced["filledBy"], "Sheet1!B1", "{traced}");
}

#[test]
fn a_value_in_the_way_of_a_result_is_named() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create"]);
    done(&project, &["set", "A1", "=SEQUENCE(3)", "B1", "=SUM(A1:A3)"]);
    done(&project, &["set", "A3", "x"]);
    assert_eq!(cells(shown(&project, &[])), ["A1=#SPILL!", "B1=#SPILL!", "A3=x"]);
    assert_eq!(note_of(&project, "A1"), "the result needs A3, which is not empty");
    done(&project, &["undo"]);
    assert_eq!(text_of(&project, "B1"), "6");
    // A row that is inserted into the filled cells is filled too.
    done(&project, &["rows", "insert", "2"]);
    assert_eq!(cells(shown(&project, &["A:A"])), ["A1=1", "A2=2", "A3=3"]);
    done(&project, &["rows", "insert", "1"]);
    assert_eq!(cells(shown(&project, &["A:A"])), ["A2=1", "A3=2", "A4=3"]);
    assert_eq!(text_of(&project, "B2"), "6");
}

/// A snapshot stores neither filled cells nor the values of formulas that read them.
#[test]
fn results_after_a_snapshot_are_those_before() {
    let project = project_with_snapshots();
    let set = ["set", "D1", "=SEQUENCE(2,2,5)", "D4", "=SUM(D1:E2)", "F1", "=D4+1", "F2", "=E1"];
    done(&project, &set);
    let expected = ["D1=5", "E1=6", "F1=27", "D2=7", "E2=8", "F2=6", "D4=26"];
    assert_eq!(cells(shown(&project, &["D1:F4"])), expected);
    fill_up(&project);
    assert_eq!(cells(shown(&project, &["D1:F4"])), expected);
    done(&project, &["set", "D1", "=SEQUENCE(2,2,50)"]);
    assert_eq!(text_of(&project, "F1"), "207");
    done(&project, &["set", "D1", "3"]);
    assert_eq!(cells(shown(&project, &["D1:F4"])), ["D1=3", "F1=4", "F2=0", "D4=3"]);
    fill_up(&project);
    assert_eq!(cells(shown(&project, &["D1:F4"])), ["D1=3", "F1=4", "F2=0", "D4=3"]);
}

#[test]
fn files_keep_results_of_several_cells() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create"]);
    done(&project, &["set", "A1", "=SEQUENCE(3)", "B1", "=SUM(A1:A3)", "B2", "=@A1:A3"]);
    let before = cells(shown(&project, &[]));
    done(&project, &["export", "out.xlsx"]);
    done(&project, &["create", "Again"]);
    let imported: Value = json_of(&project, &["import", "out.xlsx"]);
    assert_eq!(imported["stopped"], Value::Null, "{imported}");
    let sheets = json_of(&project, &["sheets"]);
    let sheet = sheets["sheets"].as_array().unwrap().last().unwrap()["name"].clone();
    let shown_again = shown(&project, &["--sheet", sheet.as_str().unwrap()]);
    assert_eq!(cells(shown_again), before);
}
