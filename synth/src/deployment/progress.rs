//! What is told of a stack's events.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::aws::DeploymentEvent;

/// The type of the stack itself among its resources.
const STACK: &str = "AWS::CloudFormation::Stack";

/// How it goes with a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mark {
    /// Something begins.
    Begun,
    /// It is done.
    Done,
    /// It failed.
    Failed,
}

/// Something to tell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Line {
    /// How it goes.
    pub(crate) mark: Mark,
    /// The resource.
    pub(crate) logical_id: String,
    /// Its type, `AWS::…`.
    pub(crate) resource_type: String,
    /// Its status, as CloudFormation names it.
    pub(crate) status: String,
    /// Milliseconds since it began, once it has ended.
    pub(crate) took_ms: Option<u64>,
    /// Why, if CloudFormation says it.
    pub(crate) reason: Option<String>,
}

/// The events of one deployment.
#[derive(Debug, Default)]
pub(crate) struct DeploymentProgress {
    seen: HashSet<String>,
    begun_ms: HashMap<String, u64>,
    done: HashSet<String>,
    has_begun: bool,
    failures: Vec<DeploymentEvent>,
}

impl DeploymentProgress {
    /// A deployment to a stack of which so much had happened before.
    pub(crate) fn after(before: &[DeploymentEvent]) -> Self {
        let seen = before.iter().map(|event| event.id.clone()).collect();
        Self { seen, ..Self::default() }
    }

    /// One that somebody else has begun.
    pub(crate) fn underway(before: &[DeploymentEvent]) -> Self {
        Self { has_begun: true, ..Self::after(before) }
    }

    /// Whether an event was told, or is none of this deployment.
    pub(crate) fn knows(&self, event_id: &str) -> bool {
        self.seen.contains(event_id)
    }

    /// Whether anything has happened.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Resources that are done.
    pub(crate) fn done(&self) -> usize {
        self.done.len()
    }

    /// All that failed, in order, and why the stack was taken back.
    pub(crate) fn failures(&self) -> &[DeploymentEvent] {
        &self.failures
    }

    /// Takes events, oldest first; those that come twice are told once.
    pub(crate) fn take(&mut self, events: Vec<DeploymentEvent>) -> Vec<Line> {
        let new = events.into_iter().filter_map(|event| {
            let is_new = self.seen.insert(event.id.clone());
            self.has_begun |= is_new;
            is_new.then(|| self.line(event)).flatten()
        });
        new.collect()
    }

    fn line(&mut self, event: DeploymentEvent) -> Option<Line> {
        let mark = if event.status.ends_with("_IN_PROGRESS") {
            Mark::Begun
        } else if event.status.ends_with("_FAILED") {
            Mark::Failed
        } else {
            Mark::Done
        };
        // What takes a deployment back is said by the stack alone, if no resource failed.
        let is_taken_back = event.resource_type == STACK
            && event.status.ends_with("ROLLBACK_IN_PROGRESS")
            && event.reason.is_some();
        if mark == Mark::Failed || is_taken_back {
            self.failures.push(event.clone());
        }
        let took_ms = match mark {
            Mark::Begun => {
                // A resource begins twice: when it is asked for, and when its id is known.
                let first = self.begun_ms.insert(event.logical_id.clone(), event.at_ms);
                if let Some(first) = first.filter(|_| event.status != "DELETE_IN_PROGRESS") {
                    self.begun_ms.insert(event.logical_id.clone(), first);
                    return None;
                }
                None
            }
            Mark::Done | Mark::Failed => {
                let begun_ms = self.begun_ms.remove(&event.logical_id);
                begun_ms.map(|begun_ms| event.at_ms.saturating_sub(begun_ms))
            }
        };
        let DeploymentEvent { logical_id, resource_type, status, reason, .. } = event;
        if mark == Mark::Done && resource_type != STACK {
            self.done.insert(logical_id.clone());
        }
        Some(Line { mark, logical_id, resource_type, status, took_ms, reason })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn event(id: u64, logical_id: &str, status: &str) -> DeploymentEvent {
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
    fn each_event_is_told_once_with_how_long_it_took() {
        let mut progress = DeploymentProgress::after(&[event(0, "Queue", "CREATE_COMPLETE")]);
        let events = vec![
            event(0, "Queue", "CREATE_COMPLETE"),
            event(1, "Queue", "UPDATE_IN_PROGRESS"),
            event(3, "Queue", "UPDATE_IN_PROGRESS"),
            event(7, "Queue", "UPDATE_COMPLETE"),
        ];
        assert!(!progress.has_begun() && DeploymentProgress::underway(&[]).has_begun());
        let lines = progress.take(events.clone());
        assert!(progress.has_begun());
        let told: Vec<_> = lines.iter().map(|line| (line.mark, line.took_ms)).collect();
        assert_eq!(told, [(Mark::Begun, None), (Mark::Done, Some(6_000))]);
        assert!(progress.take(events).is_empty() && progress.knows("7"));
        assert_eq!((progress.done(), progress.failures().len()), (1, 0));
        let failed = progress.take(vec![event(9, "Queue", "DELETE_FAILED")]);
        assert_eq!((failed[0].mark, failed[0].took_ms), (Mark::Failed, None));
        assert_eq!(progress.failures().len(), 1);
        let back = |id, reason: Option<&str>| DeploymentEvent {
            resource_type: STACK.to_owned(),
            reason: reason.map(str::to_owned),
            ..event(id, "cellar", "UPDATE_ROLLBACK_IN_PROGRESS")
        };
        progress.take(vec![back(10, None), back(11, Some("an alarm"))]);
        assert_eq!(progress.failures().len(), 2);
    }
}
