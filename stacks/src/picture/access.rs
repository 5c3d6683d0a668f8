//! Reads the permissions of a role.

use serde_json::Value;

use super::nodes::NodeKind;
use super::scene::property;
use super::verb::Verb;
use crate::expression::{Reference, references_in};

/// Actions that start with one of these words read.
const READING_WORDS: [&str; 10] = [
    "BatchGet",
    "Describe",
    "Get",
    "Head",
    "List",
    "PartiQLSelect",
    "Query",
    "Receive",
    "Scan",
    "Select",
];
/// Actions of a reader that acknowledges messages.
const ACKNOWLEDGING_ACTIONS: [&str; 2] = ["sqs:DeleteMessage", "sqs:ChangeMessageVisibility"];

/// An action that a role may take on a resource of the template.
pub(super) struct Grant {
    pub(super) target: Reference,
    pub(super) reads: bool,
    pub(super) writes: bool,
}

/// Returns what the inline policies of a role allow. Denials are ignored.
pub(super) fn role_grants(role: &Value) -> Vec<Grant> {
    let policies = property(role, "Policies").and_then(Value::as_array);
    policies
        .into_iter()
        .flatten()
        .filter_map(|policy| policy.pointer("/PolicyDocument/Statement")?.as_array())
        .flatten()
        .flat_map(statement_grants)
        .collect()
}

fn statement_grants(statement: &Value) -> Vec<Grant> {
    let is_allowed = statement.get("Effect").and_then(Value::as_str) == Some("Allow");
    let Some(resources) = statement.get("Resource").filter(|_| is_allowed) else {
        return Vec::new();
    };
    let (reads, writes) = match statement.get("Action").and_then(Value::as_array) {
        Some(actions) => {
            let names = || actions.iter().filter_map(Value::as_str);
            (names().any(may_read), names().any(may_write))
        }
        // `NotAction` allows all actions except a few.
        None => (true, true),
    };
    let targets = references_in(resources).into_iter();
    targets.map(|target| Grant { target, reads, writes }).collect()
}

fn may_read(action: &str) -> bool {
    is_reading(action) || verb_of(action).starts_with('*')
}

fn may_write(action: &str) -> bool {
    !is_reading(action)
}

fn is_reading(action: &str) -> bool {
    let verb = verb_of(action);
    ACKNOWLEDGING_ACTIONS.contains(&action)
        || READING_WORDS.iter().any(|word| verb.starts_with(word))
}

/// Returns `GetItem` for `dynamodb:GetItem`.
fn verb_of(action: &str) -> &str {
    action.split_once(':').map_or(action, |(_, verb)| verb)
}

/// Returns the word for a write to a resource of this kind.
pub(super) const fn writing_verb(target: &NodeKind) -> Verb {
    match target {
        NodeKind::Queue | NodeKind::Topic => Verb::Sends,
        NodeKind::Function | NodeKind::FunctionUrl => Verb::Calls,
        _ => Verb::Writes,
    }
}
