//! The stack of the fake, its change sets, and scripted events.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fmt::Write as _;

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use super::Fault;
use super::buckets::FakeBuckets;
use super::manual_change::{ManualChange, resource_change};
use super::reply::{element, error, result};
use super::settings::Setting;
use super::tables::FakeTables;

const ACCOUNT: &str = "000000000000";
const STACK_TYPE: &str = "AWS::CloudFormation::Stack";

/// An event of the stack. Each read of the stack performs one event.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// An event of a resource: its logical id, type, status and reason.
    Resource(&'static str, &'static str, &'static str, &'static str),
    /// A status of the stack, and the reason.
    Stack(&'static str, &'static str),
    /// No further event until the test continues.
    Hold,
}

/// State of the stack.
#[derive(Clone, Debug, Default)]
pub(crate) struct FakeStack {
    pub(crate) status: String,
    pub(crate) outputs: Vec<(&'static str, String)>,
    pub(crate) tags: Vec<(String, String)>,
    /// ARNs of the rollback triggers. A change set that does not mention them keeps them.
    pub(crate) rollback_triggers: Vec<String>,
    /// Whether the stack cannot be deleted.
    pub(crate) is_protected: bool,
}

/// A change set of the stack.
#[derive(Debug)]
pub(crate) struct FakeChangeSet {
    /// Reason of its failure, if it failed.
    failure: Option<String>,
    /// Rollback triggers that replace those of the stack, if the change set mentions any.
    rollback_triggers: Option<Vec<String>>,
    /// Whether a failed execution leaves the stack in `UPDATE_FAILED`.
    is_rollback_disabled: bool,
    /// Whether it compares with the actual resources.
    reverts_drift: bool,
}

/// State of the fake.
pub(crate) struct World {
    /// The stack, if it exists.
    pub(crate) stack: Option<FakeStack>,
    /// A deleted stack, which can still be read by its id.
    deleted: Option<FakeStack>,
    /// Events of the stack, oldest first.
    pub(crate) events: Vec<String>,
    /// Change sets by id.
    pub(crate) change_sets: BTreeMap<String, FakeChangeSet>,
    /// DynamoDB tables.
    pub(crate) tables: FakeTables,
    /// Names of the deployed alarms, each with its state.
    pub(crate) alarms: BTreeMap<&'static str, &'static str>,
    /// Reason why new change sets fail.
    pub(crate) change_set_fails: Option<&'static str>,
    /// Resources that fail the validation of new change sets, each with its reason.
    pub(crate) invalid_resources: Vec<(&'static str, &'static str)>,
    /// Events after a change set is executed or the stack is deleted. Without events, the operation
    /// succeeds.
    pub(crate) script: VecDeque<Step>,
    /// Remaining events of the running operation.
    pub(crate) remaining_steps: VecDeque<Step>,
    pub(crate) buckets: FakeBuckets,
    /// Properties that were changed outside CloudFormation.
    pub(crate) manual_changes: Vec<ManualChange>,
    /// Settings of the artifact bucket.
    pub(crate) settings: BTreeMap<&'static str, String>,
    /// The last uploaded template.
    pub(crate) template: String,
    /// Access keys and regions of signed requests.
    pub(crate) signed: BTreeSet<(String, String)>,
    /// Called actions, in order.
    pub(crate) asked: Vec<String>,
    pub(super) faults: Vec<(&'static str, usize, Fault)>,
    pub(super) world_changes: Vec<(&'static str, WorldChange)>,
    executed: Vec<String>,
}

/// A change of the world that is performed later.
pub(super) type WorldChange = Box<dyn FnOnce(&mut World) + Send>;

impl Default for World {
    fn default() -> Self {
        Self {
            stack: None,
            deleted: None,
            events: Vec::new(),
            change_sets: BTreeMap::new(),
            tables: FakeTables::default(),
            alarms: BTreeMap::new(),
            change_set_fails: None,
            invalid_resources: Vec::new(),
            script: VecDeque::new(),
            remaining_steps: VecDeque::new(),
            buckets: FakeBuckets::default(),
            manual_changes: Vec::new(),
            settings: Setting::ALL.map(|it| (it.name, it.ours.to_owned())).into(),
            template: String::new(),
            signed: BTreeSet::new(),
            asked: Vec::new(),
            faults: Vec::new(),
            world_changes: Vec::new(),
            executed: Vec::new(),
        }
    }
}

impl World {
    /// Adds a deployed Cellar stack with this status. A stack that was once complete is protected
    /// from deletion.
    pub(crate) fn deployed(&mut self, status: &str) {
        self.stack = Some(FakeStack {
            status: status.to_owned(),
            outputs: vec![("ApiUrl", "https://api.lambda-url.eu-west-1.on.aws/".to_owned())],
            tags: vec![("cellar:stack".to_owned(), "cellar".to_owned())],
            rollback_triggers: Vec::new(),
            is_protected: status.starts_with("UPDATE") || status == "CREATE_COMPLETE",
        });
    }

    /// Defines the events of the next change or deletion.
    pub(crate) fn on_change(&mut self, steps: &[Step]) {
        self.script = steps.iter().cloned().collect();
    }

    /// Adds a fault to the next `count` calls of an action.
    pub(crate) fn fail(&mut self, action: &'static str, count: usize, fault: Fault) {
        self.faults.push((action, count, fault));
    }

    /// Replaces the remaining events (such as a [`Step::Hold`]) with those of a successful update.
    pub(crate) fn finish_update(&mut self) {
        let step = |status| Step::Resource("ApiFunction", "AWS::Lambda::Function", status, "");
        let steps = ["UPDATE_IN_PROGRESS", "UPDATE_COMPLETE"].map(step);
        let resources = steps.iter().cycle().take(6).cloned();
        self.remaining_steps = resources.chain([Step::Stack("UPDATE_COMPLETE", "")]).collect();
    }

    /// Records a call, and returns its fault, if it has one.
    pub(super) fn begin(&mut self, action: &str) -> Option<Fault> {
        self.asked.push(action.to_owned());
        if let Some(at) = self.world_changes.iter().position(|(name, _)| *name == action) {
            let (_, apply_change) = self.world_changes.remove(at);
            apply_change(self);
        }
        let fault = self.faults.iter_mut().find(|(name, left, _)| *name == action && *left > 0);
        let (_, left, fault) = fault?;
        *left -= 1;
        Some(fault.clone())
    }

    pub(super) fn query(&mut self, action: &str, form: &HashMap<String, String>) -> Response {
        let of = |name: &str| form.get(name).cloned().unwrap_or_default();
        let inner = match action {
            "GetCallerIdentity" => format!(
                "<Arn>arn:aws:iam::{ACCOUNT}:user/deployer</Arn><UserId>U</UserId><Account>{ACCOUNT}\
                 </Account>"
            ),
            "DescribeStacks" => match self.describe(of("StackName") == arn()) {
                Some(stack) => stack,
                None => {
                    return invalid(&format!("Stack with id {} does not exist", of("StackName")));
                }
            },
            "DescribeStackEvents" => {
                let events: String = self.events.iter().rev().cloned().collect();
                format!("<StackEvents>{events}</StackEvents>")
            }
            "GetTemplate" => element("TemplateBody", &self.template),
            "ListStackResources" => self.list_alarms_as_resources(),
            "CreateChangeSet" => self.create_change_set(form),
            "DescribeChangeSet" => {
                let has_values = of("IncludePropertyValues") == "true";
                self.describe_change_set(&of("ChangeSetName"), has_values)
            }
            "ListChangeSets" => self.list_change_sets(),
            "DeleteChangeSet" => {
                self.change_sets.remove(&of("ChangeSetName"));
                String::new()
            }
            "ExecuteChangeSet" => {
                match self.execute(&of("ClientRequestToken"), &of("ChangeSetName")) {
                    Ok(()) => String::new(),
                    Err(refused) => return *refused,
                }
            }
            "DescribeEvents" => self.describe_failed_validations(),
            "UpdateTerminationProtection" => {
                let stack = self.stack.as_mut().unwrap();
                stack.is_protected = of("EnableTerminationProtection") == "true";
                element("StackId", &arn())
            }
            "DeleteStack" if self.stack.as_ref().is_some_and(|it| it.is_protected) => {
                return invalid(
                    "Stack [cellar] cannot be deleted while TerminationProtection is enabled",
                );
            }
            "DeleteStack" => {
                self.remaining_steps = self.script_or("DELETE_COMPLETE");
                self.record_event("cellar", STACK_TYPE, "DELETE_IN_PROGRESS", "");
                String::new()
            }
            other => panic!("the fake does not support {other}"),
        };
        result(action, &inner)
    }

    /// Describes the stack, and performs its next event.
    fn describe(&mut self, is_by_id: bool) -> Option<String> {
        if matches!(self.remaining_steps.front(), Some(step) if !matches!(step, Step::Hold)) {
            match self.remaining_steps.pop_front().unwrap() {
                Step::Resource(id, kind, status, reason) => {
                    self.record_event(id, kind, status, reason);
                }
                Step::Stack(status, reason) => {
                    self.record_event("cellar", STACK_TYPE, status, reason);
                }
                Step::Hold => {}
            }
        }
        let deleted = self.deleted.as_ref().filter(|_| is_by_id);
        let stack = self.stack.as_ref().or(deleted)?;
        let mut inner = element("StackName", "cellar") + &element("StackId", &arn());
        inner += &element("StackStatus", &stack.status);
        inner += &element("EnableTerminationProtection", &stack.is_protected.to_string());
        let output = |(key, value): &(&str, String)| {
            let pair = element("OutputKey", key) + &element("OutputValue", value);
            format!("<member>{pair}</member>")
        };
        let tag = |(key, value): &(String, String)| {
            format!("<member>{}{}</member>", element("Key", key), element("Value", value))
        };
        let outputs: String = stack.outputs.iter().map(output).collect();
        let tags: String = stack.tags.iter().map(tag).collect();
        write!(inner, "<Outputs>{outputs}</Outputs><Tags>{tags}</Tags>").unwrap();
        let described = format!("<Stacks><member>{inner}</member></Stacks>");
        let is_over = self.remaining_steps.is_empty();
        self.deleted = self
            .stack
            .take_if(|it| it.status == "DELETE_COMPLETE" && is_over)
            .or(self.deleted.take());
        Some(described)
    }

    fn record_event(&mut self, id: &str, kind: &str, status: &str, reason: &str) {
        if kind == STACK_TYPE {
            self.stack.get_or_insert_default().status = status.to_owned();
        }
        let at = self.events.len();
        let mut event = element("EventId", &format!("event-{at}")) + &element("StackId", &arn());
        event += &element("StackName", "cellar");
        event += &element("LogicalResourceId", id);
        event += &element("ResourceType", kind);
        event += &element("ResourceStatus", status);
        event += &element("Timestamp", &format!("2026-01-01T00:{:02}:{:02}Z", at / 60, at % 60));
        if !reason.is_empty() {
            event += &element("ResourceStatusReason", reason);
        }
        self.events.push(format!("<member>{event}</member>"));
    }

    fn create_change_set(&mut self, form: &HashMap<String, String>) -> String {
        let name = &form["ChangeSetName"];
        if form["ChangeSetType"] == "CREATE" && self.stack.is_none() {
            self.deployed("REVIEW_IN_PROGRESS");
        }
        let id = format!("arn:aws:cloudformation:eu-west-1:{ACCOUNT}:changeSet/{name}/1");
        let of_deployment = |key: &str| form.get(&format!("DeploymentConfig.{key}")).cloned();
        let is_express = of_deployment("Mode").as_deref() == Some("EXPRESS");
        let change_set = FakeChangeSet {
            failure: self.change_set_fails.map(str::to_owned),
            rollback_triggers: rollback_triggers(form),
            // Express mode disables the rollback unless the request says otherwise.
            is_rollback_disabled: is_express
                && of_deployment("DisableRollback").as_deref() != Some("false"),
            reverts_drift: form.get("DeploymentMode").is_some_and(|mode| mode == "REVERT_DRIFT"),
        };
        assert!(!change_set.reverts_drift || form["ChangeSetType"] == "UPDATE");
        self.change_sets.insert(id.clone(), change_set);
        element("Id", &id) + &element("StackId", &arn())
    }

    fn describe_failed_validations(&self) -> String {
        let mut events = String::new();
        for (resource, reason) in &self.invalid_resources {
            let event = element("EventType", "VALIDATION_ERROR")
                + &element("LogicalResourceId", resource)
                + &element("ValidationStatus", "FAILED")
                + &element("ValidationPath", "/Properties/TableName")
                + &element("ValidationStatusReason", reason);
            write!(events, "<member>{event}</member>").unwrap();
        }
        format!("<OperationEvents>{events}</OperationEvents>")
    }

    fn list_alarms_as_resources(&self) -> String {
        let mut summaries = String::new();
        for name in self.alarms.keys() {
            let summary = element("LogicalResourceId", name)
                + &element("PhysicalResourceId", name)
                + &element("ResourceType", "AWS::CloudWatch::Alarm")
                + &element("ResourceStatus", "CREATE_COMPLETE")
                + &element("LastUpdatedTimestamp", "2026-01-01T00:00:00Z");
            write!(summaries, "<member>{summary}</member>").unwrap();
        }
        format!("<StackResourceSummaries>{summaries}</StackResourceSummaries>")
    }

    /// Answers a request for the alarms that are in a state.
    pub(super) fn describe_alarms(&self, request: &Value) -> Value {
        let is_requested = |name: &str| {
            let names = request["AlarmNames"].as_array();
            names.is_some_and(|names| names.iter().any(|requested| requested == name))
        };
        let mut alarms = Vec::new();
        for (name, state) in &self.alarms {
            if is_requested(name) && request["StateValue"] == *state {
                alarms.push(json!({ "AlarmName": name, "StateValue": state }));
            }
        }
        json!({ "MetricAlarms": alarms })
    }

    fn describe_change_set(&self, id: &str, has_values: bool) -> String {
        let head = element("ChangeSetId", id) + &element("StackId", &arn());
        match self.change_sets.get(id).and_then(|change_set| change_set.failure.as_ref()) {
            Some(reason) => head + &element("Status", "FAILED") + &element("StatusReason", reason),
            None => {
                let is_new = self.stack.as_ref().is_none_or(|it| it.status == "REVIEW_IN_PROGRESS");
                let action = if is_new { "Add" } else { "Modify" };
                let change = element("Action", action)
                    + &element("LogicalResourceId", "ApiFunction")
                    + &element("ResourceType", "AWS::Lambda::Function")
                    + &element("Replacement", "False");
                let mut changes = vec![change];
                if self.change_sets.get(id).is_some_and(|change_set| change_set.reverts_drift) {
                    let shown = self.manual_changes.iter().map(|it| it.describe(has_values));
                    changes.extend(shown);
                }
                let members: String =
                    changes.iter().map(|change| resource_change(change)).collect();
                head + &element("Status", "CREATE_COMPLETE")
                    + &element("ExecutionStatus", "AVAILABLE")
                    + &format!("<Changes>{members}</Changes>")
            }
        }
    }

    fn list_change_sets(&self) -> String {
        let sets = self.change_sets.keys();
        let sets: String =
            sets.map(|id| format!("<member>{}</member>", element("ChangeSetId", id))).collect();
        format!("<Summaries>{sets}</Summaries>")
    }

    /// Returns the scripted events, or success if the test defined none.
    fn script_or(&mut self, ends: &'static str) -> VecDeque<Step> {
        match self.script.is_empty() {
            true => [Step::Stack(ends, "")].into(),
            false => std::mem::take(&mut self.script),
        }
    }

    /// Executes a change set once per token, like CloudFormation.
    fn execute(&mut self, token: &str, change_set_id: &str) -> Result<(), Box<Response>> {
        if self.executed.iter().any(|executed| executed == token) {
            return Ok(());
        }
        let status = self.stack.as_ref().map(|it| it.status.clone()).unwrap_or_default();
        if status.ends_with("_IN_PROGRESS") && status != "REVIEW_IN_PROGRESS" {
            return Err(Box::new(error(
                StatusCode::BAD_REQUEST,
                "InvalidChangeSetStatus",
                &format!("The stack {} is in {status} state", arn()),
                false,
            )));
        }
        self.executed.push(token.to_owned());
        let change_set = self.change_sets.remove(change_set_id);
        self.change_sets.clear();
        let (begins, ends) = match status.as_str() {
            "REVIEW_IN_PROGRESS" => ("CREATE_IN_PROGRESS", "CREATE_COMPLETE"),
            _ => ("UPDATE_IN_PROGRESS", "UPDATE_COMPLETE"),
        };
        self.record_event("cellar", STACK_TYPE, begins, "User Initiated");
        self.remaining_steps = self.script_or(ends);
        if change_set.as_ref().is_some_and(|change_set| change_set.reverts_drift) {
            self.manual_changes.clear();
        }
        if let Some(change_set) = change_set {
            self.apply_rollback_configuration(change_set);
        }
        Ok(())
    }

    /// Stores the rollback triggers of a change set. If one of the stack's triggers is in the state
    /// `ALARM`, CloudFormation rolls the update back at once. If rollback is disabled, a failed
    /// update is not rolled back.
    fn apply_rollback_configuration(&mut self, change_set: FakeChangeSet) {
        let Some(stack) = &mut self.stack else { return };
        if let Some(triggers) = change_set.rollback_triggers {
            stack.rollback_triggers = triggers;
        }
        let is_active = |arn: &&String| {
            let name = arn.rsplit(':').next().unwrap();
            self.alarms.get(name) == Some(&"ALARM")
        };
        if let Some(arn) = stack.rollback_triggers.iter().find(is_active) {
            let reason: &'static str =
                format!("Rollback trigger {arn} went into ALARM state").leak();
            self.remaining_steps = [
                Step::Stack("UPDATE_ROLLBACK_IN_PROGRESS", reason),
                Step::Stack("UPDATE_ROLLBACK_COMPLETE", ""),
            ]
            .into();
        }
        let rollback_start = self
            .remaining_steps
            .iter()
            .position(|step| matches!(step, Step::Stack("UPDATE_ROLLBACK_IN_PROGRESS", _)));
        if change_set.is_rollback_disabled
            && let Some(start) = rollback_start
        {
            self.remaining_steps.truncate(start);
            self.remaining_steps.push_back(Step::Stack("UPDATE_FAILED", ""));
        }
    }
}

/// Returns the rollback triggers of a request, or `None` if the request does not mention them.
fn rollback_triggers(form: &HashMap<String, String>) -> Option<Vec<String>> {
    const LIST: &str = "RollbackConfiguration.RollbackTriggers";
    let of_list = |name: &&String| name.starts_with(LIST);
    form.keys().find(of_list)?;
    let mut triggers = Vec::new();
    while let Some(arn) = form.get(&format!("{LIST}.member.{}.Arn", triggers.len() + 1)) {
        triggers.push(arn.clone());
    }
    Some(triggers)
}

fn arn() -> String {
    format!("arn:aws:cloudformation:eu-west-1:{ACCOUNT}:stack/cellar/1")
}

fn invalid(message: &str) -> Response {
    error(StatusCode::BAD_REQUEST, "ValidationError", message, false)
}
