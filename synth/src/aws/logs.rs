//! What functions log.

use serde::{Deserialize, Serialize};

use super::signed::Operation;
use super::{Aws, AwsError};

const FILTER: Operation = Operation {
    service: "logs",
    target: "Logs_20140328.FilterLogEvents",
    json: "1.1",
    what: "read the logs",
};
/// Lines of a page: what the service allows at most.
const PAGE_EVENTS: u32 = 10_000;
/// Pages of a log group that are read at a time: a filter that finds little gives many empty ones.
pub(crate) const PAGES_MAX: usize = 500;

/// Which lines of a log group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Wish {
    /// The log group's name.
    pub(crate) log_group_name: String,
    /// From then on, Unix milliseconds.
    pub(crate) start_time: u64,
    /// What they contain, in the service's own words; absent means all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) filter_pattern: Option<String>,
}

/// A line that somebody logged.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LogEvent {
    /// Its id. AWS always gives one, an emulator may not.
    pub(crate) event_id: Option<String>,
    /// When, Unix milliseconds.
    pub(crate) timestamp: u64,
    /// What was logged.
    #[serde(default)]
    pub(crate) message: String,
    /// The log stream: one process of the function.
    #[serde(default)]
    pub(crate) log_stream_name: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    #[serde(flatten)]
    wish: &'a Wish,
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
    /// Hands over lines, page by page, oldest first. Says whether that was all: it ends after
    /// [`PAGES_MAX`].
    ///
    /// # Errors
    /// [`AwsError`].
    pub(crate) async fn log_events(
        &self,
        wish: &Wish,
        mut take: impl FnMut(Vec<LogEvent>),
    ) -> Result<bool, AwsError> {
        let mut next_token = None;
        for _ in 0..PAGES_MAX {
            let request = Request { wish, limit: PAGE_EVENTS, next_token };
            let page: Page = self.read(FILTER, &request).await?;
            take(page.events);
            next_token = page.next_token;
            if next_token.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The pattern that finds lines with this text in them.
pub(crate) fn pattern_of(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_is_found_as_it_is_written() {
        assert_eq!(pattern_of("took too long"), r#""took too long""#);
        assert_eq!(pattern_of(r#"{"level":"ERROR"}\n"#), r#""{\"level\":\"ERROR\"}\\n""#);
    }

    #[test]
    fn requests_and_replies_are_those_of_the_service() {
        let wish = Wish { log_group_name: "g".to_owned(), start_time: 7, filter_pattern: None };
        let request = Request { wish: &wish, limit: 3, next_token: Some("t".to_owned()) };
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
