//! Derives the progress of a stack operation from stack events.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::aws::{DeploymentEvent, STACK_TYPE};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EventMark {
    #[serde(rename = "begun")]
    Started,
    Done,
    Failed,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct EventLine {
    pub(crate) mark: EventMark,
    pub(crate) logical_id: String,
    pub(crate) resource_type: String,
    pub(crate) status: String,
    /// `None` until the change has ended.
    pub(crate) took_ms: Option<u64>,
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Default)]
pub(crate) struct DeploymentProgress {
    seen_ids: HashSet<String>,
    /// Start time of each resource change in progress, by logical id, in milliseconds since the
    /// Unix epoch.
    started_ms: HashMap<String, u64>,
    finished_ids: HashSet<String>,
    has_started: bool,
    failures: Vec<DeploymentEvent>,
}

impl DeploymentProgress {
    /// `earlier_events` are all stack events so far.
    pub(crate) fn starting_after(earlier_events: &[DeploymentEvent]) -> Self {
        let seen_ids = earlier_events.iter().map(|event| event.id.clone()).collect();
        Self { seen_ids, ..Self::default() }
    }

    /// `events` are all stack events so far. They are not reported again.
    pub(crate) fn in_progress(events: &[DeploymentEvent]) -> Self {
        Self { has_started: true, ..Self::starting_after(events) }
    }

    /// Returns whether an event was already reported or belongs to an earlier operation.
    pub(crate) fn has_seen(&self, event_id: &str) -> bool {
        self.seen_ids.contains(event_id)
    }

    pub(crate) fn has_started(&self) -> bool {
        self.has_started
    }

    pub(crate) fn finished_resources(&self) -> usize {
        self.finished_ids.len()
    }

    /// Returns the failure events, oldest first. They include the event with the reason for a
    /// rollback.
    pub(crate) fn failures(&self) -> &[DeploymentEvent] {
        &self.failures
    }

    /// Adds events, which must be sorted from oldest to newest, and returns the lines to show for
    /// them. Skips known events.
    pub(crate) fn add_events(&mut self, events: Vec<DeploymentEvent>) -> Vec<EventLine> {
        let mut lines = Vec::new();
        for event in events {
            if self.seen_ids.insert(event.id.clone()) {
                self.has_started = true;
                lines.extend(self.add_event(event));
            }
        }
        lines
    }

    /// Returns `None` if the event repeats the start of a resource change.
    fn add_event(&mut self, event: DeploymentEvent) -> Option<EventLine> {
        let mark = EventMark::of_status(&event.status);
        if mark == EventMark::Failed || is_rollback_with_reason(&event) {
            self.failures.push(event.clone());
        }
        if mark == EventMark::Started && self.repeats_start(&event) {
            return None;
        }
        let mut took_ms = None;
        if mark == EventMark::Started {
            self.started_ms.insert(event.logical_id.clone(), event.at_ms);
        } else if let Some(started_ms) = self.started_ms.remove(&event.logical_id) {
            took_ms = Some(event.at_ms.saturating_sub(started_ms));
        }
        if mark == EventMark::Done && event.resource_type != STACK_TYPE {
            self.finished_ids.insert(event.logical_id.clone());
        }
        Some(EventLine {
            mark,
            logical_id: event.logical_id,
            resource_type: event.resource_type,
            status: event.status,
            took_ms,
            reason: event.reason,
        })
    }

    /// CloudFormation reports the start of a creation twice: when the creation is requested, and
    /// when the resource has received a physical id.
    fn repeats_start(&self, event: &DeploymentEvent) -> bool {
        event.status != "DELETE_IN_PROGRESS" && self.started_ms.contains_key(&event.logical_id)
    }
}

impl EventMark {
    fn of_status(status: &str) -> Self {
        if status.ends_with("_IN_PROGRESS") {
            Self::Started
        } else if status.ends_with("_FAILED") {
            Self::Failed
        } else {
            Self::Done
        }
    }
}

/// If an alarm triggers the rollback, no resource fails, so only this event contains the reason.
fn is_rollback_with_reason(event: &DeploymentEvent) -> bool {
    event.resource_type == STACK_TYPE
        && event.status.ends_with("ROLLBACK_IN_PROGRESS")
        && event.reason.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: u64, logical_id: &str, status: &str) -> DeploymentEvent {
        DeploymentEvent {
            id: id.to_string(),
            at_ms: id * 1_000,
            logical_id: logical_id.to_owned(),
            resource_type: "AWS::SQS::Queue".to_owned(),
            status: status.to_owned(),
            reason: None,
        }
    }

    #[test]
    fn reports_each_event_once_with_its_duration() {
        let mut progress =
            DeploymentProgress::starting_after(&[event(0, "Queue", "CREATE_COMPLETE")]);
        let events = vec![
            event(0, "Queue", "CREATE_COMPLETE"),
            event(1, "Queue", "UPDATE_IN_PROGRESS"),
            event(3, "Queue", "UPDATE_IN_PROGRESS"),
            event(7, "Queue", "UPDATE_COMPLETE"),
        ];
        assert!(!progress.has_started() && DeploymentProgress::in_progress(&[]).has_started());
        let lines = progress.add_events(events.clone());
        assert!(progress.has_started());
        let reported: Vec<_> = lines.iter().map(|line| (line.mark, line.took_ms)).collect();
        assert_eq!(reported, [(EventMark::Started, None), (EventMark::Done, Some(6_000))]);
        assert!(progress.add_events(events).is_empty() && progress.has_seen("7"));
        assert_eq!((progress.finished_resources(), progress.failures().len()), (1, 0));
        let failed = progress.add_events(vec![event(9, "Queue", "DELETE_FAILED")]);
        assert_eq!((failed[0].mark, failed[0].took_ms), (EventMark::Failed, None));
        assert_eq!(progress.failures().len(), 1);
        let rollback = |id, reason: Option<&str>| DeploymentEvent {
            resource_type: STACK_TYPE.to_owned(),
            reason: reason.map(str::to_owned),
            ..event(id, "cellar", "UPDATE_ROLLBACK_IN_PROGRESS")
        };
        progress.add_events(vec![rollback(10, None), rollback(11, Some("an alarm"))]);
        assert_eq!(progress.failures().len(), 2);
    }
}
