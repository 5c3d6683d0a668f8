//! CloudFormation change sets, which predict the changes of a deployment and then make them.

use std::collections::BTreeSet;
use std::time::Duration;

use aws_sdk_cloudformation::error::ProvideErrorMetadata as _;
use aws_sdk_cloudformation::operation::create_change_set::builders::CreateChangeSetFluentBuilder;
use aws_sdk_cloudformation::types::{
    Capability, ChangeAction, ChangeSetStatus, ChangeSetType, DeploymentConfig,
    DeploymentConfigMode, DeploymentMode, EvaluationType, ExecutionStatus, Parameter,
    Replacement as AwsReplacement, ResourceChange, ResourceChangeDetail, RollbackConfiguration,
    RollbackTrigger, Tag,
};
use cellar_stacks::constructs::ResourceType;
use serde::Serialize;
use tokio::time::sleep;

use super::connect::Aws;
use super::drift::Drift;
use super::error::AwsError;
use super::manual_changes::manual_change;

const POLL_INTERVAL: Duration = Duration::from_millis(700);
/// Status of a stack that was never deployed and that contains nothing but change sets.
const ONLY_CHANGE_SETS: &str = "REVIEW_IN_PROGRESS";
/// Substrings of the status reason that CloudFormation gives for an empty change set.
const NO_CHANGES_REASONS: [&str; 2] = ["didn't contain changes", "No updates are to be performed"];

#[derive(Debug, Clone)]
pub(crate) struct DesiredStack {
    pub(crate) stack_name: String,
    pub(crate) is_new: bool,
    pub(crate) change_set_name: String,
    pub(crate) template_url: String,
    pub(crate) parameters: Vec<(String, String)>,
    /// Stack tags, which CloudFormation propagates to all resources.
    pub(crate) tags: Vec<(String, String)>,
    /// Whether to use express mode, which completes a deployment before its resources are stable.
    pub(crate) express: bool,
    /// Whether to compare with the actual resources and to undo changes that were made outside
    /// CloudFormation. Otherwise, such a change is only undone if the template changes the same
    /// property.
    pub(crate) reverts_drift: bool,
    pub(crate) rollback: RollbackAlarms,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RollbackAlarms {
    pub(crate) arns: Vec<String>,
    /// Number of minutes for which the alarms are monitored after the deployment.
    pub(crate) minutes: u8,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct ChangeSet {
    /// ARN of the change set.
    pub(crate) id: String,
    /// ARN of the stack.
    pub(crate) stack_id: String,
    /// Predicted changes, in CloudFormation's order.
    pub(crate) changes: Vec<Change>,
    /// Changes outside CloudFormation that the change set undoes, sorted by logical id. Empty unless
    /// it reverts drift.
    pub(crate) manual_changes: Vec<Drift>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PlannedAction {
    Add,
    Modify,
    /// The resource is removed from the stack. Unless its deletion policy retains the resource, it
    /// is also deleted.
    Remove,
    /// Another action, or an action that CloudFormation cannot predict.
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Replacement {
    No,
    /// Whether the resource is replaced depends on values that are known only during the
    /// deployment.
    Maybe,
    Yes,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Change {
    pub(crate) action: PlannedAction,
    pub(crate) logical_id: String,
    pub(crate) resource_type: String,
    pub(crate) replacement: Replacement,
    pub(crate) properties: Vec<String>,
    /// Whether the resource is certain to change. If not, the resource refers to other resources
    /// that change.
    pub(crate) certain: bool,
}

impl Aws {
    /// Returns `None` if there are no changes.
    ///
    /// # Errors
    ///
    /// Returns [`AwsError`] if a request to AWS fails. The stack is then unchanged, and the change
    /// set is deleted.
    pub(crate) async fn create_change_set(
        &self,
        desired: &DesiredStack,
    ) -> Result<Option<ChangeSet>, AwsError> {
        let created = self.change_set_request(desired).send().await;
        let change_set_id = match created {
            Ok(output) => output.id.ok_or(AwsError::IncompleteReply { missing: "a change set" })?,
            Err(error) if error.message().is_some_and(means_no_changes) => return Ok(None),
            Err(error) => return Err(AwsError::from_sdk("create the change set", &error)),
        };
        let DesiredStack { stack_name, reverts_drift, .. } = desired;
        match self.wait_for_change_set(&change_set_id, stack_name, *reverts_drift).await {
            Ok(Some(change_set)) => Ok(Some(change_set)),
            Ok(None) => {
                self.delete_change_set(&change_set_id).await?;
                Ok(None)
            }
            Err(error) => {
                // Ignore deletion errors, because the first error is the root cause.
                let _ = self.discard_change_set(&change_set_id, stack_name, desired.is_new).await;
                Err(error)
            }
        }
    }

    fn change_set_request(&self, desired: &DesiredStack) -> CreateChangeSetFluentBuilder {
        let change_set_type =
            if desired.is_new { ChangeSetType::Create } else { ChangeSetType::Update };
        let mut parameters = Vec::with_capacity(desired.parameters.len());
        for (name, value) in &desired.parameters {
            parameters
                .push(Parameter::builder().parameter_key(name).parameter_value(value).build());
        }
        let mut tags = Vec::with_capacity(desired.tags.len());
        for (key, value) in &desired.tags {
            tags.push(Tag::builder().key(key).value(value).build());
        }
        self.cloudformation
            .create_change_set()
            .stack_name(&desired.stack_name)
            .change_set_name(&desired.change_set_name)
            .change_set_type(change_set_type)
            .template_url(&desired.template_url)
            .set_parameters(Some(parameters))
            .set_tags(Some(tags))
            .capabilities(Capability::CapabilityIam)
            .rollback_configuration(desired.rollback.to_configuration())
            .set_deployment_config(desired.express.then(express_deployment))
            .set_deployment_mode(desired.reverts_drift.then_some(DeploymentMode::RevertDrift))
    }

    /// Returns `None` if the change set is empty. `reverts_drift` says whether the change set was
    /// created to undo changes that were made outside CloudFormation.
    pub(super) async fn wait_for_change_set(
        &self,
        id: &str,
        stack_name: &str,
        reverts_drift: bool,
    ) -> Result<Option<ChangeSet>, AwsError> {
        let Some(stack_id) = self.wait_until_executable(id, stack_name).await? else {
            return Ok(None);
        };
        let mut change_set = ChangeSet {
            id: id.to_owned(),
            stack_id,
            changes: Vec::new(),
            manual_changes: Vec::new(),
        };
        self.add_changes(&mut change_set, reverts_drift).await?;
        Ok(Some(change_set))
    }

    /// If `is_new` is set, also deletes the stack, unless the stack has other change sets.
    pub(crate) async fn discard_change_set(
        &self,
        id: &str,
        stack_name: &str,
        is_new: bool,
    ) -> Result<(), AwsError> {
        self.delete_change_set(id).await?;
        if !is_new || self.has_change_sets(stack_name).await? {
            return Ok(());
        }
        let Some(stack) = self.find_stack(stack_name).await? else { return Ok(()) };
        // A concurrent deployment may have created the stack in the meantime.
        if stack.status != ONLY_CHANGE_SETS {
            return Ok(());
        }
        let request_token = uuid::Uuid::new_v4().to_string();
        self.delete_stack(&stack.id, &request_token).await
    }

    /// Returns `None` if the change set is empty.
    async fn wait_until_executable(
        &self,
        change_set_id: &str,
        stack_name: &str,
    ) -> Result<Option<String>, AwsError> {
        loop {
            let request = self.cloudformation.describe_change_set().change_set_name(change_set_id);
            let result = request.send().await;
            let description =
                result.map_err(|error| AwsError::from_sdk("read the change set", &error))?;
            let reason = description.status_reason.unwrap_or_default();
            match description.status {
                Some(ChangeSetStatus::CreateComplete) => {
                    let missing = "the stack of a change set";
                    let stack_id =
                        description.stack_id.ok_or(AwsError::IncompleteReply { missing })?;
                    return Ok(Some(stack_id));
                }
                Some(ChangeSetStatus::Failed) if means_no_changes(&reason) => return Ok(None),
                Some(ChangeSetStatus::CreatePending | ChangeSetStatus::CreateInProgress) => {}
                status => {
                    let failures = self.validation_failures(change_set_id).await;
                    return Err(change_set_failed(stack_name, status, reason, &failures));
                }
            }
            sleep(POLL_INTERVAL).await;
        }
    }

    /// Reads all pages. Only manual changes need the values of properties.
    async fn add_changes(
        &self,
        change_set: &mut ChangeSet,
        reverts_drift: bool,
    ) -> Result<(), AwsError> {
        let mut next_token = None;
        loop {
            let request = self.cloudformation.describe_change_set().change_set_name(&change_set.id);
            let request = request.set_include_property_values(reverts_drift.then_some(true));
            let result = request.set_next_token(next_token).send().await;
            let page = result.map_err(|error| AwsError::from_sdk("read the change set", &error))?;
            for change in page.changes().iter().filter_map(|change| change.resource_change()) {
                change_set.changes.push(Change::from_sdk(change));
                if reverts_drift {
                    change_set.manual_changes.extend(manual_change(change));
                }
            }
            next_token = page.next_token;
            if next_token.is_none() {
                change_set.manual_changes.sort_by(|a, b| a.logical_id.cmp(&b.logical_id));
                return Ok(());
            }
        }
    }

    /// A change set can be executed only once, and only as long as its stack has not changed.
    pub(crate) async fn is_executable(&self, id: &str) -> Result<bool, AwsError> {
        let described = self.cloudformation.describe_change_set().change_set_name(id).send().await;
        match described {
            Ok(described) => Ok(described.execution_status == Some(ExecutionStatus::Available)),
            Err(error) if means_not_found(error.code(), error.message()) => Ok(false),
            Err(error) => Err(AwsError::from_sdk("read the change set", &error)),
        }
    }

    async fn has_change_sets(&self, stack_id: &str) -> Result<bool, AwsError> {
        let result = self.cloudformation.list_change_sets().stack_name(stack_id).send().await;
        let page = result.map_err(|error| AwsError::from_sdk("list the change sets", &error))?;
        let has_change_sets = !page.summaries().is_empty();
        Ok(has_change_sets)
    }

    /// After [`AwsError::Unreachable`], the execution may have started anyway.
    pub(crate) async fn execute_change_set(
        &self,
        id: &str,
        request_token: &str,
    ) -> Result<(), AwsError> {
        let request = self.cloudformation.execute_change_set().change_set_name(id);
        let result = request.client_request_token(request_token).send().await;
        result.map_err(|error| AwsError::from_sdk("execute the change set", &error))?;
        Ok(())
    }

    pub(super) async fn delete_change_set(&self, id: &str) -> Result<(), AwsError> {
        let result = self.cloudformation.delete_change_set().change_set_name(id).send().await;
        result.map_err(|error| AwsError::from_sdk("delete the change set", &error))?;
        Ok(())
    }
}

fn change_set_failed(
    stack_name: &str,
    status: Option<ChangeSetStatus>,
    status_reason: String,
    validation_failures: &[String],
) -> AwsError {
    let reason = if !validation_failures.is_empty() {
        validation_failures.join("; ")
    } else if status_reason.is_empty() {
        status.map(|status| status.to_string()).unwrap_or_default()
    } else {
        status_reason
    };
    AwsError::ChangeSetFailed { stack: stack_name.to_owned(), reason }
}

fn means_not_found(code: Option<&str>, message: Option<&str>) -> bool {
    code == Some("ChangeSetNotFound")
        || message.is_some_and(|message| message.contains("does not exist"))
}

/// Returns the configuration of an express deployment that is rolled back if it fails. Without this
/// setting, CloudFormation does not roll back express deployments.
fn express_deployment() -> DeploymentConfig {
    DeploymentConfig::builder().mode(DeploymentConfigMode::Express).disable_rollback(false).build()
}

impl RollbackAlarms {
    /// Names the alarms even if there are none, because CloudFormation otherwise keeps the alarms
    /// of the previous deployment.
    pub(super) fn to_configuration(&self) -> RollbackConfiguration {
        let mut triggers = Vec::with_capacity(self.arns.len());
        for arn in &self.arns {
            let trigger = RollbackTrigger::builder().r#type(ResourceType::Alarm.name()).arn(arn);
            triggers.push(trigger.build());
        }
        RollbackConfiguration::builder()
            .monitoring_time_in_minutes(i32::from(self.minutes))
            .set_rollback_triggers(Some(triggers))
            .build()
    }
}

fn means_no_changes(reason: &str) -> bool {
    NO_CHANGES_REASONS.iter().any(|no_changes_reason| reason.contains(no_changes_reason))
}

impl Change {
    fn from_sdk(change: &ResourceChange) -> Self {
        let action = match change.action() {
            Some(ChangeAction::Add) => PlannedAction::Add,
            Some(ChangeAction::Modify) => PlannedAction::Modify,
            Some(ChangeAction::Remove) => PlannedAction::Remove,
            _ => PlannedAction::Other,
        };
        let replacement = match change.replacement() {
            Some(AwsReplacement::True) => Replacement::Yes,
            Some(AwsReplacement::Conditional) => Replacement::Maybe,
            _ => Replacement::No,
        };
        let details = change.details();
        let is_certain = details.is_empty() || !details.iter().all(depends_on_deployment);
        Self {
            action,
            logical_id: change.logical_resource_id().unwrap_or_default().to_owned(),
            resource_type: change.resource_type().unwrap_or_default().to_owned(),
            replacement,
            properties: changed_properties(details),
            certain: is_certain,
        }
    }
}

/// If an attribute of the resource itself changes, such as `Tags`, returns the name of this
/// attribute.
fn changed_properties(details: &[ResourceChangeDetail]) -> Vec<String> {
    let mut names = BTreeSet::new();
    for target in details.iter().filter_map(|detail| detail.target()) {
        let attribute = target.attribute().map(|attribute| attribute.as_str());
        if let Some(name) = target.name().or(attribute) {
            names.insert(name.to_owned());
        }
    }
    names.into_iter().collect()
}

/// Returns whether the new value of this property is known only during the deployment.
fn depends_on_deployment(detail: &ResourceChangeDetail) -> bool {
    detail.evaluation() == Some(&EvaluationType::Dynamic)
}
