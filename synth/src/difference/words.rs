//! How a difference is put into words, the same in a terminal and in a comment.

use cellar_stacks::constructs::Effect;
use cellar_stacks::difference::{
    ChangeAction, Grant, PropertyChange, Severity, printable, readable,
};

use super::{Counts, Report};

/// A changed resource, under a short name.
pub(super) type Change = cellar_stacks::difference::ResourceChange;

/// Whether something else takes its place, or may.
pub(super) fn is_replaced(change: &Change) -> bool {
    matches!(change.action, ChangeAction::Replace | ChangeAction::MayReplace)
}

/// What is said of a resource by its sign.
pub(super) fn sign(action: ChangeAction) -> char {
    match action {
        ChangeAction::Add => '+',
        ChangeAction::Remove | ChangeAction::Abandon => '-',
        ChangeAction::Update => '~',
        ChangeAction::MayReplace | ChangeAction::Replace => '!',
    }
}

/// What happens to a resource.
pub(super) fn action(action: ChangeAction) -> &'static str {
    match action {
        ChangeAction::Add => "is added",
        ChangeAction::Remove => "is deleted",
        ChangeAction::Abandon => "leaves the stack but is kept",
        ChangeAction::Update => "is updated",
        ChangeAction::MayReplace => "may be replaced",
        ChangeAction::Replace => "is replaced",
    }
}

/// What is to be known of a resource besides its properties.
pub(super) fn remarks(change: &Change) -> Vec<String> {
    let risks = change.risks.iter().map(|risk| printable(&risk.to_string()));
    let type_changes = change.properties.iter().any(|property| property.path == "/Type");
    let type_changes = type_changes.then(|| {
        "CloudFormation refuses another type under the same name: give it another one".to_owned()
    });
    let followed: Vec<String> = change.follows.iter().map(|id| printable(id)).collect();
    let follows =
        (!followed.is_empty()).then(|| format!("it changes with {}", followed.join(", ")));
    risks.chain(type_changes).chain(follows).collect()
}

/// A changed property as sign and text.
pub(super) fn property(change: &PropertyChange) -> (char, String) {
    let path = printable(&change.path);
    match (&change.old, &change.new) {
        (Some(old), Some(new)) => ('~', format!("{path}: {} -> {}", readable(old), readable(new))),
        (Some(old), None) => ('-', format!("{path}: {}", readable(old))),
        (None, Some(new)) => ('+', format!("{path}: {}", readable(new))),
        (None, None) => ('~', path),
    }
}

/// Which way a permission changes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Broadened,
    Narrowed,
}

/// A sentence on a permission.
pub(super) fn grant(grant: &Grant, way: Way) -> String {
    let principals: Vec<&str> = grant
        .principals
        .iter()
        .map(|name| if name == "*" { "everybody" } else { name.as_str() })
        .collect();
    let (who, actions) = (principals.join(", "), grant.actions.join(", "));
    let sentence = match (grant.effect, way) {
        (Effect::Allow, Way::Broadened) => format!("{who} may {actions}"),
        (Effect::Allow, Way::Narrowed) => format!("{who} may no longer {actions}"),
        (Effect::Deny, Way::Broadened) => format!("no longer forbids {who} {actions}"),
        (Effect::Deny, Way::Narrowed) => format!("forbids {who} {actions}"),
    };
    let mut text = format!("{}: {sentence} on {}", grant.logical_id, grant.resources.join(", "));
    if let Some(condition) = &grant.condition {
        text.push_str(" if ");
        text.push_str(condition);
    }
    printable(&text)
}

/// One line on all of it.
pub(super) fn summary(report: &Report<'_>) -> String {
    let Counts { resources, destructive, broadened, replaced } = report.counts;
    if report.difference.is_empty() {
        return "no difference".to_owned();
    }
    let mut parts = vec![many(resources, "resource changes", "resources change")];
    if destructive > 0 {
        parts.push(format!("the data of {destructive} is at risk"));
    }
    if broadened > 0 {
        parts.push(many(broadened, "permission is broadened", "permissions are broadened"));
    }
    if replaced > 0 {
        parts.push(many(replaced, "is or may be replaced", "are or may be replaced"));
    }
    parts.join(", ")
}

/// What it is compared with.
pub(super) fn against(report: &Report<'_>) -> String {
    let name = printable(&report.against.name);
    match report.against.exists {
        true => format!("compared with {name}"),
        false => format!("compared with nothing, for {name} is not deployed"),
    }
}

/// A heading for each degree.
pub(super) fn severity(severity: Severity) -> &'static str {
    severity.name()
}

fn many(count: usize, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}
