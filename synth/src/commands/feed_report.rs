//! Report of `synth feed`.

use cellar_base::count::count;
use cellar_engine::feed::{Audit, Finding};
use serde::Serialize;

/// The JSON report contains all findings.
const MAX_SHOWN_FINDINGS: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct FeedRepair {
    /// Whether the feed was repaired by adding the missing events. If not, the whole feed was
    /// rebuilt.
    pub(super) repaired: bool,
    pub(super) events: u64,
}

impl FeedRepair {
    fn to_text(self) -> String {
        let events = count(self.events, "event", "events");
        if self.repaired {
            format!("Added {events}.")
        } else {
            format!("Rebuilt the feed with {events}.")
        }
    }
}

#[derive(Serialize)]
pub(super) struct FeedReport {
    feed: Option<String>,
    end: Option<u64>,
    streams: u64,
    items: u64,
    events: u64,
    #[serde(rename = "done")]
    repair: Option<FeedRepair>,
    findings: Vec<FindingRow>,
}

#[derive(Serialize)]
#[serde(tag = "finding", rename_all = "camelCase")]
enum FindingRow {
    Missing { stream: String, from: u64, to: u64 },
    Beyond { stream: String, there: u64, indexed: u64 },
    Disordered { stream: String, expected: u64, found: u64, at: u64 },
    Lost { at: u64 },
}

impl FindingRow {
    fn from_finding(finding: &Finding) -> Self {
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

    fn to_text(&self) -> String {
        match self {
            Self::Missing { stream, from, to } => {
                let event_count = count(to.saturating_sub(*from), "event", "events");
                format!("{stream}: the feed lacks {event_count}, starting with event {from}")
            }
            Self::Beyond { stream, there, indexed } => {
                format!("{stream}: the feed has {indexed} events, but the stream has {there}")
            }
            Self::Disordered { stream, expected, found, at } => {
                format!(
                    "{stream}: the feed has event {found} instead of {expected} at checkpoint {at}"
                )
            }
            Self::Lost { at } => format!("the item at checkpoint {at} is missing from the feed"),
        }
    }

    fn can_be_repaired(&self) -> bool {
        matches!(self, Self::Missing { .. })
    }
}

impl FeedReport {
    pub(super) fn new(audit: &Audit, repair: Option<FeedRepair>) -> Self {
        Self {
            feed: audit.feed.map(|feed| feed.to_string()),
            end: audit.end.map(|end| end.number()),
            streams: audit.streams,
            items: audit.items,
            events: audit.events,
            repair,
            findings: audit.findings.iter().map(FindingRow::from_finding).collect(),
        }
    }

    pub(super) fn has_differences(&self) -> bool {
        !self.findings.is_empty()
    }

    pub(super) fn to_text(&self) -> String {
        let mut lines = Vec::new();
        if let Some(repair) = self.repair {
            lines.push(repair.to_text());
        }
        let events = count(self.events, "event", "events");
        let streams = count(self.streams, "stream", "streams");
        if !self.has_differences() {
            lines.push(format!("The feed contains all {events} of {streams}, each once."));
            return lines.join("\n");
        }
        lines.push(format!("The feed contains {events} of {streams}. Differences:"));
        for finding in self.findings.iter().take(MAX_SHOWN_FINDINGS) {
            lines.push(format!("  {}", finding.to_text()));
        }
        let hidden_count = self.findings.len().saturating_sub(MAX_SHOWN_FINDINGS);
        if hidden_count > 0 {
            lines.push(format!("  and {hidden_count} more (see --json)"));
        }
        let advice = if self.findings.iter().all(FindingRow::can_be_repaired) {
            "`synth feed repair` adds the missing events."
        } else {
            "`synth feed rebuild` rebuilds the feed from the event streams."
        };
        lines.push(advice.to_owned());
        lines.join("\n")
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
    fn the_text_lists_differences_and_the_command_to_run() {
        let whole = FeedReport::new(&audit(vec![]), Some(FeedRepair { repaired: true, events: 1 }));
        assert!(!whole.has_differences());
        assert_eq!(
            whole.to_text(),
            "Added 1 event.\nThe feed contains all 4 events of 2 streams, each once."
        );
        let some = FeedReport::new(&audit(vec![missing(3)]), None);
        assert!(some.has_differences());
        assert_eq!(
            some.to_text(),
            "The feed contains 4 events of 2 streams. Differences:\n  \
             S-a: the feed lacks 1 event, starting with event 3\n\
             `synth feed repair` adds the missing events."
        );
        let lost = Finding::Lost { at: "7".parse().unwrap() };
        let many = (0..21).map(missing).chain([lost]).collect();
        let text = FeedReport::new(&audit(many), None).to_text();
        assert!(text.contains("and 2 more") && text.ends_with("from the event streams."), "{text}");
    }
}
