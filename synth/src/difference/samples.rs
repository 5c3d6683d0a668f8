//! Sample differences and golden files for the tests of all output formats.

use std::path::Path;
use std::{env, fs};

use cellar_stacks::difference::{Difference, Document};
use cellar_stacks::picture::limits::ARROWS_MAX;
use cellar_stacks::{Architecture, Config, cellar_stack};
use serde_json::{Value, json};

use super::old::{OldTemplate, TemplateSource};
use super::report::Report;

/// Environment variable that makes the tests overwrite the golden files instead of comparing with
/// them.
const UPDATE_VARIABLE: &str = "UPDATE_SNAPSHOTS";

pub(super) struct Sample {
    pub(super) name: &'static str,
    old: OldTemplate,
    new: Document,
    difference: Difference,
}

impl Sample {
    fn new(name: &'static str, old: Option<&Value>, new: &Value) -> Self {
        let document = |value: &Value| Document::read(&value.to_string()).unwrap();
        let (old, new) = (old.map(document), document(new));
        let difference = Difference::between(old.as_ref(), &new).unwrap();
        let source =
            TemplateSource { kind: "file", name: "base.json".to_owned(), exists: old.is_some() };
        let old = OldTemplate { source, document: old, notes: Vec::new() };
        Self { name, old, new, difference }
    }

    pub(super) fn report(&self) -> Report<'_> {
        Report::new("cellar", &self.old, &self.difference).with_templates(&self.old, &self.new)
    }
}

fn cellar_template() -> Value {
    let config = Config { cors_origins: vec!["https://a.example".to_owned()], ..Config::default() };
    cellar_stack(&config, Architecture::Arm64).unwrap().to_value()
}

/// Each edit consists of a JSON pointer and a new value. If the value is `null`, the key is
/// removed.
fn edited_sample(name: &'static str, edits: &[(&str, Value)]) -> Sample {
    let old = cellar_template();
    let mut new = old.clone();
    for (pointer, value) in edits {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        match new.pointer_mut(parent).unwrap() {
            Value::Object(map) if value.is_null() => drop(map.remove(key).unwrap()),
            Value::Object(map) => drop(map.insert(key.to_owned(), value.clone())),
            Value::Array(items) => items[key.parse::<usize>().unwrap()] = value.clone(),
            other => panic!("{pointer}: {other}"),
        }
    }
    Sample::new(name, Some(&old), &new)
}

fn mixed_sample() -> Sample {
    edited_sample(
        "mixed",
        &[
            ("/Resources/EntryTable/Properties/KeySchema/0/AttributeName", json!("X")),
            ("/Resources/SegmentTable/Properties/DeletionProtectionEnabled", json!(false)),
            (
                "/Resources/ApiRole/Properties/Policies/0/PolicyDocument/Statement/0/Action",
                json!(["dynamodb:*"]),
            ),
            ("/Resources/ApiUrl/Properties/Cors/AllowOrigins", json!(["https://b.example"])),
            ("/Resources/ApiLogGroup/Properties/LogGroupName", json!("fixed")),
            ("/Resources/ApiFunction/Properties/MemorySize", json!(1024)),
            (
                "/Resources/ApiFunction/Properties/Environment/Variables/NEW",
                json!({"Ref": "Bucket"}),
            ),
            ("/Resources/SnapshotDeadLettersPolicy", Value::Null),
            ("/Resources/SnapshotQueueAgeAlarm", Value::Null),
            ("/Outputs/ApiUrl/Description", json!("Another.")),
        ],
    )
}

fn sample_with_word(name: &'static str, word: &str) -> Sample {
    let resource = |value: &str| {
        json!({"Description": format!("{value} of old"), "Resources": {
            "T": {"Type": "AWS::DynamoDB::Table", "DeletionPolicy": "Retain",
                "Properties": {"TableName": value}},
            "R": {"Type": "AWS::IAM::Role", "Properties": {"Policies": [{"PolicyName": "p",
                "PolicyDocument": {"Statement": [
                    {"Effect": "Allow", "Action": value, "Resource": value}]}}]}},
        }})
    };
    let mut new = resource(&format!("{word} new"));
    new["Resources"][word] = json!({"Type": word});
    Sample::new(name, Some(&resource(word)), &new)
}

/// Text that would corrupt the output if it was not escaped.
const HOSTILE: &str = "x | y\n| z `` ``` <b>--> </details> </code> @team #1 [a](http://b) **c** \
                       _d_ & &amp; \u{1b}[31m \u{202e} \\| ~~e~~";

pub(super) fn samples() -> Vec<Sample> {
    vec![
        edited_sample("none", &[]),
        edited_sample("update", &[("/Resources/ApiFunction/Properties/Timeout", json!(30))]),
        mixed_sample(),
        edited_sample("removed-table", &[("/Resources/SegmentTable", Value::Null)]),
        Sample::new("first", None, &cellar_template()),
        sample_with_word("hostile", HOSTILE),
        sample_with_word("harmless", "word"),
    ]
}

/// Returns a difference that is too large for a GitHub comment.
pub(super) fn largest_sample() -> Sample {
    let template = |word: &str| {
        let functions = (0..400).map(|number| {
            let properties = json!({"Description": word.repeat(500), "Handler": word.repeat(500)});
            let function = json!({"Type": "AWS::Lambda::Function", "Properties": properties});
            (format!("Function{number}"), function)
        });
        json!({"Resources": functions.collect::<serde_json::Map<_, _>>()})
    };
    Sample::new("largest", Some(&template("|")), &template("<"))
}

/// Returns a change of a stack with one arrow more than a picture may have.
pub(super) fn undrawable_sample() -> Sample {
    let mut resources: serde_json::Map<_, _> = (0..=ARROWS_MAX)
        .map(|number| (format!("T{number}"), json!({"Type": "AWS::DynamoDB::Table"})))
        .collect();
    let variables: serde_json::Map<_, _> =
        resources.keys().map(|id| (id.clone(), json!({ "Ref": id }))).collect();
    let environment = json!({"Environment": {"Variables": variables}});
    resources.insert(
        "F".to_owned(),
        json!({"Type": "AWS::Lambda::Function", "Properties": environment}),
    );
    let old = json!({ "Resources": resources });
    let mut new = old.clone();
    new["Resources"]["F"]["Properties"]["MemorySize"] = json!(256);
    Sample::new("undrawable", Some(&old), &new)
}

/// The order of keys is ignored.
pub(super) fn check_json_snapshot(name: &str, actual: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    let committed = fs::read_to_string(&path).unwrap_or_default();
    if serde_json::from_str::<Value>(&committed).ok().as_ref() != Some(actual) {
        check_snapshot(name, &format!("{actual:#}\n"));
    }
}

pub(super) fn check_snapshot(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if env::var_os(UPDATE_VARIABLE).is_some() {
        fs::write(&path, actual).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == actual,
        "the output differs from tests/snapshots/{name}:\n{actual}\n\
         If the change is intended, run: {UPDATE_VARIABLE}=1 cargo test -p synth"
    );
}
