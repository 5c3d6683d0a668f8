//! `SECURITY.md` names what is there: files, and tests as `path::test`.

use std::fs;

use super::source::{Source, root};

/// Rows of the table of threats, at least: a table that nobody reads as one has none.
const MIN_TESTS: usize = 20;

/// What stands between backticks and is a path: it has a slash and a file's ending.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(|quoted| {
        let path = quoted.split("::").next().unwrap_or_default();
        path.contains('/')
            && !path.starts_with('.')
            && (path.ends_with(".rs") || path.ends_with(".md"))
    })
}

fn check(named: &str) -> Result<bool, String> {
    match named.split_once("::") {
        Some((path, test)) => Source::read(path)?.test(test).map(|()| true),
        None if root().join(named).is_file() => Ok(false),
        None => Err(format!("{named} is not there")),
    }
}

#[test]
fn what_it_names_is_there() {
    let text = fs::read_to_string(root().join("SECURITY.md")).unwrap();
    let (mut tests, mut faults) = (0, Vec::new());
    for named in paths(&text) {
        match check(named) {
            Ok(is_test) => tests += usize::from(is_test),
            Err(fault) => faults.push(fault),
        }
    }
    assert!(faults.is_empty(), "SECURITY.md:\n{}", faults.join("\n"));
    assert!(tests >= MIN_TESTS, "{tests} tests are named");
}

#[test]
fn what_is_not_there_is_found() {
    let text = "`a` `core/sheet/src/a1.rs` `core/src/gone.rs::x` `core/sheet/src/a1.rs::gone` `/v1/health` `x.rs`";
    let named: Vec<&str> = paths(text).collect();
    assert_eq!(
        named,
        ["core/sheet/src/a1.rs", "core/src/gone.rs::x", "core/sheet/src/a1.rs::gone"]
    );
    let checked: Vec<bool> = named.into_iter().map(|named| check(named).is_ok()).collect();
    assert_eq!(checked, [true, false, false]);
}
