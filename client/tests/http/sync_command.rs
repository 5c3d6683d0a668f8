//! `cellar sync`: sends the edits that wait in a folder.

use cellar::live::LiveSheet;
use cellar::profile::Profile;
use cellar_api::wire::ProblemKind;
use cellar_base::identity::LogId;
use cellar_sheet::operation::{Rejection, RejectionReason};
use serde_json::json;

use super::block_on;
use super::command::Case;
use super::edits::set;
use super::fake::Fault;

impl Case {
    fn selected(&self) -> LogId {
        let (_, profile) = Profile::find(self.folder.path()).unwrap().unwrap();
        profile.spreadsheet.unwrap()
    }

    fn create_with_live_edits(&self, texts: &[&str]) -> LogId {
        self.text(&["create"]);
        self.text(&["set", "A9", "before"]);
        let spreadsheet = self.fake.client().spreadsheet(self.selected());
        let mut live = block_on(LiveSheet::open(spreadsheet, self.folder.path())).unwrap();
        for (row, text) in (0..).zip(texts) {
            live.edit(set(row, text)).unwrap();
        }
        self.selected()
    }

    /// Makes an edit whose request gets no answer.
    fn interrupt_edit(&self, cell: &str, text: &str) {
        self.fake.fail(std::iter::repeat_n(Fault::RetryAfter(0), 5));
        let (code, error) = self.error(&["set", cell, text]);
        assert!(code == 1 && error.contains("`cellar sync`"), "{error}");
    }

    /// Returns the texts of the spreadsheet, without the one that it had at first.
    fn cell_texts(&self, id: LogId) -> Vec<String> {
        let texts = self.fake.texts(id).into_iter().map(|(_, text)| text);
        texts.filter(|text| text != "before").collect()
    }
}

#[test]
fn offline_and_interrupted_edits_are_sent_once() {
    let case = Case::new();
    let id = case.create_with_live_edits(&["offline", "too"]);
    case.interrupt_edit("A3", "interrupted");
    assert!(case.cell_texts(id).is_empty());
    let text = case.text(&["sync"]);
    assert!(text.starts_with("Sent 3 edits   at 0.3"), "{text}");
    assert_eq!(case.cell_texts(id), ["offline", "too", "interrupted"]);
    assert_eq!(case.text(&["sync"]), "No edits were waiting.\n");
    let nothing = case.json(&["sync"]);
    assert_eq!((&nothing["sent"], &nothing["spreadsheets"][0]["sent"]), (&json!(0), &json!(0)));
    assert_eq!(case.fake.appends().len(), 1 + 5 + 2, "nothing is sent twice");
}

#[test]
fn all_spreadsheets_of_the_folder_are_sent_on_demand() {
    let case = Case::new();
    let first = case.create_with_live_edits(&["one"]);
    let second = case.create_with_live_edits(&["two", "three"]);
    case.text(&["create"]);
    assert_eq!(case.json(&["sync"])["sent"], 0, "the current spreadsheet has no edits");
    let synced = case.json(&["sync", "--all"]);
    assert_eq!(synced["sent"], 3, "{synced}");
    assert_eq!(synced["spreadsheets"].as_array().unwrap().len(), 2);
    assert_eq!(case.cell_texts(first), ["one"]);
    assert_eq!(case.cell_texts(second), ["two", "three"]);
    assert_eq!(case.json(&["sync", "--all"]), json!({ "sent": 0, "spreadsheets": [] }));
}

#[test]
fn edits_are_kept_while_the_server_does_not_respond() {
    let case = Case::new();
    let id = case.create_with_live_edits(&["offline"]);
    case.interrupt_edit("A2", "interrupted");
    case.fake.fail(std::iter::repeat_n(Fault::RetryAfter(0), 5));
    let output = case.run(&["sync", "--all", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let synced: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&synced["sent"], synced["spreadsheets"][0]["error"].is_string()),
        (&json!(0), true)
    );
    let error: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(error["error"]["code"], "cellar::edits_waiting");
    assert_eq!(case.json(&["sync"])["sent"], 2);
    assert_eq!(case.cell_texts(id), ["offline", "interrupted"]);
}

#[test]
fn what_the_server_does_not_take_is_printed_and_ends_with_its_own_exit_code() {
    let case = Case::new();
    let id = case.create_with_live_edits(&["rejected", "taken"]);
    let rejection = Rejection::new(RejectionReason::TooFarBehind, "too far\u{1b}");
    case.fake.lock().reject_next(Fault::Rejected(rejection));
    let output = case.run(&["sync"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(2), "{printed}");
    assert!(
        printed.contains("Sent 1 edit ")
            && printed.contains("Rejected: A1 = \"rejected\": too far")
    );
    assert!(!printed.contains('\u{1b}'), "{printed}");
    assert_eq!(case.cell_texts(id), ["taken"]);

    let refused = case.create_with_live_edits(&["refused"]);
    case.fake.fail([Fault::Refused(ProblemKind::InvalidRequest)]);
    let output = case.run(&["sync", "--json"]);
    assert_eq!(output.status.code(), Some(2));
    let synced: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let file = synced["spreadsheets"][0]["set_aside"][0]["file"].as_str().unwrap();
    assert!(std::fs::read_to_string(file).unwrap().contains("refused"));
    assert!(case.cell_texts(refused).is_empty());
}

#[test]
fn edits_that_others_have_moved_or_left_without_a_target_are_printed() {
    let case = Case::new();
    case.create_with_live_edits(&["moved"]);
    case.fake.lock().move_next(vec![set(7, "moved")]);
    let output = case.run(&["sync"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{printed}");
    let line = "Others have changed the sheet: A1 = \"moved\" became A8 = \"moved\"";
    assert!(printed.contains("Sent 1 edit ") && printed.contains(line), "{printed}");

    case.create_with_live_edits(&["lost"]);
    case.fake.lock().move_next(Vec::new());
    let output = case.run(&["sync"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(2), "{printed}");
    let line = "No effect: A1 = \"lost\": others have deleted the target";
    assert!(printed.contains("Sent 1 edit ") && printed.contains(line), "{printed}");

    case.create_with_live_edits(&["again"]);
    case.fake.lock().move_next(Vec::new());
    let output = case.run(&["sync", "--json"]);
    assert_eq!(output.status.code(), Some(2));
    let synced: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let changed = json!([{ "edit": "A1 = \"again\"", "committed": [] }]);
    assert_eq!(synced["spreadsheets"][0]["changed"], changed);
}
