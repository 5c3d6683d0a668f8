//! Exports of imported files, over several pages and in every format. Exports from chunks are compared
//! with them in `tests/integration/client_reader`.

use std::path::Path;

use super::command::Case;
use super::fake::Cells;
use super::workbook_imports::{every_kind, write_workbook};

const FILES: [&str; 3] = ["airports.csv", "seattle-weather.csv", "us-employment.csv"];

fn data(name: &str) -> String {
    format!("{}/../tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn records(path: &Path) -> Vec<csv::StringRecord> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_path(path).unwrap();
    reader.records().map(Result::unwrap).collect()
}

#[test]
fn imported_csv_files_are_exported_unchanged_page_by_page() {
    for name in FILES {
        let case = Case::new();
        case.text(&["import", &data(name)]);
        case.text(&["export", "out.csv", "--remote"]);
        assert_eq!(records(&case.path("out.csv")), records(Path::new(&data(name))), "{name}");
        let original = std::fs::read_to_string(data(name)).unwrap().replace("\r\n", "\n");
        let exported = std::fs::read_to_string(case.path("out.csv")).unwrap();
        // Exports omit unnecessary quotes.
        assert!(exported == original || original.contains('"'), "{name}");
        // The same for xlsx.
        case.text(&["export", "out.xlsx", "--remote"]);
        case.text(&["import", "out.xlsx"]);
        case.text(&["export", "again.csv", "--remote"]);
        assert_eq!(std::fs::read_to_string(case.path("again.csv")).unwrap(), exported, "{name}");
        let pages = case
            .fake
            .lock()
            .received
            .iter()
            .filter(|received| received.uri.contains("cursor="))
            .count();
        assert!(pages > 5, "the pages were not followed");
    }
}

#[test]
fn an_imported_workbook_is_exported_unchanged_and_imported_again() {
    let case = Case::new();
    let sheets = [("Kinds", every_kind()), ("Empty", Cells::new()), ("It's", every_kind())];
    write_workbook(&case.path("in.xlsx"), &sheets);
    let first = case.json(&["import", "in.xlsx"]);
    // The fake server does not calculate, so that the formulas keep their values.
    let exported = case.json(&["export", "out.xlsx", "--remote"]);
    assert_eq!(exported["sheets"].as_array().unwrap().len(), 3, "{exported}");
    assert_eq!(exported["cells"], first["cells"]);
    let second = case.json(&["import", "out.xlsx"]);
    let cells = |imported: &serde_json::Value| {
        case.fake.sheets(imported["spreadsheet"].as_str().unwrap().parse().unwrap())
    };
    assert_eq!(cells(&first), cells(&second));
    assert_eq!(cells(&second)[2].0, "It's");
    assert_eq!(cells(&second)[2].1, every_kind());
}

#[test]
fn exports_one_sheet_at_one_position_in_the_requested_format() {
    let case = Case::new();
    let id = case.text(&["create"]).trim().to_owned();
    case.text(&["set", "A1", "before"]);
    std::fs::write(case.path("costs.csv"), "a,b\n1,2.50\n").unwrap();
    case.text(&["import", "costs.csv", "--into", &id]);
    case.text(&["set", "A1", "after"]);
    let export = |arguments: &[&str]| case.text(&[&["export"], arguments].concat());
    assert_eq!(export(&["-"]), "after\n");
    assert_eq!(export(&["-", "--at", "0.1"]), "before\n");
    assert_eq!(export(&["-", "--sheet", "COSTS", "--format", "tsv"]), "a\tb\n1\t2.50\n");
    let one = case.json(&["export", "one.xlsx", "--sheet", "costs"]);
    assert_eq!(one["sheets"].as_array().unwrap().len(), 1);
    let two = case.json(&["export", "two.xlsx", "--at", "0.2"]);
    assert_eq!(two["sheets"][0]["name"], "Sheet1");
    let looked = case.json(&["import", "two.xlsx", "--dry-run"]);
    assert_eq!((&looked["cells"], &looked["sheets"][1]["name"]), (&5.into(), &"costs".into()));

    let output = case.run(&["export", "-", "--format", "xlsx"]);
    assert!(output.status.success() && output.stdout.starts_with(b"PK"));
    std::fs::write(case.path("piped.xlsx"), &output.stdout).unwrap();
    assert_eq!(case.json(&["import", "piped.xlsx", "--dry-run"])["cells"], 5);
    let (code, error) = case.error(&["export", "x.xlsx", "--sheet", "Nope"]);
    assert!(code == 1 && error.contains("404") && !case.path("x.xlsx").exists(), "{error}");
    assert_eq!(case.error(&["export", "x.ods"]).0, 64);
    assert_eq!(case.error(&["export", "x.xlsx", "--formulas"]).0, 64);
}

#[test]
fn a_text_too_long_for_excel_is_an_error_with_advice() {
    let case = Case::new();
    case.text(&["create"]);
    case.text(&["set", "A1", &"x".repeat(40_000)]);
    let (code, error) = case.error(&["export", "x.xlsx"]);
    assert!(code == 1 && error.contains("32,767") && error.contains("csv"), "{error}");
    assert_eq!(case.text(&["export", "-"]).len(), 40_001);
}
