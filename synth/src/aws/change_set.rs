//! CloudFormation change sets, which predict and then execute the changes of a deployment.

use std::time::Duration;

use aws_sdk_cloudformation::error::ProvideErrorMetadata as _;
use aws_sdk_cloudformation::types::{
    Capability, ChangeAction, ChangeSetStatus, ChangeSetType, DeploymentConfig,
    DeploymentConfigMode, EvaluationType, ExecutionStatus, Parameter,
    Replacement as AwsReplacement, ResourceChange, ResourceChangeDetail, RollbackConfiguration,
    RollbackTrigger, Tag,
};
use cellar_stacks::constructs::ResourceType;
use serde::Serialize;
use tokio::time::sleep;

use super::connect::Aws;
use super::error::AwsError;

/// Polling interval while a change set is being created.
const POLL: Duration = Duration::from_millis(700);
/// Status of a stack that was never deployed and consists only of change sets.
const ONLY_CHANGE_SETS: &str = "REVIEW_IN_PROGRESS";
/// Substrings of the status reason that CloudFormation gives for an empty change set.
const NO_CHANGES: [&str; 2] = ["didn't contain changes", "No updates are to be performed"];

/// Desired state of a stack, from which a change set is created.
#[derive(Debug, Clone)]
pub(crate) struct WantedStack {
    /// Name of the stack.
    pub(crate) stack: String,
    /// Whether the stack is new.
    pub(crate) is_new: bool,
    /// Name of the change set.
    pub(crate) change_set_name: String,
    /// URL of the template.
    pub(crate) template_url: String,
    /// Parameter names and values.
    pub(crate) parameters: Vec<(String, String)>,
    /// Stack tags, which CloudFormation propagates to all resources.
    pub(crate) tags: Vec<(String, String)>,
    /// Whether to use express mode, which completes a deployment before its resources are stable.
    pub(crate) express: bool,
    /// Alarms that roll back the deployment if they fire.
    pub(crate) rollback: RollbackAlarms,
}

/// Alarms that roll back a deployment if they fire.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RollbackAlarms {
    /// ARNs of the alarms.
    pub(crate) arns: Vec<String>,
    /// Alarm monitoring period after the deployment, in minutes.
    pub(crate) minutes: u8,
}

/// A change set that is ready to execute.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ChangeSet {
    /// ARN of the change set.
    pub(crate) id: String,
    /// ARN of the stack.
    pub(crate) stack_id: String,
    /// Predicted changes, in CloudFormation's order.
    pub(crate) changes: Vec<Change>,
}

/// Action that CloudFormation predicts for a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PlannedAction {
    /// The resource is created.
    Add,
    /// The resource is changed.
    Modify,
    /// The resource is removed from the stack, and deleted unless its deletion policy retains it.
    Remove,
    /// Any other action, including one that CloudFormation cannot predict.
    Other,
}

/// Whether a resource is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Replacement {
    /// The resource is updated in place.
    No,
    /// Replacement depends on values that are known only during the deployment.
    Maybe,
    /// A new resource is created and the old one is deleted.
    Yes,
}

/// Predicted change of one resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Change {
    pub(crate) action: PlannedAction,
    /// Logical id of the resource.
    pub(crate) logical_id: String,
    /// Resource type, such as `AWS::S3::Bucket`.
    pub(crate) resource_type: String,
    /// Whether the resource is replaced.
    pub(crate) replacement: Replacement,
    /// Names of the changed properties.
    pub(crate) properties: Vec<String>,
    /// Whether the resource is certain to change, rather than merely referring to resources that
    /// change.
    pub(crate) certain: bool,
}

impl Aws {
    /// Creates a change set and waits until it is ready to execute. Returns `None` if there are no
    /// changes.
    ///
    /// # Errors
    /// Returns [`AwsError`] if a request to AWS fails. The stack is then unchanged, and the change
    /// set is deleted.
    pub(crate) async fn create_change_set(
        &self,
        wanted: &WantedStack,
    ) -> Result<Option<ChangeSet>, AwsError> {
        let kind = if wanted.is_new { ChangeSetType::Create } else { ChangeSetType::Update };
        let parameters = wanted.parameters.iter().map(|(key, value)| {
            Parameter::builder().parameter_key(key).parameter_value(value).build()
        });
        let tags = wanted.tags.iter().map(|(key, value)| Tag::builder().key(key).value(value));
        let created = self
            .cloudformation
            .create_change_set()
            .stack_name(&wanted.stack)
            .change_set_name(&wanted.change_set_name)
            .change_set_type(kind)
            .template_url(&wanted.template_url)
            .set_parameters(Some(parameters.collect()))
            .set_tags(Some(tags.map(|tag| tag.build()).collect()))
            .capabilities(Capability::CapabilityIam)
            .set_rollback_configuration(wanted.rollback.configuration())
            .set_deployment_config(wanted.express.then(express_mode))
            .send()
            .await;
        let id = match created {
            Ok(created) => created.id.ok_or(AwsError::Reply { missing: "a change set" })?,
            Err(error) if error.message().is_some_and(means_no_changes) => return Ok(None),
            Err(error) => return Err(AwsError::from_sdk("create the change set", &error)),
        };
        let change_set = self.wait_for_change_set(&id, &wanted.stack).await;
        let (is_new, stack) = (wanted.is_new, &wanted.stack);
        match &change_set {
            Ok(Some(_)) => {}
            Ok(None) => self.discard_change_set(&id, stack, false).await?,
            // Ignore deletion errors: the first error is the root cause.
            Err(_) => drop(self.discard_change_set(&id, stack, is_new).await),
        }
        change_set
    }

    /// Waits until a change set is ready to execute and reads its changes. Returns `None` if the
    /// change set is empty.
    pub(super) async fn wait_for_change_set(
        &self,
        id: &str,
        stack: &str,
    ) -> Result<Option<ChangeSet>, AwsError> {
        let Some(stack_id) = self.wait_until_executable(id, stack).await? else { return Ok(None) };
        let changes = self.changes(id).await?;
        Ok(Some(ChangeSet { id: id.to_owned(), stack_id, changes }))
    }

    /// Deletes an unexecuted change set.
    ///
    /// If `is_new` is set, also deletes the stack, unless the stack has other change sets.
    ///
    /// # Errors
    /// Returns [`AwsError`] if a request to AWS fails.
    pub(crate) async fn discard_change_set(
        &self,
        id: &str,
        stack: &str,
        is_new: bool,
    ) -> Result<(), AwsError> {
        self.delete_change_set(id).await?;
        if !is_new || self.has_change_sets(stack).await? {
            return Ok(());
        }
        // A concurrent deployment may have created the stack in the meantime.
        match self.stack(stack).await? {
            Some(state) if state.status == ONLY_CHANGE_SETS => {
                let token = uuid::Uuid::new_v4().to_string();
                self.delete_stack(&state.id, &token).await
            }
            _ => Ok(()),
        }
    }

    /// Waits until a change set is ready to execute and returns its stack ARN. Returns `None` if
    /// the change set is empty.
    async fn wait_until_executable(
        &self,
        id: &str,
        stack: &str,
    ) -> Result<Option<String>, AwsError> {
        loop {
            let described =
                self.cloudformation.describe_change_set().change_set_name(id).send().await;
            let described =
                described.map_err(|error| AwsError::from_sdk("read the change set", &error))?;
            let reason = described.status_reason.unwrap_or_default();
            match described.status {
                Some(ChangeSetStatus::CreateComplete) => {
                    let missing = "the stack of a change set";
                    return described.stack_id.map(Some).ok_or(AwsError::Reply { missing });
                }
                Some(ChangeSetStatus::Failed) if means_no_changes(&reason) => return Ok(None),
                Some(ChangeSetStatus::CreatePending | ChangeSetStatus::CreateInProgress) => {}
                status => {
                    let code = status.map_or_else(String::new, |status| status.to_string());
                    let reason = if reason.is_empty() { code } else { reason };
                    return Err(AwsError::ChangeSetFailed { stack: stack.to_owned(), reason });
                }
            }
            sleep(POLL).await;
        }
    }

    async fn changes(&self, id: &str) -> Result<Vec<Change>, AwsError> {
        let (mut changes, mut next) = (Vec::new(), None);
        loop {
            let page = self.cloudformation.describe_change_set().change_set_name(id);
            let page = page.set_next_token(next).send().await;
            let page = page.map_err(|error| AwsError::from_sdk("read the change set", &error))?;
            let resources = page.changes().iter().filter_map(|change| change.resource_change());
            changes.extend(resources.map(Change::from_sdk));
            next = page.next_token;
            if next.is_none() {
                return Ok(changes);
            }
        }
    }

    /// Returns whether a change set is still executable. Executing a change set, or changing its
    /// stack, invalidates it.
    ///
    /// # Errors
    /// Returns [`AwsError`] if a request to AWS fails.
    pub(crate) async fn can_be_executed(&self, id: &str) -> Result<bool, AwsError> {
        let described = self.cloudformation.describe_change_set().change_set_name(id).send().await;
        match described {
            Ok(described) => Ok(described.execution_status == Some(ExecutionStatus::Available)),
            Err(error) if means_not_found(error.code(), error.message()) => Ok(false),
            Err(error) => Err(AwsError::from_sdk("read the change set", &error)),
        }
    }

    /// Returns whether a stack has unexecuted change sets.
    async fn has_change_sets(&self, stack_id: &str) -> Result<bool, AwsError> {
        let listed = self.cloudformation.list_change_sets().stack_name(stack_id).send().await;
        let listed = listed.map_err(|error| AwsError::from_sdk("list the change sets", &error))?;
        Ok(!listed.summaries().is_empty())
    }

    /// Starts the execution of a change set.
    ///
    /// # Errors
    /// Returns [`AwsError`] if the request fails. The execution may have started even if the result
    /// is [`AwsError::Unreachable`].
    pub(crate) async fn execute_change_set(&self, id: &str, token: &str) -> Result<(), AwsError> {
        let request = self.cloudformation.execute_change_set().change_set_name(id);
        let started = request.client_request_token(token).send().await;
        started.map(drop).map_err(|error| AwsError::from_sdk("execute the change set", &error))
    }

    async fn delete_change_set(&self, id: &str) -> Result<(), AwsError> {
        let deleted = self.cloudformation.delete_change_set().change_set_name(id).send().await;
        deleted.map(drop).map_err(|error| AwsError::from_sdk("delete the change set", &error))
    }
}

/// Returns whether an error means that the change set or its stack does not exist.
fn means_not_found(code: Option<&str>, message: Option<&str>) -> bool {
    code == Some("ChangeSetNotFound")
        || message.is_some_and(|message| message.contains("does not exist"))
}

fn express_mode() -> DeploymentConfig {
    DeploymentConfig::builder().mode(DeploymentConfigMode::Express).build()
}

impl RollbackAlarms {
    fn configuration(&self) -> Option<RollbackConfiguration> {
        if self.arns.is_empty() {
            return None;
        }
        let triggers: Vec<RollbackTrigger> = self
            .arns
            .iter()
            .map(|arn| {
                RollbackTrigger::builder().r#type(ResourceType::Alarm.name()).arn(arn).build()
            })
            .collect();
        let minutes = i32::from(self.minutes);
        let configuration = RollbackConfiguration::builder().monitoring_time_in_minutes(minutes);
        Some(configuration.set_rollback_triggers(Some(triggers)).build())
    }
}

/// Returns whether `reason` is the status reason of an empty change set.
fn means_no_changes(reason: &str) -> bool {
    NO_CHANGES.iter().any(|text| reason.contains(text))
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
        let mut properties: Vec<String> = details
            .iter()
            .filter_map(|detail| detail.target())
            .filter_map(|target| {
                target.name().or(target.attribute().map(|attribute| attribute.as_str()))
            })
            .map(str::to_owned)
            .collect();
        properties.sort();
        properties.dedup();
        let is_dynamic =
            |detail: &ResourceChangeDetail| detail.evaluation() == Some(&EvaluationType::Dynamic);
        Self {
            action,
            logical_id: change.logical_resource_id().unwrap_or_default().to_owned(),
            resource_type: change.resource_type().unwrap_or_default().to_owned(),
            replacement,
            properties,
            certain: details.is_empty() || !details.iter().all(is_dynamic),
        }
    }
}
