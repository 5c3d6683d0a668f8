//! Deployment preview: the template difference and the changes that CloudFormation predicts.

use std::collections::{BTreeMap, BTreeSet};

use cellar_base::count::count;
use cellar_stacks::difference::Difference;

use super::aws_deployment::{AwsDeployment, DeployedTemplate};
use super::confirm::confirm;
use super::diff::deployed_template;
use super::parameter_changes::show_parameter_changes;
use crate::aws::{Change, ChangeSet, RollbackAlarms, StackState, WantedStack};
use crate::cost::idle_dollars;
use crate::deployment::{
    Approval, PlanBasis, StackCondition, required_approval, rollback_alarms, stack_condition,
};
use crate::difference::{OldTemplate, Report, text};
use crate::error::SynthError;
use crate::git;

/// Current stack and predicted changes of a deployment.
pub(super) struct Preview {
    /// The current stack; `None` if it does not exist.
    pub(super) current: Option<StackState>,
    /// Hash of the deployed template; `None` if the stack does not exist.
    pub(super) deployed_hash: Option<String>,
    old: OldTemplate,
    /// Monthly cost of the idle current stack, in US dollars.
    current_idle_dollars: Option<String>,
    /// Difference between deployed and new template.
    pub(super) difference: Difference,
    /// CloudFormation change set; `None` if there are no changes.
    pub(super) change_set: Option<ChangeSet>,
}

/// Level of detail of a preview.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// All changes are shown.
    All,
    /// Every change to an existing stack, but only a summary of a new stack.
    Changes,
}

impl AwsDeployment<'_> {
    /// Creates a change set and compares the templates. An existing stack is left unchanged, unless
    /// its creation never completed: such a stack is deleted first.
    pub(super) async fn preview(&self, wanted: WantedStack) -> Result<Preview, SynthError> {
        let current = self.stack_for_change(&wanted.stack).await?;
        let (old, deployed_text) =
            deployed_template(&self.aws, &wanted.stack, current.as_ref()).await?;
        let difference = Difference::between(old.document.as_ref(), &self.template.document)?;
        let rollback = self.rollback_alarms(current.as_ref()).await?;
        let wanted = WantedStack { is_new: current.is_none(), rollback, ..wanted };
        let step = self.output.step("Compute the changes");
        let change_set = self.aws.create_change_set(&wanted).await.map_err(SynthError::from);
        let change_set = step.finish(change_set, |change_set| match change_set {
            Some(change_set) => count(change_set.changes.len(), "resource", "resources"),
            None => "none".to_owned(),
        })?;
        Ok(Preview {
            current,
            deployed_hash: deployed_text.as_deref().map(DeployedTemplate::hash),
            old,
            current_idle_dollars: deployed_text.as_deref().and_then(idle_dollars),
            difference,
            change_set,
        })
    }

    /// Prints a preview.
    pub(super) fn show(&self, preview: &Preview, detail: Detail) {
        if preview.current.is_none() && detail == Detail::Changes {
            self.output.note(&new_stack_summary(&preview.difference));
        } else if !preview.difference.is_empty() {
            let stack = &self.project.config.stack;
            let report = Report::new(stack, &preview.old, &preview.difference);
            self.output.note(text(&report, self.output.has_colours_for_notes()).trim_end());
        }
        let shown_ids =
            preview.difference.resources.iter().map(|change| change.logical_id.as_str());
        show_parameter_changes(preview.changes(), &shown_ids.collect(), self.output);
        let new_idle_dollars = idle_dollars(&self.template.text).unwrap_or_default();
        let current_idle_dollars = preview.current_idle_dollars.as_deref();
        self.output.note(&idle_cost_text(current_idle_dollars, &new_idle_dollars));
    }

    /// Prompts for confirmation if the changes require it, unless `yes` is set.
    ///
    /// # Errors
    /// Returns [`SynthError::DataWouldBeLost`] if a change requires `--allow-data-loss`. Returns
    /// [`SynthError::Unconfirmed`] if the user does not confirm.
    pub(super) async fn approve(&self, preview: &Preview, yes: bool) -> Result<(), SynthError> {
        let allowed_losses = &self.arguments.allow_data_loss;
        match required_approval(&preview.difference, preview.changes(), allowed_losses) {
            Approval::Refused(ids) => {
                let ids: Vec<String> = ids.into_iter().collect();
                Err(SynthError::DataWouldBeLost { ids: ids.join(", ") })
            }
            Approval::Needed(reasons) if !yes => {
                let question = format!("This deployment needs confirmation: {reasons}. Deploy?");
                confirm("the deployment", &question).await
            }
            Approval::Needed(_) | Approval::NotNeeded => Ok(()),
        }
    }

    /// Deletes the preview's change set.
    pub(super) async fn discard(&self, preview: &Preview) -> Result<(), SynthError> {
        let Some(change_set) = &preview.change_set else { return Ok(()) };
        let (id, stack, is_new) = (&change_set.id, &change_set.stack_id, preview.current.is_none());
        Ok(self.aws.discard_change_set(id, stack, is_new).await?)
    }

    /// Returns the current state, to which a new plan is bound. `deployed_hash` is the hash of the
    /// deployed template.
    pub(super) fn plan_basis(&self, deployed_hash: Option<&str>) -> PlanBasis {
        PlanBasis {
            account: self.aws.account.clone(),
            region: self.aws.region.clone(),
            commit: git::checked_out_commit(&self.project.folder),
            template: DeployedTemplate::hash(&self.template.text),
            deployed: deployed_hash.map(str::to_owned),
        }
    }

    /// Returns the stack once it can be changed, or `None` if the stack must be created.
    ///
    /// Waits for any operation in progress, and deletes a stack whose creation never completed.
    ///
    /// # Errors
    /// Returns [`SynthError::ForeignStack`], [`SynthError::StackBusy`], or
    /// [`SynthError::StackStuck`] if the stack cannot be changed.
    async fn stack_for_change(&self, stack: &str) -> Result<Option<StackState>, SynthError> {
        let Some(state) = self.settled_stack(stack).await? else { return Ok(None) };
        match stack_condition(Some(&state.status)) {
            StackCondition::Missing => Ok(None),
            StackCondition::Ready => Ok(Some(state)),
            StackCondition::Busy => {
                Err(SynthError::StackBusy { stack: stack.to_owned(), status: state.status })
            }
            StackCondition::Stuck => Err(self.follower().stuck_error(&state).await?),
            StackCondition::Incomplete => {
                self.output
                    .note("The stack was never created completely; its remains are deleted first.");
                self.follower().delete_stack(&state).await?;
                Ok(None)
            }
        }
    }

    /// Waits for any operation in progress and returns the stack.
    async fn settled_stack(&self, stack: &str) -> Result<Option<StackState>, SynthError> {
        let state = self.own_stack(stack).await?;
        let Some(state) = state else { return Ok(None) };
        if stack_condition(Some(&state.status)) != StackCondition::Busy {
            return Ok(Some(state));
        }
        let status = state.status.to_lowercase().replace('_', " ");
        self.output.note(&format!("The stack is {status}; waiting until this has finished."));
        self.follower().wait(&state).await?;
        self.own_stack(stack).await
    }

    /// Returns the rollback alarms: alarms of the current stack that the new template keeps.
    async fn rollback_alarms(
        &self,
        current: Option<&StackState>,
    ) -> Result<RollbackAlarms, SynthError> {
        let Some(current) = current else { return Ok(RollbackAlarms::default()) };
        if self.arguments.ignore_alarms {
            return Ok(RollbackAlarms::default());
        }
        let resources = self.aws.resources(&current.id).await?;
        let kept_ids: BTreeSet<String> =
            self.template.document.logical_ids().map(str::to_owned).collect();
        let names = rollback_alarms(&resources, &kept_ids);
        let arns = names.iter().map(|name| self.aws.alarm_arn(name)).collect();
        Ok(RollbackAlarms { arns, minutes: self.arguments.monitor_minutes })
    }
}

impl Preview {
    /// Returns the changes that CloudFormation predicts for the deployment.
    fn changes(&self) -> &[Change] {
        self.change_set.as_ref().map_or(&[], |change_set| change_set.changes.as_slice())
    }
}

/// Returns a summary of a new stack: the number of resources per type.
fn new_stack_summary(difference: &Difference) -> String {
    let mut counts_by_type: BTreeMap<&str, usize> = BTreeMap::new();
    for change in &difference.resources {
        *counts_by_type.entry(&change.resource_type).or_default() += 1;
    }
    let lines: Vec<String> = counts_by_type
        .into_iter()
        .map(|(resource_type, count)| format!("  + {count} {resource_type}"))
        .collect();
    format!(
        "A new stack of {} with {} (`synth diff` lists them):\n{}",
        count(difference.resources.len(), "resource", "resources"),
        count(difference.permissions.broadened.len(), "permission", "permissions"),
        lines.join("\n")
    )
}

/// Formats the monthly cost of the idle stack, along with the current cost if different.
fn idle_cost_text(current: Option<&str>, new: &str) -> String {
    let previous = match current {
        Some(current) if current != new => format!(" (now ${current})"),
        _ => String::new(),
    };
    format!(
        "\nIdle cost: ${new} a month{previous}, plus storage; `synth cost` estimates the cost in use."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_idle_cost_shows_a_different_current_cost() {
        let new = idle_cost_text(None, "0");
        assert!(new.starts_with("\nIdle cost: $0 a month, plus storage"), "{new}");
        assert!(idle_cost_text(Some("3"), "3").contains("$3 a month, plus storage"));
        assert!(idle_cost_text(Some("0"), "3").contains("$3 a month (now $0), plus storage"));
    }
}
