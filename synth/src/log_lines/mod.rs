//! Log lines of the functions: classification, formatting, selection of the newest lines, and
//! deduplication.

mod deduplicate;
mod message;
mod newest;

pub(crate) use deduplicate::SeenLines;
pub(crate) use message::{FAULT_WORDS, format_message, is_fault, is_platform_line};
pub(crate) use newest::Newest;

use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct LogLine {
    /// Timestamp in RFC 3339 format, with milliseconds.
    pub(crate) at: String,
    pub(crate) function: &'static str,
    pub(crate) message: String,
    pub(crate) stream: String,
}

impl LogLine {
    /// `width` is the width of the column with the function name.
    pub(crate) fn to_text(&self, width: usize) -> String {
        let time_in_seconds = self.at.split('.').next().unwrap_or_default();
        let message = format_message(&self.message);
        format!("{time_in_seconds}Z {:<width$}  {message}", self.function)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moment::format_utc_ms;

    #[test]
    fn a_line_contains_time_function_and_message() {
        let message = "x\u{1b}[31m\n".to_owned();
        let (at, stream) = (format_utc_ms(1_793_516_645_678), String::new());
        let line = LogLine { at, function: "api", message, stream };
        assert_eq!(line.to_text(8), "2026-11-01T07:04:05Z api       x\\u{1b}[31m");
    }
}
