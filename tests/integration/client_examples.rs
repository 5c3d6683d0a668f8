//! Runs the examples of the library `cellar` against a local stack and checks what they print.

use std::fs;
use std::process::Output;

use crate::journey::Project;

/// The text before the id that an example prints.
const ID_PREFIX: &str = "spreadsheet ";

/// Runs an example, which must succeed, and returns the lines that it prints.
fn lines(project: &Project, program: &str, arguments: &[&str]) -> Vec<String> {
    let Output { status, stdout, stderr } =
        project.command(program).args(arguments).output().unwrap();
    let stderr = String::from_utf8(stderr).unwrap();
    assert!(status.success(), "{program} {arguments:?}: {stderr}");
    String::from_utf8(stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Returns the id and the position of a line such as `spreadsheet ID at 0.3`.
fn id_and_position(line: &str) -> (String, String) {
    let (id, position) = line.strip_prefix(ID_PREFIX).unwrap().split_once(" at ").unwrap();
    (id.to_owned(), position.to_owned())
}

#[test]
fn examples_of_the_library_run_against_a_local_stack() {
    let project = Project::new();
    let deployed = project.deploy();

    let created = lines(&project, env!("CARGO_BIN_EXE_example-create-and-edit"), &[]);
    let cells = ["A1 = rent", "B1 = 1250.00", "B2 = 80", "B3 = 1330.00"];
    assert_eq!(created[..4], cells);
    let (id, position) = id_and_position(&created[4]);
    assert_eq!(position, "0.4", "four edits");

    let window = lines(&project, env!("CARGO_BIN_EXE_example-read-window"), &[&id, "B1:C9"]);
    assert_eq!(window, ["Sheet1 at 0.4", cells[1], cells[2], cells[3]]);

    let follow = env!("CARGO_BIN_EXE_example-follow-changes");
    let changes = lines(&project, follow, &[&id, "0.1", "2"]);
    let ends = changes.iter().map(|line| line.rsplit_once(' ').unwrap().0.len());
    assert!(ends.min().unwrap() > 0 && changes.len() == 2, "{changes:?}");
    assert!(changes[0].starts_with("0.2 ") && changes[1].starts_with("0.3 "), "{changes:?}");
    assert!(changes[1].ends_with(" 1 edits"), "{changes:?}");

    let export = env!("CARGO_BIN_EXE_example-export-csv");
    let exported = lines(&project, export, &[&id, "budget.csv"]);
    assert_eq!(exported, ["Sheet1: 4 cells at 0.4 to budget.csv"]);
    let csv = fs::read_to_string(project.path("budget.csv")).unwrap();
    assert_eq!(csv, "rent,1250.00\n,80\n,1330.00\n");
    let again = project.command(export).args([&id, "budget.csv"]).output().unwrap();
    assert!(!again.status.success(), "an existing file is not replaced");

    // The environment takes precedence over the profile.
    fs::write(project.path("prices.csv"), "item,price\nchair,49.90\n").unwrap();
    let mut import = project.command(env!("CARGO_BIN_EXE_example-import-csv"));
    import.env("CELLAR_URL", deployed["url"].as_str().unwrap());
    import.env("CELLAR_TOKEN", deployed["token"].as_str().unwrap());
    let output = import.arg("prices.csv").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let imported = String::from_utf8(output.stdout).unwrap();
    let mut imported = imported.lines();
    assert_eq!(imported.next(), Some("prices: 4 cells in 2 rows"));
    let (imported_id, _) = id_and_position(imported.next().unwrap());
    let names = project.cellar(&["list"]).stdout;
    assert!(names.contains("budget 2026") && names.contains(&imported_id), "{names}");
}

#[test]
fn without_a_url_an_example_says_what_is_missing() {
    let project = Project::new();
    let program = env!("CARGO_BIN_EXE_example-create-and-edit");
    let output = project.command(program).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && stderr.contains("NoUrl"), "{stderr}");
}
