//! Checks that roles restrict permissions to specific actions and resources, and that bucket and
//! queue policies contain only deny statements.

use serde_json::{Map, Value};

use crate::constructs::{ResourceType, statements_of};
use crate::stack::REASONS;
use crate::stack::error::{Holder, SynthesisError};
use crate::template::{Resource, Template};

/// Returns the wildcards in role policies, and the resource-based policies that allow anything.
///
/// The resource `*` is accepted if the role's metadata contains a reason. A pattern based on a
/// resource's ARN is accepted too, because it is an expression and not text.
pub(super) fn find_permission_faults(template: &Template) -> Vec<SynthesisError> {
    let roles = template
        .resources
        .iter()
        .filter(|(_, resource)| resource.resource_type == ResourceType::Role.name());
    let wildcards = roles.flat_map(|(logical_id, role)| find_wildcards(logical_id, role));
    wildcards.chain(find_allowing_policies(template)).collect()
}

/// Returns the allow statements of resource-based policies. They would grant permissions to a role
/// outside of the role itself.
fn find_allowing_policies(template: &Template) -> impl Iterator<Item = SynthesisError> {
    const POLICIES: [ResourceType; 2] = [ResourceType::BucketPolicy, ResourceType::QueuePolicy];
    let is_policy = |name: &str| ResourceType::named(name).is_some_and(|t| POLICIES.contains(&t));
    let policies = template.resources.iter();
    let policies = policies.filter(move |(_, resource)| is_policy(&resource.resource_type));
    policies.flat_map(|(logical_id, policy)| {
        let document = policy.properties.get("PolicyDocument");
        let statements = document.into_iter().flat_map(statements_of);
        let allowing = statements
            .filter(|statement| statement.get("Effect").is_none_or(|effect| effect != "Deny"));
        allowing.map(|statement| SynthesisError::AllowingPolicy {
            holder: Holder::new(logical_id, &policy.resource_type),
            statement: text_of(statement, "Sid").to_owned(),
        })
    })
}

fn text_of<'a>(statement: &'a Map<String, Value>, name: &str) -> &'a str {
    statement.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn find_wildcards(logical_id: &str, role: &Resource) -> Vec<SynthesisError> {
    let holder = Holder::new(logical_id, &role.resource_type);
    let policies = role.properties.get("Policies").and_then(Value::as_array).into_iter().flatten();
    let statements = policies
        .filter_map(|policy| policy.get("PolicyDocument"))
        .flat_map(statements_of)
        .filter(|statement| statement.get("Effect").is_some_and(|effect| effect == "Allow"));
    statements
        .flat_map(|statement| {
            let id = text_of(statement, "Sid");
            let has_reason = role.metadata.get(REASONS).is_some_and(|all| all.get(id).is_some());
            let resources = if has_reason { Vec::new() } else { wildcards(statement, "Resource") };
            wildcards(statement, "Action")
                .into_iter()
                .chain(resources)
                .map(|pattern| SynthesisError::WildcardPermission {
                    holder: holder.clone(),
                    statement: id.to_owned(),
                    pattern: pattern.to_owned(),
                })
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Returns the texts that contain `*` in a statement field, which is a list or a single value.
fn wildcards<'a>(statement: &'a Map<String, Value>, field: &str) -> Vec<&'a str> {
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
            "`Worker` (AWS::IAM::Role): statement `Read` allows `s3:Get*`; name each action and \
             each resource"
        );
        for arn in ["*", "arn:aws:s3:::*"] {
            let message = faults(Statement::allow("Read", ["s3:GetObject"], [arn.into()]));
            assert!(message.contains(&format!("allows `{arn}`")), "{message}");
        }
    }

    #[test]
    fn a_reason_permits_any_resource_but_not_any_action() {
        let any = |action| Statement::allow_on_any_resource("Trace", [action], "knows no ARN");
        assert_eq!(faults(any("xray:PutTraceSegments")), "");
        assert!(faults(any("xray:*")).contains("allows `xray:*`"));
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
