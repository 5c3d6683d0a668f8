//! Reads a role's policies. Unsupported parts are errors, because ignoring them could allow or deny
//! more than AWS does.

use serde_json::{Map, Value};

use super::condition::{Condition, read_strings};
use super::statement::{ActionPattern, Effect, Resource, Statement};

/// Supported version of the policy language.
const VERSION: &str = "2012-10-17";
/// Supported fields of a statement.
const FIELDS: [&str; 5] = ["Sid", "Effect", "Action", "Resource", "Condition"];

/// Reads all statements of a role's inline policies. Intrinsic functions must already be resolved.
pub(super) fn read_statements(policies: &Value) -> Result<Vec<Statement>, String> {
    let mut all = Vec::new();
    for policy in policies.as_array().ok_or("Policies is not a list")? {
        let name = policy.get("PolicyName").and_then(Value::as_str).unwrap_or_default();
        let document = policy.get("PolicyDocument");
        let version = document.and_then(|document| document.get("Version")?.as_str());
        if version != Some(VERSION) {
            return Err(format!("policy {name}: Version is not {VERSION}"));
        }
        let statements = document.and_then(|document| document.get("Statement")?.as_array());
        let statements =
            statements.ok_or_else(|| format!("policy {name}: Statement is not a list"))?;
        for (index, statement) in statements.iter().enumerate() {
            let sid = statement.get("Sid").and_then(Value::as_str);
            let sid = sid.map_or_else(|| format!("number {}", index + 1), str::to_owned);
            let fault = |why| format!("policy {name}, statement {sid}: {why}");
            let unnamed = read_statement(statement).map_err(fault)?;
            all.push(Statement { policy: name.to_owned(), sid, ..unnamed });
        }
    }
    Ok(all)
}

/// Reads a statement. The caller fills in the policy name and `Sid`.
fn read_statement(statement: &Value) -> Result<Statement, String> {
    let fields = statement.as_object().ok_or("the statement is not an object")?;
    if let Some(unknown) = fields.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        return Err(format!("{unknown} is not supported"));
    }
    let effect = match fields.get("Effect").and_then(Value::as_str) {
        Some("Allow") => Effect::Allow,
        Some("Deny") => Effect::Deny,
        _ => return Err("Effect is neither Allow nor Deny".to_owned()),
    };
    let resources = read_field(fields, "Resource")?
        .into_iter()
        .map(|text| Resource::parse(&text).ok_or_else(|| format!("Resource {text} is not an ARN")));
    Ok(Statement {
        policy: String::new(),
        sid: String::new(),
        effect,
        actions: read_field(fields, "Action")?.into_iter().map(ActionPattern::new).collect(),
        resources: resources.collect::<Result<_, _>>()?,
        conditions: Condition::read(fields.get("Condition"))?,
    })
}

fn read_field(fields: &Map<String, Value>, name: &str) -> Result<Vec<String>, String> {
    read_strings(name, fields.get(name).unwrap_or(&Value::Null))
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
        read_statements(&policies)
    }

    #[test]
    fn names_unsupported_parts_and_their_statement() {
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
            ("Resource", json!("T"), "Resource T is not an ARN"),
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
        assert!(none.unwrap_err().contains("Statement is not a list"));
    }
}
