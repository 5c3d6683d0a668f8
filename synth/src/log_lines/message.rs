//! Classifies and formats log lines. A line is JSON written by Cellar, a platform line written by
//! Lambda, or plain text.

use cellar::text::escape;
use serde_json::{Map, Value};

/// Every line for which [`is_fault`] returns true contains one of these words.
pub(crate) const FAULT_WORDS: [&str; 10] = [
    "ERROR", "WARN", "FATAL", "CRITICAL", "timed", "panicked", "exited", "timeout", "failure",
    "error",
];
const FAULT_TEXTS: [&str; 7] =
    ["ERROR", "WARN", "FATAL", "CRITICAL", "Task timed out", "panicked", "Runtime exited"];
const FAULT_LEVELS: [&str; 4] = ["ERROR", "WARN", "FATAL", "CRITICAL"];
/// Prefixes of platform lines that Lambda writes in plain text.
const PLATFORM_PREFIXES: [&str; 5] =
    ["START RequestId:", "END RequestId:", "REPORT RequestId:", "INIT_START ", "EXTENSION\t"];
/// JSON fields that are not appended to the message as `field=value`.
const HIDDEN_FIELDS: [&str; 2] = ["message", "log.target"];

/// Returns whether Lambda, rather than the function, wrote a line.
pub(crate) fn is_platform_line(message: &str) -> bool {
    PLATFORM_PREFIXES.iter().any(|prefix| message.starts_with(prefix))
        || parse_object(message).is_some_and(|line| is_platform_object(&line))
}

/// Returns whether a line reports an error, a warning or a timeout.
pub(crate) fn is_fault(message: &str) -> bool {
    let Some(line) = parse_object(message) else {
        return FAULT_TEXTS.iter().any(|text| message.contains(text));
    };
    if is_platform_object(&line) {
        let status = line.get("record").and_then(|record| record.get("status")?.as_str());
        return status.is_some_and(|status| status != "success");
    }
    let level = line.get("level").and_then(Value::as_str).unwrap_or_default();
    FAULT_LEVELS.contains(&level)
}

/// Escapes control characters and shortens Cellar's JSON lines.
pub(crate) fn format_message(message: &str) -> String {
    let message = message.trim_end();
    let cellar_line = parse_object(message).and_then(|line| format_cellar_line(&line));
    escape(cellar_line.as_deref().unwrap_or(message))
}

/// Formats a JSON line of Cellar as `LEVEL message field=value`. Returns `None` for any other JSON.
fn format_cellar_line(line: &Map<String, Value>) -> Option<String> {
    let level = line.get("level")?.as_str()?;
    let fields = line.get("fields")?.as_object()?;
    let mut parts = vec![format!("{level:<5}")];
    parts.extend(fields.get("message").map(format_value));
    for (name, value) in fields {
        if !HIDDEN_FIELDS.contains(&name.as_str()) {
            parts.push(format!("{name}={}", format_value(value)));
        }
    }
    Some(parts.join(" "))
}

fn format_value(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn parse_object(message: &str) -> Option<Map<String, Value>> {
    if !message.starts_with('{') {
        return None;
    }
    serde_json::from_str(message).ok()
}

/// The type of a line that Lambda wrote starts with `platform.`, as in `platform.report`.
fn is_platform_object(line: &Map<String, Value>) -> bool {
    let line_type = line.get("type").and_then(Value::as_str);
    line_type.is_some_and(|line_type| line_type.starts_with("platform."))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = r#"{"timestamp":"2026-11-22T03:04:05Z","level":"WARN","fields":{"message":"a request failed for now","error":"slow\ndown","attempt":3},"target":"cellar_runtime::api"}"#;
    const REPORT: &str = r#"{"time":"2026-11-22T03:04:05Z","type":"platform.report","record":{"requestId":"1","status":"success"}}"#;

    #[test]
    fn recognizes_faults() {
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
            ("an error in lower case is ordinary text", false),
            ("START RequestId: 1 Version: $LATEST", false),
            (r#"{"level":7}"#, false),
            ("{ not JSON", false),
            ("", false),
        ] {
            assert_eq!(is_fault(message), fault, "{message}");
            let found = FAULT_WORDS.iter().any(|word| message.contains(word));
            assert!(!fault || found, "no word matches {message}");
        }
    }

    #[test]
    fn recognizes_platform_lines() {
        for message in [
            REPORT,
            "START RequestId: 1",
            "END RequestId: 1",
            "REPORT RequestId: 1\t",
            "INIT_START Runtime",
        ] {
            assert!(is_platform_line(message), "{message}");
        }
        for message in [OWN, "STARTED", r#"{"type":"platform"}"#, r#"{"type":1}"#, "{", ""] {
            assert!(!is_platform_line(message), "{message}");
        }
    }

    #[test]
    fn formats_own_lines_and_escapes_control_characters() {
        let short = "WARN  a request failed for now attempt=3 error=slow\\ndown";
        assert_eq!(format_message(OWN), short);
        assert_eq!(format_message("a\u{1b}[2J\tb\n"), "a\\u{1b}[2J\\tb");
        assert_eq!(format_message(r#"{"level":"INFO"}"#), r#"{"level":"INFO"}"#);
    }
}
