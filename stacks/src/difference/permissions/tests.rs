//! Tests that every way of broadening or narrowing permissions is detected. The templates have one
//! or two resources.

#![allow(clippy::needless_pass_by_value, reason = "values as json! gives them")]

use serde_json::{Value, json};

use super::*;

/// Returns the broadened and narrowed grants, one per line.
fn compared(old: Value, new: Value) -> (Vec<String>, Vec<String>) {
    let document =
        |resources: Value| Document::read(&json!({ "Resources": resources }).to_string()).unwrap();
    let found = compare_permissions(&document(old), &document(new)).unwrap();
    let lines = |grants: Vec<Grant>| grants.iter().map(line).collect();
    (lines(found.broadened), lines(found.narrowed))
}

fn line(grant: &Grant) -> String {
    let Grant { logical_id, effect, principals, actions, resources, condition, .. } = grant;
    let mut text = format!(
        "{logical_id} {effect:?} {} {} {}",
        principals.join(","),
        actions.join(","),
        resources.join(",")
    );
    if let Some(condition) = condition {
        text.push_str(&format!(" if {condition}"));
    }
    text
}

fn role(statements: Value) -> Value {
    json!({"R": {"Type": "AWS::IAM::Role", "Properties": {
        "Policies": [{"PolicyName": "p", "PolicyDocument": {"Statement": statements}}]}}})
}

fn allow(action: Value, resource: Value) -> Value {
    json!({"Effect": "Allow", "Action": action, "Resource": resource})
}

fn none() -> Vec<String> {
    Vec::new()
}

#[test]
fn an_action_more_is_broader_and_one_less_is_narrower() {
    let one = role(json!([allow(json!(["s3:GetObject"]), json!("b"))]));
    let two = role(json!([allow(json!(["s3:GetObject", "s3:PutObject"]), json!("b"))]));
    let more = vec!["R Allow R s3:PutObject b".to_owned()];
    assert_eq!(compared(one.clone(), two.clone()), (more.clone(), none()));
    assert_eq!(compared(two, one.clone()), (none(), more));
    assert_eq!(compared(one.clone(), one), (none(), none()));
}

#[test]
fn the_same_in_other_statements_and_policies_is_no_change() {
    let together = role(json!([allow(json!(["s3:GetObject", "s3:PutObject"]), json!(["b", "c"]))]));
    let apart = json!({"R": {"Type": "AWS::IAM::Role", "Properties": {"Policies": [
        {"PolicyName": "q", "PolicyDocument": {"Statement": allow(json!("s3:getobject"), json!(["b", "c"]))}},
        {"PolicyName": "r", "PolicyDocument": {"Statement": [
            allow(json!("s3:PutObject"), json!("c")), allow(json!("s3:PutObject"), json!("b"))]}},
    ]}}});
    assert_eq!(compared(together, apart), (none(), none()));
}

#[test]
fn a_wildcard_that_covers_what_was_there_is_broader() {
    let narrow = role(json!([allow(json!("s3:GetObject"), json!({"Fn::Sub": "${B.Arn}/a/*"}))]));
    for (action, resource) in [
        ("s3:*", "${B.Arn}/a/*"),
        ("*", "${B.Arn}/a/*"),
        ("s3:GetObject", "${B.Arn}/*"),
        ("s3:GetObject", "*"),
    ] {
        let wide = role(json!([allow(json!(action), json!({ "Fn::Sub": resource }))]));
        let (broader, narrower) = compared(narrow.clone(), wide.clone());
        assert_eq!((broader.len(), narrower.len()), (1, 0), "{action} {resource}");
        let (broader, narrower) = compared(wide, narrow.clone());
        assert_eq!((broader.len(), narrower.len()), (0, 1), "{action} {resource}");
    }
}

#[test]
fn a_condition_that_goes_or_is_looser_is_broader() {
    let with = |condition: Value| {
        let mut statement = allow(json!("s3:ListBucket"), json!("b"));
        statement["Condition"] = condition;
        role(json!([statement]))
    };
    let bare = role(json!([allow(json!("s3:ListBucket"), json!("b"))]));
    let strict = with(json!({"StringLike": {"s3:prefix": ["a/*"]}}));
    let loose = with(json!({"StringLike": {"s3:prefix": ["a/*", "b/*"]}}));
    let wild = with(json!({"StringLike": {"s3:prefix": "*"}}));
    for (old, new) in [(&strict, &bare), (&strict, &loose), (&strict, &wild), (&loose, &wild)] {
        let (broader, narrower) = compared(old.clone(), new.clone());
        assert_eq!((broader.len(), narrower.len()), (1, 0));
        let (broader, narrower) = compared(new.clone(), old.clone());
        assert_eq!((broader.len(), narrower.len()), (0, 1));
    }
    let (broader, _) = compared(bare, strict);
    assert_eq!(broader, none());
}

#[test]
fn a_deny_that_goes_is_broader() {
    let deny = json!({"Effect": "Deny", "Action": "s3:*", "Resource": "b"});
    let allowed = allow(json!("s3:GetObject"), json!("b"));
    let (with, without) = (role(json!([allowed, deny])), role(json!([allowed])));
    let line = vec!["R Deny R s3:* b".to_owned()];
    assert_eq!(compared(with.clone(), without.clone()), (line.clone(), none()));
    assert_eq!(compared(without, with.clone()), (none(), line));
    // A condition limits what a Deny statement denies.
    let mut conditional = deny;
    conditional["Condition"] = json!({"Bool": {"aws:SecureTransport": "false"}});
    let (broader, narrower) = compared(with.clone(), role(json!([allowed, conditional])));
    assert_eq!((broader.len(), narrower.len()), (1, 0));
    // The Deny statements of a role that no longer exists are not needed.
    assert_eq!(compared(with, json!({})), (none(), vec!["R Allow R s3:GetObject b".to_owned()]));
}

#[test]
fn excluding_fewer_actions_is_broader() {
    let all_but =
        |actions: Value| role(json!([{"Effect": "Allow", "NotAction": actions, "Resource": "*"}]));
    let (broader, narrower) = compared(all_but(json!(["a:B", "a:C"])), all_but(json!(["a:B"])));
    assert_eq!(broader, ["R Allow R all but a:B *"]);
    assert_eq!(narrower, none());
}

#[test]
fn more_principals_of_a_trust_policy_are_broader() {
    let trust = |principal: Value| {
        json!({"R": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument":
            {"Statement": [{"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"}]}}}})
    };
    let lambda = trust(json!({"Service": "lambda.amazonaws.com"}));
    let more = trust(json!({"Service": ["lambda.amazonaws.com", "ec2.amazonaws.com"]}));
    let everybody = trust(json!({"AWS": "*"}));
    assert_eq!(
        compared(lambda.clone(), more),
        (vec!["R Allow Service ec2.amazonaws.com sts:AssumeRole R".to_owned()], none())
    );
    assert_eq!(
        compared(lambda, everybody.clone()),
        (vec!["R Allow * sts:AssumeRole R".to_owned()], none())
    );
    assert_eq!(compared(everybody, trust(json!("*"))), (none(), none()));
}

#[test]
fn managed_policies_and_boundaries_count() {
    let with =
        |properties: Value| json!({"R": {"Type": "AWS::IAM::Role", "Properties": properties}});
    let (broader, _) = compared(with(json!({})), with(json!({"ManagedPolicyArns": ["arn"]})));
    assert_eq!(broader, ["R Allow R use the permissions of the managed policy arn"]);
    let (broader, _) = compared(with(json!({"PermissionsBoundary": "arn"})), with(json!({})));
    assert_eq!(broader, ["R Deny R exceed the permissions boundary arn"]);
}

fn bucket_policy(statements: Value) -> Value {
    json!({
        "B": {"Type": "AWS::S3::Bucket", "DeletionPolicy": "Retain"},
        "P": {"Type": "AWS::S3::BucketPolicy", "DeletionPolicy": "Retain", "Properties": {
            "Bucket": {"Ref": "B"}, "PolicyDocument": {"Statement": statements}}},
    })
}

#[test]
fn a_policy_of_a_bucket_counts_by_its_bucket() {
    let deny = json!([{"Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": "x"}]);
    let with = bucket_policy(deny);
    let mut renamed = with.clone();
    renamed["Q"] = renamed["P"].take();
    renamed.as_object_mut().unwrap().remove("P");
    assert_eq!(compared(with.clone(), renamed), (none(), none()));
    let mut without = with.clone();
    without.as_object_mut().unwrap().remove("P");
    let line = vec!["P Deny * s3:* x".to_owned()];
    assert_eq!(compared(with.clone(), without.clone()), (line.clone(), none()));
    assert_eq!(compared(without, with.clone()), (none(), line));
    // The bucket is retained in the account, so the policy that protects it is still needed.
    assert_eq!(compared(with.clone(), json!({})).0.len(), 1);
    let mut gone = with;
    gone["B"]["DeletionPolicy"] = "Delete".into();
    assert_eq!(compared(gone, json!({})).0, none());
}

#[test]
fn abandoned_resources_still_permit() {
    let allowed =
        json!([{"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "x"}]);
    let with = bucket_policy(allowed);
    assert_eq!(compared(with.clone(), json!({})), (none(), none()));
    let mut deleted = with;
    deleted["P"]["DeletionPolicy"] = "Delete".into();
    assert_eq!(compared(deleted, json!({})).1.len(), 1);
}

#[test]
fn each_queue_of_a_policy_counts() {
    let policy = |queues: Value| {
        json!({
            "Q": {"Type": "AWS::SQS::Queue"}, "S": {"Type": "AWS::SQS::Queue"},
            "P": {"Type": "AWS::SQS::QueuePolicy", "Properties": {"Queues": queues, "PolicyDocument":
                {"Statement": [{"Effect": "Deny", "Principal": "*", "Action": "sqs:*"}]}}},
        })
    };
    let (broader, narrower) =
        compared(policy(json!([{"Ref": "Q"}, {"Ref": "S"}])), policy(json!([{"Ref": "Q"}])));
    assert_eq!((broader, narrower), (vec!["P Deny * sqs:* ${S}".to_owned()], none()));
}

#[test]
fn permissions_to_call_a_function_count() {
    let permission = |properties: Value| {
        let mut all = json!({"FunctionName": {"Ref": "F"}, "Principal": "*", "Action": "lambda:InvokeFunction"});
        all.as_object_mut().unwrap().extend(properties.as_object().unwrap().clone());
        json!({"F": {"Type": "AWS::Lambda::Function"},
            "P": {"Type": "AWS::Lambda::Permission", "Properties": all}})
    };
    let only_url = permission(json!({"InvokedViaFunctionUrl": true}));
    let anyhow = permission(json!({}));
    assert_eq!(
        compared(only_url.clone(), anyhow.clone()),
        (vec!["P Allow * lambda:InvokeFunction F".to_owned()], none())
    );
    let narrower = compared(anyhow.clone(), only_url).1;
    assert_eq!(narrower, ["P Allow * lambda:InvokeFunction F"]);
    let by_arn = permission(json!({"FunctionName": {"Fn::GetAtt": ["F", "Arn"]}}));
    assert_eq!(compared(anyhow.clone(), by_arn), (none(), none()));
    let never = permission(json!({"InvokedViaFunctionUrl": false}));
    assert_eq!(compared(anyhow.clone(), never), (none(), none()));
    let account = permission(json!({"SourceAccount": "1"}));
    assert_eq!(compared(account, anyhow).0.len(), 1);
}

#[test]
fn a_url_without_authentication_is_broader() {
    let url = |authentication: &str| json!({"U": {"Type": "AWS::Lambda::Url", "Properties": {"AuthType": authentication}}});
    let (broader, narrower) = compared(url("AWS_IAM"), url("NONE"));
    assert_eq!((broader, narrower), (vec!["U Allow * call the function URL U".to_owned()], none()));
    assert_eq!(compared(url("NONE"), url("AWS_IAM")).0, none());
}

#[test]
fn origins_methods_headers_and_cookies_count() {
    let url = |cors: Value| json!({"U": {"Type": "AWS::Lambda::Url", "Properties": {"AuthType": "NONE", "Cors": cors}}});
    let cors =
        |origins: Value, methods: Value| json!({"AllowOrigins": origins, "AllowMethods": methods});
    let one = url(cors(json!(["https://a"]), json!(["GET"])));
    assert_eq!(
        compared(one.clone(), url(cors(json!(["https://a", "https://b"]), json!(["GET"])))).0,
        ["U Allow https://b request with GET U"]
    );
    assert_eq!(
        compared(one.clone(), url(cors(json!(["https://a"]), json!(["GET", "PUT"])))).0,
        ["U Allow https://a request with PUT U"]
    );
    let everywhere = url(cors(json!(["*"]), json!(["*"])));
    assert_eq!(compared(one.clone(), everywhere.clone()).0, ["U Allow * request with * U"]);
    assert_eq!(compared(everywhere, one.clone()).0, none());
    let mut cookies = cors(json!(["https://a"]), json!(["GET"]));
    cookies["AllowCredentials"] = true.into();
    assert_eq!(compared(one, url(cookies)).0, ["U Allow https://a send cookies U"]);
}

#[test]
fn a_bucket_that_blocks_less_is_broader() {
    let bucket =
        |properties: Value| json!({"B": {"Type": "AWS::S3::Bucket", "Properties": properties}});
    let blocked = |policy: bool| {
        bucket(json!({"PublicAccessBlockConfiguration":
            {"BlockPublicAcls": true, "BlockPublicPolicy": policy}}))
    };
    assert_eq!(compared(blocked(true), blocked(false)).0, ["B Deny * create a public policy B"]);
    assert_eq!(compared(blocked(false), blocked(true)).1, ["B Deny * create a public policy B"]);
    assert_eq!(compared(blocked(true), bucket(json!({}))).0.len(), 1);
    let owned =
        |by: &str| bucket(json!({"OwnershipControls": {"Rules": [{"ObjectOwnership": by}]}}));
    assert_eq!(compared(owned("BucketOwnerEnforced"), owned("ObjectWriter")).0.len(), 1);
    let list = |list: &str| bucket(json!({ "AccessControl": list }));
    assert_eq!(compared(list("Private"), list("PublicReadWrite")).0, ["B Allow * read,write B"]);
    let page = bucket(json!({"CorsConfiguration": {"CorsRules": [
        {"AllowedOrigins": ["https://a"], "AllowedMethods": ["GET"]}]}}));
    assert_eq!(compared(bucket(json!({})), page).0, ["B Allow https://a request with GET B"]);
}

#[test]
fn unreadable_statements_are_reported_when_they_change() {
    let odd = |name: &str| {
        role(json!([{"Fn::If": [name, {"Effect": "Allow"}, {"Ref": "AWS::NoValue"}]}]))
    };
    let (broader, narrower) = compared(odd("A"), odd("B"));
    assert_eq!((broader.len(), narrower.len()), (1, 1));
    assert_eq!(compared(odd("A"), odd("A")), (none(), none()));
}

#[test]
fn policies_of_other_types_count() {
    let other = |statements: Value| json!({"X": {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"PolicyDocument": {"Statement": statements}}}});
    let (broader, _) = compared(other(json!([])), other(json!([allow(json!("*"), json!("*"))])));
    assert_eq!(broader, ["X Allow X * *"]);
}

#[test]
fn a_reference_is_not_its_name() {
    let with = |resource: Value| role(json!([allow(json!("s3:GetObject"), resource)]));
    let (broader, narrower) = compared(with(json!({"Ref": "B"})), with(json!("${B}")));
    assert_eq!((broader.len(), narrower.len()), (1, 1));
}

#[test]
fn the_number_of_permissions_is_bounded() {
    let document = |count: usize| {
        let actions: Vec<String> = (0..count).map(|number| format!("a:B{number}")).collect();
        let resources = role(json!([allow(json!(actions), json!("x"))]));
        Document::read(&json!({ "Resources": resources }).to_string()).unwrap()
    };
    let fits = document(PERMISSIONS_MAX);
    let (old, new) = (Document::empty(), &fits);
    assert_eq!(compare_permissions(&old, new).unwrap().broadened[0].actions.len(), PERMISSIONS_MAX);
    let error = compare_permissions(&old, &document(PERMISSIONS_MAX + 1)).unwrap_err();
    assert_eq!(error, TooManyPermissions { logical_id: "R".to_owned() });
}

#[test]
fn the_maximum_number_of_permissions_is_compared_fast() {
    let document = |suffix: &str| {
        // Half of the statements contain wildcards, so they are compared with all other statements.
        let statement = |number: usize| match number % 2 {
            0 => allow(json!(format!("a:B{number}{suffix}")), json!("x")),
            _ => allow(json!(format!("a:*{number}{suffix}")), json!("x")),
        };
        let statements: Vec<Value> = (0..PERMISSIONS_MAX / 8).map(statement).collect();
        Document::read(&json!({ "Resources": role(json!(statements)) }).to_string()).unwrap()
    };
    let found = compare_permissions(&document("x"), &document("y")).unwrap();
    assert_eq!(found.broadened[0].actions.len(), PERMISSIONS_MAX / 8);
}
