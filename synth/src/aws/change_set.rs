//! Change sets: what a deployment would do, before it does it.

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

use super::{Aws, AwsError};

/// How often it is asked whether a change set is ready.
const POLL: Duration = Duration::from_millis(700);
/// The status of a stack that is only there for its change sets.
const ONLY_PLANNED: &str = "REVIEW_IN_PROGRESS";
/// What CloudFormation says of a change set without any change, in its two ways.
const NOTHING: [&str; 2] = ["didn't contain changes", "No updates are to be performed"];

/// What a stack is to be.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// The stack's name.
    pub(crate) stack: String,
    /// Whether there is none yet.
    pub(crate) is_new: bool,
    /// The change set's name.
    pub(crate) name: String,
    /// Where the template is.
    pub(crate) template_url: String,
    /// The values of its parameters.
    pub(crate) parameters: Vec<(String, String)>,
    /// Tags of all its resources.
    pub(crate) tags: Vec<(String, String)>,
    /// Whether resources need not be ready when it is done.
    pub(crate) express: bool,
    /// What takes the deployment back.
    pub(crate) watch: Watch,
}

/// Alarms that take a deployment back when they go off.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Watch {
    /// Their ARNs, at most five.
    pub(crate) alarms: Vec<String>,
    /// Minutes that they are watched once everything is deployed.
    pub(crate) minutes: u8,
}

/// A change set that can be executed.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ChangeSet {
    /// Its ARN.
    pub(crate) id: String,
    /// The stack's ARN.
    pub(crate) stack_id: String,
    /// What it does, in the order that CloudFormation gives.
    pub(crate) changes: Vec<Change>,
}

/// What is done with a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PlannedAction {
    /// It is made.
    Add,
    /// It is changed.
    Modify,
    /// It is deleted, or, by its deletion policy, kept and no longer managed.
    Remove,
    /// Anything else, or what is not known before.
    Other,
}

/// Whether a resource becomes another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Replacement {
    /// It stays.
    No,
    /// It depends on values that are only known when it is done.
    Maybe,
    /// It is made anew, and the old one deleted.
    Yes,
}

/// A change of one resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Change {
    /// What is done.
    pub(crate) action: PlannedAction,
    /// Its logical id.
    pub(crate) logical_id: String,
    /// Its type, `AWS::…`.
    pub(crate) resource_type: String,
    /// Whether it becomes another one.
    pub(crate) replacement: Replacement,
    /// The properties that change.
    pub(crate) properties: Vec<String>,
    /// Whether something is sure to change: otherwise it only refers to what does.
    pub(crate) certain: bool,
}

impl Aws {
    /// Makes a change set. `None`: there is nothing to change.
    ///
    /// # Errors
    /// [`AwsError`]; nothing of the stack was changed, and no change set is left behind.
    pub(crate) async fn create_change_set(
        &self,
        wanted: &Wanted,
    ) -> Result<Option<ChangeSet>, AwsError> {
        let what = "make the change set";
        let kind = if wanted.is_new { ChangeSetType::Create } else { ChangeSetType::Update };
        let parameters = wanted.parameters.iter().map(|(key, value)| {
            Parameter::builder().parameter_key(key).parameter_value(value).build()
        });
        let tags = wanted.tags.iter().map(|(key, value)| Tag::builder().key(key).value(value));
        let created = self
            .cloudformation
            .create_change_set()
            .stack_name(&wanted.stack)
            .change_set_name(&wanted.name)
            .change_set_type(kind)
            .template_url(&wanted.template_url)
            .set_parameters(Some(parameters.collect()))
            .set_tags(Some(tags.map(|tag| tag.build()).collect()))
            .capabilities(Capability::CapabilityIam)
            .set_rollback_configuration(wanted.watch.configuration())
            .set_deployment_config(wanted.express.then(express))
            .send()
            .await;
        let id = match created {
            Ok(created) => created.id.ok_or(AwsError::Reply { missing: "a change set" })?,
            Err(error) if error.message().is_some_and(says_nothing) => return Ok(None),
            Err(error) => return Err(AwsError::of(what, &error)),
        };
        let made = self.made(&id, &wanted.stack).await;
        let (is_new, stack) = (wanted.is_new, &wanted.stack);
        match &made {
            Ok(Some(_)) => {}
            Ok(None) => self.discard_change_set(&id, stack, false).await?,
            // Why it failed matters more than that it could not be deleted, too.
            Err(_) => drop(self.discard_change_set(&id, stack, is_new).await),
        }
        made
    }

    pub(super) async fn made(&self, id: &str, stack: &str) -> Result<Option<ChangeSet>, AwsError> {
        let Some(stack_id) = self.ready(id, stack).await? else { return Ok(None) };
        let changes = self.changes(id).await?;
        Ok(Some(ChangeSet { id: id.to_owned(), stack_id, changes }))
    }

    /// Deletes a change set that nobody wants, and with it a stack that is only there for it.
    ///
    /// # Errors
    /// [`AwsError`].
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
        // Somebody else may have made the stack in the meantime.
        match self.stack(stack).await? {
            Some(state) if state.status == ONLY_PLANNED => {
                let token = uuid::Uuid::new_v4().to_string();
                self.delete_stack(&state.id, &token).await
            }
            _ => Ok(()),
        }
    }

    /// Waits until a change set can be executed; gives the stack's ARN. `None`: it has no changes.
    async fn ready(&self, id: &str, stack: &str) -> Result<Option<String>, AwsError> {
        loop {
            let described = self.cloudformation.describe_change_set().change_set_name(id).send();
            let described = described.await;
            let described =
                described.map_err(|error| AwsError::of("read the change set", &error))?;
            let reason = described.status_reason.unwrap_or_default();
            match described.status {
                Some(ChangeSetStatus::CreateComplete) => {
                    let missing = "the stack of a change set";
                    return described.stack_id.map(Some).ok_or(AwsError::Reply { missing });
                }
                Some(ChangeSetStatus::Failed) if says_nothing(&reason) => return Ok(None),
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
            let page = page.map_err(|error| AwsError::of("read the change set", &error))?;
            let resources = page.changes().iter().filter_map(|change| change.resource_change());
            changes.extend(resources.map(Change::of));
            next = page.next_token;
            if next.is_none() {
                return Ok(changes);
            }
        }
    }

    /// Whether a change set can still be executed: nobody did, and its stack is as it was.
    ///
    /// # Errors
    /// [`AwsError`].
    pub(crate) async fn can_be_executed(&self, id: &str) -> Result<bool, AwsError> {
        let described = self.cloudformation.describe_change_set().change_set_name(id).send().await;
        match described {
            Ok(described) => Ok(described.execution_status == Some(ExecutionStatus::Available)),
            Err(error) if is_gone(error.code(), error.message()) => Ok(false),
            Err(error) => Err(AwsError::of("read the change set", &error)),
        }
    }

    /// Whether a stack has change sets that wait.
    ///
    /// # Errors
    /// [`AwsError`].
    async fn has_change_sets(&self, stack_id: &str) -> Result<bool, AwsError> {
        let listed = self.cloudformation.list_change_sets().stack_name(stack_id).send().await;
        let listed = listed.map_err(|error| AwsError::of("list the change sets", &error))?;
        Ok(!listed.summaries().is_empty())
    }

    /// Begins what a change set says.
    ///
    /// # Errors
    /// [`AwsError`]; if the reply was lost, it may have begun.
    pub(crate) async fn execute_change_set(&self, id: &str, token: &str) -> Result<(), AwsError> {
        let request = self.cloudformation.execute_change_set().change_set_name(id);
        let done = request.client_request_token(token).send().await;
        done.map(drop).map_err(|error| AwsError::of("execute the change set", &error))
    }

    /// Deletes a change set that nobody wants.
    ///
    /// # Errors
    /// [`AwsError`].
    async fn delete_change_set(&self, id: &str) -> Result<(), AwsError> {
        let deleted = self.cloudformation.delete_change_set().change_set_name(id).send().await;
        deleted.map(drop).map_err(|error| AwsError::of("delete the change set", &error))
    }
}

/// A change set that is not there, or whose stack is not.
fn is_gone(code: Option<&str>, message: Option<&str>) -> bool {
    code == Some("ChangeSetNotFound") || message.is_some_and(|it| it.contains("does not exist"))
}

fn express() -> DeploymentConfig {
    DeploymentConfig::builder().mode(DeploymentConfigMode::Express).build()
}

impl Watch {
    fn configuration(&self) -> Option<RollbackConfiguration> {
        if self.alarms.is_empty() {
            return None;
        }
        let of_alarm = RollbackTrigger::builder().r#type(ResourceType::Alarm.name());
        let triggers = self.alarms.iter().map(|arn| of_alarm.clone().arn(arn));
        let triggers: Vec<RollbackTrigger> = triggers.map(|trigger| trigger.build()).collect();
        let minutes = i32::from(self.minutes);
        let configuration = RollbackConfiguration::builder().monitoring_time_in_minutes(minutes);
        Some(configuration.set_rollback_triggers(Some(triggers)).build())
    }
}

fn says_nothing(reason: &str) -> bool {
    NOTHING.iter().any(|nothing| reason.contains(nothing))
}

impl Change {
    fn of(change: &ResourceChange) -> Self {
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
        let details = change.details().iter().filter_map(|detail| detail.target());
        let mut properties: Vec<String> = details
            .filter_map(|target| target.name().or(target.attribute().map(|at| at.as_str())))
            .map(str::to_owned)
            .collect();
        properties.sort();
        properties.dedup();
        let is_dynamic =
            |detail: &ResourceChangeDetail| detail.evaluation() == Some(&EvaluationType::Dynamic);
        let details = change.details();
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
