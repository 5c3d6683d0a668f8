//! What a deployment into AWS would do: the difference between the templates, and CloudFormation's own
//! word on it.

use std::collections::{BTreeMap, BTreeSet};

use cellar_stacks::difference::Difference;

use super::changes;
use super::confirm::confirm;
use super::diff::deployed;
use super::follow::Follower;
use super::prepare::{Deployment, Template};
use crate::aws::{Change, ChangeSet, StackState, Wanted, Watch};
use crate::cost::idle_dollars;
use crate::deployment::{Approval, Basis, Ground, approval, ground, is_ours, watched};
use crate::difference::{Old, Report, text};
use crate::error::SynthError;
use crate::git;

/// A stack as it is, and what would become of it.
pub(super) struct Look {
    /// The stack; `None` if there is none.
    pub(super) before: Option<StackState>,
    /// BLAKE3 of the template that is deployed.
    pub(super) deployed: Option<String>,
    old: Old,
    /// Dollars a month of the stack while nobody uses it, as it is.
    idle: Option<String>,
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
        let idle = deployed.as_deref().and_then(idle_dollars);
        let deployed = deployed.as_deref().map(Template::hash);
        Ok(Look { before, deployed, old, idle, difference, change_set })
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
        changes::show_others(look.changes(), &shown.collect(), self.output);
        let idle = idle_dollars(&self.template.text).unwrap_or_default();
        self.output.note(&of_idle(look.idle.as_deref(), &idle));
    }

    /// Has somebody say yes, where that is needed.
    pub(super) async fn approve(&self, look: &Look, yes: bool) -> Result<(), SynthError> {
        match approval(&look.difference, look.changes(), &self.arguments.allow_data_loss) {
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
        let (id, stack) = (&change_set.id, &change_set.stack_id);
        Ok(self.aws.discard_change_set(id, stack, look.before.is_none()).await?)
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
        let mut state = self.own_stack(stack).await?;
        let of = |state: &Option<StackState>| ground(state.as_ref().map(|it| it.status.as_str()));
        if let (Ground::Busy, Some(busy)) = (of(&state), &state) {
            self.output.note(&format!(
                "The stack is {}: this goes on when that has ended.",
                busy.status.to_lowercase().replace('_', " ")
            ));
            self.follower().wait(busy).await?;
            state = self.own_stack(stack).await?;
        }
        let ground = of(&state);
        let Some(state) = state.filter(|_| ground != Ground::New) else { return Ok(None) };
        match ground {
            Ground::New | Ground::Update => Ok(Some(state)),
            Ground::Busy => {
                Err(SynthError::StackBusy { stack: stack.to_owned(), status: state.status })
            }
            Ground::Stuck => Err(self.follower().stuck(&state).await?),
            Ground::NeverMade => {
                self.output.note("The stack was never made whole: what is left of it is deleted.");
                self.follower().delete_stack(&state).await.map(|()| None)
            }
        }
    }

    /// The stack as it is, if it is there.
    ///
    /// # Errors
    /// [`SynthError::ForeignStack`], if somebody else has one of that name.
    pub(super) async fn own_stack(&self, stack: &str) -> Result<Option<StackState>, SynthError> {
        let state = self.aws.stack(stack).await?;
        match &state {
            Some(found) if !is_ours(stack, found) => {
                Err(SynthError::ForeignStack { stack: stack.to_owned(), place: self.aws.place() })
            }
            _ => Ok(state),
        }
    }

    /// Who watches what becomes of the stack.
    pub(super) fn follower(&self) -> Follower<'_> {
        let (aws, output) = (&self.aws, self.output);
        let (stack, made_in) = (&self.project.config.stack, &self.template.made_in);
        Follower { aws, output, stack, command: "deploy", made_in }
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
    /// What CloudFormation would do, resource by resource.
    fn changes(&self) -> &[Change] {
        self.change_set.as_ref().map_or(&[], |set| set.changes.as_slice())
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

/// What the stack costs while nobody uses it.
fn of_idle(was: Option<&str>, will: &str) -> String {
    let instead = match was.filter(|was| *was != will) {
        Some(was) => format!(" instead of ${was}"),
        None => String::new(),
    };
    format!(
        "\nWhile idle it costs ${will} a month{instead}, besides what is stored; `synth cost` estimates the \
         rest."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_costs_is_said_and_what_it_cost_before_if_that_is_something_else() {
        assert!(of_idle(None, "0").starts_with("\nWhile idle it costs $0 a month, besides"));
        assert!(of_idle(Some("3"), "3").contains("costs $3 a month, besides"));
        assert!(of_idle(Some("0"), "3").contains("costs $3 a month instead of $0, besides"));
    }
}
