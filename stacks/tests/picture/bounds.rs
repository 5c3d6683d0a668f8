//! Bounds of pictures, and names that would be instructions for Mermaid.

use cellar_stacks::difference::Document;
use cellar_stacks::picture::limits::{
    ARROWS_MAX, NAME_CHARS_MAX, PARTS_SHOWN_MAX, PICTURE_BYTES_MAX,
};
use cellar_stacks::picture::{PictureError, draw_stack};
use serde_json::{Map, Value, json};

use super::drawing::Drawing;
use super::{document, picture_of_changes};

/// Names that Mermaid, Markdown or HTML would not read as text.
pub(crate) const HOSTILE: [&str; 12] = [
    "end",
    "style",
    "default",
    "x --> y",
    "\"] --> evil[\"",
    "```\n</details>",
    "%%{init: {\"theme\": \"x\"}}%%",
    "<script>alert(1)</script>",
    "#quot;",
    "1. one",
    "fa:fa-car https://www.example.com",
    "$$x$$ `**a**` \u{202e}",
];

pub(crate) fn hostile_document() -> Document {
    let resources: Map<String, Value> =
        HOSTILE.iter().map(|name| ((*name).to_owned(), json!({ "Type": name }))).collect();
    document(&json!({ "Resources": resources }))
}

#[test]
fn hostile_names_are_only_names() {
    let drawing = Drawing::read(&draw_stack(&hostile_document()).unwrap());
    assert_eq!(drawing.nodes.len(), HOSTILE.len());
    assert!(drawing.nodes.keys().all(|name| name.starts_with("node")));
    assert!(drawing.arrows.is_empty());
}

/// Returns a template with a function that reads each of many tables.
fn tables(number: usize, name: &str) -> Document {
    let mut resources: Map<String, Value> = (0..number)
        .map(|index| (format!("{name}{index}"), json!({"Type": "AWS::DynamoDB::Table"})))
        .collect();
    let variables: Map<String, Value> =
        resources.keys().map(|id| (id.clone(), json!({ "Ref": id }))).collect();
    let environment = json!({"Environment": {"Variables": variables}});
    let function = json!({"Type": "AWS::Lambda::Function", "Properties": environment});
    resources.insert("F".to_owned(), function);
    document(&json!({ "Resources": resources }))
}

#[test]
fn arrows_are_bounded() {
    let picture = draw_stack(&tables(ARROWS_MAX, "T")).unwrap();
    assert_eq!(Drawing::read(&picture).arrows.len(), ARROWS_MAX);
    let error = draw_stack(&tables(ARROWS_MAX + 1, "T")).unwrap_err();
    assert_eq!(error, PictureError::TooManyArrows { arrows: ARROWS_MAX + 1 });
    assert!(error.to_string().contains("at most 500"), "{error}");
}

#[test]
fn the_length_is_bounded() {
    let with_names = |number: usize, last: usize| {
        let mut resources: Map<String, Value> = (0..number)
            .map(|index| (format!("T{index:04}"), json!({"Type": "AWS::SQS::Queue"})))
            .collect();
        resources.insert("U".repeat(last), json!({"Type": "AWS::SQS::Queue"}));
        draw_stack(&document(&json!({ "Resources": resources })))
    };
    // The name of a box and its label grow by a character each, up to the limit of a label.
    let length = |number, last| with_names(number, last).unwrap().len();
    let (one, two) = (length(1, 1), length(2, 1));
    let number = 1 + (PICTURE_BYTES_MAX - one) / (two - one);
    let missing = PICTURE_BYTES_MAX - length(number, 1);
    assert!(missing / 2 < NAME_CHARS_MAX);
    // An even number of bytes is missing, or a label without a name fills the last byte.
    let fitting = with_names(number, 1 + missing / 2).unwrap();
    assert!(PICTURE_BYTES_MAX - fitting.len() <= 1);
    let error = with_names(number, 2 + missing / 2).unwrap_err();
    assert_eq!(error, PictureError::TooLong { bytes: fitting.len() + 2 });
    assert!(error.to_string().contains("at most 50000"), "{error}");
}

#[test]
fn the_parts_that_a_label_names_are_bounded() {
    let with = |alarms: usize| {
        let resources: Map<String, Value> = (0..alarms)
            .map(|index| (format!("A{index}"), json!({"Type": "AWS::CloudWatch::Alarm"})))
            .chain([("Z".to_owned(), json!({"Type": "AWS::CloudWatch::Alarm"}))])
            .collect();
        json!({ "Resources": resources })
    };
    for (alarms, ends_with) in
        [(PARTS_SHOWN_MAX, "A2 added"), (PARTS_SHOWN_MAX + 1, "A2 added and 1 more")]
    {
        let drawing = Drawing::read(&picture_of_changes(&with(0), &with(alarms)));
        let label = drawing.nodes.values().next().unwrap();
        assert!(label.ends_with(ends_with), "{label}");
    }
}
