//! Reads the policies of a role. What is not understood is an error: a statement that were left out
//! could permit, or forbid, what AWS does not.

use serde_json::{Map, Value};

use super::condition::Condition;
use super::statement::{ActionPattern, Effect, Resource, Statement};

/// The version of the policy language.
const VERSION: &str = "2012-10-17";
/// What a statement here is made of.
const FIELDS: [&str; 5] = ["Sid", "Effect", "Action", "Resource", "Condition"];
/// What begins a variable of a policy.
const VARIABLE: &str = "${";

/// All statements of a role's inline policies, whose intrinsic functions are resolved.
pub(super) fn statements(policies: &Value) -> Result<Vec<Statement>, String> {
    let mut all = Vec::new();
    for policy in policies.as_array().ok_or("Policies is no list")? {
        let name = policy.get("PolicyName").and_then(Value::as_str).unwrap_or_default();
        let document = policy.get("PolicyDocument");
        let version = document.and_then(|document| document.get("Version")?.as_str());
        if version != Some(VERSION) {
            return Err(format!("policy {name}: its Version is not {VERSION}"));
        }
        let own = document.and_then(|document| document.get("Statement")?.as_array());
        let own = own.ok_or_else(|| format!("policy {name}: it has no list of statements"))?;
        for (index, statement) in own.iter().enumerate() {
            let id = statement.get("Sid").and_then(Value::as_str);
            let id = id.map_or_else(|| format!("number {}", index + 1), str::to_owned);
            let fault = |why| format!("policy {name}, statement {id}: {why}");
            let parts = parts(statement).map_err(fault)?;
            all.push(Statement { place: (name.to_owned(), id), ..parts });
        }
    }
    Ok(all)
}

fn parts(statement: &Value) -> Result<Statement, String> {
    let fields = statement.as_object().ok_or("it is no map")?;
    if let Some(unknown) = fields.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        return Err(format!("{unknown} is not understood here"));
    }
    let effect = match fields.get("Effect").and_then(Value::as_str) {
        Some("Allow") => Effect::Allow,
        Some("Deny") => Effect::Deny,
        _ => return Err("its Effect is neither Allow nor Deny".to_owned()),
    };
    let resources = field(fields, "Resource")?
        .into_iter()
        .map(|text| Resource::read(&text).ok_or_else(|| format!("Resource {text} is no ARN")));
    Ok(Statement {
        place: Default::default(),
        effect,
        actions: field(fields, "Action")?.into_iter().map(ActionPattern::new).collect(),
        resources: resources.collect::<Result<_, _>>()?,
        conditions: Condition::read(fields.get("Condition"))?,
    })
}

fn field(fields: &Map<String, Value>, name: &str) -> Result<Vec<String>, String> {
    texts(name, fields.get(name).unwrap_or(&Value::Null))
}

/// One text, or a list of at least one.
pub(super) fn texts(name: &str, value: &Value) -> Result<Vec<String>, String> {
    let wrong = || format!("{name} is neither a text nor a list of texts");
    let values = match value {
        Value::Array(values) => values.as_slice(),
        single => std::slice::from_ref(single),
    };
    let texts = values.iter().map(|value| value.as_str().map(str::to_owned));
    let texts: Vec<String> = texts.collect::<Option<_>>().ok_or_else(wrong)?;
    if texts.is_empty() {
        return Err(wrong());
    }
    match texts.iter().find(|text| text.contains(VARIABLE)) {
        Some(text) => Err(format!("{name} has a variable, which is not understood here: {text}")),
        None => Ok(texts),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(change: impl FnOnce(&mut Value)) -> Result<Vec<Statement>, String> {
        let mut policies = json!([{ "PolicyName": "tables", "PolicyDocument": {
            "Version": "2012-10-17",
            "Statement": [{
                "Sid": "Put", "Effect": "Allow", "Action": "dynamodb:PutItem",
                "Resource": "arn:aws:dynamodb:r:0:table/T",
            }],
        }}]);
        change(&mut policies);
        statements(&policies)
    }

    #[test]
    fn what_is_not_understood_is_named_with_its_statement() {
        assert_eq!(read(|_| {}).unwrap().len(), 1);
        for (field, value, named) in [
            ("NotAction", json!("s3:*"), "NotAction"),
            ("NotResource", json!("*"), "NotResource"),
            ("Principal", json!("*"), "Principal"),
            ("Effect", json!("Maybe"), "Effect"),
            ("Action", json!(null), "Action"),
            ("Action", json!([]), "Action"),
            ("Action", json!([1]), "Action"),
            ("Resource", json!({ "Ref": "T" }), "Resource"),
            ("Resource", json!("T"), "Resource T is no ARN"),
            ("Resource", json!("arn:aws:s3:::b/${aws:username}"), "${aws:username}"),
            ("Condition", json!({ "Null": { "s3:prefix": "true" } }), "Null"),
        ] {
            let error = read(|policies| {
                policies[0]["PolicyDocument"]["Statement"][0][field] = value;
            });
            let error = error.unwrap_err();
            assert!(error.starts_with("policy tables, statement Put: "), "{error}");
            assert!(error.contains(named), "{error}");
        }
        let version =
            read(|policies| policies[0]["PolicyDocument"]["Version"] = json!("2008-10-17"));
        assert!(version.unwrap_err().contains("Version"));
        let none = read(|policies| policies[0]["PolicyDocument"]["Statement"] = json!({}));
        assert!(none.unwrap_err().contains("no list of statements"));
    }
}
