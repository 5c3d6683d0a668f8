//! Finds the root cause of a failed deployment and suggests a fix.

use crate::aws::{DeploymentEvent, STACK_TYPE, denied_action};

/// Status reasons of resources that failed only because another resource failed.
const CANCELLED_REASONS: [&str; 3] =
    ["Resource creation cancelled", "Resource update cancelled", "Resource deletion cancelled"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeploymentFailure {
    /// `None` if the stack itself failed.
    pub(crate) logical_id: Option<String>,
    pub(crate) resource_type: String,
    pub(crate) reason: String,
}

/// The advice applies if the lower-cased status reason contains one of the substrings.
const ADVICE_BY_REASON: [(&[&str], &str); 6] = [
    (
        &["already exists"],
        "a resource with this name exists outside the stack, perhaps kept by an earlier stack: delete it \
         if you do not need it, or choose another `stack` name in cellar.yaml",
    ),
    (
        &["reservedconcurrentexecutions", "unreservedconcurrentexecution"],
        "the account has too few concurrent executions to reserve some: remove the reservation, or \
         request a higher limit",
    ),
    (
        &["limitexceeded", "limit exceeded", "quota"],
        "a limit of the account is reached: request a higher limit in Service Quotas, or delete unused \
         resources",
    ),
    (
        &["rate exceeded", "throttling", "serviceunavailable", "internalfailure", "internal error"],
        "AWS was too busy: wait a minute",
    ),
    (
        &["rollback trigger", "went into alarm", "in alarm state"],
        "an alarm of the stack fired during the deployment: find the cause with `synth logs` and \
         `synth runbook`",
    ),
    (
        &["cancelled by user", "requested by user"],
        "the operation was cancelled by a user: find out why",
    ),
];

impl DeploymentFailure {
    pub(crate) fn advice(&self) -> String {
        if let Some(action) = denied_action(&self.reason) {
            return format!("grant the permission {action} to the AWS identity that deploys");
        }
        let lowercase_reason = self.reason.to_lowercase();
        if lowercase_reason.contains("not authorized") || lowercase_reason.contains("accessdenied")
        {
            return "grant the permission that the error names to the AWS identity that deploys"
                .to_owned();
        }
        for (reason_parts, advice) in ADVICE_BY_REASON {
            if reason_parts.iter().any(|reason_part| lowercase_reason.contains(reason_part)) {
                return advice.to_owned();
            }
        }
        "fix the cause".to_owned()
    }
}

/// Prefers the failure of a resource to the failure of the stack.
pub(crate) fn first_failure(failures: &[DeploymentEvent]) -> Option<DeploymentFailure> {
    let first_resource_failure =
        failures.iter().find(|event| is_primary_failure(event) && is_resource_event(event));
    let first_primary_failure = failures.iter().find(|event| is_primary_failure(event));
    let event = first_resource_failure.or(first_primary_failure).or_else(|| failures.first())?;
    let logical_id = if is_resource_event(event) { Some(event.logical_id.clone()) } else { None };
    Some(DeploymentFailure {
        logical_id,
        resource_type: event.resource_type.clone(),
        reason: event.reason.clone().unwrap_or_else(|| "AWS gives no reason".to_owned()),
    })
}

/// Returns whether a failure is primary, which means that it was not caused by the failure of
/// another resource.
fn is_primary_failure(event: &DeploymentEvent) -> bool {
    let reason = event.reason.as_deref().unwrap_or_default();
    !CANCELLED_REASONS.iter().any(|cancelled_reason| reason.contains(cancelled_reason))
}

fn is_resource_event(event: &DeploymentEvent) -> bool {
    event.resource_type != STACK_TYPE
}

/// `events` contains all events of the stack, oldest first.
pub(crate) fn last_operation_failure(events: &[DeploymentEvent]) -> Option<DeploymentFailure> {
    let starts_operation = |event: &DeploymentEvent| {
        event.resource_type == STACK_TYPE && event.status.ends_with("_IN_PROGRESS")
    };
    let operation_start = events.iter().rposition(starts_operation).unwrap_or_default();
    let mut failures = Vec::new();
    for event in events.iter().skip(operation_start) {
        if event.status.ends_with("_FAILED") {
            failures.push(event.clone());
        }
    }
    first_failure(&failures)
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
    fn finds_the_first_event_that_failed_by_itself() {
        let failures = [
            event("Role", "AWS::IAM::Role", "Resource creation cancelled"),
            event("cellar", STACK_TYPE, "The following resource(s) failed to create: [Table]"),
            event("Table", "AWS::DynamoDB::Table", "Table already exists"),
            event("Queue", "AWS::SQS::Queue", "Rate exceeded"),
        ];
        let found = first_failure(&failures).unwrap();
        assert_eq!(found.logical_id.as_deref(), Some("Table"));
        let found = first_failure(&failures[..2]).unwrap();
        assert_eq!(found.logical_id, None);
        let only_cancelled = first_failure(&failures[..1]).unwrap();
        assert_eq!(only_cancelled.logical_id.as_deref(), Some("Role"));
        assert_eq!(first_failure(&[]), None);
        assert!(first_failure(&[event("A", "B", "")]).unwrap().reason.contains("no reason"));
    }

    #[test]
    fn advice_matches_the_reason() {
        for (reason, advice) in [
            (
                "User: u is not authorized to perform: dynamodb:CreateTable on r",
                "permission dynamodb:CreateTable",
            ),
            (
                "AccessDenied. User doesn't have permission to call it",
                "permission that the error names",
            ),
            ("Rate exceeded", "too busy"),
            ("Table already exists in stack arn:1", "perhaps kept by an earlier stack"),
            ("LimitExceededException: too many", "Service Quotas"),
            ("Rollback Trigger arn:aws:cloudwatch:… went into ALARM", "`synth logs`"),
            ("Resource update was cancelled by user", "cancelled by a user"),
            ("Specified UnreservedConcurrentExecution decreases", "concurrent executions"),
            ("It rained", "fix the cause"),
        ] {
            let found = first_failure(&[event("A", "B", reason)]).unwrap().advice();
            assert!(found.contains(advice), "{reason}: {found}");
        }
    }

    #[test]
    fn last_operation_failure_ignores_earlier_operations() {
        let stack = |status: &str| DeploymentEvent {
            status: status.to_owned(),
            ..event("cellar", STACK_TYPE, "")
        };
        let events = [
            stack("UPDATE_IN_PROGRESS"),
            event("Old", "AWS::SQS::Queue", "long ago"),
            stack("UPDATE_ROLLBACK_IN_PROGRESS"),
            event("Api", "AWS::Lambda::Function", "the code is gone"),
            stack("UPDATE_ROLLBACK_FAILED"),
        ];
        assert_eq!(last_operation_failure(&events).unwrap().logical_id.as_deref(), Some("Api"));
        assert_eq!(
            last_operation_failure(&events[..2]).unwrap().logical_id.as_deref(),
            Some("Old")
        );
        assert_eq!(last_operation_failure(&events[..1]), None);
    }
}
