//! Imports and exports on a real cloud, without loss.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

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

fn deployed() -> Project {
    let project = Project::new();
    project.deploy();
    project
}

/// Returns a pseudorandom number for a row.
fn mixed(row: u64) -> u64 {
    let mixed = row.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11
}

/// Returns rows of three fields that hardly compress.
fn large(rows: u64) -> String {
    let row = |row| format!("{row},{},{:x}\n", mixed(row), mixed(row + 1_000_000_000));
    (0..rows).map(row).collect()
}

#[test]
fn a_sheet_of_many_tiles_comes_out_as_it_went_in_at_any_position() {
    let project = deployed();
    let text = large(120_000);
    std::fs::write(project.path("large.csv"), &text).unwrap();
    let imported = json(&project, &["import", "large.csv"]);
    assert!(imported["objects"].as_u64().unwrap() > 5, "{imported}");
    assert_eq!(imported["cells"], 360_000);
    done(&project, &["export", "out.csv"]);
    assert!(std::fs::read_to_string(project.path("out.csv")).unwrap() == text, "it differs");

    done(&project, &["rows", "delete", "1:119998"]);
    done(&project, &["set", "A1", "new"]);
    let rest: Vec<&str> = text.lines().skip(119_998).collect();
    let last = rest[0].replacen("119998", "new", 1);
    let edited = format!("{last}\n{}\n", rest[1]);
    assert_eq!(done(&project, &["export", "-"]).stdout, edited);
    let before = done(&project, &["export", "before.csv", "--at", "0.1"]);
    assert!(before.stdout.contains("120,000 rows"), "{before:?}");
    assert!(std::fs::read_to_string(project.path("before.csv")).unwrap() == text, "it differs");
    assert_eq!(done(&project, &["export", "-", "--at", "0.0"]).stdout, "");
}

#[test]
fn a_workbook_goes_in_and_out_with_all_its_sheets() {
    let project = deployed();
    let long = "long text ".repeat(2_000);
    std::fs::write(project.path("a.csv"), format!("day,ok,{long}\n2026-11-21,TRUE,0.50\n"))
        .unwrap();
    let id = json(&project, &["import", "a.csv"])["spreadsheet"].as_str().unwrap().to_owned();
    std::fs::write(project.path("b.csv"), "007,1\n").unwrap();
    done(&project, &["import", "b.csv", "--into", &id]);
    done(&project, &["export", "book.xlsx"]);
    let again = json(&project, &["import", "book.xlsx"]);
    assert_eq!(again["sheets"][1]["name"], "b");
    assert_ne!(again["spreadsheet"].as_str(), Some(id.as_str()));
    for (sheet, file) in [("a", "a.csv"), ("b", "b.csv")] {
        let expected = std::fs::read_to_string(project.path(file)).unwrap();
        let exported = done(&project, &["export", "-", "--sheet", sheet]).stdout;
        assert_eq!(exported, expected, "{sheet}");
    }
    let history = done(&project, &["history"]).stdout;
    assert_eq!(history.lines().count(), 2, "the sheets are not in one entry: {history}");
}

#[test]
fn a_sheet_is_replaced_and_still_there_at_earlier_positions() {
    let project = deployed();
    std::fs::write(project.path("prices.csv"), "a\n1\n").unwrap();
    let id = json(&project, &["import", "prices.csv"])["spreadsheet"].as_str().unwrap().to_owned();
    let set = done(&project, &["set", "A2", "2"]);
    std::fs::write(project.path("today.csv"), "b\n3\n").unwrap();
    for _ in 0..2 {
        let replaced =
            json(&project, &["import", "today.csv", "--into", &id, "--replace", "Prices"]);
        assert_eq!(replaced["sheets"][0]["name"], "prices");
    }
    assert_eq!(done(&project, &["export", "-"]).stdout, "b\n3\n");
    assert_eq!(json(&project, &["sheets"])["sheets"].as_array().unwrap().len(), 1);
    let before = set.stdout.trim().rsplit(' ').next().unwrap();
    assert_eq!(done(&project, &["export", "-", "--at", before]).stdout, "a\n2\n");
    // The next edit goes to the sheet that exists now.
    done(&project, &["set", "A3", "4"]);
    assert_eq!(done(&project, &["export", "-"]).stdout, "b\n3\n4\n");
}

#[test]
fn an_import_that_is_killed_while_it_uploads_leaves_nothing_and_can_be_repeated() {
    let project = deployed();
    let text = large(150_000);
    std::fs::write(project.path("large.csv"), &text).unwrap();
    let mut killed = 0;
    for delay_ms in [200, 600, 1_200, 2_000] {
        let mut import = std::process::Command::new(env!("CARGO_BIN_EXE_test-cellar"))
            .current_dir(project.path("."))
            .args(["import", "large.csv"])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(delay_ms));
        killed += u32::from(import.try_wait().unwrap().is_none());
        import.kill().unwrap();
        import.wait().unwrap();
    }
    assert!(killed > 0, "the import was never killed");
    done(&project, &["import", "large.csv"]);
    done(&project, &["export", "out.csv"]);
    assert!(std::fs::read_to_string(project.path("out.csv")).unwrap() == text, "it differs");
}

#[test]
fn an_import_costs_its_objects_and_one_small_entry() {
    let project = deployed();
    std::fs::write(project.path("large.csv"), large(60_000)).unwrap();
    let run = done(&project, &["import", "large.csv", "--cost", "--json"]);
    let imported: Value = serde_json::from_str(&run.stdout).unwrap();
    let cost: Value = serde_json::from_str(run.stderr.lines().last().unwrap()).unwrap();
    let cost = &cost["cost"];
    println!("import of 180,000 cells: {cost}");
    // Each object is uploaded, read and verified, and stored under its name.
    let objects = imported["objects"].as_u64().unwrap();
    assert_eq!((&cost["objectPuts"], &cost["objectGets"]), (&json!(2 * objects), &json!(objects)));
    assert_eq!(cost["unknownRequests"], 0, "{cost}");
    // Four units for the creation, and one for each KB of the entry.
    assert!(cost["writeUnits"].as_u64().unwrap() <= 8, "{cost}");
}

#[test]
fn imported_formulas_name_the_sheets_of_their_file() {
    let project = deployed();
    done(&project, &["create"]);
    done(&project, &["sheets", "add", "Costs"]);
    done(&project, &["set", "--sheet", "Costs", "A1", "5", "B1", "=Sheet1!B1"]);
    done(&project, &["set", "A1", "=Costs!A1*2", "B1", "7"]);
    done(&project, &["export", "book.xlsx"]);
    // The names of both sheets are taken in the other spreadsheet.
    let id = done(&project, &["create"]).stdout.trim().to_owned();
    done(&project, &["sheets", "add", "Costs"]);
    done(&project, &["set", "--sheet", "Costs", "A1", "100"]);
    let imported = json(&project, &["import", "book.xlsx", "--into", &id]);
    let name = |index: usize| imported["sheets"][index]["name"].as_str().unwrap().to_owned();
    let (first, costs) = (name(0), name(1));
    assert!(first != "Sheet1" && costs != "Costs", "{imported}");
    let read = |sheet: &str, cell: &str| {
        let read = json(&project, &["get", "--sheet", sheet, "--range", cell]);
        let formula = read["cells"][0]["formula"].as_str().unwrap().to_owned();
        (formula, read["texts"][0].as_str().unwrap().to_owned())
    };
    assert_eq!(read(&first, "A1"), (format!("='{costs}'!A1*2"), "10".to_owned()));
    assert_eq!(read(&costs, "B1"), (format!("='{first}'!B1"), "7".to_owned()));
    done(&project, &["sheets", "rename", &costs, "Prices"]);
    done(&project, &["rows", "insert", "1", "--sheet", "Prices"]);
    assert_eq!(read(&first, "A1"), ("=Prices!A2*2".to_owned(), "10".to_owned()));
    done(&project, &["sheets", "delete", "Prices"]);
    assert_eq!(read(&first, "A1"), ("=#REF!*2".to_owned(), "#REF!".to_owned()));
    done(&project, &["undo"]);
    assert_eq!(read(&first, "A1"), ("=Prices!A2*2".to_owned(), "10".to_owned()));
    assert_eq!(read("Prices", "B2"), (format!("='{first}'!B1"), "7".to_owned()));
}
