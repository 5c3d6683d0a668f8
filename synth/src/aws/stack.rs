//! Stacks as they are, and what happens to them.

use std::collections::BTreeMap;

use aws_sdk_cloudformation::error::ProvideErrorMetadata as _;
use aws_sdk_cloudformation::types::{
    DeletionMode, StackEvent, StackResourceSummary, TemplateStage,
};
use serde::Serialize;

use super::{Aws, AwsError};

/// A stack as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StackState {
    /// Its ARN.
    pub(crate) id: String,
    /// Its status, as CloudFormation names it.
    pub(crate) status: String,
    /// Why, if CloudFormation says it.
    pub(crate) reason: Option<String>,
    /// When it was made or last changed, Unix milliseconds, if CloudFormation says it.
    pub(crate) changed_ms: Option<u64>,
    /// Its outputs.
    pub(crate) outputs: BTreeMap<String, String>,
    /// The values of its parameters.
    pub(crate) parameters: BTreeMap<String, String>,
    /// Its own tags.
    pub(crate) tags: BTreeMap<String, String>,
}

/// A resource of a stack as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Resource {
    /// Its logical id.
    pub(crate) logical_id: String,
    /// Its type, `AWS::…`.
    #[serde(rename = "type")]
    pub(crate) resource_type: String,
    /// Its physical id, once it has one.
    pub(crate) physical_id: Option<String>,
    /// Its status, as CloudFormation names it.
    pub(crate) status: String,
}

/// Something that happened to a resource of a stack, or to the stack itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeploymentEvent {
    /// Its id.
    pub(crate) id: String,
    /// When, Unix milliseconds.
    pub(crate) at_ms: u64,
    /// The resource.
    pub(crate) logical_id: String,
    /// Its type, `AWS::…`.
    pub(crate) resource_type: String,
    /// Its status, as CloudFormation names it.
    pub(crate) status: String,
    /// Why, if CloudFormation says it.
    pub(crate) reason: Option<String>,
}

impl Aws {
    /// A stack by its name or, also after it was deleted, by its ARN.
    ///
    /// # Errors
    /// [`AwsError`].
    pub(crate) async fn stack(&self, name: &str) -> Result<Option<StackState>, AwsError> {
        let described = self.cloudformation.describe_stacks().stack_name(name).send().await;
        let described = match described {
            Ok(described) => described,
            Err(error) if is_unknown(error.code(), error.message()) => return Ok(None),
            Err(error) => return Err(AwsError::of("look for the stack", &error)),
        };
        let Some(stack) = described.stacks().first() else { return Ok(None) };
        let status = stack.stack_status().ok_or(AwsError::Reply { missing: "a stack's status" })?;
        let outputs = stack.outputs().iter();
        let outputs = outputs.filter_map(|output| {
            Some((output.output_key()?.to_owned(), output.output_value()?.to_owned()))
        });
        let parameters = stack.parameters().iter().filter_map(|parameter| {
            Some((parameter.parameter_key()?.to_owned(), parameter.parameter_value()?.to_owned()))
        });
        let tags = stack.tags().iter();
        let tags = tags.filter_map(|tag| Some((tag.key()?.to_owned(), tag.value()?.to_owned())));
        Ok(Some(StackState {
            id: stack.stack_id().unwrap_or(name).to_owned(),
            status: status.as_str().to_owned(),
            reason: stack.stack_status_reason().map(str::to_owned),
            changed_ms: stack
                .last_updated_time()
                .or(stack.creation_time())
                .and_then(|time| u64::try_from(time.to_millis().ok()?).ok()),
            outputs: outputs.collect(),
            parameters: parameters.collect(),
            tags: tags.collect(),
        }))
    }

    /// The template of a stack as it was given when it was last deployed.
    ///
    /// # Errors
    /// [`AwsError`].
    pub(crate) async fn template(&self, stack_id: &str) -> Result<String, AwsError> {
        let request = self.cloudformation.get_template().stack_name(stack_id);
        let template = request.template_stage(TemplateStage::Original).send().await;
        let template =
            template.map_err(|error| AwsError::of("read the stack's template", &error))?;
        template.template_body.ok_or(AwsError::Reply { missing: "a template" })
    }

    /// The resources of a stack: their logical ids, types, and physical ids as far as they have one.
    ///
    /// # Errors
    /// [`AwsError`].
    pub(crate) async fn resources(&self, stack_id: &str) -> Result<Vec<Resource>, AwsError> {
        let mut pages =
            self.cloudformation.list_stack_resources().stack_name(stack_id).into_paginator().send();
        let mut resources = Vec::new();
        while let Some(page) = pages.next().await {
            let page = page.map_err(|error| AwsError::of("list the stack's resources", &error))?;
            resources.extend(page.stack_resource_summaries().iter().filter_map(Resource::of));
        }
        Ok(resources)
    }

    /// What happened to a stack, oldest first, back to where `is_known` says that it was seen.
    ///
    /// # Errors
    /// [`AwsError`].
    pub(crate) async fn events(
        &self,
        stack_id: &str,
        is_known: impl Fn(&str) -> bool,
    ) -> Result<Vec<DeploymentEvent>, AwsError> {
        let (mut events, mut next): (Vec<DeploymentEvent>, _) = (Vec::new(), None);
        'pages: loop {
            let page = self.cloudformation.describe_stack_events().stack_name(stack_id);
            let page = page.set_next_token(next).send().await;
            let page = page.map_err(|error| AwsError::of("read the stack's events", &error))?;
            // The newest come first.
            for event in page.stack_events().iter().filter_map(DeploymentEvent::of) {
                if is_known(&event.id) {
                    break 'pages;
                }
                events.push(event);
            }
            next = page.next_token;
            if next.is_none() {
                break;
            }
        }
        events.reverse();
        Ok(events)
    }

    /// Begins to delete a stack; what its template retains stays behind.
    ///
    /// # Errors
    /// [`AwsError`].
    pub(crate) async fn delete_stack(&self, stack_id: &str, token: &str) -> Result<(), AwsError> {
        let request = self.cloudformation.delete_stack().stack_name(stack_id);
        let request = request.client_request_token(token).deletion_mode(DeletionMode::Standard);
        let deleted = request.send().await;
        deleted.map(drop).map_err(|error| AwsError::of("delete the stack", &error))
    }
}

/// CloudFormation has no code of its own for it.
fn is_unknown(code: Option<&str>, message: Option<&str>) -> bool {
    code == Some("ValidationError") && message.is_some_and(|it| it.contains("does not exist"))
}

impl Resource {
    fn of(summary: &StackResourceSummary) -> Option<Self> {
        Some(Self {
            logical_id: summary.logical_resource_id()?.to_owned(),
            resource_type: summary.resource_type()?.to_owned(),
            physical_id: summary.physical_resource_id().map(str::to_owned),
            status: summary.resource_status()?.as_str().to_owned(),
        })
    }
}

impl DeploymentEvent {
    fn of(event: &StackEvent) -> Option<Self> {
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
