//! Changes that result from stack parameters, such as new function code. Only CloudFormation can
//! predict these changes.

use std::collections::BTreeSet;

use crate::aws::{Change, PlannedAction, Replacement};
use crate::cli::Output;

/// Prints the predicted changes, except those to resources in `shown_ids`.
pub(super) fn print_parameter_changes(
    predicted_changes: &[Change],
    shown_ids: &BTreeSet<&str>,
    output: &Output,
) {
    let mut parameter_changes: Vec<&Change> = predicted_changes
        .iter()
        .filter(|change| change.certain && !shown_ids.contains(change.logical_id.as_str()))
        .collect();
    parameter_changes.sort_by_key(|change| change.logical_id.as_str());
    if !parameter_changes.is_empty() {
        output.print_note("\nChanged by parameters");
    }
    for change in parameter_changes {
        output.print_note(&format_change(change));
    }
}

fn format_change(change: &Change) -> String {
    let (mark, action_text) = match (change.action, change.replacement) {
        (PlannedAction::Add, _) => ("+", ""),
        (PlannedAction::Remove, _) => ("-", ""),
        (PlannedAction::Modify, Replacement::Yes) => ("!", " is replaced"),
        (PlannedAction::Modify, Replacement::Maybe) => ("!", " may be replaced"),
        (PlannedAction::Modify, Replacement::No) => ("~", " is updated"),
        (PlannedAction::Other, Replacement::No) => ("~", ""),
        (PlannedAction::Other, Replacement::Yes | Replacement::Maybe) => ("!", ""),
    };
    let mut line =
        format!("  {mark} {} ({}){action_text}", change.logical_id, change.resource_type);
    if !change.properties.is_empty() {
        line.push_str(&format!(": {}", change.properties.join(", ")));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_each_kind_of_change() {
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
            assert_eq!(format_change(&change(action, replacement)), expected);
        }
    }
}
