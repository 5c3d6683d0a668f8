//! Roles name each action and each resource; policies of buckets and queues only deny.

use serde_json::{Map, Value};

use crate::constructs::{ResourceType, statements_of};
use crate::stack::REASONS;
use crate::stack::error::{Holder, SynthesisError};
use crate::template::{Resource, Template};

/// Wildcards in what a role allows. `*` as a resource passes where the role's metadata holds the
/// reason; patterns below a resource's own ARN are built by an expression and pass too.
pub(super) fn findings(template: &Template) -> Vec<SynthesisError> {
    let roles = template
        .resources
        .iter()
        .filter(|(_, resource)| resource.resource_type == ResourceType::Role.name());
    let of_roles = roles.flat_map(|(logical_id, role)| of_role(logical_id, role));
    of_roles.chain(allowing_policies(template)).collect()
}

/// What a policy of a resource allows comes on top of every role, and is not seen in any.
fn allowing_policies(template: &Template) -> impl Iterator<Item = SynthesisError> {
    const POLICIES: [ResourceType; 2] = [ResourceType::BucketPolicy, ResourceType::QueuePolicy];
    let is_policy = |name: &str| ResourceType::named(name).is_some_and(|t| POLICIES.contains(&t));
    let policies = template.resources.iter();
    let policies = policies.filter(move |(_, resource)| is_policy(&resource.resource_type));
    policies.flat_map(|(logical_id, policy)| {
        let document = policy.properties.get("PolicyDocument");
        let statements = document.into_iter().flat_map(statements_of);
        let allowing =
            statements.filter(|statement| statement.get("Effect").is_none_or(|e| e != "Deny"));
        allowing.map(|statement| SynthesisError::AllowingPolicy {
            holder: Holder::new(logical_id, &policy.resource_type),
            statement: text_of(statement, "Sid").to_owned(),
        })
    })
}

fn text_of<'a>(statement: &'a Map<String, Value>, name: &str) -> &'a str {
    statement.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn of_role(logical_id: &str, role: &Resource) -> Vec<SynthesisError> {
    let holder = Holder::new(logical_id, &role.resource_type);
    let policies = role.properties.get("Policies").and_then(Value::as_array).into_iter().flatten();
    let statements = policies
        .filter_map(|policy| policy.get("PolicyDocument"))
        .flat_map(statements_of)
        .filter(|statement| statement.get("Effect").is_some_and(|effect| effect == "Allow"));
    statements
        .flat_map(|statement| {
            let id = text_of(statement, "Sid");
            let excused = role.metadata.get(REASONS).is_some_and(|all| all.get(id).is_some());
            patterns(statement, "Action")
                .chain(patterns(statement, "Resource").filter(move |_| !excused))
                .map(|pattern| SynthesisError::WildcardPermission {
                    holder: holder.clone(),
                    statement: id.to_owned(),
                    pattern: pattern.to_owned(),
                })
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Strings with `*` in them, of a list or of a single value.
fn patterns<'a>(
    statement: &'a Map<String, Value>,
    name: &str,
) -> impl Iterator<Item = &'a str> + use<'a> {
    let values = match statement.get(name) {
        Some(Value::Array(items)) => items.as_slice(),
        Some(single) => std::slice::from_ref(single),
        None => &[],
    };
    values.iter().filter_map(Value::as_str).filter(|text| text.contains('*'))
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
    fn wildcards_are_refused() {
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
    fn a_reason_excuses_the_resource_but_not_the_action() {
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
                super::findings(&Template::from_json(&text).unwrap())
            };
            assert_eq!(with("Deny"), []);
            assert_eq!(
                with("Allow")[0].to_string(),
                format!(
                    "`Open` ({policy}): statement `All` allows; such policies may only deny, \
                     roles allow"
                )
            );
        }
    }
}
