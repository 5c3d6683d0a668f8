//! What needs a yes before it is done.

use crate::aws::{Action, Change, Replacement};

/// Types of resources that hold what nobody can make again.
const DATA: [&str; 2] = ["AWS::DynamoDB::Table", "AWS::S3::Bucket"];
/// Types of resources that say who may do what.
const ACCESS: [&str; 6] = [
    "AWS::IAM::Role",
    "AWS::IAM::Policy",
    "AWS::Lambda::Permission",
    "AWS::Lambda::Url",
    "AWS::S3::BucketPolicy",
    "AWS::SQS::QueuePolicy",
];

/// Whether changes may be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Approval {
    /// As they are.
    Free,
    /// If somebody says yes: they change who may do what, or make something anew.
    Ask(Vec<String>),
    /// Not at all: these hold data, would be replaced or taken out, and were not named.
    Refused(Vec<String>),
}

/// What the changes of a deployment need. `named` are logical ids whose loss was agreed to.
pub(crate) fn approval(changes: &[Change], named: &[String]) -> Approval {
    let ids = |which: &dyn Fn(&&Change) -> bool| -> Vec<String> {
        changes.iter().filter(which).map(|change| change.logical_id.clone()).collect()
    };
    let refused = ids(&|change| is_lost(change) && !named.contains(&change.logical_id));
    if !refused.is_empty() {
        return Approval::Refused(refused);
    }
    let asked = ids(&|change| {
        let of_access = ACCESS.contains(&change.resource_type.as_str());
        is_lost(change) || of_access || change.replacement != Replacement::No
    });
    if asked.is_empty() { Approval::Free } else { Approval::Ask(asked) }
}

fn is_lost(change: &Change) -> bool {
    let goes = change.action == Action::Remove
        || (change.action != Action::Add && change.replacement != Replacement::No);
    goes && DATA.contains(&change.resource_type.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(action: Action, id: &str, kind: &str, replacement: Replacement) -> Change {
        Change {
            action,
            logical_id: id.to_owned(),
            resource_type: kind.to_owned(),
            replacement,
            properties: vec![],
        }
    }

    #[test]
    fn data_is_lost_only_if_it_was_named_and_access_is_asked_for() {
        let table = |action, replacement| change(action, "Table", DATA[0], replacement);
        let role = change(Action::Modify, "Role", ACCESS[0], Replacement::No);
        let function =
            |replacement| change(Action::Modify, "Function", "AWS::Lambda::Function", replacement);
        let id = |id: &str| vec![id.to_owned()];
        for (changes, named, expected) in [
            (vec![], vec![], Approval::Free),
            (vec![function(Replacement::No)], vec![], Approval::Free),
            (vec![function(Replacement::Maybe)], vec![], Approval::Ask(id("Function"))),
            (vec![role], vec![], Approval::Ask(id("Role"))),
            (vec![table(Action::Add, Replacement::No)], vec![], Approval::Free),
            (vec![table(Action::Modify, Replacement::No)], vec![], Approval::Free),
            (
                vec![table(Action::Modify, Replacement::Maybe)],
                vec![],
                Approval::Refused(id("Table")),
            ),
            (vec![table(Action::Remove, Replacement::No)], vec![], Approval::Refused(id("Table"))),
            (vec![table(Action::Remove, Replacement::No)], id("Table"), Approval::Ask(id("Table"))),
        ] {
            assert_eq!(approval(&changes, &named), expected, "{changes:?}");
        }
    }
}
