//! Preview of a deployment: the difference between the templates, and the changes that
//! CloudFormation predicts.

use std::collections::{BTreeMap, BTreeSet};

use cellar_base::count::count;
use cellar_stacks::difference::Difference;

use super::aws_deployment::{AwsDeployment, template_hash};
use super::confirm::confirm;
use super::diff::{deployed_template_text, parse_deployed_template};
use super::manual_changes::format_manual_changes;
use super::parameter_changes::print_parameter_changes;
use crate::aws::{Change, ChangeSet, DesiredStack, Drift, RollbackAlarms, StackState};
use crate::cost::idle_dollars;
use crate::deployment::{
    Approval, PlanBasis, RollbackAlarmNames, StackCondition, required_approval,
    rollback_alarm_candidates, stack_condition,
};
use crate::difference::{OldTemplate, Report, format_as_text};
use crate::error::SynthError;
use crate::git;

pub(super) struct Preview {
    /// `None` if the stack does not exist.
    pub(super) current_stack: Option<StackState>,
    /// `None` if the stack does not exist.
    pub(super) deployed_hash: Option<String>,
    old_template: OldTemplate,
    /// Monthly cost of the current stack without usage, in US dollars.
    current_idle_dollars: Option<String>,
    pub(super) difference: Difference,
    /// `None` if there are no changes.
    pub(super) change_set: Option<ChangeSet>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PreviewDetail {
    All,
    /// All changes to an existing stack are shown, but a new stack is only summarized.
    Changes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Confirmation {
    /// Prompt for confirmation if the changes require it.
    Prompt,
    /// Do not prompt, because the changes are confirmed in another way.
    Skip,
}

impl AwsDeployment<'_> {
    /// Does not change an existing stack, except that a stack whose creation never completed is
    /// deleted first.
    pub(super) async fn create_preview(
        &self,
        desired: DesiredStack,
    ) -> Result<Preview, SynthError> {
        let stack_name = &desired.stack_name;
        let current_stack = self.changeable_stack(stack_name).await?;
        let deployed_text = deployed_template_text(&self.aws, current_stack.as_ref()).await?;
        let old_template =
            parse_deployed_template(&self.aws, stack_name, deployed_text.as_deref())?;
        let difference =
            Difference::between(old_template.document.as_ref(), &self.template.document)?;
        let rollback = self.rollback_alarms(current_stack.as_ref()).await?;
        let is_new = current_stack.is_none();
        let reverts_drift = desired.reverts_drift && !is_new;
        let desired = DesiredStack { is_new, reverts_drift, rollback, ..desired };
        let step = self.output.start_step("Compute the changes");
        let result = self.aws.create_change_set(&desired).await;
        let change_set = step.finish(result, |created| describe_changes(created.as_ref()))?;
        Ok(Preview {
            current_stack,
            deployed_hash: deployed_text.as_deref().map(template_hash),
            old_template,
            current_idle_dollars: deployed_text.as_deref().and_then(idle_dollars),
            difference,
            change_set,
        })
    }

    pub(super) fn print_preview(&self, preview: &Preview, detail: PreviewDetail) {
        if preview.current_stack.is_none() && detail == PreviewDetail::Changes {
            self.output.print_note(&new_stack_summary(&preview.difference));
        } else if !preview.difference.is_empty() {
            let stack_name = &self.project.config.stack;
            let report = Report::new(stack_name, &preview.old_template, &preview.difference);
            let text = format_as_text(&report, self.output.has_colours_for_notes());
            self.output.print_note(text.trim_end());
        }
        let mut shown_ids: BTreeSet<&str> =
            preview.difference.resources.iter().map(|change| change.logical_id.as_str()).collect();
        let manual_changes = preview.manual_changes();
        if let Some(text) = format_manual_changes(manual_changes) {
            self.output.print_note(&text);
        }
        shown_ids.extend(manual_changes.iter().map(|drift| drift.logical_id.as_str()));
        print_parameter_changes(preview.predicted_changes(), &shown_ids, self.output);
        self.print_protection_change(preview);
        let new_idle_dollars = idle_dollars(&self.template.text).unwrap_or_default();
        let current_idle_dollars = preview.current_idle_dollars.as_deref();
        self.output.print_note(&format_idle_cost(current_idle_dollars, &new_idle_dollars));
    }

    /// Checks that no data would be lost, and prompts for confirmation if the changes require it.
    ///
    /// # Errors
    /// Returns [`SynthError::DataWouldBeLost`] if a change requires `--allow-data-loss`. Returns
    /// [`SynthError::Unconfirmed`] if the user does not confirm.
    pub(super) async fn ensure_approved(
        &self,
        preview: &Preview,
        confirmation: Confirmation,
    ) -> Result<(), SynthError> {
        let allowed_losses = &self.arguments.allow_data_loss;
        match required_approval(&preview.difference, preview.predicted_changes(), allowed_losses) {
            Approval::Refused(logical_ids) => {
                let logical_ids: Vec<String> = logical_ids.into_iter().collect();
                Err(SynthError::DataWouldBeLost { ids: logical_ids.join(", ") })
            }
            Approval::Needed(reasons) if confirmation == Confirmation::Prompt => {
                let question = format!("This deployment needs confirmation: {reasons}. Deploy?");
                confirm("the deployment", &question).await
            }
            Approval::Needed(_) | Approval::NotNeeded => Ok(()),
        }
    }

    pub(super) async fn delete_change_set(&self, preview: &Preview) -> Result<(), SynthError> {
        let Some(change_set) = &preview.change_set else { return Ok(()) };
        let is_new = preview.current_stack.is_none();
        self.aws.discard_change_set(&change_set.id, &change_set.stack_id, is_new).await?;
        Ok(())
    }

    pub(super) fn current_basis(&self, deployed_hash: Option<&str>) -> PlanBasis {
        PlanBasis {
            account: self.aws.account.clone(),
            region: self.aws.region.clone(),
            commit: git::checked_out_commit(&self.project.folder),
            template: template_hash(&self.template.text),
            deployed: deployed_hash.map(str::to_owned),
        }
    }

    /// Waits until any operation on the stack has ended, and returns the stack if it can be
    /// changed. Returns `None` if the stack must be created.
    ///
    /// If the creation of the stack never completed, deletes the stack and returns `None`.
    async fn changeable_stack(&self, stack_name: &str) -> Result<Option<StackState>, SynthError> {
        let Some(stack) = self.idle_stack(stack_name).await? else { return Ok(None) };
        match stack_condition(Some(&stack.status)) {
            StackCondition::Missing => Ok(None),
            StackCondition::Ready => Ok(Some(stack)),
            StackCondition::Busy => {
                Err(SynthError::StackBusy { stack: stack_name.to_owned(), status: stack.status })
            }
            StackCondition::Stuck => {
                let events = self.aws.all_events(&stack.id).await?;
                Err(self.follower().stuck_stack_error(&stack, &events))
            }
            StackCondition::Incomplete => {
                let note = "The stack was never created completely; its remains are deleted first.";
                self.output.print_note(note);
                self.follower().delete_stack(&stack).await?;
                Ok(None)
            }
        }
    }

    async fn idle_stack(&self, stack_name: &str) -> Result<Option<StackState>, SynthError> {
        let Some(stack) = self.find_cellar_stack(stack_name).await? else { return Ok(None) };
        if stack_condition(Some(&stack.status)) != StackCondition::Busy {
            return Ok(Some(stack));
        }
        let status = stack.status.to_lowercase().replace('_', " ");
        self.output.print_note(&format!("The stack is {status}; waiting until this has finished."));
        self.follower().wait_until_idle(&stack).await?;
        self.find_cellar_stack(stack_name).await
    }

    /// Returns only those alarms that the new template keeps and that are not active yet.
    async fn rollback_alarms(
        &self,
        current_stack: Option<&StackState>,
    ) -> Result<RollbackAlarms, SynthError> {
        let Some(current_stack) = current_stack else { return Ok(RollbackAlarms::default()) };
        if self.arguments.ignore_alarms {
            return Ok(RollbackAlarms::default());
        }
        let resources = self.aws.stack_resources(&current_stack.id).await?;
        let new_template_ids: BTreeSet<String> =
            self.template.document.logical_ids().map(str::to_owned).collect();
        let candidates = rollback_alarm_candidates(&resources, &new_template_ids);
        let mut active_names = BTreeSet::new();
        for alarm in self.aws.active_alarms(&candidates).await? {
            active_names.insert(alarm.alarm_name);
        }
        let alarm_names = RollbackAlarmNames::select(candidates, &active_names);
        for active_name in &alarm_names.active {
            self.output.print_note(&format!(
                "The alarm {active_name} is already active, so it does not roll back this deployment."
            ));
        }
        if alarm_names.watched.is_empty() {
            // CloudFormation waits for the monitoring time even if it monitors no alarm.
            return Ok(RollbackAlarms::default());
        }
        let arns = alarm_names.watched.iter().map(|name| self.aws.alarm_arn(name)).collect();
        Ok(RollbackAlarms { arns, minutes: self.arguments.monitor_minutes })
    }
}

impl Preview {
    pub(super) fn manual_changes(&self) -> &[Drift] {
        self.change_set.as_ref().map_or(&[], |change_set| change_set.manual_changes.as_slice())
    }

    fn predicted_changes(&self) -> &[Change] {
        self.change_set.as_ref().map_or(&[], |change_set| change_set.changes.as_slice())
    }
}

fn describe_changes(change_set: Option<&ChangeSet>) -> String {
    match change_set {
        Some(change_set) => count(change_set.changes.len(), "resource", "resources"),
        None => "none".to_owned(),
    }
}

fn new_stack_summary(difference: &Difference) -> String {
    let mut resource_counts: BTreeMap<&str, usize> = BTreeMap::new();
    for change in &difference.resources {
        *resource_counts.entry(&change.resource_type).or_default() += 1;
    }
    let resource_lines: Vec<String> = resource_counts
        .into_iter()
        .map(|(resource_type, resource_count)| format!("  + {resource_count} {resource_type}"))
        .collect();
    format!(
        "A new stack of {} with {} (`synth diff` lists them):\n{}",
        count(difference.resources.len(), "resource", "resources"),
        count(difference.permissions.broadened.len(), "permission", "permissions"),
        resource_lines.join("\n")
    )
}

/// If the cost changes, includes the cost before the change.
fn format_idle_cost(current_dollars: Option<&str>, new_dollars: &str) -> String {
    let current_cost = match current_dollars {
        Some(current_dollars) if current_dollars != new_dollars => {
            format!(" (now ${current_dollars})")
        }
        _ => String::new(),
    };
    format!(
        "\nIdle cost: ${new_dollars} a month{current_cost}, plus storage; `synth cost` estimates the \
         cost in use."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_idle_cost_shows_a_different_current_cost() {
        let new = format_idle_cost(None, "0");
        assert!(new.starts_with("\nIdle cost: $0 a month, plus storage"), "{new}");
        assert!(format_idle_cost(Some("3"), "3").contains("$3 a month, plus storage"));
        assert!(format_idle_cost(Some("0"), "3").contains("$3 a month (now $0), plus storage"));
    }
}
