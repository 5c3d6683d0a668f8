//! Pictures of Cellar's stack in each variant of its configuration.

use std::collections::BTreeSet;

use cellar_stacks::Config;
use serde_json::{Map, Value};

use super::drawing::Drawing;
use super::{check_block, document, picture, template, variants};

/// Types whose resources have a box of their own.
const BOXES: [&str; 7] = [
    "AWS::CloudWatch::Dashboard",
    "AWS::DynamoDB::Table",
    "AWS::Lambda::Function",
    "AWS::Lambda::Url",
    "AWS::S3::Bucket",
    "AWS::SNS::Topic",
    "AWS::SQS::Queue",
];

#[test]
fn the_documented_picture_is_that_of_the_default_stack() {
    let picture = picture(&Config::default());
    check_block("docs/design/deployment.md", "### Picture\n", &picture);
}

#[test]
fn every_variant_shows_its_resources_and_no_others() {
    for (name, config) in variants() {
        let template = template(&config);
        let drawing = Drawing::read(&picture(&config));
        let resources = template["Resources"].as_object().unwrap();
        let boxes: BTreeSet<&str> = resources
            .iter()
            .filter(|(_, resource)| BOXES.contains(&resource["Type"].as_str().unwrap()))
            .map(|(logical_id, _)| logical_id.as_str())
            .collect();
        let drawn: BTreeSet<&str> =
            drawing.nodes.keys().map(String::as_str).filter(|id| !id.starts_with("node")).collect();
        assert_eq!(drawn, boxes, "{name}");
        let unknown = drawing.groups.iter().find(|(title, _)| title == "Other resources");
        assert_eq!(unknown, None, "{name}: every resource has a box or belongs to one");
        let is_alarm = |resource: &&Value| resource["Type"] == "AWS::CloudWatch::Alarm";
        let alarms = format!("{} alarms", resources.values().filter(is_alarm).count());
        assert!(drawing.nodes.values().any(|label| *label == alarms), "{name}: {alarms}");
        assert!(drawing.classes.is_empty() && drawing.coloured_arrows.is_empty(), "{name}");
    }
}

#[test]
fn every_function_is_started_and_every_table_is_used() {
    for (name, config) in variants() {
        let drawing = Drawing::read(&picture(&config));
        for node in drawing.nodes.keys() {
            let ends_at = |verb: &str| {
                drawing.arrows.iter().any(|(_, label, to)| to == node && label.contains(verb))
            };
            if node.ends_with("Function") {
                assert!(ends_at("starts"), "{name}: {node}");
            }
            if node.ends_with("Table") || node == "Bucket" {
                assert!(ends_at("writes"), "{name}: {node}");
            }
            if node.ends_with("DeadLetters") {
                assert!(ends_at("failed"), "{name}: {node}");
            }
        }
    }
}

#[test]
fn options_add_what_they_create() {
    let arrows_of = |option: &str| {
        let (_, config) = variants().into_iter().find(|(name, _)| *name == option).unwrap();
        let drawing = Drawing::read(&picture(&config));
        let label = |name: &String| drawing.nodes[name].replace("#46;", ".");
        let arrows = drawing.arrows.iter();
        arrows
            .map(|(from, verbs, to)| format!("{} {verbs} {}", label(from), label(to)))
            .collect::<BTreeSet<_>>()
    };
    let default = arrows_of("default");
    let added = |option: &str| arrows_of(option).difference(&default).cloned().collect::<Vec<_>>();
    assert_eq!(added("email"), ["10 alarms sends AlarmTopic", "AlarmTopic sends email"]);
    assert_eq!(added("topic"), ["10 alarms sends sns operators"]);
    assert_eq!(
        added("feed"),
        ["EntryTable starts IndexerFunction", "IndexerFunction reads EntryTable"]
    );
    assert_eq!(
        added("webhook"),
        [
            "FeedTable starts WebhookFunction",
            "WebhookFunction calls hooks.example.com",
            "WebhookFunction failed batches ChangeStreamDeadLetters",
            "WebhookFunction reads EventStreamTable",
            "WebhookFunction reads, writes Bucket",
            "WebhookFunction reads, writes FeedTable",
        ]
    );
    for option in ["key", "origins", "tracing", "tags", "dashboard", "unprotected"] {
        assert_eq!(added(option), [""; 0], "{option}");
    }
}

#[test]
fn the_order_of_keys_in_the_template_makes_no_difference() {
    for (name, config) in variants() {
        let template = template(&config);
        let mut turned = template.clone();
        let resources = template["Resources"].as_object().unwrap();
        let reversed: Map<String, Value> =
            resources.iter().rev().map(|(id, resource)| (id.clone(), resource.clone())).collect();
        turned["Resources"] = reversed.into();
        let draw = |value| cellar_stacks::picture::draw_stack(&document(value)).unwrap();
        assert_eq!(draw(&template), draw(&turned), "{name}");
    }
}
