//! Reads rules from policies: role policies, trust policies, and resource-based policies of
//! buckets, queues and other resources.
use serde_json::{Map, Value};

use super::condition::Condition;
use super::pattern::Names;
use super::rule::{PermissionKind, Rule};
use crate::constructs::{Effect, POLICY_DOCUMENTS, ResourceType};
use crate::difference::document::{known_type, property};
use crate::difference::text::substitution_text;

/// The principal that means everyone.
pub(super) const EVERYONE: &str = "*";

/// Context of a policy document.
struct PolicyContext<'a> {
    defined_by: &'a str,
    scope: String,
    kind: PermissionKind,
    /// Principal of statements that specify none.
    default_principal: &'a str,
    /// Resource of statements that specify none.
    default_resource: String,
}

/// Reads all policy rules of a resource.
pub(super) fn read_rules(logical_id: &str, resource: &Value) -> Vec<Rule> {
    match known_type(resource) {
        Some(ResourceType::Role) => read_role(logical_id, resource),
        Some(ResourceType::BucketPolicy) => {
            let buckets = property(resource, &["Bucket"]).into_iter();
            read_attached_policy(logical_id, resource, buckets)
        }
        Some(ResourceType::QueuePolicy) => {
            let queues = property(resource, &["Queues"]).and_then(Value::as_array);
            read_attached_policy(logical_id, resource, queues.into_iter().flatten())
        }
        _ => read_other_resource(logical_id, resource),
    }
}

/// Returns the context of a policy that is embedded in the resource to which it applies.
fn own_policy(logical_id: &str, kind: PermissionKind) -> PolicyContext<'_> {
    PolicyContext {
        defined_by: logical_id,
        scope: logical_id.to_owned(),
        kind,
        default_principal: logical_id,
        default_resource: logical_id.to_owned(),
    }
}

fn read_role(logical_id: &str, resource: &Value) -> Vec<Rule> {
    let mut rules = Vec::new();
    if let Some(document) = property(resource, &["AssumeRolePolicyDocument"]) {
        rules.extend(own_policy(logical_id, PermissionKind::Trust).read_document(document));
    }
    let policies = property(resource, &["Policies"]).and_then(Value::as_array);
    for document in policies.into_iter().flatten().filter_map(|it| it.get("PolicyDocument")) {
        rules.extend(own_policy(logical_id, PermissionKind::Role).read_document(document));
    }
    rules.extend(read_managed_policies(logical_id, resource));
    rules
}

/// Returns a rule for each managed policy, which broadens a role, and for the permissions boundary,
/// which restricts it. The contents of both are outside the template.
fn read_managed_policies(logical_id: &str, resource: &Value) -> Vec<Rule> {
    let rule = |effect, action: &str, policy: &Value| Rule {
        defined_by: logical_id.to_owned(),
        scope: logical_id.to_owned(),
        kind: PermissionKind::Role,
        effect,
        principals: Names::one(logical_id),
        actions: Names::one(action),
        resources: Names::one(to_name(policy)),
        condition: Condition::default(),
    };
    let managed_policies = property(resource, &["ManagedPolicyArns"]).and_then(Value::as_array);
    let mut rules: Vec<Rule> = managed_policies
        .into_iter()
        .flatten()
        .map(|arn| rule(Effect::Allow, "use the permissions of the managed policy", arn))
        .collect();
    if let Some(arn) = property(resource, &["PermissionsBoundary"]) {
        rules.push(rule(Effect::Deny, "exceed the permissions boundary", arn));
    }
    rules
}

/// Reads the rules of a policy resource that is attached to other resources.
fn read_attached_policy<'a>(
    logical_id: &str,
    resource: &Value,
    targets: impl Iterator<Item = &'a Value>,
) -> Vec<Rule> {
    let Some(document) = property(resource, &["PolicyDocument"]) else { return Vec::new() };
    targets
        .flat_map(|target| {
            let context = PolicyContext {
                defined_by: logical_id,
                scope: referenced_id(target),
                kind: PermissionKind::Resource,
                default_principal: EVERYONE,
                default_resource: to_name(target),
            };
            context.read_document(document)
        })
        .collect()
}

/// Reads rules from policy documents in the properties of other resource types.
fn read_other_resource(logical_id: &str, resource: &Value) -> Vec<Rule> {
    let context = own_policy(logical_id, PermissionKind::Resource);
    let properties = resource.get("Properties");
    let direct_documents = POLICY_DOCUMENTS.iter().filter_map(|name| properties?.get(name));
    let nested_document = property(resource, &["ResourcePolicy", "PolicyDocument"]);
    direct_documents
        .chain(nested_document)
        .flat_map(|document| context.read_document(document))
        .collect()
}

impl PolicyContext<'_> {
    fn read_document(&self, document: &Value) -> Vec<Rule> {
        match document.get("Statement").and_then(Value::as_array) {
            Some(statements) => {
                statements.iter().map(|statement| self.read_statement(statement)).collect()
            }
            None => vec![self.unreadable_rule(document)],
        }
    }

    fn read_statement(&self, value: &Value) -> Rule {
        let Some(statement) = value.as_object() else { return self.unreadable_rule(value) };
        let is_readable =
            ["Effect", "Action", "NotAction"].iter().any(|field| statement.contains_key(*field));
        if !is_readable {
            return self.unreadable_rule(value);
        }
        let effect = match statement.get("Effect").and_then(Value::as_str) {
            Some("Deny") => Effect::Deny,
            _ => Effect::Allow,
        };
        let principals = match (statement.get("Principal"), statement.get("NotPrincipal")) {
            (Some(value), _) => Names::Only(to_principals(value)),
            (None, Some(value)) => Names::AllBut(to_principals(value)),
            (None, None) => Names::one(self.default_principal),
        };
        Rule {
            principals,
            actions: read_names(statement, "Action", "NotAction", "*"),
            resources: read_names(statement, "Resource", "NotResource", &self.default_resource),
            condition: Condition::parse(statement.get("Condition")),
            ..self.default_rule(effect)
        }
    }

    /// Returns a rule for a value that cannot be interpreted, such as an `Fn::If`. The value's text
    /// becomes the action of the rule, so that every change to the value is reported.
    fn unreadable_rule(&self, value: &Value) -> Rule {
        Rule { actions: Names::one(to_name(value)), ..self.default_rule(Effect::Allow) }
    }

    fn default_rule(&self, effect: Effect) -> Rule {
        Rule {
            defined_by: self.defined_by.to_owned(),
            scope: self.scope.clone(),
            kind: self.kind,
            effect,
            principals: Names::one(self.default_principal),
            actions: Names::one("*"),
            resources: Names::one(self.default_resource.clone()),
            condition: Condition::default(),
        }
    }
}

/// Reads the names in a statement field. If the field is missing, reads the field with the excluded
/// names.
fn read_names(
    statement: &Map<String, Value>,
    field: &str,
    excluding_field: &str,
    default: &str,
) -> Names {
    match (statement.get(field), statement.get(excluding_field)) {
        (Some(value), _) => Names::Only(to_names(value)),
        (None, Some(value)) => Names::AllBut(to_names(value)),
        (None, None) => Names::one(default),
    }
}

/// Returns the logical id that a value references, or the text of any other value.
pub(super) fn referenced_id(value: &Value) -> String {
    let text = to_name(value);
    let inside = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    match inside {
        Some(inside) if !inside.contains(['$', '{', '}', '!']) => {
            inside.split_once('.').map_or(inside, |(logical_id, _)| logical_id).to_owned()
        }
        _ => text,
    }
}

/// Returns a name as text, with intrinsic functions in `Fn::Sub` syntax.
pub(super) fn to_name(value: &Value) -> String {
    substitution_text(value).unwrap_or_else(|| value.to_string())
}

pub(super) fn to_names(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().map(to_name).collect(),
        single => vec![to_name(single)],
    }
}

/// Returns principals prefixed with their kind, such as `Service lambda.amazonaws.com`.
fn to_principals(value: &Value) -> Vec<String> {
    let Value::Object(names_by_kind) = value else { return to_names(value) };
    if substitution_text(value).is_some() {
        return to_names(value);
    }
    let mut principals = Vec::new();
    for (kind, names) in names_by_kind {
        for name in to_names(names) {
            let is_everyone = kind == "AWS" && name == EVERYONE;
            principals.push(if is_everyone { name } else { format!("{kind} {name}") });
        }
    }
    principals
}
