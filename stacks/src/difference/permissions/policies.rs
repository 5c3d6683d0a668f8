//! Rules from the policies of a template: of roles, of what they trust, of buckets and queues.

use serde_json::{Map, Value};

use super::condition::Condition;
use super::pattern::Names;
use super::rule::{PermissionKind, Rule};
use crate::constructs::{DOCUMENTS, Effect, ResourceType};
use crate::difference::document::{known_type, property};
use crate::difference::text::substitution_text;

/// Everybody.
pub(super) const EVERYBODY: &str = "*";

/// Whose policy it is.
struct Policy<'a> {
    holder: &'a str,
    scope: String,
    kind: PermissionKind,
    /// Who is meant where a statement names nobody.
    principal: &'a str,
    /// What is meant where a statement names nothing.
    resource: String,
}

/// All rules that the policies of a resource hold.
pub(super) fn rules(logical_id: &str, resource: &Value) -> Vec<Rule> {
    match known_type(resource) {
        Some(ResourceType::Role) => of_role(logical_id, resource),
        Some(ResourceType::BucketPolicy) => {
            let buckets = property(resource, &["Bucket"]).into_iter();
            of_targets(logical_id, resource, buckets)
        }
        Some(ResourceType::QueuePolicy) => {
            let queues = property(resource, &["Queues"]).and_then(Value::as_array);
            of_targets(logical_id, resource, queues.into_iter().flatten())
        }
        _ => of_any(logical_id, resource),
    }
}

fn of_role(logical_id: &str, resource: &Value) -> Vec<Rule> {
    let own = |kind| Policy {
        holder: logical_id,
        scope: logical_id.to_owned(),
        kind,
        principal: logical_id,
        resource: logical_id.to_owned(),
    };
    let trust = property(resource, &["AssumeRolePolicyDocument"]);
    let mut found: Vec<Rule> =
        trust.into_iter().flat_map(|document| own(PermissionKind::Trust).rules(document)).collect();
    let policies = property(resource, &["Policies"]).and_then(Value::as_array);
    for document in policies.into_iter().flatten().filter_map(|it| it.get("PolicyDocument")) {
        found.extend(own(PermissionKind::Role).rules(document));
    }
    found.extend(attached(logical_id, resource));
    found
}

/// Policies of somebody else that widen a role, and the boundary that nothing in it may cross.
fn attached(logical_id: &str, resource: &Value) -> Vec<Rule> {
    let rule = |effect, action: &str, policy: &Value| Rule {
        holder: logical_id.to_owned(),
        scope: logical_id.to_owned(),
        kind: PermissionKind::Role,
        effect,
        principals: Names::one(logical_id),
        actions: Names::one(action),
        resources: Names::one(name(policy)),
        condition: Condition::default(),
    };
    let managed = property(resource, &["ManagedPolicyArns"]).and_then(Value::as_array);
    let managed = managed.into_iter().flatten();
    let managed = managed.map(|arn| rule(Effect::Allow, "whatever this policy allows", arn));
    let boundary = property(resource, &["PermissionsBoundary"]);
    let boundary = boundary.map(|arn| rule(Effect::Deny, "whatever this boundary leaves out", arn));
    managed.chain(boundary).collect()
}

/// A policy that is attached to other resources.
fn of_targets<'a>(
    logical_id: &str,
    resource: &Value,
    targets: impl Iterator<Item = &'a Value>,
) -> Vec<Rule> {
    let document = property(resource, &["PolicyDocument"]);
    let Some(document) = document else { return Vec::new() };
    targets
        .flat_map(|target| {
            let policy = Policy {
                holder: logical_id,
                scope: scope_of(target),
                kind: PermissionKind::Resource,
                principal: EVERYBODY,
                resource: name(target),
            };
            policy.rules(document)
        })
        .collect()
}

/// Documents of other types, wherever among the properties they stand.
fn of_any(logical_id: &str, resource: &Value) -> Vec<Rule> {
    let policy = || Policy {
        holder: logical_id,
        scope: logical_id.to_owned(),
        kind: PermissionKind::Resource,
        principal: logical_id,
        resource: logical_id.to_owned(),
    };
    let properties = resource.get("Properties");
    let direct = DOCUMENTS.iter().filter_map(|name| properties?.get(name));
    let nested = property(resource, &["ResourcePolicy", "PolicyDocument"]);
    direct.chain(nested).flat_map(|document| policy().rules(document)).collect()
}

impl Policy<'_> {
    fn rules(&self, document: &Value) -> Vec<Rule> {
        match document.get("Statement").and_then(Value::as_array) {
            Some(statements) => statements
                .iter()
                .map(|statement| self.rule(statement.as_object(), statement))
                .collect(),
            None => vec![self.rule(None, document)],
        }
    }

    /// What cannot be read – an `Fn::If`, say – is an action of its own: any change of it shows.
    fn rule(&self, statement: Option<&Map<String, Value>>, whole: &Value) -> Rule {
        let is_readable = |it: &&Map<String, Value>| {
            it.contains_key("Effect") || it.contains_key("Action") || it.contains_key("NotAction")
        };
        let Some(statement) = statement.filter(is_readable) else {
            return Rule { actions: Names::one(name(whole)), ..self.blank(Effect::Allow) };
        };
        let effect = match statement.get("Effect").and_then(Value::as_str) {
            Some("Deny") => Effect::Deny,
            _ => Effect::Allow,
        };
        let named = |name: &str, all_but: &str, otherwise: &str| match (
            statement.get(name),
            statement.get(all_but),
        ) {
            (Some(value), _) => Names::Only(names(value)),
            (None, Some(value)) => Names::AllBut(names(value)),
            (None, None) => Names::one(otherwise),
        };
        let principals = match (statement.get("Principal"), statement.get("NotPrincipal")) {
            (Some(value), _) => Names::Only(principals(value)),
            (None, Some(value)) => Names::AllBut(principals(value)),
            (None, None) => Names::one(self.principal),
        };
        Rule {
            principals,
            actions: named("Action", "NotAction", "*"),
            resources: named("Resource", "NotResource", &self.resource),
            condition: Condition::of(statement.get("Condition")),
            ..self.blank(effect)
        }
    }

    fn blank(&self, effect: Effect) -> Rule {
        Rule {
            holder: self.holder.to_owned(),
            scope: self.scope.clone(),
            kind: self.kind,
            effect,
            principals: Names::one(self.principal),
            actions: Names::one("*"),
            resources: Names::one(self.resource.clone()),
            condition: Condition::default(),
        }
    }
}

/// The logical id that a value refers to, or its text.
pub(super) fn scope_of(value: &Value) -> String {
    let text = name(value);
    let inside = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    match inside {
        Some(inside) if !inside.contains(['$', '{', '}', '!']) => {
            inside.split_once('.').map_or(inside, |(logical_id, _)| logical_id).to_owned()
        }
        _ => text,
    }
}

/// A name as text: literal, or as `Fn::Sub` would have it.
pub(super) fn name(value: &Value) -> String {
    substitution_text(value).unwrap_or_else(|| value.to_string())
}

pub(super) fn names(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().map(name).collect(),
        single => vec![name(single)],
    }
}

fn principals(value: &Value) -> Vec<String> {
    let Some(by_kind) = value.as_object().filter(|_| substitution_text(value).is_none()) else {
        return names(value);
    };
    let of_kind = |(kind, value): (&String, &Value)| -> Vec<String> {
        let label = |name: String| match (kind.as_str(), name.as_str()) {
            ("AWS", EVERYBODY) => name,
            _ => format!("{kind} {name}"),
        };
        names(value).into_iter().map(label).collect()
    };
    by_kind.iter().flat_map(of_kind).collect()
}
