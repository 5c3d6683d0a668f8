//! Reads the state, resources and events of stacks, and deletes stacks.

use std::collections::BTreeMap;

use aws_sdk_cloudformation::error::ProvideErrorMetadata as _;
use aws_sdk_cloudformation::types::{
    DeletionMode, Stack, StackEvent, StackResourceSummary, TemplateStage,
};
use serde::Serialize;

use super::connect::Aws;
use super::error::AwsError;

/// Resource type in those events that are about the stack itself.
pub(crate) const STACK_TYPE: &str = "AWS::CloudFormation::Stack";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StackState {
    /// ARN of the stack.
    pub(crate) id: String,
    pub(crate) status: String,
    pub(crate) reason: Option<String>,
    /// Time at which the stack was last updated or, if it was never updated, created, in
    /// milliseconds since the Unix epoch.
    pub(crate) changed_ms: Option<u64>,
    pub(crate) outputs: BTreeMap<String, String>,
    pub(crate) parameters: BTreeMap<String, String>,
    pub(crate) tags: BTreeMap<String, String>,
    /// Whether CloudFormation refuses to delete the stack.
    pub(crate) termination_protection: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Resource {
    pub(crate) logical_id: String,
    #[serde(rename = "type")]
    pub(crate) resource_type: String,
    /// `None` until the resource has been created.
    pub(crate) physical_id: Option<String>,
    pub(crate) status: String,
}

/// A CloudFormation event of a resource or of the stack itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeploymentEvent {
    pub(crate) id: String,
    pub(crate) at_ms: u64,
    pub(crate) logical_id: String,
    pub(crate) resource_type: String,
    pub(crate) status: String,
    pub(crate) reason: Option<String>,
}

impl Aws {
    /// Returns `None` if the stack does not exist. A deleted stack can still be read by its ARN.
    pub(crate) async fn find_stack(
        &self,
        name_or_arn: &str,
    ) -> Result<Option<StackState>, AwsError> {
        let request = self.cloudformation.describe_stacks().stack_name(name_or_arn);
        let output = match request.send().await {
            Ok(output) => output,
            Err(error) if means_not_found(error.code(), error.message()) => return Ok(None),
            Err(error) => return Err(AwsError::from_sdk("find the stack", &error)),
        };
        let Some(stack) = output.stacks().first() else { return Ok(None) };
        StackState::from_sdk(stack, name_or_arn).map(Some)
    }

    /// Returns the last deployed template, byte for byte.
    pub(crate) async fn deployed_template(&self, stack_id: &str) -> Result<String, AwsError> {
        let request = self.cloudformation.get_template().stack_name(stack_id);
        let result = request.template_stage(TemplateStage::Original).send().await;
        let output =
            result.map_err(|error| AwsError::from_sdk("read the stack's template", &error))?;
        output.template_body.ok_or(AwsError::IncompleteReply { missing: "a template" })
    }

    pub(crate) async fn stack_resources(&self, stack_id: &str) -> Result<Vec<Resource>, AwsError> {
        let request = self.cloudformation.list_stack_resources().stack_name(stack_id);
        let mut pages = request.into_paginator().send();
        let mut resources = Vec::new();
        while let Some(result) = pages.next().await {
            let page =
                result.map_err(|error| AwsError::from_sdk("list the stack's resources", &error))?;
            resources.extend(page.stack_resource_summaries().iter().filter_map(Resource::from_sdk));
        }
        Ok(resources)
    }

    /// Returns all stack events, oldest first.
    pub(crate) async fn all_events(
        &self,
        stack_id: &str,
    ) -> Result<Vec<DeploymentEvent>, AwsError> {
        self.events_since_known(stack_id, |_| false).await
    }

    /// Returns the stack events that are newer than the newest event for which `is_known` returns
    /// true. The oldest event comes first.
    pub(crate) async fn events_since_known(
        &self,
        stack_id: &str,
        is_known: impl Fn(&str) -> bool,
    ) -> Result<Vec<DeploymentEvent>, AwsError> {
        let request = self.cloudformation.describe_stack_events().stack_name(stack_id);
        let mut pages = request.into_paginator().send();
        let mut events_newest_first = Vec::new();
        'pages: while let Some(result) = pages.next().await {
            let page =
                result.map_err(|error| AwsError::from_sdk("read the stack's events", &error))?;
            for event in page.stack_events().iter().filter_map(DeploymentEvent::from_sdk) {
                if is_known(&event.id) {
                    break 'pages;
                }
                events_newest_first.push(event);
            }
        }
        events_newest_first.reverse();
        Ok(events_newest_first)
    }

    pub(crate) async fn set_termination_protection(
        &self,
        stack_id: &str,
        is_protected: bool,
    ) -> Result<(), AwsError> {
        let request = self.cloudformation.update_termination_protection().stack_name(stack_id);
        let result = request.enable_termination_protection(is_protected).send().await;
        result.map_err(|error| AwsError::from_sdk("set the termination protection", &error))?;
        Ok(())
    }

    /// Resources with the deletion policy `Retain` are retained.
    pub(crate) async fn delete_stack(
        &self,
        stack_id: &str,
        request_token: &str,
    ) -> Result<(), AwsError> {
        let request = self.cloudformation.delete_stack().stack_name(stack_id);
        let request =
            request.client_request_token(request_token).deletion_mode(DeletionMode::Standard);
        let result = request.send().await;
        result.map_err(|error| AwsError::from_sdk("delete the stack", &error))?;
        Ok(())
    }
}

/// CloudFormation has no dedicated error code for a missing stack.
fn means_not_found(code: Option<&str>, message: Option<&str>) -> bool {
    code == Some("ValidationError")
        && message.is_some_and(|message| message.contains("does not exist"))
}

impl StackState {
    fn from_sdk(stack: &Stack, name_or_arn: &str) -> Result<Self, AwsError> {
        let status = stack
            .stack_status()
            .ok_or(AwsError::IncompleteReply { missing: "a stack's status" })?;
        let changed_at = stack.last_updated_time().or(stack.creation_time());
        let mut outputs = BTreeMap::new();
        for output in stack.outputs() {
            if let (Some(name), Some(value)) = (output.output_key(), output.output_value()) {
                outputs.insert(name.to_owned(), value.to_owned());
            }
        }
        let mut parameters = BTreeMap::new();
        for parameter in stack.parameters() {
            let name_and_value = (parameter.parameter_key(), parameter.parameter_value());
            if let (Some(name), Some(value)) = name_and_value {
                parameters.insert(name.to_owned(), value.to_owned());
            }
        }
        let mut tags = BTreeMap::new();
        for tag in stack.tags() {
            if let (Some(key), Some(value)) = (tag.key(), tag.value()) {
                tags.insert(key.to_owned(), value.to_owned());
            }
        }
        Ok(Self {
            id: stack.stack_id().unwrap_or(name_or_arn).to_owned(),
            status: status.as_str().to_owned(),
            reason: stack.stack_status_reason().map(str::to_owned),
            changed_ms: changed_at.and_then(|time| u64::try_from(time.to_millis().ok()?).ok()),
            outputs,
            parameters,
            tags,
            termination_protection: stack.enable_termination_protection() == Some(true),
        })
    }
}

impl Resource {
    fn from_sdk(summary: &StackResourceSummary) -> Option<Self> {
        Some(Self {
            logical_id: summary.logical_resource_id()?.to_owned(),
            resource_type: summary.resource_type()?.to_owned(),
            physical_id: summary.physical_resource_id().map(str::to_owned),
            status: summary.resource_status()?.as_str().to_owned(),
        })
    }
}

impl DeploymentEvent {
    fn from_sdk(event: &StackEvent) -> Option<Self> {
        let at_ms = event.timestamp()?.to_millis().ok()?;
        Some(Self {
            id: event.event_id()?.to_owned(),
            at_ms: u64::try_from(at_ms).unwrap_or_default(),
            logical_id: event.logical_resource_id()?.to_owned(),
            resource_type: event.resource_type().unwrap_or_default().to_owned(),
            status: event.resource_status()?.as_str().to_owned(),
            reason: event.resource_status_reason().map(str::to_owned),
        })
    }
}
