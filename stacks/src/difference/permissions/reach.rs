//! Rules about who reaches a function or a bucket at all: URLs, origins of pages, public access.

use serde_json::Value;

use super::condition::Condition;
use super::pattern::Names;
use super::policies::{EVERYBODY, name, names, scope_of};
use super::rule::{PermissionKind, Rule};
use crate::constructs::{Effect, ResourceType};
use crate::difference::document::{known_type, property};

/// All such rules of a resource.
pub(super) fn rules(logical_id: &str, resource: &Value) -> Vec<Rule> {
    match known_type(resource) {
        Some(ResourceType::Permission) => vec![of_permission(logical_id, resource)],
        Some(ResourceType::FunctionUrl) => of_url(logical_id, resource),
        Some(ResourceType::Bucket) => of_bucket(logical_id, resource),
        _ => Vec::new(),
    }
}

fn rule(holder: &str, kind: PermissionKind, effect: Effect) -> Rule {
    Rule {
        holder: holder.to_owned(),
        scope: holder.to_owned(),
        kind,
        effect,
        principals: Names::one(EVERYBODY),
        actions: Names::one("*"),
        resources: Names::one(holder),
        condition: Condition::default(),
    }
}

/// Properties of a permission that narrow it, and the conditions that they are.
const NARROWING: [(&str, &str, &str); 6] = [
    ("EventSourceToken", "StringEquals", "lambda:EventSourceToken"),
    ("FunctionUrlAuthType", "StringEquals", "lambda:FunctionUrlAuthType"),
    ("InvokedViaFunctionUrl", "Bool", "lambda:InvokedViaFunctionUrl"),
    ("PrincipalOrgID", "StringEquals", "aws:PrincipalOrgID"),
    ("SourceAccount", "StringEquals", "aws:SourceAccount"),
    ("SourceArn", "ArnLike", "aws:SourceArn"),
];

fn of_permission(logical_id: &str, resource: &Value) -> Rule {
    let text = |property_name: &str| {
        property(resource, &[property_name]).map_or_else(|| "*".to_owned(), name)
    };
    let mut condition = Condition::default();
    for (property_name, operator, key) in NARROWING {
        let value = property(resource, &[property_name]).map(name);
        // Not only through the URL is the same as no word of it.
        if let Some(value) = value.filter(|value| operator != "Bool" || value != "false") {
            condition.add(operator, key, [value]);
        }
    }
    // Its name and its ARN are the same function.
    let function = property(resource, &["FunctionName"]).map_or_else(|| "*".to_owned(), scope_of);
    Rule {
        scope: function.clone(),
        principals: Names::Only(vec![text("Principal")]),
        actions: Names::Only(vec![text("Action")]),
        resources: Names::one(function),
        condition,
        ..rule(logical_id, PermissionKind::Invocation, Effect::Allow)
    }
}

fn of_url(logical_id: &str, resource: &Value) -> Vec<Rule> {
    let authenticated = property(resource, &["AuthType"]).map(name);
    let callers = match authenticated.as_deref() {
        Some("AWS_IAM") => "whoever signs with IAM",
        _ => EVERYBODY,
    };
    let call = Rule {
        principals: Names::one(callers),
        actions: Names::one("call its URL"),
        ..rule(logical_id, PermissionKind::Url, Effect::Allow)
    };
    let cors = property(resource, &["Cors"]).map(|cors| {
        let fields = ["AllowOrigins", "AllowMethods", "AllowHeaders", "ExposeHeaders"];
        let credentials = cors.get("AllowCredentials").map(name);
        let credentials = credentials.is_some_and(|allowed| allowed != "false");
        of_cors(logical_id, cors, fields, credentials)
    });
    [call].into_iter().chain(cors).collect()
}

/// What pages of some origins may do. A method and a header are actions of their own.
fn of_cors(logical_id: &str, cors: &Value, fields: [&str; 4], credentials: bool) -> Rule {
    let [origins, methods, sent, read] = fields;
    let listed = |field: &str| cors.get(field).map(names).unwrap_or_default();
    let with = |field: &str, verb: &str| -> Vec<String> {
        listed(field).into_iter().map(|name| format!("{verb} {name}")).collect()
    };
    let mut actions = with(methods, "request with");
    actions.extend(with(sent, "send the header"));
    actions.extend(with(read, "read the header"));
    if credentials {
        actions.push("send cookies".to_owned());
    }
    Rule {
        principals: Names::Only(listed(origins)),
        actions: Names::Only(actions),
        ..rule(logical_id, PermissionKind::Cors, Effect::Allow)
    }
}

fn of_bucket(logical_id: &str, resource: &Value) -> Vec<Rule> {
    let cors = property(resource, &["CorsConfiguration", "CorsRules"]).and_then(Value::as_array);
    let fields = ["AllowedOrigins", "AllowedMethods", "AllowedHeaders", "ExposedHeaders"];
    let cors = cors.into_iter().flatten().map(|cors| of_cors(logical_id, cors, fields, false));
    cors.chain(refused(logical_id, resource)).chain(access_list(logical_id, resource)).collect()
}

/// What a bucket refuses of public access, and access lists as such.
fn refused<'a>(logical_id: &'a str, resource: &'a Value) -> impl Iterator<Item = Rule> + use<'a> {
    const BLOCKS: [(&str, &str); 4] = [
        ("BlockPublicAcls", "make a public access list"),
        ("BlockPublicPolicy", "make a public policy"),
        ("IgnorePublicAcls", "use a public access list"),
        ("RestrictPublicBuckets", "use a public policy"),
    ];
    let blocked = BLOCKS.into_iter().filter_map(move |(block, action)| {
        let set = property(resource, &["PublicAccessBlockConfiguration", block]).map(name);
        (set.as_deref() == Some("true")).then_some(action)
    });
    let ownership = property(resource, &["OwnershipControls", "Rules"]).and_then(Value::as_array);
    let mut ownership = ownership.into_iter().flatten();
    let enforced = ownership
        .any(|rule| rule.get("ObjectOwnership").is_some_and(|it| it == "BucketOwnerEnforced"));
    let actions = blocked.chain(enforced.then_some("use access lists"));
    actions.map(move |action| Rule {
        actions: Names::one(action),
        ..rule(logical_id, PermissionKind::PublicAccess, Effect::Deny)
    })
}

/// The canned access list, where there is one that lets others in.
fn access_list(logical_id: &str, resource: &Value) -> Option<Rule> {
    let list = property(resource, &["AccessControl"]).map(name)?;
    let (who, actions): (&str, &[&str]) = match list.as_str() {
        "Private" | "BucketOwnerRead" | "BucketOwnerFullControl" => return None,
        "PublicRead" => (EVERYBODY, &["read"]),
        "PublicReadWrite" => (EVERYBODY, &["read", "write"]),
        "AuthenticatedRead" => ("whoever has an account of AWS", &["read"]),
        other => (other, &["use the access list"]),
    };
    Some(Rule {
        principals: Names::one(who),
        actions: Names::Only(actions.iter().map(|action| (*action).to_owned()).collect()),
        ..rule(logical_id, PermissionKind::PublicAccess, Effect::Allow)
    })
}
