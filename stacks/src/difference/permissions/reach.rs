//! Reads permission rules from everything that is not a policy: invocation permissions, function
//! URLs, CORS settings and public access settings.

use serde_json::Value;

use super::condition::Condition;
use super::pattern::Names;
use super::policies::{EVERYONE, name_text, name_texts, referenced_id};
use super::rule::{PermissionKind, Rule};
use crate::constructs::{Effect, ResourceType};
use crate::difference::document::{known_type, property};

const ANY_NAME: &str = "*";

pub(super) fn read_access_rules(logical_id: &str, resource: &Value) -> Vec<Rule> {
    match known_type(resource) {
        Some(ResourceType::Permission) => vec![read_invocation_rule(logical_id, resource)],
        Some(ResourceType::FunctionUrl) => read_function_url_rules(logical_id, resource),
        Some(ResourceType::Bucket) => read_bucket_rules(logical_id, resource),
        _ => Vec::new(),
    }
}

/// Returns a rule that applies to everyone, and to every action on the resource that defines the
/// rule.
fn rule_for_everyone(defined_by: &str, kind: PermissionKind, effect: Effect) -> Rule {
    Rule {
        defined_by: defined_by.to_owned(),
        scope: defined_by.to_owned(),
        kind,
        effect,
        principals: Names::single(EVERYONE),
        actions: Names::single(ANY_NAME),
        resources: Names::single(defined_by),
        condition: Condition::default(),
    }
}

/// The properties that restrict an invocation permission. Each has an equivalent condition operator
/// and condition key.
const RESTRICTIONS: [(&str, &str, &str); 6] = [
    ("EventSourceToken", "StringEquals", "lambda:EventSourceToken"),
    ("FunctionUrlAuthType", "StringEquals", "lambda:FunctionUrlAuthType"),
    ("InvokedViaFunctionUrl", "Bool", "lambda:InvokedViaFunctionUrl"),
    ("PrincipalOrgID", "StringEquals", "aws:PrincipalOrgID"),
    ("SourceAccount", "StringEquals", "aws:SourceAccount"),
    ("SourceArn", "ArnLike", "aws:SourceArn"),
];

fn read_invocation_rule(logical_id: &str, resource: &Value) -> Rule {
    // A function is referenced by name or by ARN. `referenced_id` returns the same id for both.
    let function = property(resource, &["FunctionName"]).map(referenced_id);
    let function = function.unwrap_or_else(|| ANY_NAME.to_owned());
    Rule {
        defined_by: logical_id.to_owned(),
        scope: function.clone(),
        kind: PermissionKind::Invocation,
        effect: Effect::Allow,
        principals: Names::single(property_text_or_any(resource, "Principal")),
        actions: Names::single(property_text_or_any(resource, "Action")),
        resources: Names::single(function),
        condition: invocation_condition(resource),
    }
}

fn property_text_or_any(resource: &Value, property_name: &str) -> String {
    let text = property(resource, &[property_name]).map(name_text);
    text.unwrap_or_else(|| ANY_NAME.to_owned())
}

fn invocation_condition(permission: &Value) -> Condition {
    let mut condition = Condition::default();
    for (property_name, operator, key) in RESTRICTIONS {
        let Some(value) = property(permission, &[property_name]).map(name_text) else { continue };
        // If `InvokedViaFunctionUrl` is false, it does not restrict the permission.
        let is_restriction = operator != "Bool" || value != "false";
        if is_restriction {
            condition.add_values(operator, key, [value]);
        }
    }
    condition
}

fn read_function_url_rules(logical_id: &str, resource: &Value) -> Vec<Rule> {
    let authentication = property(resource, &["AuthType"]).map(name_text);
    let callers = match authentication.as_deref() {
        Some("AWS_IAM") => "any authenticated IAM principal",
        _ => EVERYONE,
    };
    let mut rules = vec![Rule {
        principals: Names::single(callers),
        actions: Names::single("call the function URL"),
        ..rule_for_everyone(logical_id, PermissionKind::Url, Effect::Allow)
    }];
    if let Some(cors) = property(resource, &["Cors"]) {
        rules.push(read_cors_rule(logical_id, cors, &FUNCTION_URL_CORS));
    }
    rules
}

struct CorsFields {
    origins: &'static str,
    methods: &'static str,
    request_headers: &'static str,
    exposed_headers: &'static str,
}

const FUNCTION_URL_CORS: CorsFields = CorsFields {
    origins: "AllowOrigins",
    methods: "AllowMethods",
    request_headers: "AllowHeaders",
    exposed_headers: "ExposeHeaders",
};

const BUCKET_CORS: CorsFields = CorsFields {
    origins: "AllowedOrigins",
    methods: "AllowedMethods",
    request_headers: "AllowedHeaders",
    exposed_headers: "ExposedHeaders",
};

/// The actions of the rule are the allowed methods and the allowed headers.
fn read_cors_rule(logical_id: &str, cors: &Value, fields: &CorsFields) -> Rule {
    let names_in = |field: &str| cors.get(field).map(name_texts).unwrap_or_default();
    let mut actions = Vec::new();
    for (field, verb) in [
        (fields.methods, "request with"),
        (fields.request_headers, "send the header"),
        (fields.exposed_headers, "read the header"),
    ] {
        actions.extend(names_in(field).into_iter().map(|name| format!("{verb} {name}")));
    }
    // Only function URLs have this setting.
    let credentials = cors.get("AllowCredentials").map(name_text);
    if credentials.is_some_and(|setting| setting != "false") {
        actions.push("send cookies".to_owned());
    }
    Rule {
        principals: Names::Only(names_in(fields.origins)),
        actions: Names::Only(actions),
        ..rule_for_everyone(logical_id, PermissionKind::Cors, Effect::Allow)
    }
}

fn read_bucket_rules(logical_id: &str, resource: &Value) -> Vec<Rule> {
    let mut rules = Vec::new();
    let cors_rules =
        property(resource, &["CorsConfiguration", "CorsRules"]).and_then(Value::as_array);
    for cors in cors_rules.into_iter().flatten() {
        rules.push(read_cors_rule(logical_id, cors, &BUCKET_CORS));
    }
    rules.extend(read_blocked_access_rules(logical_id, resource));
    rules.extend(read_access_list_rule(logical_id, resource));
    rules
}

/// Returns a deny rule for each kind of public access that the bucket blocks, and another if the
/// bucket disables access control lists.
fn read_blocked_access_rules(logical_id: &str, resource: &Value) -> Vec<Rule> {
    const BLOCK_SETTINGS: [(&str, &str); 4] = [
        ("BlockPublicAcls", "create a public access list"),
        ("BlockPublicPolicy", "create a public policy"),
        ("IgnorePublicAcls", "use a public access list"),
        ("RestrictPublicBuckets", "use a public policy"),
    ];
    let mut blocked_actions = Vec::new();
    for (setting, action) in BLOCK_SETTINGS {
        let value = property(resource, &["PublicAccessBlockConfiguration", setting]).map(name_text);
        if value.as_deref() == Some("true") {
            blocked_actions.push(action);
        }
    }
    if disables_access_lists(resource) {
        blocked_actions.push("use access lists");
    }
    let deny_rule = |action| Rule {
        actions: Names::single(action),
        ..rule_for_everyone(logical_id, PermissionKind::PublicAccess, Effect::Deny)
    };
    blocked_actions.into_iter().map(deny_rule).collect()
}

fn disables_access_lists(bucket: &Value) -> bool {
    let ownership_rules =
        property(bucket, &["OwnershipControls", "Rules"]).and_then(Value::as_array);
    ownership_rules.into_iter().flatten().any(|rule| {
        rule.get("ObjectOwnership").is_some_and(|ownership| ownership == "BucketOwnerEnforced")
    })
}

/// Returns the rule that is equivalent to a canned access control list. Returns `None` if the list
/// gives access only to the bucket owner.
fn read_access_list_rule(logical_id: &str, resource: &Value) -> Option<Rule> {
    let access_list = property(resource, &["AccessControl"]).map(name_text)?;
    let (principal, actions): (&str, &[&str]) = match access_list.as_str() {
        "Private" | "BucketOwnerRead" | "BucketOwnerFullControl" => return None,
        "PublicRead" => (EVERYONE, &["read"]),
        "PublicReadWrite" => (EVERYONE, &["read", "write"]),
        "AuthenticatedRead" => ("any AWS account", &["read"]),
        unknown_list => (unknown_list, &["use the access list"]),
    };
    Some(Rule {
        principals: Names::single(principal),
        actions: Names::Only(actions.iter().map(|action| (*action).to_owned()).collect()),
        ..rule_for_everyone(logical_id, PermissionKind::PublicAccess, Effect::Allow)
    })
}
