//! Lines of logs: what is in them, which are the newest, which were told before.

mod message;
mod newest;
mod seen;

pub(crate) use message::{FAULT_WORDS, is_fault, is_of_lambda, shown};
pub(crate) use newest::Newest;
pub(crate) use seen::Seen;

use std::time::{Duration, UNIX_EPOCH};

use serde::Serialize;

/// A line that a function logged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Line {
    /// When, RFC 3339 with milliseconds.
    pub(crate) at: String,
    /// The function.
    pub(crate) function: &'static str,
    /// As it was logged.
    pub(crate) message: String,
    /// The log stream: one process of the function.
    pub(crate) stream: String,
}

impl Line {
    /// As a person reads it.
    pub(crate) fn text(&self, width: usize) -> String {
        let (function, message) = (self.function, shown(&self.message));
        let second = self.at.split('.').next().unwrap_or_default();
        format!("{second}Z {function:<width$}  {message}")
    }
}

/// A time as lines have it.
pub(crate) fn moment(at_ms: u64) -> String {
    // Later than any calendar: nobody logged it.
    let at = UNIX_EPOCH + Duration::from_millis(at_ms.min(MOMENT_MS_MAX));
    humantime::format_rfc3339_millis(at).to_string()
}

/// The end of the year 9999.
const MOMENT_MS_MAX: u64 = 253_402_300_799_999;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_time_its_function_and_its_message() {
        let message = "x\u{1b}[31m\n".to_owned();
        let (at, stream) = (moment(1_793_516_645_678), String::new());
        let line = Line { at, function: "api", message, stream };
        assert_eq!(line.text(8), "2026-11-01T07:04:05Z api       x\\u{1b}[31m");
        assert_eq!(moment(MOMENT_MS_MAX), "9999-12-31T23:59:59.999Z");
        assert_eq!(moment(u64::MAX), moment(MOMENT_MS_MAX));
    }
}
