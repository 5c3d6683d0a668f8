//! Checks that `bounds.txt` lists every constant of `core/base/src/limits` and `core/functions/src/limits.rs` in
//! the same order: as a bound, with the tests that check it at its value and one above, or as a tuning value, with the reason why
//! callers cannot observe that it is exceeded.

use super::source::Source;

/// Names and contents of the files with limits, in the order of `bounds.txt`.
pub(crate) const LIMITS: [(&str, &str); 9] = [
    ("sheet.rs", include_str!("../../core/base/src/limits/sheet.rs")),
    ("calculation.rs", include_str!("../../core/base/src/limits/calculation.rs")),
    ("functions/limits.rs", include_str!("../../core/functions/src/limits.rs")),
    ("log.rs", include_str!("../../core/base/src/limits/log.rs")),
    ("api.rs", include_str!("../../core/base/src/limits/api.rs")),
    ("snapshot.rs", include_str!("../../core/base/src/limits/snapshot.rs")),
    ("client.rs", include_str!("../../core/base/src/limits/client.rs")),
    ("storage.rs", include_str!("../../core/base/src/limits/storage.rs")),
    ("catalog.rs", include_str!("../../core/base/src/limits/catalog.rs")),
];
const TABLE: &str = include_str!("bounds.txt");
const DECLARED: &str = "pub const ";
/// Minimum length of a reason, in characters.
const MIN_REASON_CHARACTERS: usize = 20;

/// Returns the faults of a table.
fn faults(limits: &str, table: &str) -> Vec<String> {
    let constants: Vec<&str> =
        limits.lines().filter_map(|line| line.strip_prefix(DECLARED)?.split(':').next()).collect();
    let lines: Vec<(&str, &str)> = table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once(' ').unwrap_or((line, "")))
        .collect();
    let named: Vec<&str> = lines.iter().map(|(constant, _)| *constant).collect();
    let mut faults = Vec::new();
    for constant in constants.iter().filter(|constant| !named.contains(constant)) {
        faults.push(format!(
            "{constant} has no line: name the tests that check it at its value and one above"
        ));
    }
    for constant in named.iter().filter(|constant| !constants.contains(constant)) {
        faults.push(format!("{constant} is not a constant"));
    }
    if faults.is_empty() && constants != named {
        faults.push("the lines are duplicated or not in the order of the constants".to_owned());
    }
    for (constant, rest) in lines {
        faults.extend(fault(constant, rest.trim()).err());
    }
    faults
}

fn fault(constant: &str, rest: &str) -> Result<(), String> {
    let (kind, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    match kind {
        "tuning" if rest.trim().chars().count() >= MIN_REASON_CHARACTERS => Ok(()),
        "tuning" => Err(format!("{constant}: the reason is too short")),
        "bound" if rest.trim().is_empty() => Err(format!("{constant}: no test is named")),
        "bound" => rest.split_whitespace().try_for_each(|test| {
            let (path, name) =
                test.split_once("::").ok_or(format!("{constant}: {test} is not PATH::TEST"))?;
            Source::read(path)?.test_names(name, constant)
        }),
        _ => Err(format!("{constant} is neither `bound` nor `tuning`")),
    }
}

#[test]
fn every_constant_is_a_tested_bound_or_says_why_there_is_none() {
    let limits = LIMITS.map(|(_, text)| text).concat();
    let faults = faults(&limits, TABLE);
    assert!(faults.is_empty(), "tests/promises/bounds.txt:\n{}", faults.join("\n"));
}

#[test]
fn what_is_missing_or_gone_is_found() {
    let limits = "pub const MAX_ROWS: u32 = 1;\npub const B: u32 = 2;\n";
    let tested = "MAX_ROWS bound core/grid/src/a1.rs::the_last_row_and_column_are_the_limits";
    let tuned = "B tuning nobody outside can see whether it is exceeded";
    let faults_of = |lines: &[&str]| faults(limits, &lines.join("\n"));
    assert_eq!(faults_of(&["# what", "", tested, tuned]), [""; 0]);
    for lines in [
        &[tested][..],
        &[tuned],
        &[tuned, tested],
        &[tested, tuned, tuned],
        &[tested, tuned, "C tuning nobody outside can see whether it is exceeded"],
        &[tested, "B tuning so"],
        &[tested, "B bound"],
        &[tested, "B"],
        &[tested, "B bound core/grid/src/a1.rs"],
        &[tested, "B bound core/grid/src/a1.rs::the_last_row_and_column_are_the_limits"],
        &["MAX_ROWS bound core/grid/src/a1.rs::another_name", tuned],
        &["MAX_ROWS bound core/src/nowhere.rs::the_last_row_and_column_are_the_limits", tuned],
    ] {
        assert_eq!(faults_of(lines).len(), 1, "{lines:?}");
    }
}
