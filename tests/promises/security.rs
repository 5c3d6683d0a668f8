//! Documents name existing files and tests: `SECURITY.md` and the table of threats name tests as
//! `path::test`, and all documents name files of this repository in backticks.

use std::fs;
use std::path::{Path, PathBuf};

use super::source::{Source, root};

/// Document with the table of threats.
const THREATS: &str = "docs/design/threats.md";
/// Minimum number of tests that [`THREATS`] names. A table that could not be parsed has none.
const MIN_TESTS: usize = 20;
/// Documents outside of `docs` whose file names are checked.
const DOCUMENTS: [&str; 3] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"];
/// Endings of the file names that are checked.
const ENDINGS: [&str; 6] = [".rs", ".md", ".json", ".txt", ".toml", ".yaml"];

/// Returns the quoted file names, which contain a slash and end like a file or a test of a file.
fn quoted_files(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(|quoted| {
        let path = quoted.split("::").next().unwrap_or_default();
        path.contains('/')
            && !path.starts_with(['.', '/', '<'])
            && !path.contains(|char: char| char.is_whitespace() || "*{}<>:".contains(char))
            && ENDINGS.iter().any(|ending| path.ends_with(ending))
    })
}

/// Checks that a file exists or, for `path::test`, a test. Returns whether it is a test.
fn check(named: &str) -> Result<bool, String> {
    match named.split_once("::") {
        Some((path, test)) => Source::read(path)?.test(test).map(|()| true),
        None if root().join(named).exists() => Ok(false),
        None => Err(format!("{named} does not exist")),
    }
}

/// Checks the files and tests that a document names. Returns the number of tests.
fn check_document(document: &Path, faults: &mut Vec<String>) -> usize {
    let text = fs::read_to_string(root().join(document)).unwrap();
    let mut tests = 0;
    for named in quoted_files(&text) {
        match check(named) {
            Ok(is_test) => tests += usize::from(is_test),
            Err(fault) => faults.push(format!("{}: {fault}", document.display())),
        }
    }
    tests
}

/// Returns the Markdown files of a folder and its subfolders, relative to the repository.
fn markdown_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let path = folder.join(entry.unwrap().file_name());
        if root().join(&path).is_dir() {
            files.extend(markdown_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
    files
}

#[test]
fn threats_name_existing_tests() {
    let mut faults = Vec::new();
    let tests = check_document(Path::new(THREATS), &mut faults);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(tests >= MIN_TESTS, "{THREATS} names {tests} tests, expected at least {MIN_TESTS}");
}

#[test]
fn documents_name_existing_files() {
    let mut documents: Vec<PathBuf> = DOCUMENTS.iter().map(PathBuf::from).collect();
    documents.extend(markdown_files(Path::new("docs")));
    let mut faults = Vec::new();
    for document in &documents {
        check_document(document, &mut faults);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn finds_missing_files_and_tests() {
    let text = "`a` `core/grid/src/a1.rs` `core/src/gone.rs::x` `core/grid/src/a1.rs::gone` \
                `/v1/health` `x.rs` `.cellar/profile.json` `core/gone.rs`";
    let named: Vec<&str> = quoted_files(text).collect();
    assert_eq!(
        named,
        ["core/grid/src/a1.rs", "core/src/gone.rs::x", "core/grid/src/a1.rs::gone", "core/gone.rs"]
    );
    let found: Vec<bool> = named.into_iter().map(|named| check(named).is_ok()).collect();
    assert_eq!(found, [true, false, false, false]);
}
