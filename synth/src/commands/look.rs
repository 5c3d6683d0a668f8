//! What a deployment into AWS would do: the difference between the templates, and CloudFormation's own
//! word on it.

use std::collections::{BTreeMap, BTreeSet};

use cellar_stacks::difference::Difference;

use super::changes;
use super::confirm::confirm;
use super::diff::deployed;
use super::follow::{self, delete_stack};
use super::prepare::{Deployment, Template};
use crate::aws::{ChangeSet, StackState, Wanted, Watch};
use crate::deployment::{Approval, Basis, Ground, approval, ground, watched};
use crate::difference::{Old, Report, text};
use crate::error::SynthError;
use crate::git;

/// A stack as it is, and what would become of it.
pub(super) struct Look {
    /// The stack; `None` if there is none.
    pub(super) before: Option<StackState>,
    /// BLAKE3 of the template that is deployed.
    deployed: Option<String>,
    old: Old,
    /// How the templates differ.
    pub(super) difference: Difference,
    /// What CloudFormation would do; `None`: nothing.
    pub(super) change_set: Option<ChangeSet>,
}

/// How much of it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// All of it.
    All,
    /// All of it, unless everything is new.
    OfChanges,
}

impl Deployment<'_> {
    /// Makes a change set and compares the templates. Nothing of the stack is changed, but for one that
    /// was never made whole, and is deleted.
    pub(super) async fn look(&self, wanted: Wanted) -> Result<Look, SynthError> {
        let before = self.ground(&wanted.stack).await?;
        let (old, deployed) = deployed(&self.aws, &wanted.stack, before.as_ref()).await?;
        let difference = Difference::between(old.document.as_ref(), &self.template.document)?;
        let watch = self.watch(before.as_ref()).await?;
        let wanted = Wanted { is_new: before.is_none(), watch, ..wanted };
        let step = self.output.step("Look what changes");
        let change_set = self.aws.create_change_set(&wanted).await.map_err(SynthError::from);
        let describe = |set: &Option<ChangeSet>| match set {
            Some(set) => format!("{} resources", set.changes.len()),
            None => "nothing".to_owned(),
        };
        let change_set = step.ended(change_set, describe)?;
        let deployed = deployed.as_deref().map(Template::hash);
        Ok(Look { before, deployed, old, difference, change_set })
    }

    /// Shows it.
    pub(super) fn show(&self, look: &Look, detail: Detail) {
        let report = Report::new(&self.project.config.stack, &look.old, &look.difference);
        if look.before.is_none() && detail == Detail::OfChanges {
            self.output.note(&of_new_stack(&look.difference));
        } else if !look.difference.is_empty() {
            self.output.note(text(&report, self.output.has_colours_for_notes()).trim_end());
        }
        let shown = look.difference.resources.iter().map(|change| change.logical_id.as_str());
        let changes = look.change_set.as_ref().map(|set| set.changes.as_slice());
        changes::show_others(changes.unwrap_or_default(), &shown.collect(), self.output);
    }

    /// Has somebody say yes, where that is needed.
    pub(super) async fn approve(&self, look: &Look, yes: bool) -> Result<(), SynthError> {
        let changes = look.change_set.as_ref().map(|set| set.changes.as_slice());
        let changes = changes.unwrap_or_default();
        match approval(&look.difference, changes, &self.arguments.allow_loss) {
            Approval::Refused(ids) => {
                let ids: Vec<String> = ids.into_iter().collect();
                Err(SynthError::DataWouldBeLost { ids: ids.join(", ") })
            }
            Approval::Ask(reasons) if !yes => {
                confirm("the deployment", &format!("This needs a yes: {reasons}. Deploy?")).await
            }
            Approval::Ask(_) | Approval::Free => Ok(()),
        }
    }

    /// Takes back what was made for looking.
    pub(super) async fn discard(&self, look: &Look) -> Result<(), SynthError> {
        let Some(change_set) = &look.change_set else { return Ok(()) };
        self.aws.delete_change_set(&change_set.id).await?;
        // A stack that is only there for its change sets.
        let stack_id = &change_set.stack_id;
        if look.before.is_none() && !self.aws.has_change_sets(stack_id).await? {
            let token = uuid::Uuid::new_v4().to_string();
            self.aws.delete_stack(stack_id, &token).await?;
        }
        Ok(())
    }

    /// What a plan is made of.
    pub(super) fn basis(&self, deployed: Option<&str>) -> Basis {
        Basis {
            account: self.aws.account.clone(),
            region: self.aws.region.clone(),
            commit: git::commit(&self.project.folder),
            template: Template::hash(&self.template.text),
            deployed: deployed.map(str::to_owned),
        }
    }

    /// The stack as it is, if it is there; what is on its way is waited for, and whatever is in the way
    /// taken out of it or told.
    pub(super) async fn ground(&self, stack: &str) -> Result<Option<StackState>, SynthError> {
        let mut state = self.aws.stack(stack).await?;
        let of = |state: &Option<StackState>| ground(state.as_ref().map(|it| it.status.as_str()));
        if let (Ground::Busy, Some(busy)) = (of(&state), &state) {
            self.output.note(&format!(
                "The stack is {}: this goes on when that has ended.",
                busy.status.to_lowercase().replace('_', " ")
            ));
            follow::wait(&self.aws, busy, self.output).await?;
            state = self.aws.stack(stack).await?;
        }
        let told = |state: Option<StackState>| state.map(|it| it.status).unwrap_or_default();
        let stack = stack.to_owned();
        match of(&state) {
            Ground::New => Ok(None),
            Ground::Update => Ok(state),
            Ground::Busy => Err(SynthError::StackBusy { stack, status: told(state) }),
            Ground::Stuck => Err(SynthError::StackStuck { stack, status: told(state) }),
            Ground::NeverMade => {
                let Some(state) = state else { return Ok(None) };
                self.output.note("The stack was never made whole: what is left of it is deleted.");
                delete_stack(&self.aws, &state, self.output).await.map(|()| None)
            }
        }
    }

    /// The stack's own alarms that take the deployment back.
    async fn watch(&self, before: Option<&StackState>) -> Result<Watch, SynthError> {
        let Some(before) = before.filter(|_| !self.arguments.ignore_alarms) else {
            return Ok(Watch::default());
        };
        let resources = self.aws.resources(&before.id).await?;
        let stay: BTreeSet<String> =
            self.template.document.logical_ids().map(str::to_owned).collect();
        let alarms = watched(&resources, &stay);
        let alarms = alarms.iter().map(|name| self.aws.alarm_arn(name)).collect();
        Ok(Watch { alarms, minutes: self.arguments.monitor_minutes })
    }
}

impl Look {
    /// BLAKE3 of the template that is deployed.
    pub(super) fn deployed(&self) -> Option<&str> {
        self.deployed.as_deref()
    }
}

/// A stack that is not there yet, in a few lines.
fn of_new_stack(difference: &Difference) -> String {
    let mut types: BTreeMap<&str, usize> = BTreeMap::new();
    for change in &difference.resources {
        *types.entry(&change.resource_type).or_default() += 1;
    }
    let of_type = |(name, count): (&str, usize)| format!("  + {count} {name}");
    let lines: Vec<String> = types.into_iter().map(of_type).collect();
    let (resources, broadened) =
        (difference.resources.len(), difference.permissions.broadened.len());
    format!(
        "A new stack of {resources} resources with {broadened} permissions, which `synth diff` shows one \
         by one:\n{}",
        lines.join("\n")
    )
}
