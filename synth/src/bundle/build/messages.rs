//! Parses cargo's output. JSON messages contain the path of the binary, and status lines show the
//! progress.

use std::path::PathBuf;

use serde::Deserialize;

/// Width of the column in which cargo right-aligns the verb of a status line.
const VERB_COLUMNS: usize = 12;

/// A JSON line that cargo prints with `--message-format=json`.
#[derive(Deserialize)]
struct Message {
    reason: String,
    target: Option<Target>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

pub(super) fn parse_executable(line: &str, name: &str) -> Option<PathBuf> {
    let message: Message = serde_json::from_str(line).ok()?;
    let target = message.target?;
    let is_executable = message.reason == "compiler-artifact"
        && target.name == name
        && target.kind.iter().any(|kind| kind == "bin");
    if is_executable { message.executable } else { None }
}

/// Returns `None` for any other line, such as a compiler message.
pub(super) fn parse_status(line: &str) -> Option<&str> {
    let (column, rest) = line.split_at_checked(VERB_COLUMNS)?;
    let verb = column.trim_start();
    let is_verb = !verb.is_empty() && verb.chars().all(char::is_alphabetic);
    if is_verb && rest.starts_with(' ') { Some(line.trim()) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_executable_among_other_messages() {
        let line = r#"{"reason":"compiler-artifact","package_id":"p","target":{"kind":["bin"],
            "name":"bootstrap"},"executable":"/t/lambda/bootstrap","fresh":true}"#;
        assert_eq!(parse_executable(line, "bootstrap"), Some(PathBuf::from("/t/lambda/bootstrap")));
        assert_eq!(parse_executable(line, "other"), None);
        for other in [
            r#"{"reason":"build-finished","success":true}"#,
            r#"{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"bootstrap"},
                "executable":null}"#,
            r#"{"reason":"build-script-executed","target":{"kind":["bin"],"name":"bootstrap"},
                "executable":"/x"}"#,
            "Hello",
            "",
        ] {
            assert_eq!(parse_executable(other, "bootstrap"), None, "{other}");
        }
    }

    #[test]
    fn recognizes_status_lines() {
        let line = "   Compiling serde v1.0.229";
        assert_eq!(parse_status(line), Some("Compiling serde v1.0.229"));
        assert_eq!(
            parse_status("    Finished `lambda` profile"),
            Some("Finished `lambda` profile")
        );
        for other in [
            "warning: unused variable: `x`",
            "error[E0308]: mismatched types",
            "  --> runtime/src/main.rs:3:5",
            "   |",
            "12 |     let x = 5;",
            "            ",
            "             ",
            "éééééééééééé x",
            "",
        ] {
            assert_eq!(parse_status(other), None, "{other}");
        }
    }
}
