//! Reads permission rules from policies: the policies and trust policies of roles, and the
//! resource-based policies of buckets, queues and other resources.
use serde_json::{Map, Value};

use super::condition::Condition;
use super::pattern::Names;
use super::rule::{PermissionKind, Rule};
use crate::constructs::{Effect, POLICY_DOCUMENTS, ResourceType};
use crate::difference::document::{known_type, property};
use crate::difference::text::substitution_text;

pub(super) const EVERYONE: &str = "*";

/// The values that a policy document does not specify itself. They depend on the resource that
/// contains the policy.
struct PolicyContext<'a> {
    defined_by: &'a str,
    scope: String,
    kind: PermissionKind,
    default_principal: &'a str,
    default_resource: String,
}

pub(super) fn read_policy_rules(logical_id: &str, resource: &Value) -> Vec<Rule> {
    match known_type(resource) {
        Some(ResourceType::Role) => read_role_rules(logical_id, resource),
        Some(ResourceType::BucketPolicy) => {
            let buckets = property(resource, &["Bucket"]).into_iter();
            read_attached_policy_rules(logical_id, resource, buckets)
        }
        Some(ResourceType::QueuePolicy) => {
            let queues = property(resource, &["Queues"]).and_then(Value::as_array);
            read_attached_policy_rules(logical_id, resource, queues.into_iter().flatten())
        }
        _ => read_embedded_policy_rules(logical_id, resource),
    }
}

fn embedded_policy_context(logical_id: &str, kind: PermissionKind) -> PolicyContext<'_> {
    PolicyContext {
        defined_by: logical_id,
        scope: logical_id.to_owned(),
        kind,
        default_principal: logical_id,
        default_resource: logical_id.to_owned(),
    }
}

fn read_role_rules(logical_id: &str, resource: &Value) -> Vec<Rule> {
    let mut rules = Vec::new();
    if let Some(document) = property(resource, &["AssumeRolePolicyDocument"]) {
        rules.extend(
            embedded_policy_context(logical_id, PermissionKind::Trust)
                .read_document_rules(document),
        );
    }
    let policies = property(resource, &["Policies"]).and_then(Value::as_array);
    for policy in policies.into_iter().flatten() {
        let Some(document) = policy.get("PolicyDocument") else { continue };
        rules.extend(
            embedded_policy_context(logical_id, PermissionKind::Role).read_document_rules(document),
        );
    }
    rules.extend(read_managed_policy_rules(logical_id, resource));
    rules
}

/// Returns a rule for each managed policy and for the permissions boundary of a role.
///
/// The template contains only the ARNs of these policies, not their statements. Therefore, a
/// managed policy is represented by a rule that allows an action, and a permissions boundary by a
/// rule that denies one.
fn read_managed_policy_rules(logical_id: &str, resource: &Value) -> Vec<Rule> {
    let policy_rule = |effect, action: &str, policy_arn: &Value| Rule {
        actions: Names::single(action),
        resources: Names::single(name_text(policy_arn)),
        ..embedded_policy_context(logical_id, PermissionKind::Role).default_rule(effect)
    };
    let mut rules = Vec::new();
    let managed_policies = property(resource, &["ManagedPolicyArns"]).and_then(Value::as_array);
    for policy_arn in managed_policies.into_iter().flatten() {
        let action = "use the permissions of the managed policy";
        rules.push(policy_rule(Effect::Allow, action, policy_arn));
    }
    if let Some(boundary_arn) = property(resource, &["PermissionsBoundary"]) {
        rules.push(policy_rule(Effect::Deny, "exceed the permissions boundary", boundary_arn));
    }
    rules
}

fn read_attached_policy_rules<'a>(
    logical_id: &str,
    resource: &Value,
    targets: impl Iterator<Item = &'a Value>,
) -> Vec<Rule> {
    let Some(document) = property(resource, &["PolicyDocument"]) else { return Vec::new() };
    let mut rules = Vec::new();
    for target in targets {
        let context = PolicyContext {
            defined_by: logical_id,
            scope: referenced_id(target),
            kind: PermissionKind::Resource,
            default_principal: EVERYONE,
            default_resource: name_text(target),
        };
        rules.extend(context.read_document_rules(document));
    }
    rules
}

fn read_embedded_policy_rules(logical_id: &str, resource: &Value) -> Vec<Rule> {
    let context = embedded_policy_context(logical_id, PermissionKind::Resource);
    let properties = resource.get("Properties");
    let direct_documents = POLICY_DOCUMENTS.iter().filter_map(|name| properties?.get(name));
    let nested_document = property(resource, &["ResourcePolicy", "PolicyDocument"]);
    direct_documents
        .chain(nested_document)
        .flat_map(|document| context.read_document_rules(document))
        .collect()
}

impl PolicyContext<'_> {
    fn read_document_rules(&self, document: &Value) -> Vec<Rule> {
        match document.get("Statement").and_then(Value::as_array) {
            Some(statements) => {
                statements.iter().map(|statement| self.read_statement_rule(statement)).collect()
            }
            None => vec![self.unreadable_rule(document)],
        }
    }

    fn read_statement_rule(&self, value: &Value) -> Rule {
        const READABLE_FIELDS: [&str; 3] = ["Effect", "Action", "NotAction"];
        let Some(statement) = value.as_object() else { return self.unreadable_rule(value) };
        if !READABLE_FIELDS.iter().any(|field| statement.contains_key(*field)) {
            return self.unreadable_rule(value);
        }
        let effect = match statement.get("Effect").and_then(Value::as_str) {
            Some("Deny") => Effect::Deny,
            _ => Effect::Allow,
        };
        let principals = match (statement.get("Principal"), statement.get("NotPrincipal")) {
            (Some(included), _) => Names::Only(principal_texts(included)),
            (None, Some(excluded)) => Names::AllBut(principal_texts(excluded)),
            (None, None) => Names::single(self.default_principal),
        };
        Rule {
            principals,
            actions: read_names(statement, "Action", "NotAction", "*"),
            resources: read_names(statement, "Resource", "NotResource", &self.default_resource),
            condition: Condition::parse(statement.get("Condition")),
            ..self.default_rule(effect)
        }
    }

    /// Returns a rule for a value that cannot be interpreted, such as an `Fn::If`. The action of
    /// the rule is the value as text, so that every change to the value is reported.
    fn unreadable_rule(&self, value: &Value) -> Rule {
        Rule { actions: Names::single(name_text(value)), ..self.default_rule(Effect::Allow) }
    }

    fn default_rule(&self, effect: Effect) -> Rule {
        Rule {
            defined_by: self.defined_by.to_owned(),
            scope: self.scope.clone(),
            kind: self.kind,
            effect,
            principals: Names::single(self.default_principal),
            actions: Names::single("*"),
            resources: Names::single(self.default_resource.clone()),
            condition: Condition::default(),
        }
    }
}

/// Reads the names in a statement field such as `Action`. If the field is missing, reads the
/// excluded names from the negated field, such as `NotAction`. If both are missing, returns
/// `default`.
fn read_names(
    statement: &Map<String, Value>,
    field: &str,
    excluding_field: &str,
    default: &str,
) -> Names {
    match (statement.get(field), statement.get(excluding_field)) {
        (Some(included), _) => Names::Only(name_texts(included)),
        (None, Some(excluded)) => Names::AllBut(name_texts(excluded)),
        (None, None) => Names::single(default),
    }
}

/// Returns the logical id of the resource that a value references. If the value is not a reference,
/// returns the value as text.
pub(super) fn referenced_id(value: &Value) -> String {
    let text = name_text(value);
    let placeholder = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    match placeholder {
        Some(target) if !target.contains(['$', '{', '}', '!']) => {
            let logical_id = target.split_once('.').map_or(target, |(logical_id, _)| logical_id);
            logical_id.to_owned()
        }
        _ => text,
    }
}

/// Intrinsic functions are written in the syntax of `Fn::Sub`.
pub(super) fn name_text(value: &Value) -> String {
    substitution_text(value).unwrap_or_else(|| value.to_string())
}

pub(super) fn name_texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().map(name_text).collect(),
        single_name => vec![name_text(single_name)],
    }
}

/// Returns the principals, each prefixed with its kind, as in `Service lambda.amazonaws.com`.
fn principal_texts(value: &Value) -> Vec<String> {
    let Value::Object(names_by_kind) = value else { return name_texts(value) };
    if substitution_text(value).is_some() {
        return name_texts(value);
    }
    let mut principals = Vec::new();
    for (kind, names) in names_by_kind {
        for name in name_texts(names) {
            let is_everyone = kind == "AWS" && name == EVERYONE;
            let principal = if is_everyone { name } else { format!("{kind} {name}") };
            principals.push(principal);
        }
    }
    principals
}
