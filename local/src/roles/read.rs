//! Reads a role's policies. Unsupported parts cause errors: if they were ignored, the local stack
//! could allow or deny more than AWS does.

use serde_json::{Map, Value};

use super::condition::{Condition, read_strings};
use super::statement::{ActionPattern, Effect, Resource, Statement};

const VERSION: &str = "2012-10-17";
const SUPPORTED_FIELDS: [&str; 5] = ["Sid", "Effect", "Action", "Resource", "Condition"];

/// Intrinsic functions must already be resolved.
pub(super) fn read_statements(policies: &Value) -> Result<Vec<Statement>, String> {
    let mut statements = Vec::new();
    for policy in policies.as_array().ok_or("Policies is not a list")? {
        let policy_name = policy.get("PolicyName").and_then(Value::as_str).unwrap_or_default();
        let document = policy.get("PolicyDocument").unwrap_or(&Value::Null);
        if document.get("Version").and_then(Value::as_str) != Some(VERSION) {
            return Err(format!("policy {policy_name}: Version must be {VERSION}"));
        }
        let Some(statement_list) = document.get("Statement").and_then(Value::as_array) else {
            return Err(format!("policy {policy_name}: Statement must be a list"));
        };
        for (index, statement) in statement_list.iter().enumerate() {
            let sid = match statement.get("Sid").and_then(Value::as_str) {
                Some(sid) => sid.to_owned(),
                None => format!("number {}", index + 1),
            };
            let statement = read_statement(policy_name, &sid, statement)
                .map_err(|reason| format!("policy {policy_name}, statement {sid}: {reason}"))?;
            statements.push(statement);
        }
    }
    Ok(statements)
}

fn read_statement(policy_name: &str, sid: &str, statement: &Value) -> Result<Statement, String> {
    let fields = statement.as_object().ok_or("the statement is not an object")?;
    for field_name in fields.keys() {
        if !SUPPORTED_FIELDS.contains(&field_name.as_str()) {
            return Err(format!("{field_name} is not supported"));
        }
    }
    let effect = match fields.get("Effect").and_then(Value::as_str) {
        Some("Allow") => Effect::Allow,
        Some("Deny") => Effect::Deny,
        _ => return Err("Effect is neither Allow nor Deny".to_owned()),
    };
    let mut resources = Vec::new();
    for arn in read_field(fields, "Resource")? {
        let resource =
            Resource::parse(&arn).ok_or_else(|| format!("Resource {arn} is not an ARN"))?;
        resources.push(resource);
    }
    Ok(Statement {
        policy: policy_name.to_owned(),
        sid: sid.to_owned(),
        effect,
        actions: read_field(fields, "Action")?.into_iter().map(ActionPattern::new).collect(),
        resources,
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
        assert!(none.unwrap_err().contains("Statement must be a list"));
    }
}
