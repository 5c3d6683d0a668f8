//! Runs the examples of the HTTP API in the README and in the guide for programs. Ignored by default,
//! because they need curl, jq and Python; `.ci/run` runs these tests.

use crate::journey::Project;

const README: &str = include_str!("../../README.md");
const GUIDE: &str = include_str!("../../docs/guides/programs.md");
const MAX_LINES: usize = 15;

/// Returns the code block of a language that contains a text.
fn block<'a>(page: &'a str, language: &str, part: &str) -> &'a str {
    let start = format!("```{language}\n");
    let blocks = page.split(start.as_str()).skip(1).map(|rest| rest.split_once("```").unwrap().0);
    let mut found = blocks.filter(|block| block.contains(part));
    let block = found.next().unwrap();
    assert_eq!(found.next(), None, "{part} is in two blocks");
    block
}

/// Empty lines do not count.
fn check_length(example: &str) {
    let lines = example.lines().filter(|line| !line.is_empty());
    assert!(lines.count() <= MAX_LINES, "it is too long");
}

/// Runs a program in a folder with a running local stack. Returns the lines that it prints.
fn run(project: &Project, program: &str, arguments: &[&str]) -> Vec<String> {
    let mut command = project.command(program);
    command.env("NO_PROXY", "127.0.0.1").env("no_proxy", "127.0.0.1");
    let output = command.args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
#[ignore = "needs curl and jq"]
fn the_example_of_the_readme_in_curl_does_what_it_says() {
    let project = Project::new();
    project.deploy();
    let example = block(README, "sh", "curl");
    check_length(example);
    let printed = run(&project, "sh", &["-e", "-c", example]);
    let results = r#"[{"id":1,"status":"appended","position":1}]"#;
    assert_eq!(printed, [results, "[0,0,1250.5]", "[0,1,46023]", r#"[0,"Sheet1"]"#]);
    // A second run changes the same spreadsheet.
    let changed = example.replace("1250.5", "1300.5");
    let again = run(&project, "sh", &["-e", "-c", &changed]);
    let position_2 = results.replace(r#""position":1"#, r#""position":2"#);
    assert_eq!(again, [&position_2, "[0,0,1300.5]", "[0,1,46023]", r#"[0,"Sheet1"]"#]);
    let shown = project.cellar(&["get", "-s", "Rent"]);
    assert!(shown.stdout.contains("2026-01-01") && shown.stdout.contains("1300.5"), "{shown:?}");
    // With the same client, it has no second effect.
    let fixed = example.replace("$(date +%s%N)", "fixed");
    assert_ne!(fixed, example);
    let position_3 = results.replace(r#""position":1"#, r#""position":3"#);
    for expected in [position_3.clone(), position_3.replace("appended", "duplicate")] {
        assert_eq!(run(&project, "sh", &["-e", "-c", &fixed])[0], expected);
    }
    assert_eq!(project.cellar(&["head", "-s", "Rent"]).stdout, "0.3\n");
}

#[test]
#[ignore = "needs Python"]
fn the_example_of_the_readme_in_python_does_what_it_says() {
    let project = Project::new();
    project.deploy();
    let example = block(README, "python", "urllib");
    check_length(example);
    assert_eq!(run(&project, "python3", &["-c", example]), ["position 0.1: 2027-01-01"]);
    // A second run changes the same spreadsheet.
    let changed = example.replace("datetime.date(2027, 1, 1)", "datetime.date(2027, 2, 1)");
    assert_eq!(run(&project, "python3", &["-c", &changed]), ["position 0.2: 2027-02-01"]);
    let shown = project.cellar(&["get", "-s", "Rent 2027"]);
    assert!(shown.stdout.contains("2027-02-01"), "{shown:?}");
}

#[test]
#[ignore = "needs curl and jq"]
fn the_example_of_the_guide_does_what_it_says() {
    let project = Project::new();
    project.deploy();
    let example = block(GUIDE, "sh", "curl");
    let printed = run(&project, "sh", &["-e", "-c", example]).join("\n");
    for part in [
        r#""head":0,"incarnation":0"#,
        r#""status":"appended""#,
        r#""value":"new""#,
        r#""before":"#,
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    // A second run appends its own edit.
    let again = run(&project, "sh", &["-e", "-c", example]).join("\n");
    assert!(again.contains(r#""status":"appended","position":2"#), "{again}");
}
