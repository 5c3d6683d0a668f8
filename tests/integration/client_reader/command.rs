//! `cellar get` and `cellar export` read snapshots in the client, with `--remote` on the server: both
//! print the same.

use std::fs;

use crate::journey::{Project, json};

fn cost(project: &Project, arguments: &[&str]) -> serde_json::Value {
    let run = project.cellar(&[arguments, &["--json", "--cost"]].concat());
    assert_eq!(run.code, 0, "{run:?}");
    let told: serde_json::Value = serde_json::from_str(run.stderr.lines().last().unwrap()).unwrap();
    told["cost"].clone()
}

#[test]
fn both_ways_print_the_same_and_a_second_get_fetches_nothing() {
    let project = Project::new();
    project.deploy();
    let line = |row: u32| format!("{row},{:.3},text {}\n", f64::from(row) / 7.0, row % 97);
    fs::write(project.path("long.csv"), (0..30_000).map(line).collect::<String>()).unwrap();
    assert_eq!(project.cellar(&["import", "long.csv"]).code, 0);
    for edit in [
        &["set", "A2", "hello", "B3", "2.50"][..],
        // So wide that several tasks read the rows of an export.
        &["set", "AD5", "far"],
        &["format", "B:B", "0.0"],
        &["rows", "insert", "10"],
        &["sheets", "add", "Costs"],
    ] {
        let run = project.cellar(edit);
        assert_eq!(run.code, 0, "{run:?}");
    }
    let reads: [&[&str]; 15] = [
        &["get", "--at", "0.1"],
        &["get", "A9000:C9040", "--at", "0.2", "--json"],
        &["get", "B:B", "--at", "0.4", "--json"],
        &["get", "--at", "0.3", "--sheet", "costs"],
        &["export", "-"],
        &["export", "-", "--sheet", "costs"],
        &["export", "-", "--sheet", "nowhere"],
        &["get"],
        &["get", "--range", "A1:C40"],
        &["get", "--range", "B2:B29999", "--json"],
        &["get", "--range", "A:C", "--json"],
        &["get", "--sheet", "costs", "--json"],
        &["get", "--sheet", "nowhere"],
        &["get", "--sheet", "nowhere", "--json"],
        &["get", "--range", "A1:BDWGN1000000", "--json"],
    ];
    for arguments in reads {
        let here = project.cellar(arguments);
        let there = project.cellar(&[arguments, &["--remote"]].concat());
        assert_eq!(
            (here.code, &here.stdout, &here.stderr),
            (there.code, &there.stdout, &there.stderr),
            "{arguments:?}"
        );
    }
    fs::remove_dir_all(project.path(".cellar/chunks")).unwrap();
    let window = ["get", "--range", "A9000:C9040"];
    let first = cost(&project, &window);
    assert_eq!(first["objectGets"], 1, "{first}");
    assert!(first["objectBytesReceived"].as_u64().unwrap() > 1_000, "{first}");
    let second = cost(&project, &window);
    assert_eq!((&second["objectGets"], &second["objectBytesReceived"]), (&0.into(), &0.into()));
    let remote = cost(&project, &["get", "--remote", "--range", "A20000:C20010"]);
    assert_eq!(cost(&project, &["get", "--at", "0.1"])["unknownRequests"], 0, "{remote}");
    let kept = fs::read_dir(project.path(".cellar/chunks")).unwrap().count();
    assert_eq!(kept, 1, "neither --remote nor --at writes to the cache");
}

#[test]
fn positions_with_more_edits_than_the_server_can_compare_are_compared() {
    const ROWS: u32 = 27_000;
    let project = Project::new();
    project.deploy();
    let line = |changed: u32| {
        move |row: u32| {
            let number = if row == changed { 1 } else { row };
            let numbers: Vec<String> =
                (0..20).map(|column| (number + column).to_string()).collect();
            numbers.join(",") + "\n"
        }
    };
    let write = |changed| {
        let rows = (1..=ROWS).map(line(changed)).collect::<String>();
        fs::write(project.path("numbers.csv"), rows).unwrap();
    };
    write(0);
    assert_eq!(project.cellar(&["import", "numbers.csv"]).code, 0);
    let fork = json(&project.cellar(&["fork", "--no-use", "--json"]));
    write(20_000);
    let replace = ["import", "numbers.csv", "--replace", "numbers", "-s", "numbers"];
    assert_eq!(project.cellar(&replace).code, 0);
    let fork = fork["id"].as_str().unwrap();
    for compared in [&["0.1"][..], &[fork, "numbers"]] {
        let run = project.cellar(&[&["diff"], compared, &["--limit", "2"]].concat());
        assert_eq!(
            (run.code, run.stdout.as_str(), run.stderr.trim_end()),
            (
                2,
                "numbers\n  A20000: 20000 -> 1\n  B20000: 20001 -> 2\n  … and 18 other cells\n",
                "More cells differ; pass a larger --limit, or --json."
            )
        );
    }
    for compared in [["0.2", "0.1"], ["numbers", fork]] {
        let run = project.cellar(&[&["diff"], &compared[..], &["--json"]].concat());
        let diff = json(&run);
        let cells = diff["sheets"][0]["cells"].as_array().unwrap();
        assert_eq!((run.code, cells.len()), (2, 20), "{run:?}");
        assert_eq!(
            (&cells[0]["before"]["value"], &cells[0]["after"]["value"]),
            (&1.into(), &20_000.into())
        );
        assert!(diff.get("unlisted_cells").is_none());
    }
}
