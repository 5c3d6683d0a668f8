//! Wording shared by the terminal and Markdown formats.

use cellar_base::count::count;
use cellar_stacks::constructs::Effect;
use cellar_stacks::difference::{
    ChangeAction, Grant, PropertyChange, ResourceChange, printable, readable,
};

use super::report::Report;
use crate::cost::CostMovement;

pub(super) fn action_sign(action: ChangeAction) -> char {
    match action {
        ChangeAction::Add => '+',
        ChangeAction::Remove | ChangeAction::Abandon => '-',
        ChangeAction::Update => '~',
        ChangeAction::MayReplace | ChangeAction::Replace => '!',
    }
}

/// Describes an action as the predicate of a sentence about the resource, such as "is added".
pub(super) fn action_predicate(action: ChangeAction) -> &'static str {
    match action {
        ChangeAction::Add => "is added",
        ChangeAction::Remove => "is deleted",
        ChangeAction::Abandon => "is removed from the stack but kept",
        ChangeAction::Update => "is updated",
        ChangeAction::MayReplace => "may be replaced",
        ChangeAction::Replace => "is replaced",
    }
}

/// Returns remarks on a changed resource: its risks, a warning if its type changes, and the
/// resources whose changes cause it to change.
pub(super) fn resource_remarks(change: &ResourceChange) -> Vec<String> {
    let mut remarks: Vec<String> =
        change.risks.iter().map(|risk| printable(&risk.to_string())).collect();
    if change.properties.iter().any(|property| property.path == "/Type") {
        remarks.push(
            "CloudFormation cannot change the type of a resource: use another logical id"
                .to_owned(),
        );
    }
    if !change.follows.is_empty() {
        let causes: Vec<String> = change.follows.iter().map(|id| printable(id)).collect();
        remarks.push(format!("changes because of {}", causes.join(", ")));
    }
    remarks
}

pub(super) fn describe_property(change: &PropertyChange) -> (char, String) {
    let path = printable(&change.path);
    match (&change.old, &change.new) {
        (Some(old), Some(new)) => ('~', format!("{path}: {} -> {}", readable(old), readable(new))),
        (Some(old), None) => ('-', format!("{path}: {}", readable(old))),
        (None, Some(new)) => ('+', format!("{path}: {}", readable(new))),
        (None, None) => ('~', path),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Broadened,
    Narrowed,
}

pub(super) fn describe_grant(grant: &Grant, direction: Direction) -> String {
    let principal_names: Vec<&str> = grant
        .principals
        .iter()
        .map(|principal| if principal == "*" { "everyone" } else { principal.as_str() })
        .collect();
    let principals = principal_names.join(", ");
    let actions = grant.actions.join(", ");
    let sentence = match (grant.effect, direction) {
        (Effect::Allow, Direction::Broadened) => format!("{principals} may {actions}"),
        (Effect::Allow, Direction::Narrowed) => format!("{principals} may no longer {actions}"),
        (Effect::Deny, Direction::Broadened) => format!("no longer denies {principals} {actions}"),
        (Effect::Deny, Direction::Narrowed) => format!("denies {principals} {actions}"),
    };
    let resources = grant.resources.join(", ");
    let is_named = [&grant.principals, &grant.resources]
        .iter()
        .any(|names| names.iter().eq([&grant.logical_id]));
    let mut description = format!("{sentence} on {resources}");
    if !is_named {
        description.insert_str(0, &format!("{}: ", grant.logical_id));
    }
    if let Some(condition) = &grant.condition {
        description.push_str(" if ");
        description.push_str(condition);
    }
    printable(&description)
}

pub(super) fn summarize(report: &Report<'_>) -> String {
    if report.difference.is_empty() {
        return "no difference".to_owned();
    }
    let counts = report.counts;
    let mut parts = Vec::new();
    if report.is_other_stack {
        parts.push("another stack is created".to_owned());
    }
    if counts.resources > 0 || !report.is_other_stack {
        parts.push(count(counts.resources, "resource changes", "resources change"));
    }
    if counts.destructive > 0 {
        parts.push(format!("the data of {} is at risk", counts.destructive));
    }
    if counts.broadened > 0 {
        let broadened =
            count(counts.broadened, "permission is broadened", "permissions are broadened");
        parts.push(broadened);
    }
    if counts.replaced > 0 {
        parts.push(count(counts.replaced, "is or may be replaced", "are or may be replaced"));
    }
    parts.join(", ")
}

/// Describes how the change moves the cost, as a sentence without a full stop. Returns `None` if it
/// moves no cost.
pub(super) fn describe_cost(report: &Report<'_>) -> Option<String> {
    let CostMovement { idle_month, million_edits } = report.cost.as_ref()?;
    let mut parts = Vec::new();
    if let Some(movement) = idle_month {
        parts.push(format!("an idle month costs {}", movement.describe()));
    }
    if let Some(movement) = million_edits {
        parts.push(format!("a million edits cost {}", movement.describe()));
    }
    Some(format!("{} (estimated at the prices of us-east-1)", parts.join(", ")))
}

pub(super) fn describe_old_template(report: &Report<'_>) -> String {
    let name = printable(&report.against.name);
    if report.against.exists {
        format!("compared with {name}")
    } else {
        format!("compared with nothing ({name} is not deployed)")
    }
}
