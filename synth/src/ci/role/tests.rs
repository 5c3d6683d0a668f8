//! The permissions of the role, and the resources to which they are limited.

use cellar_stacks::config::Webhook;
use cellar_stacks::wildcard::{Case, matches_wildcards};
use cellar_stacks::{Architecture, Config, cellar_stack};

use super::*;

/// IAM limits the inline policies of a role to this number of characters, without white space.
const POLICY_CHARS_MAX: usize = 10_240;

fn role(stack_name: &str) -> DeployRole<'_> {
    DeployRole { stack_name, kms_key_arn: None, region: None, repository: None }
}

fn statements(role: &DeployRole<'_>) -> Vec<Value> {
    role.policy()["Statement"].as_array().unwrap().clone()
}

/// Replaces pseudo parameters as in an account.
fn resolved(value: &Value) -> String {
    let text = value["Fn::Sub"].as_str().or(value.as_str()).unwrap();
    text.replace("${AWS::Partition}", "aws")
        .replace("${AWS::Region}", "eu-central-1")
        .replace("${AWS::AccountId}", "123456789012")
}

fn allows(statements: &[Value], action: &str, resource: &str) -> bool {
    let has = |values: &Value, text: &str| {
        let is_match = |value| matches_wildcards(&resolved(value), text, Case::Sensitive);
        values.as_array().unwrap().iter().any(is_match)
    };
    statements.iter().any(|one| has(&one["Action"], action) && has(&one["Resource"], resource))
}

fn full_config() -> Config {
    let mut config = Config { dashboard: true, ..Config::default() };
    config.alarms.email = Some("operators@example.com".to_owned());
    config.alarms.event_sources = true;
    let url = "https://hooks.example.com/cellar".to_owned();
    config.webhook = Some(Webhook { url, payloads: true });
    config
}

#[test]
fn every_resource_type_of_the_stack_is_covered() {
    let names = Names::new("cellar");
    let mut types = std::collections::BTreeSet::new();
    for config in [Config::default(), full_config()] {
        let template = cellar_stack(&config, Architecture::Arm64).unwrap();
        for (logical_id, resource) in template.resources() {
            let name = resource.resource_type.as_str();
            let resource_type = ResourceType::from_name(name).unwrap_or_else(|| {
                panic!("{logical_id}: the deploy role has no permissions for {name}")
            });
            let grants = resource_grants(resource_type, &names);
            assert!(grants.iter().all(|grant| !grant.actions.is_empty()) && !grants.is_empty());
            types.insert(name.to_owned());
        }
    }
    assert_eq!(types.len(), ResourceType::ALL.len(), "the configurations create each type");
}

#[test]
fn only_resources_of_the_stack_can_be_changed() {
    let statements = statements(&role("books"));
    for (action, own, other) in [
        (
            "dynamodb:UpdateTable",
            "arn:aws:dynamodb:eu-central-1:123456789012:table/books-EntryTable-1ABC",
            "arn:aws:dynamodb:eu-central-1:123456789012:table/bookshop",
        ),
        (
            "lambda:UpdateFunctionCode",
            "arn:aws:lambda:eu-central-1:123456789012:function:books-ApiFunction-1ABC",
            "arn:aws:lambda:us-east-1:123456789012:function:books-ApiFunction-1ABC",
        ),
        (
            "iam:PutRolePolicy",
            "arn:aws:iam::123456789012:role/books-ApiRole-1ABC",
            "arn:aws:iam::123456789012:role/deploy/books-deploy-role-Role-1ABC",
        ),
        (
            "cloudformation:ExecuteChangeSet",
            "arn:aws:cloudformation:eu-central-1:123456789012:stack/books/0a1b",
            "arn:aws:cloudformation:eu-central-1:123456789012:stack/books-deploy-role/0a1b",
        ),
        (
            "s3:PutObject",
            "arn:aws:s3:::cellar-artifacts-123456789012-eu-central-1-an/bundles/x.zip",
            "arn:aws:s3:::books-bucket-1abc/x",
        ),
        ("s3:PutBucketCORS", "arn:aws:s3:::books-bucket-1abc", "arn:aws:s3:::library"),
    ] {
        assert!(allows(&statements, action, own), "{action} {own}");
        assert!(!allows(&statements, action, other), "{action} {other}");
    }
}

#[test]
fn the_role_cannot_change_itself() {
    for stack_name in ["cellar", "deploy", "deploy-role", &"deploy-".repeat(9)] {
        let role = role(stack_name);
        let itself = format!(
            "arn:aws:iam::123456789012:role{ROLE_PATH}{}-Role-1ABC",
            role.role_stack_name()
        );
        let statements = statements(&role);
        for action in ["iam:PutRolePolicy", "iam:UpdateAssumeRolePolicy", "iam:PassRole"] {
            assert!(!allows(&statements, action, &itself), "{action} {itself}");
        }
    }
}

#[test]
fn no_data_can_be_read_or_deleted() {
    let statements = statements(&role("books"));
    let table = "arn:aws:dynamodb:eu-central-1:123456789012:table/books-EntryTable-1ABC";
    for action in ["DeleteTable", "GetItem", "PutItem", "Query", "Scan", "DeleteItem"] {
        assert!(!allows(&statements, &format!("dynamodb:{action}"), table), "{action}");
    }
    for action in ["s3:GetObject", "s3:DeleteObject", "s3:DeleteObjectVersion"] {
        assert!(!allows(&statements, action, "arn:aws:s3:::books-bucket-1abc/x"), "{action}");
    }
}

#[test]
fn wildcards_are_limited_to_reading() {
    for statement in statements(&role("books")) {
        let is_everywhere = statement["Resource"][0] == "*";
        let is_limited = !is_everywhere || !statement["Condition"].is_null();
        for action in statement["Action"].as_array().unwrap() {
            let (_, name) = action.as_str().unwrap().split_once(':').unwrap();
            let is_read = name.starts_with("Get") || name.starts_with("Describe");
            assert!(!name.contains('*') || is_read, "{action}");
            // SNS does not limit this action to a resource.
            assert!(is_limited || is_read || action == "sns:Unsubscribe", "{statement}");
        }
    }
}

#[test]
fn only_the_environment_of_the_repository_is_trusted() {
    let trust =
        role("books").template()["Resources"]["Role"]["Properties"]["AssumeRolePolicyDocument"]
            .clone();
    assert_eq!(trust["Statement"].as_array().unwrap().len(), 1);
    let host = "token.actions.githubusercontent.com";
    let expected = json!({ "StringEquals": {
        (format!("{host}:aud")): "sts.amazonaws.com",
        (format!("{host}:sub")): { "Fn::Sub": "repo:${Repository}:environment:production" },
    }});
    assert_eq!(trust["Statement"][0]["Condition"], expected);
    assert_eq!(trust["Statement"][0]["Principal"]["Federated"]["Ref"], "OidcProviderArn");
}

#[test]
fn the_policy_fits_into_a_role() {
    let name = "Books-".repeat(21) + "xy";
    assert_eq!(name.len(), STACK_NAME_CHARS_MAX);
    let key = format!("arn:aws:kms:eu-central-1:123456789012:key/{}", "0".repeat(36));
    let mut policy = DeployRole { kms_key_arn: Some(&key), ..role(&name) }.policy();
    for statement in policy["Statement"].as_array_mut().unwrap() {
        for resource in statement["Resource"].as_array_mut().unwrap() {
            *resource = resolved(resource).into();
        }
    }
    let chars = policy.to_string().len();
    // The longest name of a region or partition adds less than 20 characters to each of 30 ARNs.
    assert!(chars + 20 * 30 <= POLICY_CHARS_MAX, "{chars}");
    assert_eq!(role(&name).role_stack_name().len(), STACK_NAME_CHARS_MAX);
}

#[test]
fn a_key_is_usable_only_if_the_stack_has_one() {
    let key = "arn:aws:kms:eu-central-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef";
    assert!(!allows(&statements(&role("books")), "kms:CreateGrant", key));
    let with_key = DeployRole { kms_key_arn: Some(key), ..role("books") };
    assert!(allows(&statements(&with_key), "kms:CreateGrant", key));
    assert!(!allows(&statements(&with_key), "kms:CreateGrant", &key.replace('7', "8")));
}

#[test]
fn the_template_is_yaml_and_says_how_to_apply_it() {
    let repository = "octocat/sheets".parse().unwrap();
    let role =
        DeployRole { region: Some("eu-central-1"), repository: Some(&repository), ..role("books") };
    let yaml = role.to_yaml(Path::new(".github/cellar-deploy-role.yaml"));
    let value: Value = serde_yaml::from_str(&yaml).unwrap();
    assert_eq!(value, role.template());
    for part in [
        "#   aws cloudformation deploy --stack-name books-deploy-role --region eu-central-1 \\\n",
        "--template-file .github/cellar-deploy-role.yaml --capabilities CAPABILITY_IAM \\\n",
        "Repository=octocat/sheets ",
        "gh variable set CELLAR_REGION --body eu-central-1\n",
    ] {
        assert!(yaml.contains(part), "{part}: {yaml}");
    }
}
