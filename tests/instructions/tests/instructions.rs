//! Compares the instructions of hot paths with the stored counts. Instructions do not depend on the
//! load of the machine, so that a slower path is found without measuring time.
//!
//! Requires Valgrind. To accept a change:
//! `UPDATE_COUNTS=1 cargo test --workspace --test instructions -- --ignored`
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests fail by panicking, and print the counts"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use cellar_instructions::HOT_PATHS;

const COUNTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/counts.txt");
const HEADING: &str = "\
# Instructions of each hot path, as the profile `dev` builds it. See tests/instructions.rs.
";
/// Difference between two counts that is accepted, in percent. The memory functions of the C library
/// depend on the processor.
const TOLERANCE_PERCENT: u64 = 3;

/// Returns the instructions of a path without its preparation.
fn count(name: &str) -> u64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(["--collect-atstart=no", "--toggle-collect=*run_counted_path*"])
        .args([env!("CARGO_BIN_EXE_hot-paths"), name])
        .output()
        .expect("Valgrind is not installed");
    let report = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} failed: {report}");
    let collected = report.lines().find_map(|line| line.split("Collected : ").nth(1));
    let Some(count) = collected.and_then(|count| count.trim().parse().ok()) else {
        panic!("Valgrind printed no count: {report}");
    };
    assert!(count > 0, "Valgrind did not find the function that it counts: {report}");
    count
}

fn stored_counts() -> BTreeMap<String, u64> {
    let text = std::fs::read_to_string(COUNTS).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, count) = line.split_once(' ').unwrap();
            (name.to_owned(), count.parse().unwrap())
        })
        .collect()
}

fn is_within_tolerance(stored: u64, counted: u64) -> bool {
    stored.abs_diff(counted) * 100 <= stored * TOLERANCE_PERCENT
}

#[test]
fn a_difference_is_accepted_up_to_the_tolerance() {
    for (counted, is_accepted) in [(1_000, true), (1_030, true), (1_031, false), (969, false)] {
        assert_eq!(is_within_tolerance(1_000, counted), is_accepted, "{counted}");
    }
}

#[test]
#[ignore = "needs Valgrind"]
fn hot_paths_have_their_stored_number_of_instructions() {
    let counts: BTreeMap<&str, u64> =
        HOT_PATHS.iter().map(|(name, _)| (*name, count(name))).collect();
    if std::env::var_os("UPDATE_COUNTS").is_some() {
        let mut text = HEADING.to_owned();
        for (name, count) in &counts {
            writeln!(text, "{name} {count}").unwrap();
        }
        std::fs::write(Path::new(COUNTS), text).unwrap();
        return;
    }
    let stored = stored_counts();
    let mut differences = Vec::new();
    for (name, counted) in &counts {
        println!("{name} {counted}");
        match stored.get(*name) {
            Some(stored) if is_within_tolerance(*stored, *counted) => {}
            stored => differences.push(format!("{name}: {stored:?} stored, {counted} counted")),
        }
    }
    let expected: Vec<&str> = counts.keys().copied().collect();
    assert_eq!(Vec::from_iter(stored.keys().map(String::as_str)), expected, "the stored paths");
    assert!(
        differences.is_empty(),
        "if the change is intended, accept it with UPDATE_COUNTS=1:\n{}",
        differences.join("\n")
    );
}
