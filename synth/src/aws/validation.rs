//! Reads why CloudFormation rejected a change set before its execution.

use aws_sdk_cloudformation::types::{EventFilter, HookFailureMode, OperationEvent};

use super::connect::Aws;

const MAX_REASONS: usize = 5;

impl Aws {
    /// The status of the change set says only that the validation failed.
    ///
    /// Returns nothing if the events cannot be read, because the failure of the change set is
    /// reported anyway.
    pub(super) async fn validation_failures(&self, change_set_id: &str) -> Vec<String> {
        let failed_events = EventFilter::builder().failed_events(true).build();
        let request = self.cloudformation.describe_events().change_set_name(change_set_id);
        let Ok(page) = request.filters(failed_events).send().await else { return Vec::new() };
        page.operation_events().iter().filter_map(failure_reason).take(MAX_REASONS).collect()
    }
}

fn failure_reason(event: &OperationEvent) -> Option<String> {
    let modes = [event.validation_failure_mode(), event.hook_failure_mode()];
    if modes.contains(&Some(&HookFailureMode::Warn)) {
        // A warning does not reject the change set.
        return None;
    }
    let reason = event
        .validation_status_reason()
        .or(event.hook_status_reason())
        .or(event.resource_status_reason())?;
    let resource = event.logical_resource_id().unwrap_or("the stack");
    Some(match event.validation_path() {
        Some(path) => format!("{resource} ({path}): {reason}"),
        None => format!("{resource}: {reason}"),
    })
}
