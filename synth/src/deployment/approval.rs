//! Decides whether a deployment needs confirmation, or is refused because data would be lost.

use std::collections::BTreeSet;
use std::fmt;

use cellar_stacks::constructs::ResourceType;
use cellar_stacks::difference::{ChangeAction, Difference, ResourceChange, Risk, Severity};

use crate::aws::{Change, PlannedAction, Replacement};

const SHOWN_IDS_MAX: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Approval {
    NotNeeded,
    Needed(ConfirmationReasons),
    /// The deployment is refused because it would delete or replace these resources. They contain
    /// data, and `--allow-data-loss` does not cover them.
    Refused(BTreeSet<String>),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ConfirmationReasons {
    /// Resources whose data is deleted or becomes less protected.
    pub(crate) at_risk: BTreeSet<String>,
    /// Number of new or broadened permission groups.
    pub(crate) broadened: usize,
    /// Other resources that are replaced or may be replaced.
    pub(crate) replaced: BTreeSet<String>,
}

/// `allowed_losses` contains the logical ids given with `--allow-data-loss`.
pub(crate) fn required_approval(
    difference: &Difference,
    predicted_changes: &[Change],
    allowed_losses: &[String],
) -> Approval {
    let mut lost_ids = template_change_ids(difference, loses_data);
    lost_ids.extend(predicted_change_ids(predicted_changes, deletes_data));
    let refused_ids: BTreeSet<String> =
        lost_ids.iter().filter(|id| !allowed_losses.contains(id)).cloned().collect();
    if !refused_ids.is_empty() {
        return Approval::Refused(refused_ids);
    }
    let mut at_risk = lost_ids;
    at_risk.extend(template_change_ids(difference, is_destructive));
    let mut replaced = template_change_ids(difference, is_replaced);
    replaced.extend(predicted_change_ids(predicted_changes, is_certainly_replaced));
    replaced.retain(|id| !at_risk.contains(id));
    let broadened = difference.permissions.broadened.len();
    let reasons = ConfirmationReasons { at_risk, broadened, replaced };
    if reasons == ConfirmationReasons::default() {
        Approval::NotNeeded
    } else {
        Approval::Needed(reasons)
    }
}

fn template_change_ids(
    difference: &Difference,
    matches: impl Fn(&ResourceChange) -> bool,
) -> BTreeSet<String> {
    let matching_changes = difference.resources.iter().filter(|change| matches(change));
    matching_changes.map(|change| change.logical_id.clone()).collect()
}

fn predicted_change_ids(
    predicted_changes: &[Change],
    matches: impl Fn(&Change) -> bool,
) -> BTreeSet<String> {
    let matching_changes = predicted_changes.iter().filter(|change| matches(change));
    matching_changes.map(|change| change.logical_id.clone()).collect()
}

fn is_destructive(change: &ResourceChange) -> bool {
    change.severity == Severity::Destructive
}

fn loses_data(change: &ResourceChange) -> bool {
    let is_loss = |risk: &Risk| matches!(risk, Risk::Removed { .. } | Risk::Replaced { .. });
    change.risks.iter().any(is_loss)
}

fn is_replaced(change: &ResourceChange) -> bool {
    matches!(change.action, ChangeAction::MayReplace | ChangeAction::Replace)
}

fn is_certainly_replaced(change: &Change) -> bool {
    change.certain && change.replacement != Replacement::No
}

fn deletes_data(change: &Change) -> bool {
    let is_deleted = change.action == PlannedAction::Remove
        || (change.action != PlannedAction::Add && change.replacement != Replacement::No);
    is_deleted
        && ResourceType::from_name(&change.resource_type).is_some_and(ResourceType::holds_data)
}

impl fmt::Display for ConfirmationReasons {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at_risk, broadened, replaced } = self;
        let mut reasons = Vec::new();
        if !at_risk.is_empty() {
            reasons.push(format!("data is at risk ({})", format_ids(at_risk)));
        }
        match broadened {
            0 => {}
            1 => reasons.push("1 permission is new or broader".to_owned()),
            count => reasons.push(format!("{count} permissions are new or broader")),
        }
        if !replaced.is_empty() {
            let replaced_ids = format_ids(replaced);
            reasons.push(format!("resources are replaced or may be replaced ({replaced_ids})"));
        }
        formatter.write_str(&reasons.join(", "))
    }
}

fn format_ids(ids: &BTreeSet<String>) -> String {
    let shown_ids: Vec<&str> = ids.iter().take(SHOWN_IDS_MAX).map(String::as_str).collect();
    let ellipsis = if ids.len() > SHOWN_IDS_MAX { ", …" } else { "" };
    format!("{}{ellipsis}", shown_ids.join(", "))
}

#[cfg(test)]
mod tests {
    use cellar_stacks::difference::Document;
    use serde_json::{Value, json};

    use super::*;

    const TABLE: &str = ResourceType::Table.name();

    fn change(action: PlannedAction, id: &str, kind: &str, replacement: Replacement) -> Change {
        Change {
            action,
            logical_id: id.to_owned(),
            resource_type: kind.to_owned(),
            replacement,
            properties: vec![],
            certain: true,
        }
    }

    fn difference(old: &Value, new: &Value) -> Difference {
        let document = |resources: &Value| {
            Document::read(&json!({ "Resources": resources }).to_string()).unwrap()
        };
        Difference::between(Some(&document(old)), &document(new)).unwrap()
    }

    fn ids(ids: &[&str]) -> BTreeSet<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    #[test]
    fn data_loss_is_allowed_only_for_named_resources() {
        let nothing = difference(&json!({}), &json!({}));
        let table = |action, replacement| change(action, "Table", TABLE, replacement);
        let named = ["Table".to_owned()];
        for lost in [
            table(PlannedAction::Modify, Replacement::Maybe),
            table(PlannedAction::Modify, Replacement::Yes),
            table(PlannedAction::Remove, Replacement::No),
        ] {
            let changes = [Change { certain: false, ..lost }];
            let refused = Approval::Refused(ids(&["Table"]));
            assert_eq!(required_approval(&nothing, &changes, &[]), refused, "{changes:?}");
            let asked =
                ConfirmationReasons { at_risk: ids(&["Table"]), ..ConfirmationReasons::default() };
            assert_eq!(
                required_approval(&nothing, &changes, &named),
                Approval::Needed(asked),
                "{changes:?}"
            );
        }
        for kept in [
            table(PlannedAction::Add, Replacement::No),
            table(PlannedAction::Modify, Replacement::No),
        ] {
            assert_eq!(required_approval(&nothing, &[kept], &[]), Approval::NotNeeded);
        }
    }

    #[test]
    fn a_loss_in_the_templates_counts_without_a_change_set() {
        let table =
            |name: &str| json!({ "Table": { "Type": TABLE, "Properties": { "TableName": name } } });
        let replaced = difference(&table("a"), &table("b"));
        assert_eq!(required_approval(&replaced, &[], &[]), Approval::Refused(ids(&["Table"])));
        let removed = difference(&table("a"), &json!({}));
        assert_eq!(required_approval(&removed, &[], &[]), Approval::Refused(ids(&["Table"])));
        let protected = |on: bool| json!({ "Table": { "Type": TABLE, "Properties": { "DeletionProtectionEnabled": on } } });
        let weaker = difference(&protected(true), &protected(false));
        let asked =
            ConfirmationReasons { at_risk: ids(&["Table"]), ..ConfirmationReasons::default() };
        assert_eq!(required_approval(&weaker, &[], &[]), Approval::Needed(asked));
    }

    #[test]
    fn broader_permissions_and_replacements_need_confirmation() {
        let queue = |name: &str| json!({ "Queue": { "Type": "AWS::SQS::Queue", "Properties": { "QueueName": name } } });
        let replaced = required_approval(&difference(&queue("a"), &queue("b")), &[], &[]);
        let Approval::Needed(reasons) = replaced else { panic!("{replaced:?}") };
        assert_eq!(reasons.to_string(), "resources are replaced or may be replaced (Queue)");
        let statement = |action: &str| {
            json!({ "Role": { "Type": "AWS::IAM::Role", "Properties": { "Policies": [{
                "PolicyName": "p",
                "PolicyDocument": { "Statement": [
                    { "Sid": "s", "Effect": "Allow", "Action": [action], "Resource": "*" },
                ] },
            }] } } })
        };
        let broadened = difference(&statement("sqs:SendMessage"), &statement("sqs:*"));
        let Approval::Needed(reasons) = required_approval(&broadened, &[], &[]) else {
            panic!("{broadened:?}")
        };
        assert_eq!(reasons.to_string(), "1 permission is new or broader");
        let narrowed = difference(&statement("sqs:*"), &statement("sqs:SendMessage"));
        assert_eq!(required_approval(&narrowed, &[], &[]), Approval::NotNeeded);
        let many =
            change(PlannedAction::Modify, "Function", "AWS::Lambda::Function", Replacement::Maybe);
        let nothing = difference(&json!({}), &json!({}));
        let dynamic = Change { certain: false, ..many.clone() };
        assert_eq!(required_approval(&nothing, &[dynamic], &[]), Approval::NotNeeded);
        assert!(matches!(required_approval(&nothing, &[many], &[]), Approval::Needed(_)));
    }

    #[test]
    fn long_lists_are_shortened() {
        let names = ["a", "b", "c", "d", "e"];
        assert_eq!(format_ids(&ids(&names)), "a, b, c, d, e");
        assert_eq!(format_ids(&ids(&[&names[..], &["f"]].concat())), "a, b, c, d, e, …");
    }
}
