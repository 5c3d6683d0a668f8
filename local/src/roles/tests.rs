//! Tests of the template's roles and of modified templates.

use cellar_stacks::template::Template;
use cellar_stacks::{Architecture, Config, cellar_stack};
use serde_json::{Value, json};

use super::access_request::ConditionKey;
use super::function_roles::MAX_DENIALS;
use super::*;
use crate::error::LocalError;
use crate::names::Names;
use crate::state::Credentials;

/// Returns the default template, modified by `change`.
fn template(change: impl FnOnce(&mut Value)) -> Template {
    let template = cellar_stack(&Config::default(), Architecture::X86_64).unwrap();
    let mut json: Value = serde_json::from_str(&template.to_json()).unwrap();
    change(&mut json);
    Template::from_json(&json.to_string()).unwrap()
}

fn open(template: &Template) -> Result<Roles, LocalError> {
    let names = Names { template, stack: "cellar", url: String::new() };
    let (access_key, secret_key) = ("key".to_owned(), "secret".to_owned());
    Roles::open(template, &names, &Credentials { access_key, secret_key })
}

fn check(roles: &Roles, function: &str, action: &str, resource: &str) -> Result<(), Denied> {
    roles.authorize(roles.caller_of(function).unwrap(), &AccessRequest::new(action, resource))
}

const ENTRIES: &str = "arn:aws:dynamodb:local:000000000000:table/cellar-EntryTable";

#[test]
fn each_function_has_its_own_key_and_role() {
    let roles = open(&template(|_| {})).unwrap();
    let mut keys = vec!["key"];
    for function in ["ApiFunction", "IndexerFunction", "RelayFunction", "SnapshotFunction"] {
        let own = roles.credentials_of(function).unwrap();
        let (caller, signer) = roles.signer(&own.access_key).unwrap();
        assert_eq!(caller, roles.caller_of(function).unwrap());
        assert_eq!(signer.secret_key, own.secret_key);
        assert!(!keys.contains(&own.access_key.as_str()), "keys are unique");
        keys.push(&own.access_key);
    }
    assert_eq!(roles.keys().map(|own| own.access_key.as_str()).collect::<Vec<_>>(), keys);
    assert_eq!(roles.signer("key").unwrap().0, Caller::Operator);
    assert!(roles.signer("").is_none() && roles.signer("ke").is_none());
    assert!(roles.credentials_of("EntryTable").is_err());

    assert_eq!(check(&roles, "ApiFunction", "dynamodb:PutItem", ENTRIES), Ok(()));
    let denied = check(&roles, "SnapshotFunction", "dynamodb:PutItem", ENTRIES).unwrap_err().0;
    assert_eq!(
        denied,
        format!(
            "User: arn:aws:sts::000000000000:assumed-role/cellar-SnapshotRole/\
             cellar-SnapshotFunction is not authorized to perform: dynamodb:PutItem on resource: \
             {ENTRIES} because no identity-based policy allows the dynamodb:PutItem action"
        )
    );
    assert!(check(&roles, "RelayFunction", "dynamodb:GetItem", ENTRIES).is_err());
    let everything = AccessRequest::new("dynamodb:DeleteTable", ENTRIES);
    assert_eq!(roles.authorize(Caller::Operator, &everything), Ok(()));
    assert_eq!(roles.denials().len(), 2);
    let put = |one: &Permission| {
        (one.role.as_str(), one.statement.as_str(), one.action.as_str())
            == ("ApiRole", "EntryTable", "dynamodb:PutItem")
    };
    assert_eq!(roles.permissions().iter().find(|one| put(one)).unwrap().used, 1);
}

#[test]
fn the_snapshot_function_may_update_only_the_root_of_an_entry() {
    let roles = open(&template(|_| {})).unwrap();
    let worker = roles.caller_of("SnapshotFunction").unwrap();
    let update = |attributes: &[&str]| {
        let attributes = attributes.iter().map(|name| (*name).to_owned()).collect();
        let request = AccessRequest::new("dynamodb:UpdateItem", ENTRIES);
        roles.authorize(worker, &request.with_key(ConditionKey::Attributes, attributes))
    };
    assert_eq!(update(&["S", "N", "T", "E"]), Ok(()));
    assert!(update(&["S", "N", "T", "E", "B"]).is_err());
}

#[test]
fn keeps_the_newest_denials() {
    let roles = open(&template(|_| {})).unwrap();
    for index in 0..=MAX_DENIALS {
        let bucket = format!("arn:aws:s3:::{index}.");
        assert!(check(&roles, "ApiFunction", "s3:DeleteBucket", &bucket).is_err());
        assert_eq!(roles.denials().len(), (index + 1).min(MAX_DENIALS));
    }
    assert!(roles.denials()[0].contains("s3:::1. "), "{}", roles.denials()[0]);
}

#[test]
fn rejects_templates_with_unsupported_policies() {
    let statement = "/Resources/SnapshotRole/Properties/Policies/0/PolicyDocument/Statement/1";
    let changed = |pointer: String, value: Value| {
        open(&template(|json| *json.pointer_mut(&pointer).unwrap() = value))
            .unwrap_err()
            .to_string()
    };
    let error = changed(
        format!("{statement}/Condition"),
        json!({ "StringEqualsIgnoreCase": { "dynamodb:Attributes": "E" } }),
    );
    for named in ["SnapshotRole", "tables", "SetRoot", "StringEqualsIgnoreCase"] {
        assert!(error.contains(named), "{error}");
    }
    let error = changed(format!("{statement}/Resource"), json!([{ "Ref": "Nothing" }]));
    assert!(error.contains("Nothing"), "{error}");
    let error = changed(
        "/Resources/ApiFunction/Properties/Role".to_owned(),
        json!("arn:aws:iam::1:role/x"),
    );
    assert!(error.contains("ApiFunction"), "{error}");
    let error = changed("/Resources/ApiRole/Type".to_owned(), json!("AWS::IAM::User"));
    assert!(error.contains("ApiRole"), "{error}");
    for (id, resource_type, named) in [
        ("ApiRole", "ManagedPolicyArns", "ManagedPolicyArns"),
        ("ApiRole", "PermissionsBoundary", "PermissionsBoundary"),
    ] {
        let changed = template(|json| {
            json["Resources"][id]["Properties"][resource_type] =
                json!(["arn:aws:iam::aws:policy/x"]);
        });
        let error = open(&changed).unwrap_err().to_string();
        assert!(error.contains(id) && error.contains(named), "{error}");
    }
    let attached = template(|json| {
        json["Resources"]["More"] = json!({ "Type": "AWS::IAM::Policy", "Properties": {} });
    });
    assert!(open(&attached).unwrap_err().to_string().contains("More"));
}

#[test]
fn a_role_without_policies_permits_nothing() {
    let roles = open(&template(|json| {
        json["Resources"]["ApiRole"]["Properties"].as_object_mut().unwrap().remove("Policies");
        let role = json["Resources"]["ApiFunction"]["Properties"]["Role"].clone();
        json["Resources"]["RelayFunction"]["Properties"]["Role"] = role;
    }))
    .unwrap();
    for function in ["ApiFunction", "RelayFunction"] {
        assert!(check(&roles, function, "dynamodb:PutItem", ENTRIES).is_err(), "{function}");
    }
    let permissions = roles.permissions();
    let others = ["IndexerRole", "SnapshotRole"];
    assert!(permissions.iter().all(|one| others.contains(&one.role.as_str())), "{permissions:?}");
}

#[test]
fn reads_the_statements_for_kms_and_tracing() {
    let mut config = Config::default();
    let key = "arn:aws:kms:eu-west-1:123456789012:key/11111111-2222-3333-4444-555555555555";
    config.encryption.kms_key_arn = Some(key.to_owned());
    config.tracing = true;
    let template = cellar_stack(&config, Architecture::X86_64).unwrap();
    let permissions = open(&template).unwrap().permissions();
    for action in ["kms:Decrypt", "xray:PutTraceSegments"] {
        assert!(permissions.iter().any(|one| one.action == action), "{action}");
    }
}
