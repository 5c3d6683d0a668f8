//! What was at fault when a deployment failed, and what to do about it.

use crate::aws::Event;

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
    /// What to do.
    pub(crate) advice: &'static str,
}

/// What to do if AWS says one of these.
const ADVICE: [(&[&str], &str); 6] = [
    (
        &["not authorized to perform", "AccessDenied", "is not authorized"],
        "whoever deploys needs the permission that the reason names",
    ),
    (
        &["already exists"],
        "something with that name is there and not part of this stack, perhaps kept by an earlier \
         one: delete it if it is not needed, or deploy under another `stack` name",
    ),
    (
        &["ReservedConcurrentExecutions", "UnreservedConcurrentExecution"],
        "the account's limit of concurrent executions is too low for a reservation: leave it out, or \
         have the limit raised",
    ),
    (
        &["LimitExceeded", "limit exceeded", "quota", "Quota"],
        "a limit of the account is reached: have it raised in Service Quotas, or delete what is not \
         needed",
    ),
    (
        &["Rate exceeded", "Throttling", "ServiceUnavailable", "InternalFailure", "Internal error"],
        "AWS was too busy; deploy again",
    ),
    (
        &["rollback trigger", "Rollback trigger", "alarm"],
        "one of the stack's own alarms went off while it was deployed: `synth logs` shows why",
    ),
];

/// The first thing that failed by itself, and what to do about it.
pub(crate) fn failure(failures: &[Event]) -> Option<Failure> {
    let own = |event: &&Event| {
        let reason = event.reason.as_deref().unwrap_or_default();
        !CANCELLED.iter().any(|cancelled| reason.contains(cancelled))
    };
    let of_resource = |event: &&Event| event.resource_type != STACK;
    let event = failures.iter().filter(own).find(of_resource);
    let event = event.or_else(|| failures.iter().find(own)).or_else(|| failures.first())?;
    let reason = event.reason.clone().unwrap_or_else(|| "AWS gives no reason".to_owned());
    let says = |words: &&[&str]| words.iter().any(|word| reason.contains(word));
    let advice = ADVICE.iter().find(|(words, _)| says(words)).map(|(_, advice)| *advice);
    Some(Failure {
        logical_id: of_resource(&event).then(|| event.logical_id.clone()),
        resource_type: event.resource_type.clone(),
        advice: advice.unwrap_or("mend what the reason names, then deploy again"),
        reason,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(logical_id: &str, resource_type: &str, reason: &str) -> Event {
        Event {
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
            event("Table", "AWS::DynamoDB::Table", "User is not authorized to perform: dynamodb:X"),
            event("Queue", "AWS::SQS::Queue", "Rate exceeded"),
        ];
        let found = failure(&failures).unwrap();
        assert_eq!(found.logical_id.as_deref(), Some("Table"));
        assert!(found.advice.contains("permission"), "{found:?}");
        let found = failure(&failures[3..]).unwrap();
        assert!(found.advice.contains("too busy"), "{found:?}");
        let found = failure(&failures[..2]).unwrap();
        assert_eq!(found.logical_id, None);
        let only_cancelled = failure(&failures[..1]).unwrap();
        assert_eq!(only_cancelled.logical_id.as_deref(), Some("Role"));
        assert_eq!(failure(&[]), None);
        assert!(failure(&[event("A", "B", "")]).unwrap().reason.contains("no reason"));
    }
}
