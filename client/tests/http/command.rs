//! The `cellar` command: output, exit codes, and errors.

use std::path::Path;
use std::process::{Command, Output};

use cellar::live::LiveSheet;
use cellar::profile::Profile;

use super::block_on;
use super::edits::set;
use super::fake::{Fake, Fault};

/// The id of a spreadsheet that does not exist.
const UNKNOWN: &str = "00000000-0000-0000-0000-000000000000";

pub(crate) struct Case {
    pub(crate) fake: Fake,
    pub(crate) folder: tempfile::TempDir,
}

impl Case {
    /// Creates a folder with a profile, like `deploy`.
    pub(crate) fn new() -> Self {
        let case = Self { fake: Fake::start(), folder: tempfile::tempdir().unwrap() };
        let profile =
            Profile { token: Some("the-token".into()), ..Profile::new(case.fake.url.clone()) };
        profile.save(case.folder.path()).unwrap();
        case
    }

    /// Returns the path of a file in the folder.
    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let output = run_in(self.folder.path(), arguments);
        let all = [output.stdout.clone(), output.stderr.clone()].concat();
        assert!(!String::from_utf8_lossy(&all).contains("the-token"), "the token was printed");
        output
    }

    /// Runs a command that succeeds, and returns its output.
    pub(crate) fn text(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> serde_json::Value {
        let arguments = [arguments, &["--json"]].concat();
        serde_json::from_str(&self.text(&arguments)).unwrap()
    }

    /// Runs a command that fails, and returns its exit code and error.
    pub(crate) fn error(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.run(arguments);
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }
}

fn run_in(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cellar"));
    for name in ["CELLAR_URL", "CELLAR_TOKEN", "CELLAR_SPREADSHEET"] {
        command.env_remove(name);
    }
    // Logins of the person who runs the tests are not used.
    command.env("XDG_CONFIG_HOME", folder.join("config"));
    command.current_dir(folder).args(arguments).output().unwrap()
}

#[test]
fn from_create_to_export() {
    let case = Case::new();
    let id = case.text(&["create"]).trim().to_owned();
    let (_, profile) = Profile::find(case.folder.path()).unwrap().unwrap();
    assert_eq!(profile.spreadsheet.unwrap().to_string(), id);
    assert_eq!(profile.token.as_deref(), Some("the-token"));

    assert!(case.text(&["get"]).contains("The sheet is empty."));
    assert!(case.text(&["set", "A1", "hello", "B1", "2.50", "C1", "-5"]).contains("at 0.1"));
    let table = case.text(&["get"]);
    for part in ["A", "B", "1", "hello", "2.50", "-5"] {
        assert!(table.contains(part), "{table}");
    }
    case.text(&["clear", "C1"]);
    case.text(&["set", "--text", "B2", "007"]);
    assert!(!case.text(&["get"]).contains("-5"));
    assert!(case.text(&["get", "--at", "0.1"]).contains("-5"));
    assert_eq!(case.text(&["head"]), "0.3\n");

    let history = case.text(&["history"]);
    let lines: Vec<&str> = history.lines().collect();
    assert!(lines[0].starts_with("0.3") && lines[0].ends_with("B2 = \"007\""), "{history}");
    assert!(lines[1].ends_with("cleared C1") && lines[3].ends_with("created"), "{history}");
    assert!(lines[2].ends_with("3 cells A1:C1"), "{history}");
    assert_eq!(case.text(&["history", "--limit", "1"]).lines().count(), 1);

    case.text(&["export", "out.csv"]);
    let exported = std::fs::read_to_string(case.folder.path().join("out.csv")).unwrap();
    assert_eq!(exported, "hello,2.50\n,007\n");
    assert_eq!(case.text(&["export", "-"]), exported);
    let (code, error) = case.error(&["export", "out.csv"]);
    assert!(code == 1 && error.contains("--force"), "{error}");
}

#[test]
fn an_imported_file_is_exported_unchanged() {
    let case = Case::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/seattle-weather.csv");
    let imported = case.json(&["import", file]);
    let sheet = &imported["sheets"][0];
    assert_eq!((sheet["rows"].as_u64(), sheet["columns"].as_u64()), (Some(1_462), Some(6)));
    assert_eq!(imported["types"][0]["kind"], "dates");
    let first = case.text(&["export", "-"]);
    assert_eq!(first, std::fs::read_to_string(file).unwrap());
    let output = case.run(&["get"]);
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(note.contains("1,462 rows and 6 columns"), "{note}");
    let id = imported["spreadsheet"].as_str().unwrap();
    std::fs::write(case.folder.path().join("more.tsv"), "x\ty\n").unwrap();
    case.text(&["import", "more.tsv", "--into", id, "--sheet", "seattle-weather", "--cell", "H1"]);
    assert!(case.text(&["get", "--range", "H1:I1"]).contains('y'));
    let cells = case.json(&["get", "--range", "A:A"]);
    assert_eq!(cells["cells"].as_array().unwrap().len(), 1_462);
    assert_eq!(cells["texts"][1], "2012/01/01");
}

#[test]
fn errors_contain_advice() {
    let nowhere = tempfile::tempdir().unwrap();
    let output = run_in(nowhere.path(), &["get"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(error.contains("cargo run -p synth -- deploy --local"), "{error}");
    assert_eq!(
        std::fs::read_dir(nowhere.path()).unwrap().count(),
        0,
        "get created files in the folder"
    );

    let case = Case::new();
    let (code, error) = case.error(&["get"]);
    assert!(code == 1 && error.contains("cellar create"), "{error}");
    let (code, error) = case.error(&["use", UNKNOWN]);
    assert!(code == 1 && error.contains("404"), "{error}");
    case.fake.fail([Fault::Answer(500, "\u{1b}[2Jboom".into())]);
    let (_, error) = case.error(&["create"]);
    assert!(error.contains("boom") && !error.contains('\u{1b}'), "{error}");
}

#[test]
fn errors_are_json_with_the_json_option() {
    let case = Case::new();
    let (code, error) = case.error(&["get", "--json"]);
    let error: serde_json::Value = serde_json::from_str(&error).unwrap();
    assert_eq!((code, error["error"]["code"].as_str()), (1, Some("cellar::no_spreadsheet")));
    for (arguments, message, help) in [
        (&["--json", "bogus"][..], "unrecognized subcommand 'bogus'", "Usage:"),
        (&["get", "--json", "--bogus"], "unexpected argument '--bogus' found", "Usage:"),
        (
            &["use", "--json"],
            "the following required arguments were not provided:",
            "<SPREADSHEET>",
        ),
    ] {
        let (code, error) = case.error(arguments);
        let error: serde_json::Value = serde_json::from_str(&error).unwrap();
        assert_eq!((code, error["error"]["message"].as_str()), (64, Some(message)));
        assert!(error["error"]["help"].as_str().unwrap().contains(help), "{error}");
    }
}

#[test]
fn usage_errors_and_help_have_exit_codes() {
    let case = Case::new();
    for (arguments, code) in [
        (&["--help"][..], 0),
        (&["--version"], 0),
        (&["import", "--help"], 0),
        (&[], 64),
        (&["nonsense"], 64),
        (&["set", "A1"], 64),
        (&["set", "A1", "1", "A1", "2"], 64),
        (&["import", "-"], 64),
        (&["import", "x.csv", "--cell", "B2"], 64),
        (&["import", "x.csv", "--sheet", "Costs"], 64),
        (&["import", "x.csv", "--replace", "Costs"], 64),
        (&["import", "nowhere.csv"], 1),
        (&["health"], 0),
    ] {
        assert_eq!(case.run(arguments).status.code(), Some(code), "{arguments:?}");
    }
    let help = case.text(&["import", "--help"]);
    assert!(
        help.contains("csv and tsv files may have any size") && help.contains("100,000 cells"),
        "{help}"
    );
    let (_, error) = case.error(&["import", "-"]);
    assert!(error.contains("cannot import standard input"), "{error}");
    assert!(error.contains("write the data to a file first"), "{error}");
    let output = Command::new(env!("CARGO_BIN_EXE_cellar"))
        .env("CELLAR_TOKEN", "the-secret")
        .arg("--help")
        .output()
        .unwrap();
    assert!(!String::from_utf8(output.stdout).unwrap().contains("the-secret"));
}

#[test]
fn a_kept_edit_is_noted_and_sent_after_a_restart_on_another_port() {
    let case = Case::new();
    let (_, profile) = Profile::find(case.folder.path()).unwrap().unwrap();
    let with_identity = Profile { identity: Some("local-1".into()), ..profile };
    with_identity.save(case.folder.path()).unwrap();
    case.text(&["create"]);
    case.text(&["set", "A1", "before"]);
    case.fake.fail(std::iter::repeat_n(Fault::RetryAfter(0), 5));
    let (code, error) = case.error(&["set", "A2", "kept"]);
    assert!(code == 1 && error.contains("the edit is kept"), "{error}");

    let (_, profile) = Profile::find(case.folder.path()).unwrap().unwrap();
    assert_eq!(profile.identity.as_deref(), Some("local-1"), "a command dropped the identity");
    let moved = Profile { url: case.fake.another_port(), ..profile };
    assert_ne!(moved.url, case.fake.url);
    moved.save(case.folder.path()).unwrap();
    for command in ["get", "history"] {
        let output = case.run(&[command]);
        let note = String::from_utf8(output.stderr).unwrap();
        assert!(note.contains("1 edit is not sent yet; `cellar sync` or the next edit"), "{note}");
        assert!(!case.text(&[command]).contains("kept"));
    }
    assert_eq!(case.json(&["set", "A3", "after"])["earlier"].as_u64(), Some(1));
    let texts = case.fake.texts(moved.spreadsheet.unwrap());
    let texts: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["before", "kept", "after"]);
    let output = case.run(&["get"]);
    assert!(!String::from_utf8(output.stderr).unwrap().contains("not sent yet"));
}

#[test]
fn unsent_edits_of_commands_and_of_the_grid_are_counted_separately() {
    let case = Case::new();
    case.text(&["create"]);
    case.text(&["set", "A1", "before"]);
    let (_, profile) = Profile::find(case.folder.path()).unwrap().unwrap();
    let spreadsheet = case.fake.client().spreadsheet(profile.spreadsheet.unwrap());
    let open = || LiveSheet::open(spreadsheet.clone(), case.folder.path());
    let notes = |command: &str| String::from_utf8(case.run(&[command]).stderr).unwrap();
    let (single, live) = (
        "1 edit is not sent yet; `cellar sync` or the next edit sends it",
        "2 edits of `cellar edit` are not sent yet; `cellar sync` or the next `cellar edit` sends them",
    );
    // Edits of `cellar edit`, which is open at first and then closed.
    let mut sheet = block_on(open()).unwrap();
    sheet.edit(set(1, "live")).unwrap();
    assert!(notes("get").contains("1 edit of `cellar edit` is not sent yet"));
    sheet.edit(set(2, "live, too")).unwrap();
    drop(sheet);
    for command in ["get", "history"] {
        let notes = notes(command);
        assert!(notes.contains(live) && !notes.contains("1 edit"), "{notes}");
    }
    case.fake.fail(std::iter::repeat_n(Fault::RetryAfter(0), 5));
    case.error(&["set", "A4", "kept"]);
    for command in ["get", "history"] {
        let notes = notes(command);
        assert!(notes.contains(single) && notes.contains(live), "{notes}");
    }
    // Edits of another account do not count.
    let others = Profile { token: Some("the-token-of-another".into()), ..profile.clone() };
    others.save(case.folder.path()).unwrap();
    assert!(!notes("get").contains("not sent yet"));
    profile.save(case.folder.path()).unwrap();
    block_on(block_on(open()).unwrap().sync()).unwrap();
    let after = notes("get");
    assert!(after.contains(single) && !after.contains("`cellar edit`"), "{after}");
    case.text(&["set", "A5", "after"]);
    assert!(!notes("get").contains("not sent yet"));
}

#[test]
fn an_import_resumes_after_a_restart_on_another_port() {
    let case = Case::new();
    let (_, profile) = Profile::find(case.folder.path()).unwrap().unwrap();
    let profile = Profile { identity: Some("local-1".into()), ..profile };
    profile.save(case.folder.path()).unwrap();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/airports.csv");
    case.fake.fail([Fault::None]);
    case.fake.fail(std::iter::repeat_n(Fault::RetryAfter(0), 5));
    let (code, error) = case.error(&["import", file]);
    assert!(code == 1 && error.contains("nothing was imported"), "{error}");
    let moved = Profile { url: case.fake.another_port(), ..profile };
    moved.save(case.folder.path()).unwrap();
    case.text(&["import", file]);
    assert_eq!(case.fake.lock().logs.len(), 1);
}

#[test]
fn a_long_text_is_truncated_in_a_table_but_not_in_json() {
    let case = Case::new();
    case.text(&["create"]);
    let long = "x".repeat(60_000);
    case.text(&["set", "A1", &long, "A2", "short"]);
    let table = case.text(&["get"]);
    assert!(table.contains('…') && table.lines().all(|line| line.chars().count() < 220));
    assert_eq!(case.json(&["get"])["texts"][0].as_str(), Some(long.as_str()));
    assert_eq!(case.text(&["export", "-"]), format!("{long}\nshort\n"));
    let too_long = "x".repeat(64 * 1024 + 1);
    let (code, error) = case.error(&["set", "A1", &too_long]);
    assert!(code == 1 && error.contains("help: shorten the text"), "{error}");
}

#[test]
fn a_closed_output_pipe_is_no_error() {
    use std::process::Stdio;
    let case = Case::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/airports.csv");
    case.text(&["import", file]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_cellar"))
        .current_dir(case.folder.path())
        .args(["export", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_cost_option_prints_the_cost() {
    let case = Case::new();
    case.fake.lock().cost = Some("rr=0.5, wr=1");
    std::fs::write(case.folder.path().join("a.csv"), "1,2\n").unwrap();
    let one = "cost: 1 write unit, 0.5 read units: $0.0000006875";
    let id = case.text(&["create"]).trim().to_owned();
    for (arguments, expected) in [
        (&["create"][..], one),
        (&["import", "a.csv"], "cost: 4 write units, 2 read units, 1 S3 PUT ("),
        // The first `get` also requests the URL of a chunk and the chunk.
        (&["get"], "cost: 3 write units, 1.5 read units, 1 S3 GET ("),
        (&["get"], "cost: 2 write units, 1 read unit: $0.000001375"),
        (&["get", "--remote"], one),
        // The first edit of an import also lists the sheets, to name the sheet if there are several.
        (&["set", "A1", "x"], "cost: 2 write units, 1 read unit: $0.000001375"),
        (&["set", "A1", "y"], one),
        (&["history"], one),
        // An export to csv also lists the sheets, to report omitted ones. From chunks, it costs as much as
        // `get` beside that.
        (&["export", "a2.csv", "--remote"], "cost: 2 write units, 1 read unit: $0.000001375"),
        (&["export", "out.csv"], "cost: 3 write units, 1.5 read units: $0.0000020625"),
        (&["head"], one),
        (&["use", &id], one),
        (&["health"], one),
    ] {
        let output = case.run(&[arguments, &["--cost"]].concat());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
        assert!(stderr.lines().last().unwrap().starts_with(expected), "{arguments:?}: {stderr}");
        assert!(!String::from_utf8(output.stdout).unwrap().contains("cost"), "{arguments:?}");
    }
    assert!(!String::from_utf8(case.run(&["head"]).stderr).unwrap().contains("cost"));
}

#[test]
fn the_cost_is_printed_as_json_and_after_failures() {
    let case = Case::new();
    case.fake.lock().cost = Some("rr=0.5, wr=1");
    case.text(&["create"]);
    let output = case.run(&["set", "A1", "x", "--cost", "--json"]);
    let _: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let cost: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(cost["cost"]["writeUnits"], 2, "{cost}");

    case.fake.fail([Fault::Lost, Fault::Refused(cellar_api::wire::ProblemKind::Forbidden)]);
    let (code, stderr) = case.error(&["get", "--cost", "--json"]);
    let lines: Vec<serde_json::Value> =
        stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(code == 1 && lines.len() == 2 && lines[0]["error"]["code"].is_string(), "{stderr}");
    assert_eq!(lines[1]["cost"]["readUnits"], 0.5, "{stderr}");
    assert_eq!(lines[1]["cost"]["unknownRequests"], 1, "{stderr}");

    let (code, stderr) = case.error(&["--cost", "get", "--range", "A:C", "-s", UNKNOWN]);
    assert!(code == 1 && stderr.starts_with("error: "), "{stderr}");
    let unknown = "cost: nothing: $0 (and 1 request of unknown cost)\n";
    assert!(stderr.ends_with(unknown), "{stderr}");
    case.fake.fail([Fault::Refused(cellar_api::wire::ProblemKind::Forbidden)]);
    let (_, stderr) = case.error(&["--cost", "get"]);
    assert!(stderr.ends_with("cost: 1 write unit, 0.5 read units: $0.0000006875\n"), "{stderr}");
    let nowhere = tempfile::tempdir().unwrap();
    let stderr = String::from_utf8(run_in(nowhere.path(), &["get", "--cost"]).stderr).unwrap();
    assert!(stderr.ends_with("cost: nothing: $0\n"), "{stderr}");
}
