//! What needs a yes before it is done.

use std::collections::BTreeSet;
use std::fmt;

use cellar_stacks::constructs::ResourceType;
use cellar_stacks::difference::{self, Difference, ResourceChange, Risk, Severity};

use crate::aws::{Change, PlannedAction, Replacement};

/// Whether changes may be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Approval {
    /// As they are.
    Free,
    /// If somebody says yes.
    Ask(Reasons),
    /// Not at all: these hold data, would be replaced or taken out, and were not named.
    Refused(BTreeSet<String>),
}

/// Why somebody has to say yes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reasons {
    /// Resources whose data goes or is less protected than before.
    pub(crate) at_risk: BTreeSet<String>,
    /// How many groups of permissions there are that nobody had before.
    pub(crate) broadened: usize,
    /// Other resources that are, or may be, made anew.
    pub(crate) replaced: BTreeSet<String>,
}

/// What a deployment needs: by what differs between the templates, and by what CloudFormation says that
/// it will do. `named` are logical ids whose loss was agreed to.
pub(crate) fn approval(difference: &Difference, changes: &[Change], named: &[String]) -> Approval {
    let ids = |resources: &dyn Fn(&&ResourceChange) -> bool,
               foreseen: &dyn Fn(&&Change) -> bool| {
        let resources = difference.resources.iter().filter(resources).map(|it| &it.logical_id);
        let foreseen = changes.iter().filter(foreseen).map(|it| &it.logical_id);
        resources.chain(foreseen).cloned().collect::<BTreeSet<String>>()
    };
    let lost = ids(&loses_data, &is_lost);
    let refused: BTreeSet<String> = lost.iter().filter(|id| !named.contains(id)).cloned().collect();
    if !refused.is_empty() {
        return Approval::Refused(refused);
    }
    let mut at_risk = ids(&|it| it.severity == Severity::Destructive, &|_| false);
    at_risk.extend(lost);
    let mut replaced = ids(&is_replaced, &|it| it.certain && it.replacement != Replacement::No);
    replaced.retain(|id| !at_risk.contains(id));
    let broadened = difference.permissions.broadened.len();
    let reasons = Reasons { at_risk, broadened, replaced };
    if reasons == Reasons::default() { Approval::Free } else { Approval::Ask(reasons) }
}

fn loses_data(change: &&ResourceChange) -> bool {
    let is_loss = |risk: &Risk| matches!(risk, Risk::Removed { .. } | Risk::Replaced { .. });
    change.risks.iter().any(is_loss)
}

fn is_replaced(change: &&ResourceChange) -> bool {
    use difference::ChangeAction::{MayReplace, Replace};
    matches!(change.action, MayReplace | Replace)
}

fn is_lost(change: &&Change) -> bool {
    let goes = change.action == PlannedAction::Remove
        || (change.action != PlannedAction::Add && change.replacement != Replacement::No);
    goes && ResourceType::named(&change.resource_type).is_some_and(ResourceType::holds_data)
}

impl fmt::Display for Reasons {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at_risk, broadened, replaced } = self;
        let mut parts = Vec::new();
        if !at_risk.is_empty() {
            parts.push(format!("data is at risk ({})", some_of(at_risk)));
        }
        if *broadened > 0 {
            let (noun, verb) =
                if *broadened == 1 { ("permission", "is") } else { ("permissions", "are") };
            parts.push(format!("{broadened} {noun} {verb} new or broader"));
        }
        if !replaced.is_empty() {
            parts.push(format!("something is or may be made anew ({})", some_of(replaced)));
        }
        formatter.write_str(&parts.join(", "))
    }
}

/// Some names of many.
fn some_of(ids: &BTreeSet<String>) -> String {
    const SOME: usize = 5;
    let some: Vec<&str> = ids.iter().take(SOME).map(String::as_str).collect();
    let more = if ids.len() > SOME { ", …" } else { "" };
    format!("{}{more}", some.join(", "))
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
    fn data_is_lost_only_if_it_was_named() {
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
            assert_eq!(approval(&nothing, &changes, &[]), refused, "{changes:?}");
            let asked = Reasons { at_risk: ids(&["Table"]), ..Reasons::default() };
            assert_eq!(approval(&nothing, &changes, &named), Approval::Ask(asked), "{changes:?}");
        }
        for kept in [
            table(PlannedAction::Add, Replacement::No),
            table(PlannedAction::Modify, Replacement::No),
        ] {
            assert_eq!(approval(&nothing, &[kept], &[]), Approval::Free);
        }
    }

    #[test]
    fn what_the_templates_say_counts_whatever_the_change_set_says() {
        let table =
            |name: &str| json!({ "Table": { "Type": TABLE, "Properties": { "TableName": name } } });
        let replaced = difference(&table("a"), &table("b"));
        assert_eq!(approval(&replaced, &[], &[]), Approval::Refused(ids(&["Table"])));
        let removed = difference(&table("a"), &json!({}));
        assert_eq!(approval(&removed, &[], &[]), Approval::Refused(ids(&["Table"])));
        let protected = |on: bool| json!({ "Table": { "Type": TABLE, "Properties": { "DeletionProtectionEnabled": on } } });
        let weaker = difference(&protected(true), &protected(false));
        let asked = Reasons { at_risk: ids(&["Table"]), ..Reasons::default() };
        assert_eq!(approval(&weaker, &[], &[]), Approval::Ask(asked));
    }

    #[test]
    fn broader_permissions_and_replacements_are_asked_for() {
        let queue = |name: &str| json!({ "Queue": { "Type": "AWS::SQS::Queue", "Properties": { "QueueName": name } } });
        let replaced = approval(&difference(&queue("a"), &queue("b")), &[], &[]);
        let Approval::Ask(reasons) = replaced else { panic!("{replaced:?}") };
        assert_eq!(reasons.to_string(), "something is or may be made anew (Queue)");
        let statement = |action: &str| {
            json!({ "Role": { "Type": "AWS::IAM::Role", "Properties": { "Policies": [{
                "PolicyName": "p",
                "PolicyDocument": { "Statement": [
                    { "Sid": "s", "Effect": "Allow", "Action": [action], "Resource": "*" },
                ] },
            }] } } })
        };
        let broadened = difference(&statement("sqs:SendMessage"), &statement("sqs:*"));
        let Approval::Ask(reasons) = approval(&broadened, &[], &[]) else {
            panic!("{broadened:?}")
        };
        assert_eq!(reasons.to_string(), "1 permission is new or broader");
        let narrowed = difference(&statement("sqs:*"), &statement("sqs:SendMessage"));
        assert_eq!(approval(&narrowed, &[], &[]), Approval::Free);
        let many =
            change(PlannedAction::Modify, "Function", "AWS::Lambda::Function", Replacement::Maybe);
        let nothing = difference(&json!({}), &json!({}));
        let dynamic = Change { certain: false, ..many.clone() };
        assert_eq!(approval(&nothing, &[dynamic], &[]), Approval::Free);
        assert!(matches!(approval(&nothing, &[many], &[]), Approval::Ask(_)));
    }

    #[test]
    fn a_long_list_is_cut() {
        let names = ["a", "b", "c", "d", "e"];
        assert_eq!(some_of(&ids(&names)), "a, b, c, d, e");
        assert_eq!(some_of(&ids(&[&names[..], &["f"]].concat())), "a, b, c, d, e, …");
    }
}
