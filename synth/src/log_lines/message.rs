//! What is in a line: our own JSON, what Lambda says of a call, or plain text.

use cellar::table::escape;
use serde_json::{Map, Value};

/// Words of which each line has one that tells of a fault: what a service is asked to look for, before
/// [`is_fault`] looks closer. Plain words: all filters know them.
pub(crate) const FAULT_WORDS: [&str; 10] = [
    "ERROR", "WARN", "FATAL", "CRITICAL", "timed", "panicked", "exited", "timeout", "failure",
    "error",
];
/// What tells of a fault in a line that is no JSON.
const FAULTS_IN_TEXT: [&str; 7] =
    ["ERROR", "WARN", "FATAL", "CRITICAL", "Task timed out", "panicked", "Runtime exited"];
/// Levels that tell of a fault.
const FAULT_LEVELS: [&str; 4] = ["ERROR", "WARN", "FATAL", "CRITICAL"];
/// How lines of Lambda itself begin, where it does not write JSON.
const OF_LAMBDA: [&str; 5] =
    ["START RequestId:", "END RequestId:", "REPORT RequestId:", "INIT_START ", "EXTENSION\t"];
/// Fields of our lines that are said elsewhere, or only to programs.
const NOT_SHOWN: [&str; 2] = ["message", "log.target"];

/// Whether Lambda says it of a call, and not the function.
pub(crate) fn is_of_lambda(message: &str) -> bool {
    OF_LAMBDA.iter().any(|begin| message.starts_with(begin))
        || object(message).is_some_and(|line| platform(&line).is_some())
}

/// Whether it tells of something that went wrong, or nearly did.
pub(crate) fn is_fault(message: &str) -> bool {
    let Some(line) = object(message) else {
        return FAULTS_IN_TEXT.iter().any(|text| message.contains(text));
    };
    if platform(&line).is_some() {
        let status = line.get("record").and_then(|record| record.get("status")?.as_str());
        return status.is_some_and(|status| status != "success");
    }
    let level = line.get("level").and_then(Value::as_str).unwrap_or_default();
    FAULT_LEVELS.contains(&level)
}

/// As a person reads it, on one line.
pub(crate) fn shown(message: &str) -> String {
    let message = message.trim_end();
    let short = object(message).and_then(|line| short(&line));
    escape(short.as_deref().unwrap_or(message))
}

/// `LEVEL message field=value` of a line of our own.
fn short(line: &Map<String, Value>) -> Option<String> {
    let level = line.get("level")?.as_str()?;
    let fields = line.get("fields")?.as_object()?;
    let mut words = vec![format!("{level:<5}")];
    words.extend(fields.get("message").map(text));
    let others = fields.iter().filter(|(name, _)| !NOT_SHOWN.contains(&name.as_str()));
    words.extend(others.map(|(name, value)| format!("{name}={}", text(value))));
    Some(words.join(" "))
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn object(message: &str) -> Option<Map<String, Value>> {
    if !message.starts_with('{') {
        return None;
    }
    serde_json::from_str(message).ok()
}

/// The kind of a line of Lambda, such as `platform.report`.
fn platform(line: &Map<String, Value>) -> Option<&str> {
    line.get("type")?.as_str().filter(|kind| kind.starts_with("platform."))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = r#"{"timestamp":"2026-11-22T03:04:05Z","level":"WARN","fields":{"message":"a request failed for now","error":"slow\ndown","attempt":3},"target":"cellar_runtime::api"}"#;
    const REPORT: &str = r#"{"time":"2026-11-22T03:04:05Z","type":"platform.report","record":{"requestId":"1","status":"success"}}"#;

    #[test]
    fn faults_are_told_from_what_goes_well() {
        let info = OWN.replace("WARN", "INFO");
        let timeout = REPORT.replace("success", "timeout");
        for (message, fault) in [
            (OWN, true),
            (&info, false),
            (REPORT, false),
            (&timeout, true),
            (&REPORT.replace("success", "failure"), true),
            (&REPORT.replace("success", "error"), true),
            ("2026-11-22 1f Task timed out after 29.01 seconds", true),
            ("thread 'main' panicked at src/main.rs:1:1", true),
            ("RequestId: 1 Error: Runtime exited with error: exit status 1", true),
            ("an error in lower case is somebody's text", false),
            ("START RequestId: 1 Version: $LATEST", false),
            (r#"{"level":7}"#, false),
            ("{ not JSON", false),
            ("", false),
        ] {
            assert_eq!(is_fault(message), fault, "{message}");
            let found = FAULT_WORDS.iter().any(|word| message.contains(word));
            assert!(!fault || found, "nothing asks for {message}");
        }
    }

    #[test]
    fn what_lambda_says_is_told_from_what_the_function_says() {
        for message in [
            REPORT,
            "START RequestId: 1",
            "END RequestId: 1",
            "REPORT RequestId: 1\t",
            "INIT_START Runtime",
        ] {
            assert!(is_of_lambda(message), "{message}");
        }
        for message in [OWN, "STARTED", r#"{"type":"platform"}"#, r#"{"type":1}"#, "{", ""] {
            assert!(!is_of_lambda(message), "{message}");
        }
    }

    #[test]
    fn our_own_lines_are_short_and_nothing_controls_the_terminal() {
        let short = "WARN  a request failed for now attempt=3 error=slow\\ndown";
        assert_eq!(shown(OWN), short);
        assert_eq!(shown("a\u{1b}[2J\tb\n"), "a\\u{1b}[2J\\tb");
        assert_eq!(shown(r#"{"level":"INFO"}"#), r#"{"level":"INFO"}"#);
    }
}
