//! Checks that roles allow only specific actions on specific resources, and that bucket and queue
//! policies contain only deny statements.

use serde_json::{Map, Value};

use crate::constructs::{ResourceType, statements_of};
use crate::stack::WILDCARD_REASONS;
use crate::stack::error::{SynthesisError, TemplatePart};
use crate::template::{Resource, Template};

/// Returns an error for each wildcard in a role policy, and for each allow statement in a
/// resource-based policy.
///
/// The resource `*` is accepted if the metadata of the role contains a reason. A pattern that
/// contains the ARN of a resource is also accepted, because it is an expression and not a literal
/// string.
pub(super) fn find_permission_faults(template: &Template) -> Vec<SynthesisError> {
    let mut wildcard_faults = Vec::new();
    let mut allowing_policy_faults = Vec::new();
    for (logical_id, resource) in &template.resources {
        match ResourceType::from_name(&resource.resource_type) {
            Some(ResourceType::Role) => {
                wildcard_faults.extend(find_wildcards_in_role(logical_id, resource));
            }
            Some(ResourceType::BucketPolicy | ResourceType::QueuePolicy) => {
                allowing_policy_faults.extend(find_allowing_statements(logical_id, resource));
            }
            _ => {}
        }
    }
    wildcard_faults.extend(allowing_policy_faults);
    wildcard_faults
}

/// Only roles may grant permissions.
fn find_allowing_statements(logical_id: &str, policy: &Resource) -> Vec<SynthesisError> {
    let Some(document) = policy.properties.get("PolicyDocument") else { return Vec::new() };
    let mut faults = Vec::new();
    for statement in statements_of(document) {
        if text_field(statement, "Effect") != "Deny" {
            faults.push(SynthesisError::AllowingPolicy {
                template_part: TemplatePart::new(logical_id, &policy.resource_type),
                statement: text_field(statement, "Sid").to_owned(),
            });
        }
    }
    faults
}

fn text_field<'a>(statement: &'a Map<String, Value>, field: &str) -> &'a str {
    statement.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn find_wildcards_in_role(logical_id: &str, role: &Resource) -> Vec<SynthesisError> {
    let template_part = TemplatePart::new(logical_id, &role.resource_type);
    let policies = role.properties.get("Policies").and_then(Value::as_array).into_iter().flatten();
    let statements =
        policies.filter_map(|policy| policy.get("PolicyDocument")).flat_map(statements_of);
    let mut faults = Vec::new();
    for statement in statements {
        if text_field(statement, "Effect") != "Allow" {
            continue;
        }
        let statement_id = text_field(statement, "Sid");
        for pattern in unexplained_wildcards(statement, has_wildcard_reason(role, statement_id)) {
            faults.push(SynthesisError::WildcardPermission {
                template_part: template_part.clone(),
                statement: statement_id.to_owned(),
                pattern: pattern.to_owned(),
            });
        }
    }
    faults
}

fn has_wildcard_reason(role: &Resource, statement_id: &str) -> bool {
    let reasons = role.metadata.get(WILDCARD_REASONS);
    reasons.is_some_and(|reasons| reasons.get(statement_id).is_some())
}

/// Returns the actions that contain wildcards, and the resources that contain wildcards unless the
/// role states a reason for them.
fn unexplained_wildcards(statement: &Map<String, Value>, has_wildcard_reason: bool) -> Vec<&str> {
    let mut wildcards = wildcards_in_field(statement, "Action");
    if !has_wildcard_reason {
        wildcards.extend(wildcards_in_field(statement, "Resource"));
    }
    wildcards
}

/// The field is a list or a single value.
fn wildcards_in_field<'a>(statement: &'a Map<String, Value>, field: &str) -> Vec<&'a str> {
    let values = match statement.get(field) {
        Some(Value::Array(items)) => items.as_slice(),
        Some(single) => std::slice::from_ref(single),
        None => &[],
    };
    values.iter().filter_map(Value::as_str).filter(|text| text.contains('*')).collect()
}

#[cfg(test)]
mod tests {
    use crate::constructs::{Role, Service, Statement};
    use crate::stack::Stack;
    use crate::template::Template;

    fn faults(statement: Statement) -> String {
        let mut stack = Stack::new("test");
        let role = Role::assumed_by(Service::Lambda).policy("use", [statement]);
        stack.add("Worker", role).unwrap();
        stack.synthesize().map_or_else(|errors| errors.to_string(), |_| String::new())
    }

    #[test]
    fn wildcards_are_rejected() {
        let arn = "arn:aws:s3:::b/k".into();
        assert_eq!(faults(Statement::allow("Read", ["s3:GetObject"], [arn])), "");
        let arn = "arn:aws:s3:::b/k".into();
        assert_eq!(
            faults(Statement::allow("Read", ["s3:Get*"], [arn])),
            "`Worker` (AWS::IAM::Role): statement `Read` allows the wildcard `s3:Get*`; list each \
             action and each resource instead"
        );
        for arn in ["*", "arn:aws:s3:::*"] {
            let message = faults(Statement::allow("Read", ["s3:GetObject"], [arn.into()]));
            assert!(message.contains(&format!("allows the wildcard `{arn}`")), "{message}");
        }
    }

    #[test]
    fn a_reason_permits_any_resource_but_not_any_action() {
        let any = |action| Statement::allow_on_any_resource("Trace", [action], "knows no ARN");
        assert_eq!(faults(any("xray:PutTraceSegments")), "");
        assert!(faults(any("xray:*")).contains("allows the wildcard `xray:*`"));
    }

    #[test]
    fn policies_of_queues_and_buckets_only_deny() {
        for policy in ["AWS::SQS::QueuePolicy", "AWS::S3::BucketPolicy"] {
            let with = |effect: &str| {
                let text = format!(
                    r#"{{"AWSTemplateFormatVersion": "2010-09-09", "Description": "test",
                    "Resources": {{"Open": {{"Type": "{policy}", "Properties": {{"PolicyDocument":
                    {{"Statement": [{{"Sid": "All", "Effect": "{effect}"}}]}}}}}}}}}}"#
                );
                super::find_permission_faults(&Template::from_json(&text).unwrap())
            };
            assert_eq!(with("Deny"), []);
            assert_eq!(
                with("Allow")[0].to_string(),
                format!(
                    "`Open` ({policy}): statement `All` has the effect Allow, but a resource policy \
                     may only deny; allow it in a role instead"
                )
            );
        }
    }
}
