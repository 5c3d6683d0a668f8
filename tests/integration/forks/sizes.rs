//! The cost of a fork does not depend on the spreadsheet's size, and a fork copies no objects.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::journey::{Project, Run};
use cellar_tests::budgets;

const ROWS: u64 = 100_000;
const COLUMNS: u64 = 10;
const PATIENCE: Duration = Duration::from_secs(120);

fn done(project: &Project, arguments: &[&str]) -> Run {
    let run = project.cellar(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
    run
}

/// Returns the output of a command, and its cost.
fn costed(project: &Project, arguments: &[&str]) -> (Value, Value) {
    let run = done(project, &[arguments, &["--json", "--cost"]].concat());
    (serde_json::from_str(&run.stdout).unwrap(), serde_json::from_str(&run.stderr).unwrap())
}

/// Returns the size of all objects in the bucket.
fn stored_bytes(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let bytes = |path: std::path::PathBuf| match path.is_dir() {
        true => stored_bytes(&path),
        false => std::fs::metadata(&path).unwrap().len(),
    };
    entries.map(bytes).sum()
}

#[test]
fn a_fork_of_a_million_cells_costs_nine_write_units_and_no_request_to_the_bucket() {
    let project = Project::new();
    project.deploy();
    let mixed = |cell: u64| {
        let mixed = cell.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40).to_string()
    };
    let row = |row: u64| {
        let fields = (0..COLUMNS).map(|column| mixed(row * COLUMNS + column));
        fields.collect::<Vec<_>>().join(",") + "\n"
    };
    std::fs::write(project.path("large.csv"), (0..ROWS).map(row).collect::<String>()).unwrap();
    let imported: Value =
        serde_json::from_str(&done(&project, &["import", "large.csv", "--json"]).stdout).unwrap();
    assert_eq!(imported["cells"], ROWS * COLUMNS);
    let range = ["get", "--range", "B99001:D99003", "--json"];
    let there = done(&project, &range).stdout;
    let bucket = project.path(".cellar/local/buckets/cellar-bucket/data");
    let before = stored_bytes(&bucket);

    let (fork, cost) = costed(&project, &["fork"]);
    assert_eq!(cost["cost"]["writeUnits"], budgets::FORK.cost.write_units, "{cost}");
    for none in ["puts", "gets", "tags", "deletes"] {
        assert!(cost["cost"][none].as_u64().unwrap_or(0) == 0, "{none}: {cost}");
    }
    let source = imported["spreadsheet"].as_str().unwrap();
    assert_eq!(fork["source"], source);
    // The fork is the current spreadsheet: the same cells from the same objects.
    let values = |text: &str| serde_json::from_str::<Value>(text).unwrap()["cells"].clone();
    let of_fork = done(&project, &range).stdout;
    assert_eq!(values(&of_fork), values(&there));
    done(&project, &["set", "A1", "fork"]);
    assert!(done(&project, &["get", "--range", "A1"]).stdout.contains("fork"));
    assert!(!done(&project, &["get", "--range", "A1", "-s", source]).stdout.contains("fork"));
    // The fork's own snapshot also references the existing chunks.
    let begun = Instant::now();
    while costed(&project, &["stats"]).0["snapshot"]["position"] == Value::Null {
        assert!(begun.elapsed() < PATIENCE, "the fork has no snapshot");
        std::thread::sleep(Duration::from_millis(100));
    }
    let more = stored_bytes(&bucket) - before;
    assert!(before > 500_000 && more < before / 10, "{before} and {more} more: no copy");

    let listed = done(&project, &["forks", "-s", source]).stdout;
    assert!(listed.contains(fork["id"].as_str().unwrap()), "{listed}");
    let kept = done(&project, &["fork", "--at", "0.1", "--no-use"]);
    assert!(kept.stderr.contains("cellar get -s"), "{kept:?}");
    assert!(done(&project, &["get", "--range", "A1"]).stdout.contains("fork"), "still current");
    let missing = project.cellar(&["fork", "--at", "7.7"]);
    assert!(missing.code == 1 && missing.stderr.contains("does not exist"), "{missing:?}");
}
