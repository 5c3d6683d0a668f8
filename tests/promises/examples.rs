//! Checks that the README shows the first example of the library, and that the examples need no
//! other crate.

use std::fs;

use crate::source::root;

const FOLDER: &str = "client/examples";
/// The example in the README and in the guide for programs.
const FIRST: &str = "create_and_edit.rs";
const PAGES: [&str; 2] = ["README.md", "docs/guides/programs.md"];
/// Crates that an example may use.
const CRATES: [&str; 3] = ["cellar", "std", "tokio"];
const MAX_LINES: usize = 40;

/// Returns the code of an example, without the comment above it.
fn code(name: &str) -> String {
    let text = fs::read_to_string(root().join(FOLDER).join(name)).unwrap();
    let lines = text.lines().skip_while(|line| line.is_empty() || line.starts_with("//!"));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn pages_show_the_first_example_word_for_word() {
    let block = format!("```rust\n{}```\n", code(FIRST).trim_start());
    for page in PAGES {
        let text = fs::read_to_string(root().join(page)).unwrap();
        assert!(text.contains(&block), "{page} must contain {FOLDER}/{FIRST}:\n{block}");
    }
}

#[test]
fn examples_are_short_and_depend_on_cellar_alone() {
    let mut count = 0;
    for file in fs::read_dir(root().join(FOLDER)).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let code = code(&name);
        count += 1;
        assert!(code.lines().count() <= MAX_LINES, "{name} is too long");
        for line in code.lines() {
            if let Some(path) = line.trim().strip_prefix("use ") {
                let first = path.split("::").next().unwrap();
                assert!(CRATES.contains(&first), "{name}: {line}");
            }
        }
    }
    assert_eq!(count, 5);
}
