//! Tests of the whole template: its committed snapshots, and that its bytes are reproducible.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use cellar_stacks::config::{TokenKey, Webhook};
use cellar_stacks::{Architecture, Config, Template, cellar_stack};

/// Environment variable that rewrites the snapshots.
const UPDATE: &str = "UPDATE_SNAPSHOTS";

/// Compares a text with a committed file, or rewrites the file.
fn check_snapshot(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if env::var_os(UPDATE).is_some() {
        fs::write(&path, actual).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == actual,
        "the template differs from tests/snapshots/{name} (- committed, + now):\n{}\n\
         If that is intended: {UPDATE}=1 cargo test -p cellar-stacks",
        difference(&expected, actual)
    );
}

/// Returns the lines that differ, with one line of context.
fn difference(expected: &str, actual: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (expected.lines().collect(), actual.lines().collect());
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let shorter = old.len().min(new.len()) - start;
    let end =
        old.iter().rev().zip(new.iter().rev()).take(shorter).take_while(|(a, b)| a == b).count();
    let mut text = String::new();
    let mut lines = |mark: char, from: &[&str]| {
        for line in from {
            writeln!(text, "{mark} {line}").unwrap();
        }
    };
    lines(' ', &new[start.saturating_sub(1)..start]);
    lines('-', &old[start..old.len() - end]);
    lines('+', &new[start..new.len() - end]);
    lines(' ', &new[new.len() - end..new.len().min(new.len() - end + 1)]);
    format!("at line {}:\n{text}", start + 1)
}

fn default_template() -> Template {
    cellar_stack(&Config::default(), Architecture::X86_64).unwrap()
}

/// A configuration with every optional feature and maximum sizes.
fn full_config() -> Config {
    let mut config = Config::default();
    config.snapshots.enabled = true;
    config.tokens.issuer = "i".repeat(255);
    config.tokens.audience = "a".repeat(255);
    config.tokens.keys = (0..8)
        .map(|number| TokenKey {
            id: format!("{number}{}", "k".repeat(63)),
            public_key: "A".repeat(43),
        })
        .collect();
    config.encryption.kms_key_arn = Some(
        "arn:aws:kms:eu-central-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef".to_owned(),
    );
    config.alarms.email = Some("operators@example.com".to_owned());
    config.alarms.topic_arn = Some("arn:aws:sns:eu-central-1:123456789012:operators".to_owned());
    config.alarms.event_sources = true;
    config.limits.write_units_per_second = Some(400);
    config.dashboard = true;
    config.tracing = true;
    config.webhook =
        Some(Webhook { url: "https://hooks.example.com/cellar".to_owned(), payloads: true });
    config.tags = [("team".to_owned(), "books".to_owned())].into();
    config.cors_origins = (0..32).map(|number| format!("https://a{number}.example")).collect();
    config
}

#[test]
fn the_default_template_is_the_committed_one() {
    check_snapshot("cellar.template.json", &default_template().to_json());
}

#[test]
fn the_template_of_a_full_configuration_is_the_committed_one() {
    let template = cellar_stack(&full_config(), Architecture::Arm64).unwrap();
    check_snapshot("cellar-full.template.json", &template.to_json());
}

#[test]
fn the_difference_shows_only_what_changed() {
    assert_eq!(difference("a\nb\nc\nd\n", "a\nB\nc\nd\n"), "at line 2:\n  a\n- b\n+ B\n  c\n");
    assert_eq!(difference("a\na\n", "a\n"), "at line 2:\n  a\n- a\n");
    assert_eq!(difference("", "a\n"), "at line 1:\n+ a\n");
}

#[test]
fn the_same_configuration_gives_the_same_bytes() {
    for config in [Config::default(), full_config()] {
        let synthesize = || cellar_stack(&config, Architecture::Arm64).unwrap();
        assert_eq!(synthesize().to_json(), synthesize().to_json());
        assert_eq!(synthesize().to_yaml(), synthesize().to_yaml());
    }
}

#[test]
fn json_is_read_back_as_the_same_template() {
    for config in [Config::default(), full_config()] {
        let template = cellar_stack(&config, Architecture::Arm64).unwrap();
        let text = template.to_json();
        let back = Template::from_json(&text).unwrap();
        assert_eq!(back, template);
        assert_eq!(back.to_json(), text);
    }
}

#[test]
fn yaml_and_json_are_equivalent() {
    let template = cellar_stack(&full_config(), Architecture::Arm64).unwrap();
    let from_yaml: serde_json::Value = serde_yaml::from_str(&template.to_yaml()).unwrap();
    let from_json: serde_json::Value = serde_json::from_str(&template.to_json()).unwrap();
    assert_eq!(from_yaml, from_json);
    assert!(template.to_yaml().contains("Version: \"2012-10-17\""));
}

/// Number of lines before a place that may contain the name of the resource.
const LINES_OF_AN_ITEM: usize = 2;

#[test]
fn every_resource_records_the_line_with_its_name() {
    let template = cellar_stack(&full_config(), Architecture::Arm64).unwrap();
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    assert!(template.resources().count() > 30);
    for (id, resource) in template.resources() {
        let place = resource.source_line.unwrap();
        assert!(place.file().starts_with("stacks/src/cellar/"), "{id}: {place}");
        let source = fs::read_to_string(workspace.join(place.file())).unwrap();
        let line = usize::try_from(place.line()).unwrap();
        let lines: Vec<&str> = source.lines().take(line).collect();
        let item = lines[line.saturating_sub(1 + LINES_OF_AN_ITEM)..].join("\n");
        // Every second piece is in quotes. The name of a resource starts with the name of its parent.
        let named = item.split('"').skip(1).step_by(2);
        let names = named.filter(|name| !name.is_empty() && id.starts_with(*name)).count();
        assert!(names > 0, "{id} is not named at {place}:\n{item}");
    }
    let read = Template::from_json(&template.to_json()).unwrap();
    assert!(read.resources().all(|(_, resource)| resource.source_line.is_none()));
}

#[test]
fn sections_are_in_the_usual_order() {
    let text = default_template().to_json();
    let sections: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("  \"")?.split('"').next()).collect();
    assert_eq!(
        sections,
        ["AWSTemplateFormatVersion", "Description", "Parameters", "Resources", "Outputs"]
    );
    assert!(text.ends_with("}\n"));
}
