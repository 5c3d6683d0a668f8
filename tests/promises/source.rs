//! A minimal parser of the workspace's source files. It relies on the layout of rustfmt to find the end of
//! an item.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Files whose functions are called by the tests of each implementation, and are not tests themselves.
const CONTRACT: &str = "engine/src/contract/";
/// Keywords before the `fn` or `const` of an item.
const QUALIFIERS: [&str; 5] = ["pub", "pub(crate)", "pub(super)", "const", "async"];

/// A source file with its functions and constants.
pub(crate) struct Source {
    path: String,
    items: Vec<Item>,
}

/// A function or a constant.
struct Item {
    name: String,
    text: String,
    is_test: bool,
}

/// Returns the folder of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the words of a text. An identifier is one word.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| !char.is_alphanumeric() && char != '_')
}

impl Source {
    /// Reads a file of the workspace.
    pub(crate) fn read(path: &str) -> Result<Self, String> {
        let text =
            fs::read_to_string(root().join(path)).map_err(|error| format!("{path}: {error}"))?;
        Ok(Self::of(path, &text))
    }

    fn of(path: &str, text: &str) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        let mut items = Vec::new();
        for (number, line) in lines.iter().enumerate() {
            let Some((kind, name)) = declared(line) else { continue };
            let rest = lines.get(number..).unwrap_or_default();
            let text = match kind {
                "fn" => function(rest),
                _ => until(rest, |line| line.trim_end().ends_with(';')),
            };
            let above = lines.get(..number).unwrap_or_default();
            items.push(Item { name, text, is_test: is_test(above) });
        }
        Self { path: path.to_owned(), items }
    }

    /// Checks that the file has a test of this name.
    pub(crate) fn test(&self, name: &str) -> Result<(), String> {
        let Some(item) = self.items.iter().find(|item| item.name == name) else {
            return Err(format!("{} has no function {name}", self.path));
        };
        match item.is_test || self.path.starts_with(CONTRACT) {
            true => Ok(()),
            false => Err(format!("{name} in {} is not a test", self.path)),
        }
    }

    /// Checks that a test names a constant, directly or in a helper of the same file.
    pub(crate) fn test_names(&self, name: &str, constant: &str) -> Result<(), String> {
        self.test(name)?;
        let (mut waiting, mut seen) = (vec![name], BTreeSet::new());
        while let Some(name) = waiting.pop() {
            if !seen.insert(name) {
                continue;
            }
            for item in self.items.iter().filter(|item| item.name == name) {
                for word in words(&item.text) {
                    if word == constant {
                        return Ok(());
                    }
                    waiting.extend(
                        self.items.iter().map(|item| item.name.as_str()).filter(|it| *it == word),
                    );
                }
            }
        }
        Err(format!("{name} in {} does not name {constant}", self.path))
    }
}

/// Returns the kind and the name of the item that a line declares.
fn declared(line: &str) -> Option<(&str, String)> {
    let mut rest: Vec<&str> = line.split_whitespace().collect();
    while let Some(first) = rest.first() {
        let next = rest.get(1).copied().unwrap_or_default();
        // `const fn` declares a function, `const NAME` a constant.
        if QUALIFIERS.contains(first) && (*first != "const" || next == "fn") {
            rest.remove(0);
            continue;
        }
        break;
    }
    let kind = *rest.first()?;
    let name = words(rest.get(1)?).next()?.to_owned();
    (matches!(kind, "fn" | "const" | "static") && !name.is_empty()).then_some((kind, name))
}

fn function(lines: &[&str]) -> String {
    let first = lines.first().copied().unwrap_or_default();
    if first.trim_end().ends_with('}') {
        return first.to_owned();
    }
    let indent = first.len() - first.trim_start().len();
    let end = format!("{}}}", " ".repeat(indent));
    until(lines, |line| line.trim_end() == end)
}

fn until(lines: &[&str], is_last: impl Fn(&str) -> bool) -> String {
    let last = lines.iter().position(|line| is_last(line)).unwrap_or(lines.len());
    lines.iter().take(last + 1).copied().collect::<Vec<_>>().join("\n")
}

/// Returns whether the attributes at the end of these lines mark a test.
fn is_test(lines: &[&str]) -> bool {
    let attributes = lines.iter().rev().map(|line| line.trim()).take_while(|line| {
        line.starts_with('#')
            || line.starts_with("//")
            || (!line.is_empty() && line.ends_with(")]"))
    });
    let mut attributes = attributes.filter(|line| line.starts_with("#["));
    attributes.any(|line| line.contains("test]") || line.contains("::test("))
}

#[test]
fn items_are_found_and_followed() {
    let text = "const LONG: usize =\n    MAX_A;\n\n#[test]\nfn direct() {\n    MAX_B;\n}\n\n\
                fn helper() -> usize { LONG }\n\n#[tokio::test(flavor = \"x\")]\n\
                async fn far() {\n    helper();\n}\n\nfn none() {\n    MAX_A;\n}\n";
    let source = Source::of("x.rs", text);
    assert_eq!(source.test_names("direct", "MAX_B"), Ok(()));
    assert_eq!(source.test_names("far", "MAX_A"), Ok(()));
    for (test, constant) in
        [("direct", "MAX_A"), ("far", "MAX_B"), ("none", "MAX_A"), ("no", "MAX_A")]
    {
        assert!(source.test_names(test, constant).is_err(), "{test} {constant}");
    }
    assert!(Source::of("engine/src/contract/x.rs", text).test_names("none", "MAX_A").is_ok());
}
