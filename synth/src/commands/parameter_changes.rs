//! Changes caused by stack parameters, such as new function code, which only CloudFormation can
//! predict.

use std::collections::BTreeSet;

use crate::aws::{Change, PlannedAction, Replacement};
use crate::cli::Output;

/// Prints the predicted changes, except of resources in `shown_ids`.
pub(super) fn show_parameter_changes(
    changes: &[Change],
    shown_ids: &BTreeSet<&str>,
    output: &Output,
) {
    let mut others: Vec<&Change> = changes
        .iter()
        .filter(|change| change.certain && !shown_ids.contains(change.logical_id.as_str()))
        .collect();
    others.sort_by_key(|change| change.logical_id.as_str());
    if !others.is_empty() {
        output.note("\nChanged by parameters");
    }
    for change in others {
        output.note(&text(change));
    }
}

fn text(change: &Change) -> String {
    let (mark, action) = match (change.action, change.replacement) {
        (PlannedAction::Add, _) => ("+", ""),
        (PlannedAction::Remove, _) => ("-", ""),
        (PlannedAction::Modify, Replacement::Yes) => ("!", " is replaced"),
        (PlannedAction::Modify, Replacement::Maybe) => ("!", " may be replaced"),
        (PlannedAction::Modify, Replacement::No) => ("~", " is updated"),
        (PlannedAction::Other, Replacement::No) => ("~", ""),
        (PlannedAction::Other, Replacement::Yes | Replacement::Maybe) => ("!", ""),
    };
    let properties = match change.properties.as_slice() {
        [] => String::new(),
        properties => format!(": {}", properties.join(", ")),
    };
    format!("  {mark} {} ({}){action}{properties}", change.logical_id, change.resource_type)
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
            assert_eq!(text(&change(action, replacement)), expected);
        }
    }
}
