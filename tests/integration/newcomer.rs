//! First attempts of a person who has never used `cellar`: each works, or says what to do instead.

use serde_json::{Value, json};

use crate::journey::{Project, Run, data};
use crate::login_commands::log_in;

fn done(project: &Project, arguments: &[&str]) -> Run {
    let run = project.cellar(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
    run
}

/// Runs a command that must fail with all these parts in its message, on one line.
fn refused(project: &Project, arguments: &[&str], code: i32, parts: &[&str]) {
    let run = project.cellar(arguments);
    assert_eq!(run.code, code, "{arguments:?}: {run:?}");
    let message = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(message.contains(part), "{arguments:?}: {part}: {message}");
    }
}

fn json_of(project: &Project, arguments: &[&str]) -> Value {
    let run = done(project, &[arguments, &["--json"]].concat());
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn cells_are_read_by_ranges_conditions_and_totals() {
    let project = Project::new();
    project.deploy();
    done(&project, &["import", data("airports.csv").to_str().unwrap(), "--name", "airports"]);
    let texts = |arguments: &[&str]| json_of(&project, arguments)["texts"].clone();
    assert_eq!(texts(&["get", "B2:C2"]), json!(["Thigpen", "Bay Springs"]));
    assert_eq!(texts(&["get", "A3376:A"]), texts(&["get", "A3376:A3377"]));
    assert_eq!(texts(&["get", "A:B", "--last", "1"]), texts(&["get", "A3377:B3377"]));
    assert_eq!(texts(&["get", "--last", "2"]).as_array().unwrap().len(), 14);

    for condition in ["D=tx and F>33", "D=TX & F>33"] {
        refused(&project, &["get", "--where", condition], 64, &["join conditions with &&"]);
    }
    let or = ["cannot be joined with or", "D=~^(TX|AK)$"];
    refused(&project, &["get", "--where", "D=TX || D=AK"], 64, &or);
    refused(&project, &["get", "--where", "D=~'^T[XN]'"], 64, &["write ^T[XN] without them"]);
    let count = |condition: &str| {
        json_of(&project, &["get", "--where", condition, "--count"])["rows"].as_u64().unwrap()
    };
    assert_eq!(count("D=~^(TX|AK)$"), count("D=TX") + count("D=AK"));
    refused(&project, &["get", "--where", "D<>TX"], 64, &["write != instead of <>"]);
    refused(&project, &["get", "--where", "D==TX"], 64, &["write = instead of =="]);
    let two = ["get", "--where", "D=TX", "--where", "D=AK"];
    refused(&project, &two, 64, &["another value of D", "D=~^(TX|AK)$"]);
    refused(&project, &["get", "--where", "state=TX"], 64, &["named by letters, such as D"]);
    for listed in ["D=TX,AK", "D=TX|AK"] {
        let none = done(&project, &["get", "--where", listed, "--count"]);
        assert!(none.stderr.contains("D=~^(TX|AK)$"), "{none:?}");
    }
    let none = done(&project, &["get", "--where", "D=~^tx$"]);
    assert!(none.stderr.contains("Case matters in regular expressions"), "{none:?}");

    for arguments in [
        &["--where", "city=Bay Springs"][..],
        &["--where", "city~bay", "--count"],
        &["--sum", "City"],
    ] {
        let none = done(&project, &[&["get"], arguments].concat());
        let header = "Column CITY is empty; the header `city` is in column C.";
        assert!(none.stderr.contains(header), "{none:?}");
    }
    let none = done(&project, &["get", "--where", "H=1"]);
    assert!(
        none.stderr.contains("Column H is empty; the last column of the sheet is G."),
        "{none:?}"
    );
    assert_eq!(done(&project, &["get", "--count"]).stdout, "3,377 rows\n");
    assert_eq!(json_of(&project, &["get", "A2:G11", "--count"])["rows"], 10);
    let of_texas = json_of(&project, &["get", "--where", "D=TX", "--sum", "F", "--sum", "G"]);
    let columns: Vec<&str> = of_texas["sums"].as_array().unwrap().iter().map(column).collect();
    assert_eq!((columns, &of_texas["rows"]), (vec!["F", "G"], &209.into()));
    let all = json_of(&project, &["get", "--sum", "F"]);
    assert_eq!((&all["sum"]["numbers"], &all["rows"]), (&3_376.into(), &3_377.into()));
}

fn column(sum: &Value) -> &str {
    sum["column"].as_str().unwrap()
}

#[test]
fn commands_say_how_to_name_things() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create", "My Budget"]);
    done(&project, &["sheets", "add", "Notes"]);
    let delete = ["takes the spreadsheet only from -s", "cellar delete -s 'My Budget'"];
    refused(&project, &["delete", "My Budget"], 64, &delete);
    let range = ["revert", "--to", "0.0", "--range", "Notes"];
    refused(&project, &range, 64, &["is not a range", "--sheet NAME"]);
    let unshared = done(&project, &["unshare", "nobody"]);
    assert_eq!(unshared.stdout, "nobody has no access\n");
    let by_nobody = done(&project, &["history", "--by", "nobody"]);
    assert!(by_nobody.stderr.contains("No edits by nobody"), "{by_nobody:?}");

    let set = done(&project, &["set", "Notes!A1", "=SUM(Nope!A1)", "Notes!A3", "=NOSUCH(1)"]);
    assert!(set.stdout.starts_with("cells Notes!A1, A3   at 0.2\n"), "{set:?}");
    for part in ["A3: there is no function NOSUCH", "A1: `Nope`", "Sheet1, Notes"] {
        assert!(set.stderr.contains(part), "{part}: {set:?}");
    }
    done(&project, &["names", "set", "RATE", "0.19"]);
    let named = done(&project, &["set", "B1", "=A3*TAX+rate"]);
    assert!(named.stderr.contains("B1: there is no name TAX"), "{named:?}");
    assert!(!named.stderr.contains("no name rate"), "{named:?}");
    refused(&project, &["use", "My Budgt"], 1, &["similar: My Budget"]);
    let known = done(&project, &["set", "A1", "=SUM(notes!A1)"]);
    assert!(!known.stderr.contains("do not exist"), "{known:?}");

    let fork = done(&project, &["fork", "--no-use"]);
    assert!(fork.stderr.contains("In Fork of My Budget"), "{fork:?}");
    let forks = done(&project, &["forks"]);
    let [header, line] = forks.stdout.lines().collect::<Vec<_>>()[..] else { panic!("{forks:?}") };
    assert!(header.starts_with("fork ") && line.contains("Fork of My Budget"), "{forks:?}");
}

#[test]
fn the_undo_of_a_changed_import_says_what_to_do() {
    let project = Project::new();
    project.deploy();
    std::fs::write(project.path("small.csv"), "a,b\n1,2\n").unwrap();
    done(&project, &["create", "Small"]);
    done(&project, &["set", "A1", "own"]);
    done(&project, &["import", "small.csv", "--into", "Small"]);
    done(&project, &["set", "small!A2", "3"]);
    done(&project, &["set", "small!B2", "4"]);
    done(&project, &["undo"]);
    let ways = ["the newest at 0.3, then undo 0.2 again", "or delete the sheet instead"];
    refused(&project, &["undo", "0.2"], 1, &ways);
    let run = project.cellar(&["undo", "0.2"]);
    assert!(!run.stderr.contains("resent"), "{run:?}");
    done(&project, &["undo", "0.3"]);
    let undone = done(&project, &["undo", "0.2"]);
    assert!(undone.stdout.contains("took back: 4 cells, 1 sheet"), "{undone:?}");

    done(&project, &["import", "small.csv", "--into", "Small"]);
    let imported = json_of(&project, &["head"])["head"].as_u64().unwrap() % (1 << 32);
    done(&project, &["set", "small!A2", "3"]);
    done(&project, &["sheets", "delete", "small"]);
    let undo = ["undo", &format!("0.{imported}")];
    refused(&project, &undo, 1, &["was deleted since, so nothing is left to undo"]);
    assert!(done(&project, &["get"]).stdout.contains("own"));
}

#[test]
fn a_merge_comes_back_after_other_edits_were_reverted_and_restored() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create", "t2"]);
    done(&project, &["set", "A1", "h", "A2", "a", "B2", "b", "A3", "c", "A4", "d"]);
    done(&project, &["rows", "insert", "2", "--count", "3"]);
    let fork = json_of(&project, &["fork", "--no-use"])["id"].as_str().unwrap().to_owned();
    done(&project, &["set", "A2", "fA", "B2", "fB", "-s", &fork]);
    done(&project, &["rows", "delete", "5", "-s", &fork]);
    done(&project, &["set", "B2", "sB"]);
    done(&project, &["rows", "insert", "2"]);
    done(&project, &["rows", "delete", "4"]);
    let conflict = project.cellar(&["merge", &fork]);
    assert_eq!(conflict.code, 2, "{conflict:?}");
    let merged = json_of(&project, &["get", "A1:B9"])["texts"].clone();
    done(&project, &["undo"]);
    done(&project, &["revert", "--to", "0.1"]);
    for position in ["0.9", "0.10", "0.11"] {
        done(&project, &["undo", position]);
    }
    let redone = done(&project, &["undo", "0.8"]);
    assert!(!redone.stdout.contains("left, because"), "{redone:?}");
    assert_eq!(json_of(&project, &["get", "A1:B9"])["texts"], merged);
}

#[test]
fn a_list_without_the_new_spreadsheet_says_that_it_appears_soon() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create", "New"]);
    let list = done(&project, &["list"]);
    let is_listed = list.stdout.contains("current");
    assert!(is_listed || list.stderr.contains("in the list after a few seconds"), "{list:?}");
}

/// The folder of the person with the link already has a profile, of an earlier login.
#[test]
fn a_selected_share_link_is_kept_until_another_selection_or_the_logout() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::new();
    let url = project.deploy()["url"].as_str().unwrap().to_owned();
    done(&project, &["create", "Budget"]);
    done(&project, &["set", "A1", "open"]);
    let link = done(&project, &["links", "create", "--role", "editor"]).stdout.trim().to_owned();
    let minted = project.synth(&["token", "create", "--local", "--subject", "bob"]).stdout;

    let bob = Project::new();
    assert_eq!(log_in(&bob, &[&url], &minted).code, 0);
    done(&bob, &["create", "Own"]);
    let used = done(&bob, &["use", &link]);
    assert!(used.stderr.contains("Commands use the link"), "{used:?}");
    assert!(done(&bob, &["get"]).stdout.contains("open"));
    done(&bob, &["create", "Second"]);
    refused(&bob, &["get", "-s", "Budget"], 1, &["no spreadsheet is named"]);
    done(&bob, &["use", &link]);
    let out = done(&bob, &["logout"]);
    assert!(out.stdout.contains("removed the share link"), "{out:?}");
    refused(&bob, &["get"], 1, &["401", "pass it with -s 'LINK'"]);

    done(&bob, &["use", &link]);
    assert!(done(&bob, &["get"]).stdout.contains("open"));
    done(&bob, &["set", "A2", "by link"]);
    let profile = std::fs::metadata(bob.path(".cellar/profile.json")).unwrap();
    assert_eq!(profile.permissions().mode() & 0o777, 0o600);
    done(&bob, &["logout"]);
    assert_eq!(bob.cellar(&["get"]).code, 1);
}

/// A revert and a diff agree on what is the same.
#[test]
fn a_diff_is_empty_after_a_revert() {
    let project = Project::new();
    project.deploy();
    done(&project, &["import", data("airports.csv").to_str().unwrap()]);
    done(&project, &["set", "H1", "=B4"]);
    done(&project, &["rows", "delete", "4"]);
    done(&project, &["revert", "--to", "0.2"]);
    let again = done(&project, &["revert", "--to", "0.2"]);
    assert!(again.stdout.contains("nothing to revert"), "{again:?}");
    let diff = done(&project, &["diff", "0.2"]);
    assert_eq!(diff.stdout, "", "{diff:?}");
    // The undo of the import counts only the edits that are in effect.
    refused(&project, &["undo", "0.1"], 1, &["changed since (1 cell)"]);
}

#[test]
fn an_edit_says_in_which_of_several_sheets_it_was_made() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create", "Budget"]);
    let written = |arguments: &[&str]| {
        let run = done(&project, arguments);
        run.stdout.split("   at ").next().unwrap().to_owned()
    };
    assert_eq!(written(&["set", "A1", "1"]), "A1 = 1");
    done(&project, &["sheets", "add", "Notes"]);
    assert_eq!(written(&["set", "A1", "2"]), "Sheet1!A1 = 2");
    assert_eq!(written(&["clear", "A1:B2"]), "Sheet1!A1:B2 cleared");
    assert_eq!(written(&["format", "A1", "0.00"]), "Sheet1!A1 formatted as 0.00");
    let inserted = written(&["rows", "insert", "1"]);
    assert_eq!(inserted, "inserted 1 row before row 1 of sheet `Sheet1`");
    done(&project, &["sheets", "delete", "Sheet1"]);
    done(&project, &["get"]);
    assert_eq!(written(&["set", "A1", "3"]), "A1 = 3");
}

#[test]
fn a_dry_run_of_a_revert_lists_what_would_change() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create", "Budget"]);
    done(&project, &["set", "A1", "old"]);
    done(&project, &["set", "A1", "new", "B2", "more"]);
    done(&project, &["sheets", "add", "Notes"]);
    done(&project, &["set", "Notes!A1", "note"]);
    let dry = |more: &[&str]| {
        let arguments = [&["revert", "--to", "0.1", "--dry-run"], more].concat();
        done(&project, &arguments).stdout
    };
    let changes = "Sheet1\n  A1: \"old\" -> \"new\"\n  B2: empty -> \"more\"\n";
    assert_eq!(dry(&[]), format!("{changes}Notes   sheet added (1 cell)\n"));
    assert_eq!(dry(&["--sheet", "Sheet1"]), changes);
    assert_eq!(dry(&["--range", "A1"]), "Sheet1\n  A1: \"old\" -> \"new\"\n");
    assert!(dry(&["--range", "D4"]).starts_with("nothing to revert"));
    assert_eq!(done(&project, &["head"]).stdout, "0.4\n");
    let cells = project.cellar(&["diff", "0.1", "--cells"]);
    assert!(cells.code == 2 && cells.stdout.contains("A1: empty -> \"note\""), "{cells:?}");
}

#[test]
fn a_dry_run_of_a_revert_compares_a_replaced_sheet_with_its_replacement() {
    let project = Project::new();
    project.deploy();
    std::fs::write(project.path("old.csv"), "a,b\n1,2\n").unwrap();
    std::fs::write(project.path("new.csv"), "a,b\n1,9\n").unwrap();
    done(&project, &["create", "Budget"]);
    let id = json_of(&project, &["details"])["id"].as_str().unwrap().to_owned();
    done(&project, &["sheets", "add", "Notes"]);
    done(&project, &["import", "old.csv", "--into", &id]);
    let then = done(&project, &["head"]).stdout.trim().to_owned();
    done(&project, &["import", "new.csv", "--into", &id, "--replace", "old"]);
    let dry = |more: &[&str]| {
        let arguments = [&["revert", "--to", &then, "--dry-run"], more].concat();
        done(&project, &arguments).stdout
    };
    let change = "old\n  B2: 2 -> 9\n";
    assert_eq!(dry(&["--sheet", "old"]), change);
    assert_eq!(dry(&["--range", "old!A1:B2"]), change);
    assert!(dry(&["--range", "old!A1:B1"]).starts_with("nothing to revert"));
    done(&project, &["revert", "--to", &then, "--sheet", "old"]);
    assert!(dry(&["--sheet", "old"]).starts_with("nothing to revert"));
    done(&project, &["set", "old!A2", "7"]);
    assert_eq!(dry(&["--sheet", "old"]), "old\n  A2: 1 -> 7\n");
}

#[test]
fn a_dry_run_of_a_revert_shows_what_others_have_replaced_since_the_last_read() {
    let project = Project::new();
    project.deploy();
    std::fs::write(project.path("old.csv"), "a,b\n1,2\n").unwrap();
    std::fs::write(project.path("new.csv"), "a,b\n1,9\n").unwrap();
    done(&project, &["import", "old.csv", "--name", "Budget"]);
    let id = json_of(&project, &["details"])["id"].as_str().unwrap().to_owned();
    done(&project, &["set", "A3", "5"]);
    let other = Project::new();
    std::fs::write(other.path("new.csv"), "a,b\n1,9\n").unwrap();
    let profile = std::fs::read_to_string(project.path(".cellar/profile.json")).unwrap();
    std::fs::create_dir_all(other.path(".cellar")).unwrap();
    std::fs::write(other.path(".cellar/profile.json"), profile).unwrap();
    let dry = |range: &str| {
        let arguments = ["revert", "--to", "0.2", "--dry-run", "--range", range];
        done(&project, &arguments).stdout
    };
    done(&other, &["set", "old!B2", "3"]);
    done(&other, &["rows", "insert", "1", "--sheet", "old"]);
    // The cell that was B2 is B3 in the newest state, which the dry run has shown.
    assert_eq!(dry("old!B3"), "old\n  B3: 2 -> 3\n");
    let reverted = done(&project, &["revert", "--to", "0.2", "--range", "old!B3"]).stdout;
    assert!(reverted.contains("B3 = 2"), "{reverted}");
    done(&other, &["import", "new.csv", "--into", &id, "--replace", "old"]);
    assert_eq!(dry("old!B2"), "old\n  B2: 2 -> 9\n");
}

#[test]
fn a_header_in_place_of_a_column_is_explained() {
    let project = Project::new();
    project.deploy();
    std::fs::write(project.path("people.csv"), "name,state,city\nAda,TX,Austin\n").unwrap();
    done(&project, &["import", "people.csv"]);
    let help = ["the header `state` is in column B: begin the condition with B"];
    refused(&project, &["get", "--where", "state=TX"], 64, &help);
    refused(&project, &["get", "--where", "country=US"], 64, &["cellar get --help"]);
    assert!(done(&project, &["get", "--where", "B=TX"]).stdout.contains("Austin"));
}

#[test]
fn the_list_says_why_the_current_spreadsheet_is_not_in_it() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create", "Budget"]);
    done(&project, &["archive"]);
    // Lists follow the details of a spreadsheet with a delay.
    let note = "`Budget` is archived. List those with: cellar list --status archived";
    let started = std::time::Instant::now();
    loop {
        let list = done(&project, &["list"]);
        if list.stderr.contains(note) {
            return;
        }
        assert!(started.elapsed() < std::time::Duration::from_secs(20), "{list:?}");
    }
}

#[test]
fn names_and_authors_that_do_not_match_are_explained() {
    let project = Project::new();
    project.deploy();
    let id = done(&project, &["create", "My Budget"]).stdout.trim().to_owned();
    refused(&project, &["use", id.split_at(3).0], 1, &["needs at least 4 characters"]);
    refused(&project, &["use", "my bud"], 1, &["similar: My Budget"]);
    done(&project, &["set", "A1", "=SUM(B2:B)"]);
    let set = done(&project, &["set", "A2", "=SUM(B2:B)"]);
    assert!(set.stderr.contains("Write B2:B1048576 or B:B"), "{set:?}");
    let author = json_of(&project, &["history"])["entries"][0]["author"].clone();
    let author = author.as_str().unwrap();
    let by = done(&project, &["history", "--by", "nobody"]);
    assert!(by.stderr.contains(&format!("The authors are: {author}.")), "{by:?}");
    let by = done(&project, &["history", "--by", &author.to_uppercase()]);
    assert!(by.stdout.contains("A2 =SUM(B2:B)"), "{by:?}");
    let list = ["list", "--archived"];
    refused(&project, &list, 64, &["cellar list --status archived"]);
    done(&project, &["create", "Other"]);
    let archived = done(&project, &["archive", "-s", "My Budget"]);
    assert!(archived.stderr.contains(&format!("cellar unarchive -s {id}")), "{archived:?}");
}

#[test]
fn the_history_names_a_sheet_that_a_revert_recovered() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create", "Budget"]);
    done(&project, &["sheets", "add", "Notes"]);
    done(&project, &["set", "Notes!A1", "note"]);
    done(&project, &["sheets", "delete", "Notes"]);
    done(&project, &["revert", "--to", "0.2", "--sheet", "Notes"]);
    let history = done(&project, &["history"]);
    assert!(history.stdout.contains("reverted sheet `Notes` to 0.2"), "{history:?}");
    let newest = done(&project, &["history", "--limit", "1"]);
    assert!(newest.stdout.contains("reverted sheet `Notes` to 0.2"), "{newest:?}");
}
