//! What was at fault when a deployment failed, and what to do about it.

use crate::aws::{DeploymentEvent, denied_action};

/// What CloudFormation says of what it gave up because something else had failed.
const CANCELLED: [&str; 3] =
    ["Resource creation cancelled", "Resource update cancelled", "Resource deletion cancelled"];
/// The type of the stack itself among its resources.
const STACK: &str = "AWS::CloudFormation::Stack";

/// Why a deployment failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The resource, by the name that it has in the stack; nothing if it is the stack itself.
    pub(crate) logical_id: Option<String>,
    /// Its type.
    pub(crate) resource_type: String,
    /// What AWS says.
    pub(crate) reason: String,
}

/// What to do if AWS says one of these, in lower case.
const ADVICE: [(&[&str], &str); 6] = [
    (
        &["already exists"],
        "something with that name is there and not part of this stack, perhaps kept by an earlier \
         one: delete it if it is not needed, or choose another `stack` name in cellar.yaml",
    ),
    (
        &["reservedconcurrentexecutions", "unreservedconcurrentexecution"],
        "the account's limit of concurrent executions is too low for a reservation: leave it out, or \
         have the limit raised",
    ),
    (
        &["limitexceeded", "limit exceeded", "quota"],
        "a limit of the account is reached: have it raised in Service Quotas, or delete what is not \
         needed",
    ),
    (
        &["rate exceeded", "throttling", "serviceunavailable", "internalfailure", "internal error"],
        "AWS was too busy: wait a minute",
    ),
    (
        &["rollback trigger", "went into alarm", "in alarm state"],
        "one of the stack's own alarms went off while it was deployed: see why with `synth logs` and \
         `synth runbook`",
    ),
    (&["cancelled by user", "requested by user"], "somebody has taken it back: ask why"),
];

impl Failure {
    /// What to mend.
    pub(crate) fn advice(&self) -> String {
        let reason = self.reason.to_lowercase();
        if let Some(action) = denied_action(&self.reason) {
            return format!("whoever deploys needs the permission {action}: have it added");
        }
        if reason.contains("not authorized") || reason.contains("accessdenied") {
            return "whoever deploys needs the permission that the reason names".to_owned();
        }
        let says = |words: &&[&str]| words.iter().any(|word| reason.contains(word));
        let advice = ADVICE.iter().find(|(words, _)| says(words)).map(|(_, advice)| *advice);
        advice.unwrap_or("mend what the reason names").to_owned()
    }
}

/// The first thing that failed by itself.
pub(crate) fn failure(failures: &[DeploymentEvent]) -> Option<Failure> {
    let own = |event: &&DeploymentEvent| {
        let reason = event.reason.as_deref().unwrap_or_default();
        !CANCELLED.iter().any(|cancelled| reason.contains(cancelled))
    };
    let of_resource = |event: &&DeploymentEvent| event.resource_type != STACK;
    let event = failures.iter().filter(own).find(of_resource);
    let event = event.or_else(|| failures.iter().find(own)).or_else(|| failures.first())?;
    Some(Failure {
        logical_id: of_resource(&event).then(|| event.logical_id.clone()),
        resource_type: event.resource_type.clone(),
        reason: event.reason.clone().unwrap_or_else(|| "AWS gives no reason".to_owned()),
    })
}

/// The same of a stack that was left half-way: of all that ever happened to it, oldest first, what
/// failed in the last thing that was done with it.
pub(crate) fn last_failure(events: &[DeploymentEvent]) -> Option<Failure> {
    let begins = |event: &DeploymentEvent| {
        event.resource_type == STACK && event.status.ends_with("_IN_PROGRESS")
    };
    let begun = events.iter().rposition(begins).unwrap_or_default();
    let last = events.iter().skip(begun).filter(|event| event.status.ends_with("_FAILED"));
    failure(&last.cloned().collect::<Vec<DeploymentEvent>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(logical_id: &str, resource_type: &str, reason: &str) -> DeploymentEvent {
        DeploymentEvent {
            id: logical_id.to_owned(),
            at_ms: 0,
            logical_id: logical_id.to_owned(),
            resource_type: resource_type.to_owned(),
            status: "CREATE_FAILED".to_owned(),
            reason: (!reason.is_empty()).then(|| reason.to_owned()),
        }
    }

    #[test]
    fn the_cause_is_the_first_that_failed_by_itself() {
        let failures = [
            event("Role", "AWS::IAM::Role", "Resource creation cancelled"),
            event("cellar", STACK, "The following resource(s) failed to create: [Table]"),
            event("Table", "AWS::DynamoDB::Table", "Table already exists"),
            event("Queue", "AWS::SQS::Queue", "Rate exceeded"),
        ];
        let found = failure(&failures).unwrap();
        assert_eq!(found.logical_id.as_deref(), Some("Table"));
        let found = failure(&failures[..2]).unwrap();
        assert_eq!(found.logical_id, None);
        let only_cancelled = failure(&failures[..1]).unwrap();
        assert_eq!(only_cancelled.logical_id.as_deref(), Some("Role"));
        assert_eq!(failure(&[]), None);
        assert!(failure(&[event("A", "B", "")]).unwrap().reason.contains("no reason"));
    }

    #[test]
    fn advice_is_about_what_the_reason_says() {
        for (reason, advice) in [
            (
                "User: u is not authorized to perform: dynamodb:CreateTable on r",
                "permission dynamodb:CreateTable",
            ),
            (
                "AccessDenied. User doesn't have permission to call it",
                "permission that the reason names",
            ),
            ("Rate exceeded", "too busy"),
            ("Table already exists in stack arn:1", "perhaps kept by an earlier one"),
            ("LimitExceededException: too many", "Service Quotas"),
            ("Rollback Trigger arn:aws:cloudwatch:… went into ALARM", "`synth logs`"),
            ("Resource update was cancelled by user", "taken it back"),
            ("Specified UnreservedConcurrentExecution decreases", "concurrent executions"),
            ("It rained", "mend what the reason names"),
        ] {
            let found = failure(&[event("A", "B", reason)]).unwrap().advice();
            assert!(found.contains(advice), "{reason}: {found}");
        }
    }

    #[test]
    fn what_left_a_stack_half_way_is_of_the_last_thing_that_was_done() {
        let stack = |status: &str| DeploymentEvent {
            status: status.to_owned(),
            ..event("cellar", STACK, "")
        };
        let events = [
            stack("UPDATE_IN_PROGRESS"),
            event("Old", "AWS::SQS::Queue", "long ago"),
            stack("UPDATE_ROLLBACK_IN_PROGRESS"),
            event("Api", "AWS::Lambda::Function", "the code is gone"),
            stack("UPDATE_ROLLBACK_FAILED"),
        ];
        assert_eq!(last_failure(&events).unwrap().logical_id.as_deref(), Some("Api"));
        assert_eq!(last_failure(&events[..2]).unwrap().logical_id.as_deref(), Some("Old"));
        assert_eq!(last_failure(&events[..1]), None);
    }
}
