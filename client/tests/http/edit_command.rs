//! The commands that edit rows, columns, sheets and ranges, undo, and list history and differences.

use cellar_api::wire::{ProblemKind, SentMutation};
use cellar_sheet::operation::{InsertBefore, Operation, Rejection, RejectionReason, SheetId};

use super::command::Case;
use super::fake::Fault;

fn rejected() -> Fault {
    let detail = "too many rows have moved\u{1b}";
    Fault::Rejected(Rejection::new(RejectionReason::TooFarBehind, detail))
}

#[test]
fn a_rejected_edit_is_final_and_blocks_nothing() {
    let case = Case::new();
    let id = case.text(&["create"]).trim().parse().unwrap();
    case.fake.fail([Fault::None, rejected()]);
    let (code, error) = case.error(&["rows", "insert", "3"]);
    assert!(code == 1 && error.contains("too many rows have moved"), "{error}");
    assert!(error.contains("inserted 1 row before row 3") && !error.contains('\u{1b}'), "{error}");
    assert_eq!(case.json(&["set", "A1", "x"])["earlier"].as_u64(), Some(0));
    assert_eq!(case.fake.appends()[1].mutations[0].id, 2, "the ids continue");
    assert_eq!(case.fake.texts(id).len(), 1);
    case.fake.fail([rejected()]);
    let (_, error) = case.error(&["set", "A1", "x", "--json"]);
    let error: serde_json::Value = serde_json::from_str(&error).unwrap();
    assert_eq!(error["error"]["code"], "cellar::rejected");
}

#[test]
fn the_next_command_reports_a_rejection_whose_reply_was_lost() {
    let case = Case::new();
    case.text(&["create"]);
    case.text(&["set", "A1", "x"]);
    // The edit is committed as rejected, but every reply is lost.
    case.fake.lock().reject_next(rejected());
    case.fake.fail(std::iter::repeat_n(Fault::Lost, 5));
    let (code, error) = case.error(&["columns", "insert", "B"]);
    assert!(code == 1 && error.contains("the edit is kept"), "{error}");
    let (code, error) = case.error(&["set", "A2", "y"]);
    assert!(code == 1 && error.contains("earlier edit"), "{error}");
    assert!(error.contains("inserted 1 column before column B"), "{error}");
    assert!(case.text(&["set", "A2", "y"]).contains("at 0.3"));
}

#[test]
fn an_undo_is_sent_alone_and_describes_the_undone_edit() {
    let case = Case::new();
    let id = case.text(&["create"]).trim().parse().unwrap();
    case.text(&["set", "A1", "one"]);
    case.text(&["set", "A1", "two"]);
    // The first request is the read before the undo.
    case.fake.fail([Fault::None]);
    case.fake.fail(std::iter::repeat_n(Fault::RetryAfter(0), 5));
    let (code, _) = case.error(&["undo", "0.2"]);
    assert_eq!(code, 1);
    case.text(&["set", "B1", "x"]);
    let appends = case.fake.appends();
    assert!(appends.iter().all(|request| request.mutations.len() == 1), "an undo goes alone");
    let texts: Vec<String> = case.fake.texts(id).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["one", "x"]);
    let undone = case.text(&["undo", "0.1"]);
    assert_eq!(undone, "undid 0.1: nothing   at 0.5\n".replace("nothing", undone_cells(&undone)));
    // The token of these tests contains no author.
    let (code, error) = case.error(&["undo"]);
    assert!(code == 64 && error.contains("cellar history"), "{error}");
}

/// A token whose subject is the author of all entries of [`Fake`](super::fake::Fake).
const TOKEN_OF_THE_AUTHOR: &str = "e30.eyJpc3MiOiJmYWtlIiwic3ViIjoic29tZWJvZHkifQ.c2ln";

fn undo_as_the_author(case: &Case) -> [&str; 5] {
    ["undo", "--token", TOKEN_OF_THE_AUTHOR, "--url", &case.fake.url]
}

#[test]
fn an_undo_tries_at_most_ten_edits() {
    let case = Case::new();
    case.text(&["create"]);
    for row in 1..=11 {
        case.text(&["set", &format!("A{row}"), "x"]);
    }
    let undos_sent = || {
        let appends = case.fake.appends();
        let is_undo = |sent: &SentMutation| matches!(sent.op, Operation::Undo(_));
        appends.iter().filter(|request| request.mutations.iter().any(is_undo)).count()
    };
    case.fake.lock().reject_undos(10);
    let (code, error) = case.error(&undo_as_the_author(&case));
    assert!(code == 1 && error.contains("of your newest edits: 0.11, 0.10"), "{error}");
    assert_eq!(undos_sent(), 10);

    let case = Case::new();
    case.text(&["create"]);
    for row in 1..=10 {
        case.text(&["set", &format!("A{row}"), "x"]);
    }
    case.fake.lock().reject_undos(9);
    assert!(case.text(&undo_as_the_author(&case)).starts_with("undid 0.1: "));
}

fn undone_cells(text: &str) -> &str {
    text.split(": ").nth(1).unwrap().split("   at").next().unwrap()
}

#[test]
fn a_transformed_edit_is_reported() {
    let case = Case::new();
    case.text(&["create"]);
    let insert = |before| {
        let insert = InsertBefore { sheet: SheetId::FIRST, before, count: 2 };
        Operation::InsertRows(insert)
    };
    case.fake.fail([Fault::None, Fault::Moved(vec![insert(6)])]);
    let output = case.run(&["rows", "insert", "3", "--count", "2"]);
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(stdout, "inserted 2 rows before row 3   at 0.1\n");
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(note.contains("the edit became: inserted 2 rows before row 7"), "{note}");
    case.fake.fail([Fault::Moved(vec![])]);
    let output = case.run(&["rows", "delete", "3", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["committed"].as_array().map(Vec::len), Some(0), "{json}");
    let error: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(error["error"]["code"], "cellar::no_effect");
    assert_eq!(output.status.code(), Some(2));
    // The outcome is known even when the first reply is lost.
    case.fake.fail([Fault::None]);
    case.fake.lock().move_next(vec![insert(9)]);
    case.fake.lock().faults.clear();
    case.fake.fail([Fault::Lost]);
    let output = case.run(&["rows", "insert", "3", "--count", "2"]);
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(note.contains("the edit became: inserted 2 rows before row 10"), "{note}");
}

#[test]
fn sheets_are_found_by_name_and_default_to_the_first() {
    let case = Case::new();
    case.text(&["create"]);
    case.text(&["sheets", "add", "My costs"]);
    case.text(&["set", "'my COSTS'!B2", "7"]);
    case.text(&["set", "--sheet", "My costs", "B3", "8"]);
    assert!(case.text(&["get", "--sheet", "My costs"]).contains('8'));
    assert!(case.text(&["get"]).contains("The sheet is empty."));
    let (code, error) = case.error(&["set", "Nope!A1", "1"]);
    assert!(code == 1 && error.contains("the sheets are: Sheet1, My costs"), "{error}");
    let (code, error) = case.error(&["sheets", "add", "sheet1"]);
    assert!(code == 1 && error.contains("sheet `Sheet1` already exists"), "{error}");
    let (code, error) = case.error(&["sheets", "add", "a/b"]);
    assert!(code == 1 && error.contains("is not a valid sheet name"), "{error}");
    case.text(&["sheets", "delete", "Sheet1"]);
    // Without --sheet, an edit goes to the sheet that is the first now, not to the deleted one.
    case.text(&["set", "A1", "first"]);
    assert!(case.text(&["get", "--sheet", "My costs"]).contains("first"));
    let (code, error) = case.error(&["sheets", "delete", "My costs"]);
    assert!(code == 1 && error.contains("the only sheet"), "{error}");
    case.text(&["sheets", "rename", "My costs", "Prices"]);
    assert_eq!(case.text(&["sheets"]), "Prices   3 rows, 2 columns\n");
    assert_eq!(case.json(&["sheets", "--at", "0.1"])["sheets"].as_array().unwrap().len(), 2);
}

#[test]
fn a_diff_has_exit_codes_and_follows_pages() {
    let case = Case::new();
    case.text(&["create"]);
    case.text(&["set", "A1", "1", "A2", "2", "A3", "3"]);
    let output = case.run(&["diff", "0.0"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "Sheet1\n  A1: empty -> 1\n  A2: empty -> 2\n  A3: empty -> 3\n");
    let same = case.run(&["diff", "0.1", "0.1"]);
    assert_eq!((same.status.code(), same.stdout.len()), (Some(0), 0));
    let json = case.run(&["diff", "0.0", "0.1", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["sheets"][0]["cells"].as_array().unwrap().len(), 3);
}

#[test]
fn history_has_pages_and_shows_large_entries() {
    let case = Case::new();
    case.text(&["create"]);
    for value in 1..=5 {
        case.text(&["set", "A1", &value.to_string()]);
    }
    let output = case.run(&["history", "--limit", "2"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("0.5") && text.lines().count() == 2, "{text}");
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(note.contains("cellar history --until 0.3"), "{note}");
    let rest = case.json(&["history", "--until", "0.3"]);
    assert_eq!(rest["entries"].as_array().unwrap().len(), 4);
    assert_eq!(rest["complete"], true);
    let large: String =
        (0..320_u32).map(|n| blake3::hash(&n.to_le_bytes()).to_hex().to_string()).collect();
    case.text(&["set", "A2", &large]);
    let history = case.text(&["history", "--limit", "1"]);
    assert!(
        history.contains("1 large edit, ") && history.contains("bytes stored separately"),
        "{history}"
    );
    assert_eq!(case.json(&["get", "--range", "A2"])["texts"][0].as_str(), Some(large.as_str()));
}

#[test]
fn ranges_are_cleared_and_formatted() {
    let case = Case::new();
    case.text(&["create"]);
    case.text(&["set", "A1", "1", "B1", "2", "C1", "3"]);
    assert_eq!(case.text(&["clear", "B:C"]), "B:C cleared   at 0.2\n");
    assert_eq!(case.text(&["format", "A1:A5", "0.00"]), "A1:A5 formatted as 0.00   at 0.3\n");
    assert_eq!(case.json(&["get"])["texts"], serde_json::json!(["1.00"]));
    assert_eq!(case.text(&["format", "A1", "#,##0.0%"]), "A1 formatted as #,##0.0%   at 0.4\n");
    assert_eq!(case.json(&["get"])["texts"], serde_json::json!(["100.0%"]));
    let (_, error) = case.error(&["format", "Z1", "nonsense"]);
    assert!(error.contains("nonsense is not a number format: character 1: n has no"), "{error}");
    assert!(error.contains("`cellar format --help` lists number formats"), "{error}");
    assert_eq!(case.text(&["columns", "delete", "B:C"]), "deleted columns B:C   at 0.5\n");
    assert_eq!(case.text(&["rows", "delete", "9", "3:5"]), "deleted rows 3:5, 9   at 0.6\n");
    let (code, error) = case.error(&["rows", "insert", "C"]);
    assert!(code == 64 && error.contains("is not a range of rows"), "{error}");
    assert_eq!(case.error(&["clear", "Sheet1!A1", "--sheet", "Other"]).0, 64);
}

#[test]
fn an_edit_of_a_sheet_that_others_deleted_has_no_effect() {
    let case = Case::new();
    let id = case.text(&["create"]).trim().parse().unwrap();
    case.text(&["set", "A1", "x"]);
    case.fake.lock().replace_sheet(id, SheetId(1), SheetId::FIRST);
    let before = case.fake.requests().len();
    let output = case.run(&["set", "A2", "y"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout), (Some(2), Vec::new()), "{error}");
    assert!(error.contains("the edit had no effect") && error.contains("A2 = \"y\""), "{error}");
    assert_eq!(case.fake.requests()[before..], ["POST entries", "GET sheets"]);
    assert!(case.fake.texts(id).is_empty());
    case.text(&["set", "A2", "y"]);
    assert_eq!(case.fake.texts(id).len(), 1, "the next edit goes to the remaining sheet");

    // An edit of an interrupted run is sent first, and its reply reports that the sheet was deleted.
    case.fake.fail(std::iter::repeat_n(Fault::RetryAfter(0), 5));
    assert_eq!(case.error(&["set", "A3", "z"]).0, 1);
    case.fake.lock().replace_sheet(id, SheetId(2), SheetId(1));
    let output = case.run(&["clear", "A3", "--json"]);
    assert_eq!(output.status.code(), Some(2));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((json["earlier"].as_u64(), &json["committed"]), (Some(1), &serde_json::json!([])));
    assert!(case.fake.texts(id).is_empty());

    // If the sheets cannot be listed, the note says so.
    case.text(&["set", "A1", "x"]);
    case.fake.lock().replace_sheet(id, SheetId(3), SheetId(2));
    case.fake.fail([Fault::None, Fault::Refused(ProblemKind::NotFound)]);
    let note = String::from_utf8(case.run(&["set", "A2", "y"]).stderr).unwrap();
    assert!(note.contains("could not be checked"), "{note}");
}
