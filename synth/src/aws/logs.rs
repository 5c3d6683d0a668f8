//! Reads the functions' log lines from CloudWatch Logs.

use serde::{Deserialize, Serialize};

use super::connect::Aws;
use super::error::AwsError;
use super::signed::Operation;

const FILTER_LOG_EVENTS: Operation = Operation {
    service: "logs",
    target: "Logs_20140328.FilterLogEvents",
    json_version: "1.1",
    name: "read the logs",
};
/// Number of log lines per page, which is the maximum that CloudWatch Logs allows.
const PAGE_EVENTS_MAX: u32 = 10_000;
/// The maximum is high, because a selective filter returns many empty pages.
pub(crate) const PAGES_MAX: usize = 500;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LogQuery {
    pub(crate) log_group_name: String,
    /// Time of the oldest line to return, in milliseconds since the Unix epoch.
    pub(crate) start_time: u64,
    /// If `None`, all lines are returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) filter_pattern: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogCompleteness {
    Complete,
    /// The log has more than [`PAGES_MAX`] pages, and the remaining pages were not read.
    PagesRemain,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LogEvent {
    /// AWS always sets the id, but some emulators do not.
    pub(crate) event_id: Option<String>,
    /// Time of the line, in milliseconds since the Unix epoch.
    pub(crate) timestamp: u64,
    #[serde(default)]
    pub(crate) message: String,
    /// Each execution environment of a function has its own log stream.
    #[serde(default)]
    pub(crate) log_stream_name: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    #[serde(flatten)]
    query: &'a LogQuery,
    limit: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    #[serde(default)]
    events: Vec<LogEvent>,
    next_token: Option<String>,
}

impl Aws {
    /// Calls `handle_page` with the log lines of each page, oldest page first, for at most
    /// [`PAGES_MAX`] pages.
    pub(crate) async fn read_log_pages(
        &self,
        query: &LogQuery,
        mut handle_page: impl FnMut(Vec<LogEvent>),
    ) -> Result<LogCompleteness, AwsError> {
        let mut next_token = None;
        for _ in 0..PAGES_MAX {
            let request = Request { query, limit: PAGE_EVENTS_MAX, next_token };
            let page: Page = self.send_read_request(FILTER_LOG_EVENTS, &request).await?;
            handle_page(page.events);
            next_token = page.next_token;
            if next_token.is_none() {
                return Ok(LogCompleteness::Complete);
            }
        }
        Ok(LogCompleteness::PagesRemain)
    }
}

pub(crate) fn quoted_pattern(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn patterns_quote_the_text() {
        assert_eq!(quoted_pattern("took too long"), r#""took too long""#);
        assert_eq!(quoted_pattern(r#"{"level":"ERROR"}\n"#), r#""{\"level\":\"ERROR\"}\\n""#);
    }

    #[test]
    fn requests_and_replies_have_the_format_of_the_service() {
        let query =
            LogQuery { log_group_name: "g".to_owned(), start_time: 7, filter_pattern: None };
        let request = Request { query: &query, limit: 3, next_token: Some("t".to_owned()) };
        let expected = json!({ "logGroupName": "g", "startTime": 7, "limit": 3, "nextToken": "t" });
        assert_eq!(serde_json::to_value(request).unwrap(), expected);
        let event = json!({
            "eventId": "1", "timestamp": 8, "message": "m", "logStreamName": "s",
            "ingestionTime": 9,
        });
        let page: Page = serde_json::from_value(json!({ "events": [event] })).unwrap();
        let wanted = LogEvent {
            event_id: Some("1".to_owned()),
            timestamp: 8,
            message: "m".to_owned(),
            log_stream_name: "s".to_owned(),
        };
        assert!(page.events == [wanted] && page.next_token.is_none());
    }
}
