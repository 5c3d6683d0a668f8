//! Arrows of templates that show one kind of relation each.

use serde_json::{Value, json};

use super::document;
use super::drawing::Drawing;

fn sentences(resources: &Value) -> Vec<String> {
    let document = document(&json!({ "Resources": resources }));
    Drawing::read(&cellar_stacks::picture::draw_stack(&document).unwrap()).sentences()
}

fn role(statements: &Value) -> Value {
    let policy = json!({"PolicyName": "p", "PolicyDocument": {"Statement": statements}});
    json!({"Type": "AWS::IAM::Role", "Properties": {"Policies": [policy]}})
}

fn function(properties: &Value) -> Value {
    let mut function = json!({"Type": "AWS::Lambda::Function", "Properties": properties});
    function["Properties"]["Role"] = json!({"Fn::GetAtt": ["Role", "Arn"]});
    function
}

/// Returns the arrows of a function whose role has one statement about a table and a queue.
fn access(statement: &Value) -> Vec<String> {
    let mut statement = statement.clone();
    if statement.get("Resource").is_none() {
        statement["Resource"] =
            json!([{"Fn::GetAtt": ["Table", "Arn"]}, {"Fn::GetAtt": ["Queue", "Arn"]}]);
    }
    sentences(&json!({
        "Table": {"Type": "AWS::DynamoDB::Table"},
        "Queue": {"Type": "AWS::SQS::Queue"},
        "Function": function(&json!({})),
        "Role": role(&json!([statement])),
    }))
}

#[test]
fn statements_of_a_role_are_reads_and_writes() {
    for (statement, expected) in [
        (json!({"Effect": "Allow", "Action": "dynamodb:GetItem"}), &["reads", "reads"][..]),
        (json!({"Effect": "Allow", "Action": ["sqs:SendMessage"]}), &["sends", "writes"]),
        (
            json!({"Effect": "Allow", "Action": ["a:Query", "a:Put"]}),
            &["reads, sends", "reads, writes"],
        ),
        (json!({"Effect": "Allow", "Action": "dynamodb:*"}), &["reads, sends", "reads, writes"]),
        (json!({"Effect": "Allow", "Action": "*"}), &["reads, sends", "reads, writes"]),
        (json!({"Effect": "Allow", "Action": "dynamodb:Get*"}), &["reads", "reads"]),
        (json!({"Effect": "Allow", "NotAction": ["a:Put"]}), &["reads, sends", "reads, writes"]),
        (json!({"Effect": "Allow", "Action": "sqs:DeleteMessage"}), &["reads", "reads"]),
        (json!({"Effect": "Deny", "Action": "dynamodb:GetItem"}), &[]),
        (json!({"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "*"}), &[]),
    ] {
        let targets = ["Queue", "Table"];
        let expected: Vec<String> = expected
            .iter()
            .zip(targets)
            .map(|(verbs, target)| format!("Function {verbs} {target}"))
            .collect();
        assert_eq!(access(&statement), expected, "{statement}");
    }
}

#[test]
fn an_arn_within_a_text_is_followed() {
    let below = json!({"Fn::Join": ["", [{"Fn::GetAtt": ["Table", "Arn"]}, "/index/*"]]});
    let statement = json!({"Effect": "Allow", "Action": "dynamodb:Query", "Resource": below});
    assert_eq!(access(&statement), ["Function reads Table"]);
}

#[test]
fn event_sources_start_functions_and_keep_failed_batches() {
    let source = |arn: Value, on_failure: &str| {
        let destination = json!({"Fn::GetAtt": [on_failure, "Arn"]});
        json!({"Type": "AWS::Lambda::EventSourceMapping", "Properties": {
            "EventSourceArn": arn,
            "FunctionName": {"Ref": "Function"},
            "DestinationConfig": {"OnFailure": {"Destination": destination}},
        }})
    };
    let statements = json!([
        {"Effect": "Allow", "Action": ["dynamodb:GetRecords"],
            "Resource": {"Fn::GetAtt": ["Table", "StreamArn"]}},
        {"Effect": "Allow", "Action": ["sqs:ReceiveMessage", "sqs:DeleteMessage"],
            "Resource": {"Fn::GetAtt": ["Jobs", "Arn"]}},
        {"Effect": "Allow", "Action": ["sqs:SendMessage"],
            "Resource": {"Fn::GetAtt": ["Failed", "Arn"]}},
    ]);
    let mut resources = json!({
        "Table": {"Type": "AWS::DynamoDB::Table"},
        "Jobs": {"Type": "AWS::SQS::Queue"},
        "Failed": {"Type": "AWS::SQS::Queue"},
        "Function": function(&json!({})),
        "Role": role(&statements),
        "TableSource": source(json!({"Fn::GetAtt": ["Table", "StreamArn"]}), "Failed"),
        "JobSource": source(json!({"Fn::GetAtt": ["Jobs", "Arn"]}), "Failed"),
    });
    assert_eq!(
        sentences(&resources),
        ["Function failed batches Failed", "Jobs starts Function", "Table starts Function"]
    );
    // Without event sources, the statements of the role remain.
    for source in ["TableSource", "JobSource"] {
        resources.as_object_mut().unwrap().remove(source);
    }
    assert_eq!(
        sentences(&resources),
        ["Function sends Failed", "Function reads Jobs", "Function reads Table"]
    );
}

#[test]
fn redrives_notifications_and_subscriptions_are_arrows() {
    let resources = json!({
        "Jobs": {"Type": "AWS::SQS::Queue", "Properties": {"RedrivePolicy": {
            "deadLetterTargetArn": {"Fn::GetAtt": ["Dead", "Arn"]}, "maxReceiveCount": 3}}},
        "Dead": {"Type": "AWS::SQS::Queue"},
        "Bucket": {"Type": "AWS::S3::Bucket", "Properties": {"NotificationConfiguration": {
            "QueueConfigurations": [{"Event": "s3:*", "Queue": {"Fn::GetAtt": ["Jobs", "Arn"]}}],
            "LambdaConfigurations":
                [{"Event": "s3:*", "Function": {"Fn::GetAtt": ["Function", "Arn"]}}],
        }}},
        "Topic": {"Type": "AWS::SNS::Topic", "Properties": {"Subscription": [
            {"Protocol": "sqs", "Endpoint": {"Fn::GetAtt": ["Jobs", "Arn"]}},
            {"Protocol": "lambda", "Endpoint": {"Fn::GetAtt": ["Function", "Arn"]}},
            {"Protocol": "email", "Endpoint": "someone@example.com"},
        ]}},
        "Function": function(&json!({})),
        "Url": {"Type": "AWS::Lambda::Url",
            "Properties": {"TargetFunctionArn": {"Ref": "Function"}}},
    });
    assert_eq!(
        sentences(&resources),
        [
            "Bucket starts Function",
            "Bucket sends Jobs",
            "Jobs failed messages Dead",
            "Topic starts Function",
            "Topic sends Jobs",
            "Topic sends node6",
            "Url starts Function",
        ]
    );
    let picture =
        cellar_stacks::picture::draw_stack(&document(&json!({ "Resources": resources }))).unwrap();
    assert!(picture.contains("node6([\"email\"])") && !picture.contains("someone"), "{picture}");
}

#[test]
fn variables_are_arrows_if_the_role_has_none() {
    let variables = json!({"Variables": {
        "TABLE": {"Ref": "Table"},
        "OTHER": {"Fn::Sub": "x-${Other}"},
        "HOOK": "https://user:secret@hooks.example.com/path?token=1",
        "PLAIN": "text",
    }});
    let reading = json!([{"Effect": "Allow", "Action": "dynamodb:GetItem",
        "Resource": {"Fn::GetAtt": ["Table", "Arn"]}}]);
    let resources = json!({
        "Table": {"Type": "AWS::DynamoDB::Table"},
        "Other": {"Type": "AWS::DynamoDB::Table"},
        "Function": function(&json!({ "Environment": variables })),
        "Role": role(&reading),
    });
    assert_eq!(
        sentences(&resources),
        ["Function refers to Other", "Function reads Table", "Function calls node3"]
    );
    let picture =
        cellar_stacks::picture::draw_stack(&document(&json!({ "Resources": resources }))).unwrap();
    assert!(
        picture.contains("hooks#46;example#46;com") && !picture.contains("secret"),
        "{picture}"
    );
}
