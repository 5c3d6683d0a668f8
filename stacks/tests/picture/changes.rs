//! Marks of changes.

use cellar_stacks::Config;
use cellar_stacks::config::Webhook;
use serde_json::{Value, json};

use super::drawing::Drawing;
use super::{picture_of_changes, template};

fn changes(edit: impl FnOnce(&mut Value)) -> Drawing {
    let old = template(&Config::default());
    let mut new = old.clone();
    edit(&mut new["Resources"]);
    Drawing::read(&picture_of_changes(&old, &new))
}

fn marked(drawing: &Drawing) -> Vec<(&str, &str)> {
    let classes = drawing.classes.iter();
    classes.map(|(name, class)| (drawing.nodes[name].as_str(), class.as_str())).collect()
}

#[test]
fn each_action_has_a_class_and_a_word() {
    let drawing = changes(|resources| {
        let resources = resources.as_object_mut().unwrap();
        resources["ApiFunction"]["Properties"]["MemorySize"] = json!(1024);
        resources["EntryTable"]["Properties"]["KeySchema"][0]["AttributeName"] = json!("X");
        resources.remove("SegmentTable");
        resources.insert("More".to_owned(), json!({"Type": "AWS::SQS::Queue"}));
    });
    let marked = marked(&drawing);
    for (label, class) in [
        ("ApiFunction changed", "changed"),
        ("EntryTable replaced", "replaced"),
        ("SegmentTable removed but kept", "removed"),
        ("More added", "added"),
    ] {
        let is_expected = |(one, other): &(&str, &str)| one.starts_with(label) && *other == class;
        assert!(marked.iter().any(is_expected), "{label}: {marked:?}");
    }
    // The roles of the edited template still refer to the table, which no longer exists.
    let sentences = drawing.sentences();
    let of_segments: Vec<&String> =
        sentences.iter().filter(|text| text.contains("SegmentTable")).collect();
    let verbs = "reads, writes SegmentTable";
    assert_eq!(
        of_segments,
        [&format!("ApiFunction {verbs}"), &format!("SnapshotFunction {verbs}")]
    );
    assert_eq!(drawing.coloured_arrows.len(), 2);
}

#[test]
fn a_removed_resource_without_a_policy_is_deleted() {
    let drawing = changes(|resources| {
        let resources = resources.as_object_mut().unwrap();
        resources.remove("SnapshotDeadLetters");
        resources.remove("SnapshotDeadLettersPolicy");
    });
    // The policy has the same mark as its queue, so it is not mentioned.
    assert_eq!(drawing.nodes["SnapshotDeadLetters"], "SnapshotDeadLetters deleted");
    // The word is not repeated on the arrow.
    assert!(
        drawing
            .sentences()
            .contains(&"SnapshotQueue failed messages SnapshotDeadLetters".to_owned()),
    );
    assert_eq!(drawing.classes["SnapshotDeadLetters"], "deleted");
}

#[test]
fn changed_parts_are_named_at_their_box() {
    let drawing = changes(|resources| {
        let resources = resources.as_object_mut().unwrap();
        let policies = &mut resources["ApiRole"]["Properties"]["Policies"];
        policies[0]["PolicyDocument"]["Statement"][3]["Action"] = json!(["dynamodb:PutItem"]);
        resources["RelayLogGroup"]["Properties"]["RetentionInDays"] = json!(7);
        resources.remove("ApiErrorsAlarm");
        resources.remove("ApiUrlPermission");
        resources["SnapshotSource"]["Properties"]["BatchSize"] = json!(2);
        resources["BucketPolicy"]["Properties"]["PolicyDocument"]["Statement"] = json!([]);
    });
    assert_eq!(
        marked(&drawing),
        [
            ("ApiFunction ApiRole changed ApiUrlPermission deleted", "changed"),
            ("Bucket BucketPolicy changed", "changed"),
            ("RelayFunction RelayLogGroup changed", "changed"),
            ("SnapshotFunction SnapshotSource changed", "changed"),
            ("9 alarms ApiErrorsAlarm deleted", "changed"),
        ]
    );
    let changed = drawing.sentences().into_iter().filter(|text| text.contains("changed"));
    assert_eq!(changed.collect::<Vec<_>>(), ["ApiFunction writes changed FeedTable"]);
}

#[test]
fn new_functions_and_hosts_are_added_with_their_arrows() {
    let url = "https://hooks.example.com/cellar".to_owned();
    let webhook = Some(Webhook { url, payloads: true });
    let new = template(&Config { webhook, ..Config::default() });
    let drawing = Drawing::read(&picture_of_changes(&template(&Config::default()), &new));
    let added: Vec<&str> = marked(&drawing)
        .into_iter()
        .filter(|(_, class)| *class == "added")
        .map(|(label, _)| label)
        .collect();
    assert_eq!(added, ["WebhookFunction added", "hooks#46;example#46;com added"]);
    assert_eq!(drawing.coloured_arrows.len(), 6);
    let back = Drawing::read(&picture_of_changes(&new, &template(&Config::default())));
    assert_eq!(back.nodes["WebhookFunction"], "WebhookFunction deleted");
    assert_eq!(back.coloured_arrows, drawing.coloured_arrows);
}

#[test]
fn equal_templates_have_no_marks() {
    let template = template(&Config::default());
    let picture = picture_of_changes(&template, &template);
    assert_eq!(picture, super::picture(&Config::default()));
}
