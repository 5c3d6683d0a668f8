//! What cargo says: to programs, where the binary is; to people, how far it is.

use std::path::PathBuf;

use serde::Deserialize;

/// The column that the words end in by which cargo says what it does.
const STATUS_COLUMNS: usize = 12;

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

/// The executable of that name, if a line of `--message-format=json` says where it is.
pub(super) fn executable(line: &str, name: &str) -> Option<PathBuf> {
    let message: Message = serde_json::from_str(line).ok()?;
    let target = message.target?;
    let is_it = message.reason == "compiler-artifact"
        && target.name == name
        && target.kind.iter().any(|kind| kind == "bin");
    message.executable.filter(|_| is_it)
}

/// What cargo does right now, if a line for people says so: `Compiling serde v1.0.229`. All other lines
/// are what the compiler or a person's own code says.
pub(super) fn status(line: &str) -> Option<&str> {
    let (word, rest) = line.split_at_checked(STATUS_COLUMNS)?;
    let is_word = word.trim_start().chars().all(char::is_alphabetic);
    let is_status = is_word && !word.trim_start().is_empty() && rest.starts_with(' ');
    is_status.then(|| line.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_executable_is_found_among_other_messages() {
        let line = r#"{"reason":"compiler-artifact","package_id":"p","target":{"kind":["bin"],
            "name":"bootstrap"},"executable":"/t/lambda/bootstrap","fresh":true}"#;
        assert_eq!(executable(line, "bootstrap"), Some(PathBuf::from("/t/lambda/bootstrap")));
        assert_eq!(executable(line, "other"), None);
        for other in [
            r#"{"reason":"build-finished","success":true}"#,
            r#"{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"bootstrap"},
                "executable":null}"#,
            r#"{"reason":"build-script-executed","target":{"kind":["bin"],"name":"bootstrap"},
                "executable":"/x"}"#,
            "Hello",
            "",
        ] {
            assert_eq!(executable(other, "bootstrap"), None, "{other}");
        }
    }

    #[test]
    fn what_cargo_does_is_told_from_what_others_say() {
        let line = "   Compiling serde v1.0.229";
        assert_eq!(status(line), Some("Compiling serde v1.0.229"));
        assert_eq!(status("    Finished `lambda` profile"), Some("Finished `lambda` profile"));
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
            assert_eq!(status(other), None, "{other}");
        }
    }
}
