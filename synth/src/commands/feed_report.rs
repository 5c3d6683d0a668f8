//! What `synth feed` shows.

use std::fmt::Write as _;

use cellar_base::count::count;
use cellar_engine::feed::{Audit, Finding};
use serde::Serialize;

/// Findings that people are shown; programs get all.
const SHOWN: usize = 20;

/// What was done before the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Done {
    /// Whether what was missing was indexed; otherwise the feed was built anew.
    pub(super) repaired: bool,
    /// How many events were indexed.
    pub(super) events: u64,
}

/// All of it, as programs get it.
#[derive(Serialize)]
pub(super) struct Report {
    feed: Option<String>,
    end: Option<u64>,
    streams: u64,
    items: u64,
    events: u64,
    done: Option<Done>,
    findings: Vec<Row>,
}

#[derive(Serialize)]
#[serde(tag = "finding", rename_all = "camelCase")]
enum Row {
    Missing { stream: String, from: u64, to: u64 },
    Beyond { stream: String, there: u64, indexed: u64 },
    Disordered { stream: String, expected: u64, found: u64, at: u64 },
    Lost { at: u64 },
}

impl Row {
    fn of(finding: &Finding) -> Self {
        match finding {
            Finding::Missing { stream, from, to } => {
                Self::Missing { stream: stream.to_string(), from: *from, to: *to }
            }
            Finding::Beyond { stream, stored, indexed } => {
                Self::Beyond { stream: stream.to_string(), there: *stored, indexed: *indexed }
            }
            Finding::Disordered { stream, expected, found, at } => Self::Disordered {
                stream: stream.to_string(),
                expected: *expected,
                found: *found,
                at: at.number(),
            },
            Finding::Lost { at } => Self::Lost { at: at.number() },
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Missing { stream, from, to } => {
                let events = count(to.saturating_sub(*from), "event", "events");
                format!("{stream}: {events} from {from} on are not in the feed")
            }
            Self::Beyond { stream, there, indexed } => {
                format!("{stream}: the feed has {indexed} events, the stream {there}")
            }
            Self::Disordered { stream, expected, found, at } => {
                format!("{stream}: at {at} the feed has event {found} where {expected} should be")
            }
            Self::Lost { at } => format!("the feed has lost what was at {at}"),
        }
    }

    fn can_be_repaired(&self) -> bool {
        matches!(self, Self::Missing { .. })
    }
}

impl Report {
    /// Of a comparison, and what was done before it.
    pub(super) fn of(audit: &Audit, done: Option<Done>) -> Self {
        Self {
            feed: audit.feed.map(|feed| feed.to_string()),
            end: audit.end.map(|end| end.number()),
            streams: audit.streams,
            items: audit.items,
            events: audit.events,
            done,
            findings: audit.findings.iter().map(Row::of).collect(),
        }
    }

    /// Whether something is wrong.
    pub(super) fn differs(&self) -> bool {
        !self.findings.is_empty()
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        if let Some(Done { repaired, events }) = self.done {
            let what = if repaired { "Indexed" } else { "Built anew with" };
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{what} {}.", count(events, "event", "events"));
        }
        let (events, streams) =
            (count(self.events, "event", "events"), count(self.streams, "stream", "streams"));
        if !self.differs() {
            let _ = write!(text, "The feed has all {events} of {streams}, each once.");
            return text;
        }
        let _ = writeln!(text, "The feed has {events}; there are {streams}. What is wrong:");
        for row in self.findings.iter().take(SHOWN) {
            let _ = writeln!(text, "  {}", row.text());
        }
        let more = self.findings.len().saturating_sub(SHOWN);
        if more > 0 {
            let _ = writeln!(text, "  and {more} more: --json has all");
        }
        text.push_str(match self.findings.iter().all(Row::can_be_repaired) {
            true => "`synth feed repair` indexes what is missing.",
            false => "`synth feed rebuild` builds it anew from the streams.",
        });
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn audit(findings: Vec<Finding>) -> Audit {
        Audit { streams: 2, items: 3, events: 4, findings, ..Audit::default() }
    }

    fn missing(from: u64) -> Finding {
        Finding::Missing { stream: "S-a".parse().unwrap(), from, to: from + 1 }
    }

    #[test]
    fn people_are_told_what_is_wrong_and_what_to_run() {
        let whole = Report::of(&audit(vec![]), Some(Done { repaired: true, events: 1 }));
        assert!(!whole.differs());
        assert_eq!(
            whole.text(),
            "Indexed 1 event.\nThe feed has all 4 events of 2 streams, each once."
        );
        let some = Report::of(&audit(vec![missing(3)]), None);
        assert!(some.differs());
        assert_eq!(
            some.text(),
            "The feed has 4 events; there are 2 streams. What is wrong:\n  \
             S-a: 1 event from 3 on are not in the feed\n\
             `synth feed repair` indexes what is missing."
        );
        let lost = Finding::Lost { at: "7".parse().unwrap() };
        let many = (0..21).map(missing).chain([lost]).collect();
        let text = Report::of(&audit(many), None).text();
        assert!(text.contains("and 2 more") && text.ends_with("from the streams."), "{text}");
    }
}
