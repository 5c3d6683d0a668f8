//! What CloudFormation says that it will change besides what differs in the template: what hangs on the
//! values of parameters, as the code of the functions does.

use std::collections::BTreeSet;

use crate::aws::{Change, PlannedAction, Replacement};
use crate::cli::Output;

/// Shows those changes that were not shown.
pub(super) fn show_others(changes: &[Change], shown: &BTreeSet<&str>, output: &Output) {
    let mut others: Vec<&Change> =
        changes.iter().filter(|it| it.certain && !shown.contains(it.logical_id.as_str())).collect();
    others.sort_by_key(|change| change.logical_id.as_str());
    if !others.is_empty() {
        output.note("\nChanged by parameters");
    }
    for change in others {
        output.note(&text(change));
    }
}

fn text(change: &Change) -> String {
    let mark = match (change.action, change.replacement) {
        (PlannedAction::Add, _) => "+",
        (PlannedAction::Remove, _) => "-",
        (_, Replacement::Yes | Replacement::Maybe) => "!",
        _ => "~",
    };
    let anew = match (change.action, change.replacement) {
        (PlannedAction::Modify, Replacement::Yes) => " is replaced",
        (PlannedAction::Modify, Replacement::Maybe) => " may be replaced",
        (PlannedAction::Modify, Replacement::No) => " is updated",
        _ => "",
    };
    let properties = match change.properties.as_slice() {
        [] => String::new(),
        properties => format!(": {}", properties.join(", ")),
    };
    format!("  {mark} {} ({}){anew}{properties}", change.logical_id, change.resource_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_reads_as_one_of_the_template_does() {
        let change = |action, replacement| Change {
            action,
            logical_id: "Function".to_owned(),
            resource_type: "AWS::Lambda::Function".to_owned(),
            replacement,
            properties: vec!["Code".to_owned()],
            certain: true,
        };
        let function = "Function (AWS::Lambda::Function)";
        for (action, replacement, expected) in [
            (PlannedAction::Modify, Replacement::No, format!("  ~ {function} is updated: Code")),
            (PlannedAction::Modify, Replacement::Yes, format!("  ! {function} is replaced: Code")),
            (
                PlannedAction::Modify,
                Replacement::Maybe,
                format!("  ! {function} may be replaced: Code"),
            ),
            (PlannedAction::Add, Replacement::No, format!("  + {function}: Code")),
            (PlannedAction::Remove, Replacement::No, format!("  - {function}: Code")),
        ] {
            assert_eq!(text(&change(action, replacement)), expected);
        }
    }
}
