//! The command `cellar import`: what it detects, reports and refuses.

use std::process::Command;

use super::command::Case;
use super::fake::Fault;
use super::workbook_imports::{every_kind, write_workbook};

#[test]
fn the_delimiter_and_the_encoding_are_detected_or_chosen() {
    let case = Case::new();
    let text: Vec<u8> =
        "\u{feff}größe;b\n1;2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(case.path("a.csv"), text).unwrap();
    let stderr = String::from_utf8(case.run(&["import", "a.csv"]).stderr).unwrap();
    assert!(stderr.contains("Detected: delimiter semicolon, encoding UTF-16LE"), "{stderr}");
    let json = case.json(&["import", "a.csv", "--dry-run"]);
    assert_eq!(
        (json["delimiter"].as_str(), json["encoding"].as_str()),
        (Some(";"), Some("UTF-16LE"))
    );
    assert_eq!(json["sheets"][0]["columns"], 2);
    let json = case.json(&["import", "a.csv", "--delimiter", "|"]);
    assert_eq!((json["delimiter"].as_str(), json["cells"].as_u64()), (Some("|"), Some(2)));

    std::fs::write(case.path("old.csv"), b"a\ncaf\xe9\n").unwrap();
    let (code, error) = case.error(&["import", "old.csv"]);
    assert!(code == 1 && error.contains("line 2: invalid UTF-8 at byte 5"), "{error}");
    assert!(error.contains("`--encoding windows-1252`"), "{error}");
    let json = case.json(&["import", "old.csv", "--encoding", "windows-1252"]);
    assert_eq!(json["encoding"], "windows-1252");
    let id = json["spreadsheet"].as_str().unwrap().parse().unwrap();
    assert!(case.fake.texts(id).iter().any(|(_, text)| text == "café"));
    let (code, error) = case.error(&["import", "old.csv", "--encoding", "utf-9"]);
    assert!(code == 64 && error.contains("unknown encoding"), "{error}");
}

#[test]
fn an_import_hints_at_a_wrong_delimiter_and_shows_progress() {
    let case = Case::new();
    std::fs::write(case.folder.path().join("a.csv"), "a;b\n1;2\n").unwrap();
    let hint = "the file has only one column; it may require `--delimiter semicolon`";
    let output = case.run(&["import", "a.csv", "--delimiter", "comma"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains(hint), "{stderr}");
    let json = case.json(&["import", "a.csv", "--delimiter", ","]);
    assert_eq!(json["hint"].as_str(), Some(hint));
    let right = case.json(&["import", "a.csv", "--delimiter", ";"]);
    assert!(right["hint"].is_null() && right["sheets"][0]["columns"] == 2, "{right}");
    let id = right["spreadsheet"].as_str().unwrap();
    let output = case.run(&["import", "a.csv", "--delimiter", ",", "--into", id, "--sheet", "A"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains(hint), "{stderr}");
    assert!(stderr.contains("2 of 2 cells"), "{stderr}");
    assert!(stderr.contains(&format!("Next: cellar get -s {id} --sheet A")), "{stderr}");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/airports.csv");
    let output = case.run(&["import", file, "--into", id, "--sheet", "A"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    let mut parts =
        stderr.lines().filter_map(|line| line.strip_suffix(" cells")?.split_once(" of "));
    let (done, cells) = parts.next_back().unwrap();
    assert_eq!(done, cells, "{stderr}");
}

#[test]
fn a_workbook_is_imported_and_rejects_csv_options() {
    let case = Case::new();
    let sheets = [("My costs", every_kind()), ("b", every_kind())];
    write_workbook(&case.path("book.xlsx"), &sheets);
    let output = case.run(&["import", "book.xlsx"]);
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.starts_with("book.xlsx: 2 sheets, 20 cells in "), "{stdout}");
    assert!(stdout.contains("  My costs: 40,001 rows, 202 columns, 10 cells"), "{stdout}");
    let id = case.json(&["import", "book.xlsx"])["spreadsheet"].as_str().unwrap().to_owned();
    let output = case.run(&["import", "book.xlsx", "--sheets", "my costs", "--into", &id]);
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(note.contains(&format!("cellar get -s {id} --sheet 'My costs (2)'")), "{note}");
    assert!(!note.contains("Columns:"), "{note}");

    for option in [&["--text"][..], &["--types", "A=text"], &["--delimiter", "tab"]] {
        let (code, error) = case.error(&[&["import", "book.xlsx"], option].concat());
        assert!(code == 64 && error.contains("the file is a workbook"), "{error}");
    }
    std::fs::write(case.path("a.csv"), "1\n").unwrap();
    let (code, error) = case.error(&["import", "a.csv", "--sheets", "a"]);
    assert!(code == 64 && error.contains("the file is a csv file"), "{error}");
    let (code, error) = case.error(&["import", "book.xlsx", "--sheets", "Nope"]);
    assert!(code == 1 && error.contains("My costs, b"), "{error}");
}

#[test]
fn contents_that_are_not_imported_are_listed_or_prevent_the_import() {
    let case = Case::new();
    let mut workbook = rust_xlsxwriter::Workbook::new();
    let format = rust_xlsxwriter::Format::new();
    let sheet = workbook.add_worksheet();
    sheet.merge_range(0, 0, 1, 1, "a", &format).unwrap().set_freeze_panes(1, 0).unwrap();
    let other = workbook.add_worksheet().set_name("Other").unwrap().set_hidden(true);
    other.merge_range(0, 0, 1, 1, "b", &format).unwrap();
    workbook.save(case.path("book.xlsx")).unwrap();

    let note = |arguments: &[&str]| {
        String::from_utf8(case.run(&[&["import", "book.xlsx"], arguments].concat()).stderr).unwrap()
    };
    let all = "Not imported: 2 merged ranges, hiding of 1 sheet, 1 frozen pane.";
    assert!(note(&["--dry-run"]).contains(all));
    let of_one = "Not imported: 1 merged range, hiding of 1 sheet.";
    assert!(note(&["--dry-run", "--sheets", "Other"]).contains(of_one));

    for option in [&["--strict"][..], &["--strict", "--dry-run"]] {
        let (code, error) = case.error(&[&["import", "book.xlsx"], option].concat());
        assert!(code == 1 && error.contains("2 merged ranges, hiding of 1 sheet"), "{error}");
        assert!(error.contains("nothing was imported; omit --strict"), "{error}");
    }
    assert!(case.fake.lock().logs.is_empty(), "a spreadsheet was created");

    assert!(note(&[]).contains(all));
    let json = case.json(&["import", "book.xlsx", "--sheets", "Sheet1"]);
    assert_eq!(json["notImported"], serde_json::json!({ "mergedRanges": 1, "frozenPanes": 1 }));
    let id = json["spreadsheet"].as_str().unwrap();
    let edits = ["import", "book.xlsx", "--into", id, "--sheet", "Sheet1", "--sheets", "Other"];
    let (code, error) = case.error(&[&edits[..], &["--strict"]].concat());
    assert!(code == 1 && error.contains("1 merged range, hiding of 1 sheet"), "{error}");
    let json = case.json(&edits);
    assert_eq!(json["notImported"], serde_json::json!({ "mergedRanges": 1, "hiddenSheets": 1 }));

    write_workbook(&case.path("plain.xlsx"), &[("a", every_kind())]);
    assert_eq!(
        case.json(&["import", "plain.xlsx", "--strict"])["notImported"],
        serde_json::json!({})
    );
    std::fs::write(case.path("a.csv"), "1\n").unwrap();
    case.text(&["import", "a.csv", "--strict"]);
}

#[test]
fn column_types_are_reported_and_can_be_chosen() {
    let case = Case::new();
    std::fs::write(case.path("a.csv"), "code,n,day\n007,1,2026-11-21\n008,x,2026-11-22\n").unwrap();
    let output = case.run(&["import", "a.csv"]);
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(note.contains("Columns: A:B text, C dates"), "{note}");
    let types = case.json(&["import", "a.csv", "--types", "B=number,text", "--dry-run"])["types"]
        .as_array()
        .unwrap()
        .clone();
    let kinds: Vec<&str> = types.iter().map(|column| column["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["text", "numbers", "text"]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_import_resumes() {
    use std::process::Stdio;
    let case = Case::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/airports.csv");
    case.fake.fail([Fault::None, Fault::None]);
    case.fake.fail(std::iter::repeat_n(Fault::RetryAfter(60), 20));
    let child = Command::new(env!("CARGO_BIN_EXE_cellar"))
        .current_dir(case.folder.path())
        .args(["import", file])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // The third request waits for its retry.
    while case.fake.lock().received.len() < 3 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("nothing was imported"), "{error}");
    assert!(error.contains("run the command again to resume the import"), "{error}");
    case.fake.lock().faults.clear();
    let imported = case.json(&["import", file]);
    assert_eq!(case.fake.lock().logs.len(), 1);
    let cells = usize::try_from(imported["cells"].as_u64().unwrap()).unwrap();
    let id = imported["spreadsheet"].as_str().unwrap().parse().unwrap();
    assert_eq!(case.fake.texts(id).len(), cells);
}
